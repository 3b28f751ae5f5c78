import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.canonical import encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_runtime.distributions import list_distributions
from verdog_runtime.environment import (
    EnvironmentTracker,
    check_environment,
    describe_python,
    fingerprint,
)
from verdog_runtime.fingerprint import (
    Distribution,
    Environment,
    compare_environments,
    compare_recorded,
    decode_environment,
    encode_environment,
)

oids = st.binary(min_size=32, max_size=32).map(Oid)
names = st.text(st.characters(exclude_characters="/"), min_size=1).filter(lambda name: name.strip("."))
environments = st.builds(
    Environment,
    files=st.dictionaries(st.lists(names, min_size=1, max_size=3).map("/".join), oids, max_size=4),
    distributions=st.lists(
        st.builds(Distribution, name=st.text(), version=st.text(), record=st.none() | oids), max_size=4
    ).map(tuple),
    python=st.dictionaries(st.text(), st.text(), max_size=3),
)


def blob(text: str) -> Oid:
    return compute_oid(Kind.BLOB, text.encode())


def environment(
    files: dict[str, Oid] | None = None,
    distributions: tuple[Distribution, ...] = (),
    python: dict[str, str] | None = None,
) -> Environment:
    return Environment(files=files or {}, distributions=distributions, python=python or {})


def distribution(version: str, record: Oid | None = None) -> Distribution:
    return Distribution(name="tool", version=version, record=record)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(monkeypatch: pytest.MonkeyPatch, name: str, file: Path) -> None:
    module = ModuleType(name)
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, name, module)


@given(environments)
def test_an_environment_comes_back(value: Environment) -> None:
    assert decode_environment(encode_environment(value)) == value


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a//b", "a/./b", ""])
def test_a_file_outside_the_project_is_corrupt(path: str) -> None:
    with pytest.raises(Corrupt, match="no path in a project"):
        decode_environment(encode_environment(environment({path: blob("x")})))


@pytest.mark.parametrize("member", [["tool", "1"], ["tool", 1, None], ["tool", "1", "xyz"], "tool"])
def test_a_distribution_of_another_form_is_corrupt(member: object) -> None:
    document = {"format": 1, "files": {}, "distributions": [member], "python": {}}
    with pytest.raises(Corrupt):
        decode_environment(encode_json(document))  # type: ignore[arg-type]


def test_another_format_is_not_supported() -> None:
    with pytest.raises(FormatUnsupported, match="format 2"):
        decode_environment(encode_json({"format": 2}))


def test_the_same_environment_has_no_differences() -> None:
    value = fingerprint(Path.cwd())
    assert compare_environments(value, value) == ()


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        ({"a.py": "1"}, {"a.py": "2"}, f"a.py changed from {blob('1').hex()[:12]} to {blob('2').hex()[:12]}"),
        ({"a.py": "1"}, {}, f"a.py is gone; it was {blob('1').hex()[:12]}"),
        ({}, {"src/a.py": "1"}, f"src/a.py is new; it is {blob('1').hex()[:12]}"),
    ],
)
def test_a_file_that_differs_is_named_with_its_hashes(
    before: dict[str, str], now: dict[str, str], sentence: str
) -> None:
    recorded, current = ({path: blob(text) for path, text in each.items()} for each in (before, now))
    assert compare_environments(environment(recorded), environment(current)) == (sentence,)


def test_a_module_that_was_loaded_since_is_no_difference() -> None:
    assert compare_environments(environment(), environment({"later.py": blob("1")})) == ()


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        (distribution("1"), distribution("2"), "package tool changed from version 1 to 2"),
        (distribution("1"), None, "package tool 1 is not installed now"),
        (None, distribution("2"), "package tool 2 is installed now, and was not"),
        (distribution("1", blob("a")), distribution("1", blob("b")), "package tool 1 has other files: "),
    ],
)
def test_a_package_that_differs_is_named(
    before: Distribution | None, now: Distribution | None, sentence: str
) -> None:
    recorded, current = (environment(distributions=(each,) if each else ()) for each in (before, now))
    (found,) = compare_environments(recorded, current)
    assert found.startswith(sentence)


@pytest.mark.parametrize("path", ["module.py", "src/module.py"])
def test_of_two_records_a_file_that_both_name_counts_wherever_it_is(path: str) -> None:
    before, after = (environment(files={path: blob(text)}) for text in ("a", "b"))
    (told,) = compare_recorded(before, after)
    assert told == f"{path} changed from {blob('a').hex()[:12]} to {blob('b').hex()[:12]}"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"src/a.py": blob("a")}, {}, f"src/a.py is gone; it was {blob('a').hex()[:12]}"),
        ({}, {"src/a.py": blob("a")}, f"src/a.py is new; it is {blob('a').hex()[:12]}"),
        ({"a.py": blob("a")}, {}, None),
        ({}, {"a.py": blob("a")}, None),
    ],
)
def test_of_two_records_a_file_that_one_names_counts_in_the_source_directory_alone(
    before: dict[str, Oid], after: dict[str, Oid], told: str | None
) -> None:
    found = compare_recorded(environment(files=before), environment(files=after))
    assert found == (() if told is None else (told,))


def test_another_interpreter_is_named() -> None:
    recorded, current = environment(python={"version": "3.11"}), environment(python={"version": "3.13"})
    sentence = "the interpreter's version changed from 3.11 to 3.13"
    assert compare_environments(recorded, current) == (sentence,)


def test_the_facts_name_version_abi_and_platform() -> None:
    facts = describe_python()
    assert facts["version"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert facts["implementation"] == sys.implementation.name
    assert facts["abi"].startswith(str(sys.implementation.cache_tag))
    assert facts["platform"].startswith(sys.platform)


def test_the_source_directory_counts_whole_without_byte_code(tmp_path: Path) -> None:
    write(tmp_path / "src/pack/mod.py", "x = 1\n")
    write(tmp_path / "src/pack/data.txt", "data")
    write(tmp_path / "src/pack/__pycache__/mod.pyc", "")
    write(tmp_path / "src/old.pyc", "")
    write(tmp_path / "src/pack.egg-info/PKG-INFO", "")
    write(tmp_path / "notes.py", "")
    assert fingerprint(tmp_path).files == {
        "src/pack/mod.py": blob("x = 1\n"),
        "src/pack/data.txt": blob("data"),
    }


def test_links_in_the_source_directory_are_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "lib/shared.py", "s")
    write(tmp_path / "src/own.py", "o")
    (tmp_path / "src/shared").symlink_to(tmp_path / "lib")
    (tmp_path / "src/loop").symlink_to(tmp_path / "src")
    assert set(fingerprint(tmp_path).files) == {"src/own.py", "src/shared/shared.py"}


def test_a_pipe_in_the_source_directory_does_not_block(tmp_path: Path) -> None:
    write(tmp_path / "src/own.py", "o")
    os.mkfifo(tmp_path / "src/pipe")
    assert set(fingerprint(tmp_path).files) == {"src/own.py"}


def test_the_workflow_file_and_loaded_modules_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow, helper = write(tmp_path / "flow.py", "f"), write(tmp_path / "lib/helper.py", "h")
    load(monkeypatch, "helper_for_a_test", helper)
    assert fingerprint(tmp_path, flow).files == {"flow.py": blob("f"), "lib/helper.py": blob("h")}


@pytest.mark.parametrize("place", [".venv/lib/python3.11/site-packages/dep.py", "../outside.py"])
def test_installed_and_foreign_modules_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "project").mkdir()
    load(monkeypatch, "dep_for_a_test", write((tmp_path / "project" / place).resolve(), ""))
    assert fingerprint(tmp_path / "project").files == {}


@pytest.mark.parametrize("way", ["lib/../lib/helper.py", "lib//helper.py", "./lib/helper.py"])
def test_a_module_counts_by_its_own_path_whichever_way_it_was_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    load(monkeypatch, "helper_for_a_test", write(tmp_path / "lib/helper.py", "h"))
    monkeypatch.setattr(sys.modules["helper_for_a_test"], "__file__", f"{tmp_path}/{way}")
    assert fingerprint(tmp_path).files == {"lib/helper.py": blob("h")}


def test_verdogs_own_modules_do_not_count() -> None:
    import verdog_runtime

    root = Path(verdog_runtime.__path__[0]).parent
    assert not any(path.startswith("verdog_runtime/") for path in fingerprint(root).files)


def test_a_project_reached_through_a_link_has_the_same_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = write(tmp_path / "real/helper.py", "h")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    load(monkeypatch, "helper_for_a_test", helper)
    assert fingerprint(tmp_path / "link").files == {"helper.py": blob("h")}


def test_the_tracker_sees_modules_as_they_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow, late = write(tmp_path / "flow.py", "f"), write(tmp_path / "late.py", "l")
    tracker = EnvironmentTracker(tmp_path, flow)
    writer = MemoryStore(()).writer()
    first = tracker.stage(writer)
    assert tracker.stage(writer) == first
    load(monkeypatch, "late_for_a_test", late)
    second = tracker.stage(writer)
    assert set(decode_environment(writer.get(Kind.ENVIRONMENT, first)).files) == {"flow.py"}
    assert set(decode_environment(writer.get(Kind.ENVIRONMENT, second)).files) == {"flow.py", "late.py"}


def test_the_tracker_stages_nothing_when_nothing_was_loaded(tmp_path: Path) -> None:
    store = MemoryStore(())
    tracker = EnvironmentTracker(tmp_path)
    tracker.stage(store.writer())

    class Refusing:
        def put(self, kind: Kind, payload: bytes) -> Oid:
            raise AssertionError

        def get(self, kind: Kind, oid: Oid) -> bytes:
            raise AssertionError

    tracker.stage(Refusing())


def test_a_changed_file_is_found_although_it_is_not_loaded_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = write(tmp_path / "lib/helper.py", "before")
    with monkeypatch.context() as patch:
        load(patch, "helper_for_a_test", helper)
        recorded = fingerprint(tmp_path)
    assert check_environment(recorded, tmp_path) == ()
    helper.write_text("after")
    (sentence,) = check_environment(recorded, tmp_path)
    assert sentence.startswith("lib/helper.py changed from ")
    helper.unlink()
    (sentence,) = check_environment(recorded, tmp_path)
    assert sentence.startswith("lib/helper.py is gone")


def test_a_new_file_in_the_source_directory_is_a_difference(tmp_path: Path) -> None:
    write(tmp_path / "src/a.py", "a")
    recorded = fingerprint(tmp_path)
    write(tmp_path / "src/b.py", "b")
    (sentence,) = check_environment(recorded, tmp_path)
    assert sentence.startswith("src/b.py is new")


def install(place: Path, name: str, version: str, record: str | None) -> None:
    info = place / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    if record is not None:
        (info / "RECORD").write_text(record)


def test_distributions_are_found_by_normalised_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "one", "Some_Tool.x", "1.0", None)
    install(tmp_path / "two", "some_tool_x", "2.0", None)
    monkeypatch.setattr(sys, "path", [str(tmp_path / name) for name in ("one", "absent", "two")])
    assert list_distributions() == (Distribution(name="some-tool-x", version="1.0", record=None),)


def test_old_style_distributions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "old.egg-info/PKG-INFO", "Metadata-Version: 1.0\nName: Old\nVersion: 3\n")
    write(tmp_path / "bad.egg-info/PKG-INFO", "")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert list_distributions() == (Distribution(name="old", version="3", record=None),)


def test_a_directory_is_read_once_however_long_the_import_path_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [str(tmp_path / str(number)) for number in range(200)]
    monkeypatch.setattr(sys, "path", places)
    assert list_distributions() == ()
    monkeypatch.setattr(os, "listdir", lambda path: pytest.fail(f"{path} is read again"))
    assert list_distributions() == ()


def test_what_an_installer_adds_does_not_change_a_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = "tool/a.py,sha256=x,1\ntool/b.py,sha256=y,2\n"
    added = (
        "tool/__pycache__/a.pyc,,\n../../../bin/tool,sha256=z,9\n"
        "tool-1.dist-info/INSTALLER,sha256=i,3\ntool-1.dist-info/RECORD,,\n"
    )
    install(tmp_path / "one", "tool", "1", shipped)
    install(tmp_path / "two", "tool", "1", added + "".join(reversed(shipped.splitlines(keepends=True))))
    install(tmp_path / "three", "tool", "1", shipped.replace("=x", "=changed"))
    records: list[Oid | None] = []
    for name in ("one", "two", "three"):
        monkeypatch.setattr(sys, "path", [str(tmp_path / name)])
        records.append(list_distributions()[0].record)
    assert records[0] == records[1] != records[2]

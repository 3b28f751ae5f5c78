"""A store whose files were damaged: what is wrong is found and named, and the rest is exactly what it was."""

import json
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Result, Verdog
from tests.objects.trees import UnsyncedDisk, snapshot
from verdog_objects import durable, packs

RUNS = ("first", "second", "third")
HANG_S = 60

BODY = """import random
(context.output_dir / "large").write_bytes(random.Random(state.taken).randbytes(100_000))
(context.output_dir / "small").write_bytes(random.Random(state.taken).randbytes(3_000))
if state.taken == 2 and not Path("mended").exists():
    raise RuntimeError("not mended yet")"""

Damage = Callable[[bytes], bytes | None]


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """Sync nothing, and fail rather than hang."""
    signal.alarm(HANG_S)
    with durable.replaced(UnsyncedDisk()):
        yield
    signal.alarm(0)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs recorded runs leaves a copy for the others."""
    return tmp_path_factory.mktemp("damage") / "project"


@pytest.fixture
def recorded(verdog: Verdog, project: Path, monkeypatch: pytest.MonkeyPatch, template: Path) -> Path:
    """Three failed runs that share every object of their files, in two packs."""
    monkeypatch.setattr(packs, "PACK_LIMIT_BYTES", 90_000)
    if template.exists():
        shutil.copytree(template, project, dirs_exist_ok=True)
        return project
    (project / "flow.py").write_text(countdown(BODY))
    for run in RUNS:
        assert verdog("run", "flow.py", "--run-id", run, "--output-dir", run).code == 1
    shutil.copytree(project, template)
    return project


def look(verdog: Verdog, project: Path) -> dict[str, tuple[int, object]]:
    """Return what each command that reads says: its code, and all of its answer if it gives one."""
    found: dict[str, tuple[int, object]] = {}

    def note(result: Result, name: str, answer: object) -> None:
        assert "Traceback" not in result.err
        assert "fault in verdog" not in result.err
        assert result.code in (0, 4), result
        found[name] = result.code, None if result.code else answer

    for command in ("log", "runs"):
        result = verdog(command, "--json")
        note(result, command, result.out)
    for run in RUNS:
        result = verdog("show", run, "--json")
        note(result, f"show {run}", result.out)
        result = verdog("checkout", run, "copy")
        copy = project / "copy"
        assert copy.exists() == (result.code == 0)
        note(result, f"checkout {run}", snapshot(copy) if copy.exists() else None)
        shutil.rmtree(copy, ignore_errors=True)
        assert not list(project.glob(".verdog-partial*"))
    return found


def flip(place: float) -> Damage:
    def change(data: bytes) -> bytes:
        at = int(place * len(data))
        return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]

    return change


DAMAGES: dict[str, Damage] = {
    "gone": lambda data: None,
    "cut to nothing": lambda data: b"",
    "cut to one byte": lambda data: data[:1],
    "cut to half": lambda data: data[: len(data) // 2],
    "cut by one byte": lambda data: data[:-1],
    "followed by junk": lambda data: data + random.Random(1).randbytes(5_000),
    "zeroed": lambda data: bytes(len(data)),
}
PLACES = random.Random(2)
FLIPS = {f"flipped at {place:.3f}": flip(place) for place in (PLACES.random() for _ in range(60))}


@pytest.mark.parametrize(
    "damages",
    [
        ["cut to half", "zeroed", *list(FLIPS)[:2]],
        pytest.param([*DAMAGES, *FLIPS], marks=pytest.mark.slow),
    ],
    ids=["some", "all"],
)
@pytest.mark.parametrize(
    "pattern", ["store/packs/*.pack", "store/store.db", "store/store.db-wal", "store/locks/*"]
)
def test_damage_of_any_file_is_found_and_named_or_changes_nothing(
    verdog: Verdog, recorded: Path, pattern: str, damages: list[str]
) -> None:
    whole = look(verdog, recorded)
    assert {code for code, _ in whole.values()} == {0}
    file, *_ = sorted((recorded / ".verdog").glob(pattern))
    kept = recorded.with_name("kept")
    shutil.copytree(recorded / ".verdog", kept)
    for name in damages:
        data = file.read_bytes()
        changed = {**DAMAGES, **FLIPS}[name](data) if data else b"junk" * 100
        signal.alarm(HANG_S)
        try:
            if changed is None:
                file.unlink()
            else:
                file.write_bytes(changed)
            found = look(verdog, recorded)
            wrong = {what for what, answer in found.items() if answer != whole[what]}
            # A listing shows the copies of records that rows are; only fsck compares them with the records.
            listed = {what for what in wrong if what in ("log", "runs")}
            assert {found[what][0] for what in wrong - listed} <= {4}, "a command answered something else"
            checked = verdog("fsck", "--read-data", "--json")
            findings = json.loads(checked.out)["findings"]
            assert checked.code == (1 if findings else 0)
            assert findings or not wrong
            assert verdog("fsck", "--read-data").code == checked.code
        except BaseException as error:
            error.add_note(f"{file.name}: {name}")
            raise
        shutil.rmtree(recorded / ".verdog")
        shutil.copytree(kept, recorded / ".verdog")


def pack_files(project: Path) -> list[Path]:
    return sorted((project / ".verdog/store/packs").iterdir())


def test_two_packs_that_were_swapped_are_found(verdog: Verdog, recorded: Path) -> None:
    first, second = pack_files(recorded)
    first.rename(first.with_name("aside"))
    second.rename(first)
    first.with_name("aside").rename(second)
    for code, answer in look(verdog, recorded).values():
        assert code == 4 or answer is not None
    assert verdog("fsck", "--read-data").code == 1
    assert verdog("checkout", "first", "copy").code == 4


@pytest.fixture
def wounded(verdog: Verdog, recorded: Path) -> Path:
    """A byte of the file that the first visit wrote is changed, and all three runs recorded that file."""
    content = random.Random(0).randbytes(100_000)
    for pack in pack_files(recorded):
        at = pack.read_bytes().find(content[50_000:50_100])
        if at >= 0:
            pack.write_bytes(flip(at / pack.stat().st_size)(pack.read_bytes()))
            return recorded
    raise AssertionError("the content is in no pack")


def test_an_object_that_three_runs_share_is_named_with_each_of_them(verdog: Verdog, wounded: Path) -> None:
    result = verdog("fsck", "--read-data", "--json")
    findings = json.loads(result.out)["findings"]
    assert result.code == 1
    assert [each["run"] for each in findings] == list(RUNS)
    assert len({each["oid"] for each in findings}) == 1
    assert {tuple(each["paths"]) for each in findings} == {("work/000001/large",)}
    assert all({"place": "work", "node": "work", "visit": 1} in each["visits"] for each in findings)
    text = verdog("fsck", "--read-data").out
    for each in findings:
        assert f"object {each['oid']} is damaged: run {each['run']}" in text
    assert text.count("work/000001/large") == 3


def test_a_damaged_file_is_not_written_and_its_run_does_not_go_on(verdog: Verdog, wounded: Path) -> None:
    damaged = json.loads(verdog("fsck", "--read-data", "--json").out)["findings"][0]["oid"]
    for command in (
        ["checkout", "first", "copy"],
        ["checkout", "first", "copy", "--", "work/000001/large"],
        ["cat", "first:work/000001/large"],
        ["fork", "first", "--sessions", "fresh", "--no-run", "--output-dir", "copy"],
        ["git", "export", "--files", "export.git"],
    ):
        result = verdog(*command)
        assert result.code == 4, result
        assert result.err.startswith("error: work/000001/large: object ")
        assert "is damaged" in result.err or damaged in result.err
        assert not (wounded / "copy").exists()
    assert verdog("show", "first").code == 0
    (wounded / "mended").touch()
    shutil.rmtree(wounded / "first")
    resumed = verdog("resume", "first")
    assert resumed.code == 4
    assert "work/000001/large" in resumed.err
    assert not (wounded / "first/work").exists()
    assert not list(wounded.glob(".verdog-partial*"))


def test_what_a_repair_marked_is_healed_by_storing_the_same_content_again(
    verdog: Verdog, wounded: Path
) -> None:
    for run in RUNS:
        (wounded / run / "work/000001/large").write_bytes(b"edited")
    repaired = verdog("fsck", "--read-data", "--repair")
    assert repaired.code == 1
    assert "1 object to be stored anew" in repaired.out
    assert repaired.out.startswith(verdog("fsck", "--read-data").out), "nothing is silently gone"
    assert (wounded / "first/work/000001/large").read_bytes() == b"edited"
    (wounded / "mended").touch()
    assert verdog("run", "flow.py", "--run-id", "fourth", "--output-dir", "fourth").code == 0
    assert verdog("fsck", "--read-data").code == 0
    shutil.rmtree(wounded / "first")
    assert verdog("resume", "first").code == 0
    assert verdog("checkout", "second", "copy").code == 0


def test_a_repair_heals_from_a_directory_that_still_has_the_content(verdog: Verdog, wounded: Path) -> None:
    for run in RUNS[:2]:
        shutil.rmtree(wounded / run)
    before = snapshot(wounded / "third")
    repaired = verdog("fsck", "--read-data", "--repair", "--json")
    document = json.loads(repaired.out)
    assert repaired.code == 1
    assert document["healed"] == [document["findings"][0]["oid"]]
    assert snapshot(wounded / "third") == before
    checked = verdog("fsck", "--read-data")
    assert checked.code == 0, checked.out
    assert verdog("checkout", "first", "copy").code == 0


def test_a_run_that_met_the_damage_heals_it_when_it_records_the_same_content_again(
    verdog: Verdog, wounded: Path
) -> None:
    """Whoever may write marks what it found damaged."""
    (wounded / "second/work/000001/large").unlink()
    assert verdog("restore", "second").code == 4
    (wounded / "mended").touch()
    assert verdog("restart", "first", "--sessions", "fresh").code == 0
    assert verdog("restore", "second").code == 0
    assert verdog("fsck", "--read-data").code == 0


def test_repair_without_reading_is_refused(verdog: Verdog, recorded: Path) -> None:
    assert verdog("fsck", "--repair").code == 2

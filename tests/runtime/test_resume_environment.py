"""A run goes on only with the packages and the interpreter that it was executed with."""

import importlib.metadata
from pathlib import Path

import pytest

from tests.runtime.graphs import loop_graph, workflow
from tests.runtime.recorded import fail_in, fork, header_of, refused, resume, run
from verdog_runtime import environment
from verdog_runtime.distributions import list_distributions
from verdog_runtime.refusals import Incompatible


def install(place: Path, version: str, files: bytes = b"tool.py,sha256=abc,1\n") -> Path:
    directory = place / f"tool-{version}.dist-info"
    directory.mkdir(parents=True)
    (directory / "RECORD").write_bytes(files)
    return place


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (("2.0", b"tool.py,sha256=abc,1\n"), "package tool changed from version 1.0 to 2.0"),
        (("1.0", b"tool.py,sha256=other,1\n"), "package tool 1.0 has other files"),
        (None, "package tool 1.0 is not installed now"),
    ],
)
def test_another_package_refuses_resume_and_fork_until_it_is_allowed(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    now: tuple[str, bytes] | None,
    sentence: str,
) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with monkeypatch.context() as before:
        before.syspath_prepend(install(tmp_path / "before", "1.0"))
        with pytest.raises(ValueError, match="boom"):
            run(project, definition, 2)
    if now is not None:
        monkeypatch.syspath_prepend(install(tmp_path / "now", *now))
    error = refused(project, definition, Incompatible)
    (difference,) = error.differences
    assert difference.startswith(sentence)
    with pytest.raises(Incompatible, match="package tool"):
        fork(project, definition, 2)
    assert not (project / "forked").exists()
    with pytest.raises(ValueError, match="boom"):
        resume(project, definition, allow_changed_code=True)
    assert header_of(project).changed_code == (difference,)


@pytest.mark.parametrize("fact", ["implementation", "version", "abi", "platform", "execution model"])
def test_another_interpreter_refuses_resume_and_fork(
    project: Path, monkeypatch: pytest.MonkeyPatch, fact: str
) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    here = environment.describe_python()
    monkeypatch.setattr(environment, "describe_python", lambda: here | {fact: "another"})
    error = refused(project, definition, Incompatible)
    assert error.differences == (f"the interpreter's {fact} changed from {here[fact]} to another",)
    with pytest.raises(Incompatible, match=fact):
        fork(project, definition, 2)


def test_the_runtime_itself_is_one_of_the_packages() -> None:
    try:
        version = importlib.metadata.version("verdog-repo")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the tests run on sources that are not installed")
    assert ("verdog-repo", version) in {(each.name, each.version) for each in list_distributions()}

"""`runs prune` and `runs register`: the registry, and directories that were moved."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.registration import prune_registry


@pytest.fixture
def output(verdog: Verdog, project: Path) -> Path:
    (project / "flow.py").write_text(countdown())
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 0
    return project / "out"


def registered(project: Path) -> list[str]:
    document = json.loads((project / ".verdog/run-registry.json").read_text())
    return [each["output_dir"] for each in document["runs"]]


def test_prune_removes_directories_that_are_gone_and_keeps_their_runs(
    verdog: Verdog, project: Path, output: Path
) -> None:
    shutil.rmtree(output)
    result = verdog("runs", "prune")
    assert (result.code, result.out.split()) == (0, [str(output)])
    assert registered(project) == []
    assert "first" in verdog("runs").out


def test_prune_keeps_directories_that_are_there(verdog: Verdog, project: Path, output: Path) -> None:
    assert verdog("runs", "prune").out == ""
    assert registered(project) == [str(output)]


def test_prune_finds_the_directories_of_a_project_that_was_moved(project: Path, output: Path) -> None:
    moved = project.rename(project.with_name("moved"))
    with Repository.open(moved) as repository:
        assert prune_registry(repository) == (output,)
    assert registered(moved) == [str(moved / "out")]


def test_prune_names_the_run_that_has_the_directory_now(verdog: Verdog, project: Path, output: Path) -> None:
    shutil.rmtree(output)
    assert verdog("run", "flow.py", "--run-id", "second", "--output-dir", "out").code == 0
    (project / ".verdog/run-registry.json").unlink()
    assert verdog("runs", "prune").code == 0
    document = json.loads((project / ".verdog/run-registry.json").read_text())
    assert document["runs"] == [{"run_id": "second", "output_dir": str(output)}]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_text("{"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "not a list": lambda path: path.write_text('{"schema_version": 1, "runs": 3}'),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
    "a link": lambda path: (path.rename(path.with_name("kept")), path.symlink_to("kept")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.fixture(params=DAMAGES)
def damaged(request: pytest.FixtureRequest, project: Path, output: Path) -> Path:
    """The registry, damaged in one of several ways."""
    registry = project / ".verdog/run-registry.json"
    DAMAGES[request.param](registry)
    return registry


def kept_aside(registry: Path) -> list[Path]:
    return list(registry.parent.glob("run-registry.json.damaged-*"))


def test_prune_writes_a_damaged_registry_anew(
    verdog: Verdog, project: Path, output: Path, damaged: Path
) -> None:
    assert verdog("runs", "prune").code == 0
    assert registered(project) == [str(output)]
    assert len(kept_aside(damaged)) == 1


COMMANDS = {
    "run": ("run", "flow.py"),
    "restart": ("restart", "first", "--sessions", "fresh"),
    "fork": ("fork", "first@3", "--sessions", "fresh"),
    "fork that is only made": ("fork", "first@3", "--sessions", "fresh", "--no-run"),
}


@pytest.mark.parametrize(
    ("damaged", "command"),
    [
        pytest.param(
            damage, command, marks=() if command == "run" or damage == "garbage" else pytest.mark.slow
        )
        for damage in DAMAGES
        for command in COMMANDS
    ],
    indirect=["damaged"],
)
def test_a_damaged_registry_stops_no_run_and_is_written_anew(
    verdog: Verdog, project: Path, output: Path, damaged: Path, command: str
) -> None:
    assert verdog(*COMMANDS[command], "--output-dir", "second").code == 0
    assert registered(project) == [str(output), str(project / "second")]
    assert len(kept_aside(damaged)) == 1


def test_a_damaged_registry_does_not_stop_a_resumption(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 1
    (project / ".verdog/run-registry.json").write_text("{")
    (project / "mended").touch()
    assert verdog("resume", "first").code == 0
    assert registered(project) == [str(project / "out")]


def test_what_was_done_about_a_damaged_registry_is_one_line(
    verdog: Verdog, project: Path, output: Path, caplog: pytest.LogCaptureFixture
) -> None:
    registry = project / ".verdog/run-registry.json"
    registry.write_text("{")
    verdog("run", "flow.py")
    (line,) = caplog.messages
    assert str(registry) in line
    assert kept_aside(registry)[0].name in line


def test_a_registry_that_cannot_be_written_stops_no_run(
    verdog: Verdog, project: Path, output: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lock = project / ".verdog/locks/run-registry.lock"
    lock.unlink()
    lock.mkdir()
    assert verdog("run", "flow.py", "--run-id", "second").code == 0
    (line,) = caplog.messages
    assert "run-registry.json does not say where run second is" in line


def test_moving_a_directory_mends_a_damaged_registry(
    verdog: Verdog, project: Path, output: Path, damaged: Path
) -> None:
    output.rename(project / "moved")
    assert verdog("runs", "register", "moved").code == 0
    assert registered(project) == [str(project / "moved")]


def test_a_moved_directory_is_registered_where_it_is_now(verdog: Verdog, project: Path, output: Path) -> None:
    moved = project / "elsewhere"
    output.rename(moved)
    assert "absent" in verdog("runs").out
    result = verdog("runs", "register", "elsewhere")
    assert (result.code, result.out) == (0, "run first is registered at elsewhere\n")
    assert registered(project) == [str(moved)]
    assert "absent" not in verdog("runs").out
    assert verdog("status", "first").code == 0
    with Repository.open(project) as repository:
        assert repository.header(RunId("first")).output_dir == "elsewhere"


def test_a_copy_is_not_registered_while_the_run_is_still_where_it_was(
    verdog: Verdog, project: Path, output: Path
) -> None:
    shutil.copytree(output, project / "copy")
    result = verdog("runs", "register", "copy")
    assert result.code == 1
    assert "is still at" in result.err


def test_a_directory_of_no_run_is_not_registered(verdog: Verdog, project: Path, output: Path) -> None:
    (project / "other").mkdir()
    result = verdog("runs", "register", "other")
    assert result.code == 2
    assert "is not the output of a run" in result.err


def test_register_without_a_directory_is_a_usage_error(verdog: Verdog, output: Path) -> None:
    assert verdog("runs", "register").code == 2
    assert verdog("runs", "countdown", "more").code == 2

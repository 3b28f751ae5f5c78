"""`runs prune` and `runs register`: the registry, and directories that were moved."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog
from verdog_repo.names import RunId
from verdog_repo.repository import Repository


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


def test_prune_writes_a_damaged_registry_anew(verdog: Verdog, project: Path, output: Path) -> None:
    (project / ".verdog/run-registry.json").write_text("{")
    refused = verdog("run", "flow.py")
    assert "verdog runs prune" in refused.err
    assert verdog("runs", "prune").code == 0
    assert str(output) in registered(project)
    assert verdog("run", "flow.py").code == 0


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

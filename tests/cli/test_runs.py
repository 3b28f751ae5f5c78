import json
from pathlib import Path

from tests.cli.store import HandMade
from tests.cli.workflows import countdown
from tests.commandline import Verdog
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus


def fork_of(run: str, checkpoint: int) -> Lineage:
    return Lineage(
        run=RunId(run),
        operation=LineageKind.FORK,
        checkpoint=checkpoint,
        arguments=ArgumentsKind.CHECKPOINT,
    )


def test_a_project_where_nothing_ran_is_told_so(verdog: Verdog) -> None:
    result = verdog("runs")
    assert result.code == 2
    assert "error: " in result.err


def test_children_stand_below_their_parents(verdog: Verdog, repository: Repository) -> None:
    for name, parent in (("first", None), ("second", None), ("child", "first"), ("grandchild", "child")):
        run = HandMade(repository, name, parent=None if parent is None else fork_of(parent, 1))
        run.checkpoint()
    lines = verdog("runs").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["second", "first", "+", "+"]
    assert lines[3].startswith("+ child")
    assert lines[4].startswith("  + grandchild")


def test_a_listing_shows_status_checkpoint_and_arguments(verdog: Verdog, repository: Repository) -> None:
    run = HandMade(repository, "first", arguments=("--input.limit", "3"))
    run.checkpoint()
    run.checkpoint(reason="input.items[3] is a lock")
    run.finish(RunStatus.FAILED)
    row = verdog("runs").out.splitlines()[1]
    assert row.split()[:3] == ["first", "failed", "2!"]
    assert row.endswith("--input.limit 3")


def test_a_run_whose_process_died_is_interrupted(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "first").checkpoint()
    assert "interrupted" in verdog("runs").out


def test_runs_are_chosen_by_workflow_and_status(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "first").finish()
    HandMade(repository, "second").finish(RunStatus.FAILED)
    assert "second" not in verdog("runs", "--status", "succeeded").out
    assert verdog("runs", "other").out == ""
    assert "first" in verdog("runs", "census", "--status", "succeeded", "--status", "failed").out


def test_what_else_a_run_can_be_called_is_listed(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown())
    verdog("run", "flow.py", "--run-id", "first")
    assert "NAMES" not in verdog("runs").out
    verdog("fork", "first@work#1", "--sessions", "fresh", "--output-dir", "kept/bold")
    verdog("label", "bold", "brave")
    title, first, fork = verdog("runs").out.splitlines()
    assert title.split()[:2] == ["RUN", "NAMES"]
    assert first.split()[:3] == ["first", "-", "succeeded"]
    assert " brave, bold  succeeded " in fork
    assert " brave, bold  succeeded " in verdog("runs", "--brief").out
    listed = json.loads(verdog("runs", "--json").out)["runs"]
    assert {each["run"]: each["labels"] for each in listed}["first"] == []
    assert ["brave"] in [each["labels"] for each in listed]
    assert verdog("show", "brave").code == verdog("show", "bold").code == 0


def test_json_lists_the_same_runs(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "first").checkpoint()
    document = json.loads(verdog("runs", "--json").out)
    assert document["schema_version"] == 1
    assert document["operation"] == "runs"
    (run,) = document["runs"]
    assert (run["run"], run["status"], run["checkpoint"], run["present"]) == ("first", "interrupted", 1, True)
    assert "checkpoint" not in json.loads(verdog("runs", "--json", "--brief").out)["runs"][0]


def test_a_wide_listing_still_fits_80_columns(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "a-run-with-a-very-long-name" * 2, arguments=("--input.text", "x" * 200))
    assert all(len(line) <= 80 for line in verdog("runs").out.splitlines())

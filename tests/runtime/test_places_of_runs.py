"""Directories that cannot be the output of a run, or are the output of none."""

import shutil
from pathlib import Path

import pytest

from tests.runtime.graphs import line_graph, loop_graph, workflow
from tests.runtime.recorded import fail_in, fork, opened, read_tree, resume, run, run_id, stored_of
from verdog_objects.errors import InvalidInput
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.forking import ForkRequest, examine_fork, make_fork
from verdog_runtime.interpreter.openbooks import new_operation
from verdog_runtime.interpreter.policies import SessionPolicy
from verdog_runtime.storeerrors import RunStoreError


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
def test_a_file_is_no_output_directory(project: Path, checkpointing: str) -> None:
    (project / "out").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        run(project, workflow(line_graph()), 1, checkpointing=checkpointing)  # type: ignore[arg-type]
    assert (project / "out").read_text() == "mine"
    assert not (project / ".verdog").exists()


def test_a_directory_of_something_else_is_not_resumed(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    (project / "other/.verdog").mkdir(parents=True)
    (project / "other/mine").write_text("mine")
    before = read_tree(project / "other", times=True)
    with pytest.raises(RunStoreError) as caught:
        resume(project, definition, "other")
    assert caught.value.code == "run.output_missing"
    assert read_tree(project / "other", times=True) == before


def test_the_directory_of_another_store_s_run_is_not_resumed_and_not_listed(
    project: Path, tmp_path: Path
) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    other = tmp_path / "other"
    other.mkdir()
    run(other, workflow(line_graph()), 1)
    shutil.copytree(project / "out", other / ".verdog/runs/main/copied")
    with pytest.raises(RunStoreError) as caught:
        resume(other, workflow(loop_graph()), ".verdog/runs/main/copied")
    assert caught.value.code == "run.output_missing"
    with opened(other) as repository:
        assert [each.header.run for each in repository.runs()] == [run_id(other / "out")]


def test_a_fork_that_cannot_be_recorded_leaves_no_directory(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 1)
    taken = run_id(project / "out")
    before = stored_of(project)
    with Repository.open(project) as repository:
        request = ForkRequest(
            source=repository.checkpoint_at(taken, 3).commit,
            run=taken,
            output_dir=project / "forked",
            sessions=SessionPolicy.FRESH,
        )
        forking = examine_fork(repository, request)
        operation = new_operation("fork", "2026-11-30T10:00:00.000000Z", ())
        with pytest.raises(InvalidInput, match="already the name of a run"):
            make_fork(repository, forking, request, operation)
    assert not (project / "forked").exists()
    assert not list(project.glob(".verdog-partial*"))
    assert stored_of(project) == before
    assert fork(project, definition, 3).output == 1

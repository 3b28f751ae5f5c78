"""Restarting: a new run from the beginning, that remembers where another one came from."""

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import WORK, Count, Params, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import (
    AUTO,
    REQUIRED,
    completed,
    fail_in,
    header_of,
    read_tree,
    record_of,
    run,
    run_id,
    stored_of,
    summaries,
)
from verdog_objects.errors import NotRestorable
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.refusals import CheckpointNotFound, WorkflowMismatch
from verdog_runtime.runs import RunStore, RunStoreError


def restart(
    project: Path,
    definition: Any,
    value: Any,
    *,
    sessions: str = "fresh",
    output: str = "again",
    **rest: Any,
) -> Any:
    return Dispatcher(project_root=project).restart(
        definition,
        value,
        source_output_dir=project / "out",
        output_dir=project / output,
        sessions=sessions,  # type: ignore[arg-type]
        **rest,
    )


def test_a_restart_begins_with_fresh_state_counters_and_budget(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 2)
    result = restart(project, definition, 1)
    assert (result.output, result.state.get(WORK)) == (1, Count(n=2))
    assert completed(project / "again") == ["enter/1", "init/1", "work/1", "tick/1", "work/2"]


def test_a_restart_has_the_whole_limit_again(project: Path) -> None:
    definition = workflow(loop_graph())
    dispatcher = Dispatcher(project_root=project, transition_limit=5)
    dispatcher.run(definition, 1, output_dir=project / "out", checkpointing=AUTO)
    again = dispatcher.restart(
        definition,
        1,
        source_output_dir=project / "out",
        output_dir=project / "again",
        sessions="fresh",  # type: ignore[arg-type]
    )
    assert again.output == 1


def test_visits_of_a_restart_see_its_own_input_parameters_and_id(project: Path) -> None:
    seen: list[Any] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append((value, context.params, context.run_id))
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    address = (".", "toy.loop.main")
    run(project, definition, 1, params={address: Params(step=4)})
    restart(project, definition, 2, params={address: Params(step=5)}, runtime_options="loud")
    restart(project, definition, 3, output="third")
    assert seen == [
        (1, Params(step=4), run_id(project / "out")),
        (2, Params(step=5), run_id(project / "again")),
        (3, Params(), run_id(project / "third")),
    ]
    assert "| runtime     | loud    |" in (project / "again/config.md").read_text()


def test_the_source_does_not_change_and_its_directory_is_not_needed(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 2)
    before = stored_of(project), read_tree(project / "out", times=True)
    restart(project, definition, 1)
    assert (stored_of(project), read_tree(project / "out", times=True)) == before
    shutil.rmtree(project / "again")
    shutil.rmtree(project / "out")
    assert restart(project, definition, 3).output == 3


def test_the_new_run_remembers_its_parent_and_its_own_launch(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1, checkpointing=REQUIRED, workflow_arguments=("--old",))
    restart(
        project,
        definition,
        2,
        sessions="branch",
        workflow_arguments=("--new",),
        arguments_mode="overridden",
        params={(".", "toy.loop.main"): Params(step=5)},
    )
    manifest = RunStore.open(project / "again").manifest()
    assert manifest.parent is not None
    assert manifest.parent.as_json() == {
        "run_id": run_id(project / "out"),
        "operation": "restart",
        "checkpoint": 2,
        "arguments": "overridden",
    }
    assert manifest.launch.as_json() == {"workflow_arguments": ["--new"], "checkpointing": "required"}
    assert record_of(project, 1, "again").parent == header_of(project, "again").parent
    assert record_of(project, 2, "again").parent is None


def test_fresh_conversations_name_no_checkpoint(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    restart(project, definition, 1, source_checkpoint=99)
    parent = header_of(project, "again").parent
    assert parent is not None
    assert (parent.checkpoint, parent.arguments.value) == (None, "reused")


def test_a_chosen_checkpoint_is_named(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    restart(project, definition, 1, sessions="branch", source_checkpoint=1)
    parent = header_of(project, "again").parent
    assert parent is not None
    assert parent.checkpoint == 1


def test_the_newest_checkpoint_that_can_be_branched_is_used(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=threading.Lock(), state=state)

    definition = workflow(line_graph(work))
    run(project, definition, 1)
    restart(project, definition, 1, sessions="branch")
    parent = header_of(project, "again").parent
    assert parent is not None
    assert parent.checkpoint == 1


def test_a_checkpoint_that_cannot_be_branched_is_refused(project: Path) -> None:
    definition = workflow(line_graph(to="failure"))
    with pytest.raises(RuntimeError, match="failure port"):
        run(project, definition, 1)
    with pytest.raises(NotRestorable) as caught:
        restart(project, definition, 1, sessions="branch", source_checkpoint=2)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "checkpoint.session_branch_unavailable"
    assert not (project / "again").exists()


@pytest.mark.parametrize("number", [0, -1, 9])
def test_a_checkpoint_that_the_source_does_not_have_is_refused(project: Path, number: int) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(CheckpointNotFound):
        restart(project, definition, 1, sessions="branch", source_checkpoint=number)
    assert not (project / "again").exists()


def test_a_source_without_checkpoints_can_be_restarted_with_fresh_conversations_only(project: Path) -> None:
    def stop(event: Any) -> None:
        raise KeyboardInterrupt

    definition = workflow(line_graph())
    dispatcher = Dispatcher(project_root=project, execution_handler=stop)
    with pytest.raises(KeyboardInterrupt):
        dispatcher.run(definition, 1, output_dir=project / "out", checkpointing=AUTO)
    with pytest.raises(NotRestorable, match="fresh"):
        restart(project, definition, 1, sessions="branch")
    assert restart(project, definition, 1).output == 1


def test_a_run_that_keeps_no_checkpoints_is_restarted_as_one_that_keeps_none(project: Path) -> None:
    from verdog_runtime.interpreter.begin import RunRequest, begin_run
    from verdog_runtime.interpreter.settings import Settings

    definition = workflow(line_graph())
    request = RunRequest(output_dir=project / "out", checkpointing=CheckpointPolicy.OFF, recorded=True)
    begin_run(Settings(project_root=project), definition, 1, request)
    assert restart(project, definition, 2).output == 2
    assert summaries(project / "again") == ()
    assert header_of(project, "again").status == "succeeded"


def test_changed_code_does_not_block_a_restart(project: Path) -> None:
    (project / "src").mkdir()
    (project / "src/code.py").write_text("a = 1\n")
    definition = workflow(loop_graph(fail_in(1)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    (project / "src/code.py").write_text("a = 2\n")
    assert restart(project, workflow(loop_graph(count_visits)), 1).output == 1


def test_another_workflow_is_refused(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(WorkflowMismatch):
        restart(project, replace(definition, id="toy.loop.other"), 1)
    assert not (project / "again").exists()


def test_a_workflow_that_enters_another_graph_by_now_can_be_restarted(project: Path) -> None:
    run(project, workflow(line_graph()), 1)
    definition = workflow(replace(line_graph(), id="toy.loop.renamed"))
    result = restart(project, replace(definition, id="toy.loop.main"), 2)
    assert result.output == 2
    assert (header_of(project, "again").workflow_id, header_of(project, "again").definition_id) == (
        "toy.loop.main",
        "toy.loop.renamed",
    )


def test_a_directory_that_is_no_run_is_refused(project: Path) -> None:
    with pytest.raises(RunStoreError):
        restart(project, workflow(line_graph()), 1)
    assert not (project / "again").exists()


@pytest.mark.parametrize("mode", ["checkpoint", "other"])
def test_an_unknown_mode_of_arguments_is_refused(project: Path, mode: Any) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(ValueError, match=mode):
        restart(project, definition, 1, arguments_mode=mode)


def test_the_new_directory_must_be_vacant(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    (project / "again").mkdir()
    (project / "again/mine").touch()
    with pytest.raises(ValueError, match="not empty"):
        restart(project, definition, 1)

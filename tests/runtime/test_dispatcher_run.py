"""Running a workflow: what is returned, what is refused before anything is written, what is left on disk."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import (
    LEFT,
    WORK,
    Count,
    Params,
    count_visits,
    edge,
    graph,
    line_graph,
    loop_graph,
    workflow,
)
from tests.runtime.recorded import AUTO, completed, read_tree, run, summaries
from verdog_runtime.declarations import Success, WorkflowState
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.runs import RunStore
from verdog_runtime.storeerrors import OutputLost


def untouched(project: Path) -> bool:
    """Whether nothing was written into a new project."""
    return [path.name for path in project.rglob("*")] == ["pyproject.toml"]


@pytest.mark.parametrize("checkpointing", ["off", "auto", "required"])
def test_a_run_returns_the_output_and_the_final_state(project: Path, checkpointing: str) -> None:
    result = run(project, workflow(loop_graph()), 2, checkpointing=checkpointing)  # type: ignore[arg-type]
    assert isinstance(result, Success)
    assert result.output == 2
    assert isinstance(result.state, WorkflowState)
    assert result.state.get(WORK) == Count(n=3)
    assert result.state.get(LEFT) == 0


def test_every_visit_has_a_new_numbered_directory_of_its_own(project: Path) -> None:
    seen: list[Path] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        assert list(context.output_dir.iterdir()) == []
        seen.append(context.output_dir)
        return count_visits(value, state, context)

    run(project, workflow(loop_graph(work)), 1)
    assert seen == [project / "out/work/000001", project / "out/work/000002"]
    assert {path.decode() for path in read_tree(project / "out")} == {
        "enter",
        "enter/000001",
        "exit",
        "exit/000001",
        "init",
        "init/000001",
        "tick",
        "tick/000001",
        "work",
        "work/000001",
        "work/000001/out.txt",
        "work/000002",
        "work/000002/out.txt",
    }


def test_one_checkpoint_is_written_for_each_transition(project: Path) -> None:
    run(project, workflow(loop_graph()), 1)
    assert [each.kind.value for each in summaries(project / "out")] == ["entry", *["node"] * 3, "terminal"]
    assert completed(project / "out") == ["enter/1", "init/1", "work/1", "tick/1", "work/2"]
    assert [each.next and f"{each.next.node}/{each.next.visit}" for each in summaries(project / "out")] == [
        "init/1",
        "work/1",
        "tick/1",
        "work/2",
        None,
    ]


def test_each_checkpoint_is_durable_before_the_next_visit_begins(project: Path) -> None:
    counts: list[int] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        counts.append(len(RunStore.open(project / "out").checkpoints()))
        return count_visits(value, state, context)

    run(project, workflow(loop_graph(work)), 1)
    assert counts == [2, 4]


def test_the_context_says_where_and_what_is_visited(project: Path) -> None:
    seen: list[Any] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append(context)
        return Success(output=value, state=state)

    definition = workflow(line_graph(work))
    run(project, definition, 1, run_id="mine", params={(".", "toy.loop.main"): Params(step=7)})
    (context,) = seen
    assert (context.run_id, context.graph_id, context.node_id, context.edge_id, context.params) == (
        "mine",
        "toy.loop.main",
        "work",
        "enter__work",
        Params(step=7),
    )


def test_an_output_travels_as_the_very_object(project: Path) -> None:
    value = object()
    assert run(project, workflow(line_graph()), value, checkpointing=CheckpointPolicy.OFF).output is value


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
@pytest.mark.parametrize(
    "run_id", ["", " ", "../x", "a/b", "x" * 300, "HEAD", "a..b", "a.lock", "-d", "a\n", "\u00e9", b"a", 3]
)
def test_a_bad_run_id_is_refused_before_anything_is_written(
    project: Path, run_id: Any, checkpointing: str
) -> None:
    with pytest.raises(ValueError, match="run id"):
        run(project, workflow(line_graph()), 1, run_id=run_id, checkpointing=checkpointing)  # type: ignore[arg-type]
    assert untouched(project)


def test_a_run_id_can_be_used_once_in_a_project(project: Path) -> None:
    run(project, workflow(line_graph()), 1, run_id="once")
    with pytest.raises(ValueError, match="once is already the name of a run"):
        run(project, workflow(line_graph()), 1, run_id="once", output="second")
    assert not (project / "second").exists()


def test_run_ids_are_uuids_unless_they_are_given(project: Path) -> None:
    import uuid

    run(project, workflow(line_graph()), 1)
    assert uuid.UUID(RunStore.open(project / "out").manifest().id).version == 4


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
def test_an_existing_empty_directory_can_be_the_output(project: Path, checkpointing: str) -> None:
    (project / "out").mkdir()
    assert run(project, workflow(line_graph()), 1, checkpointing=checkpointing).output == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
def test_an_output_directory_that_holds_something_is_refused(project: Path, checkpointing: str) -> None:
    (project / "out").mkdir()
    (project / "out/mine").write_text("kept")
    with pytest.raises(ValueError, match="not empty"):
        run(project, workflow(line_graph()), 1, checkpointing=checkpointing)  # type: ignore[arg-type]
    assert read_tree(project / "out").keys() == {b"mine"}
    assert not (project / ".verdog").exists()


@pytest.mark.parametrize("place", ["file", "file/below/it", "loop", "loop/below"])
def test_an_output_directory_that_can_never_be_made_is_refused(project: Path, place: str) -> None:
    (project / "file").write_text("kept")
    (project / "loop").symlink_to("loop")
    with pytest.raises(ValueError, match="output directory"):
        run(project, workflow(line_graph()), 1, output=place)
    assert (project / "file").read_text() == "kept"
    assert not (project / ".verdog").exists()


@pytest.mark.parametrize("place", ["", "runs", "store", "store/packs/mine", "mine", "runs/a/.verdog"])
def test_an_output_directory_among_the_files_of_verdog_is_refused(project: Path, place: str) -> None:
    with pytest.raises(ValueError, match="files of its own"):
        run(project, workflow(line_graph()), 1, output=f".verdog/{place}")
    assert untouched(project)
    assert run(project, workflow(line_graph()), 1, output=".verdog/runs/main/mine").output == 1


def test_an_output_directory_in_the_private_directory_of_another_run_is_refused(project: Path) -> None:
    run(project, workflow(line_graph()), 1, output="first")
    with pytest.raises(ValueError, match="files of its own"):
        run(project, workflow(line_graph()), 1, output="first/.verdog/second")


def test_a_workspace_in_a_private_directory_that_an_author_made_can_hold_projects_and_runs(
    project: Path,
) -> None:
    place = project / "out/work/000001/.verdog/workspace"

    def work(value: int, state: Count, context: Any, /) -> Success[int, Count]:
        run(place / "inner", workflow(line_graph()), value, output=".verdog/runs/main/one")
        run(project, workflow(line_graph()), value, output=place / "two")
        return count_visits(value, state, context)

    assert run(project, workflow(line_graph(work)), 7).output == 7
    assert (
        completed(place / "inner/.verdog/runs/main/one") == completed(place / "two") == ["enter/1", "work/1"]
    )


def test_an_output_directory_whose_name_cannot_be_stored_is_refused(project: Path) -> None:
    with pytest.raises(ValueError, match=r"o\\xff.* no UTF-8"):
        run(project, workflow(line_graph()), 1, output="o\udcff")
    assert untouched(project)
    assert (
        run(project, workflow(line_graph()), 1, output="o\udcff", checkpointing=CheckpointPolicy.OFF).output
        == 1
    )


def test_an_output_directory_can_be_reached_over_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / "link").symlink_to(tmp_path / "elsewhere")
    run(project, workflow(line_graph()), 1, output="link/out")
    assert (tmp_path / "elsewhere/out/work/000001/out.txt").is_file()
    assert RunStore.open(project / "link/out").manifest().output_dir == tmp_path / "elsewhere/out"


def test_a_graph_that_breaks_a_rule_is_refused_before_anything_is_written(project: Path) -> None:
    broken = graph(edge("enter", "nowhere", count_visits), nodes=(WORK,))
    with pytest.raises(ValueError, match="nowhere"):
        run(project, workflow(broken), 1)
    assert untouched(project)


@pytest.mark.parametrize(
    ("params", "error"),
    [({(".", "toy.loop.other"): 1}, ValueError), ({"toy.loop.main": 1}, TypeError)],
)
def test_undeclared_parameters_are_refused_before_anything_is_written(
    project: Path, params: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        run(project, workflow(line_graph()), 1, params=params)
    assert untouched(project)


def test_an_entry_in_another_project_is_refused(project: Path) -> None:
    definition = workflow(line_graph())
    elsewhere = replace(definition, entry=replace(definition.entry, project_path="external/a/b"))
    with pytest.raises(ValueError, match="external/a/b"):
        run(project, elsewhere, 1)
    assert untouched(project)


def test_an_unknown_policy_is_refused(project: Path) -> None:
    with pytest.raises(ValueError, match="sometimes"):
        run(project, workflow(line_graph()), 1, checkpointing="sometimes")  # type: ignore[arg-type]
    assert untouched(project)


@pytest.mark.parametrize("limit", [0, -1, True, 1.0, float("nan"), float("inf"), "5", None, b"5", [1]])
def test_a_transition_limit_must_be_a_positive_integer(limit: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(limit))):
        Dispatcher(transition_limit=limit)


@pytest.mark.parametrize("settings", [{"execution_handler": 1}, {"cancellation": object()}])
def test_a_handler_and_a_token_must_be_such(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"must be"):
        Dispatcher(**settings)


@pytest.mark.parametrize(
    "arguments",
    [
        {"output_dir": None},
        {"output_dir": 1},
        {"params": [1]},
        {"params": None},
        {"workflow_arguments": [1]},
        {"workflow_arguments": "one"},
        {"workflow_arguments": [None]},
        {"workflow_arguments": {"a": "b"}},
        {"workflow_arguments": None},
    ],
    ids=repr,
)
def test_arguments_of_other_classes_are_refused_before_anything_is_written(
    project: Path, arguments: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        Dispatcher(project_root=project).run(
            workflow(line_graph()), 1, **{"output_dir": project / "out", "checkpointing": AUTO, **arguments}
        )
    assert untouched(project)


def test_what_is_no_workflow_is_refused_before_anything_is_written(project: Path) -> None:
    with pytest.raises(TypeError, match="WorkflowDefinition"):
        run(project, line_graph(), 1)  # type: ignore[arg-type]
    assert untouched(project)


def test_an_output_directory_may_be_a_text(project: Path) -> None:
    Dispatcher(project_root=project).run(
        workflow(line_graph()),
        1,
        output_dir=str(project / "out"),  # type: ignore[arg-type]
        checkpointing=AUTO,
    )
    assert (project / "out" / "work" / "000001").is_dir()


def test_a_limit_allows_exactly_so_many_transitions(project: Path) -> None:
    definition = workflow(loop_graph())
    enough = Dispatcher(project_root=project, transition_limit=5)
    assert enough.run(definition, 1, output_dir=project / "enough", checkpointing=AUTO).output == 1
    short = Dispatcher(project_root=project, transition_limit=4)
    with pytest.raises(RuntimeError, match=r"\[transition_limit\]") as caught:
        short.run(definition, 1, output_dir=project / "short", checkpointing=AUTO)
    assert "edge=work__exit" in caught.value.__notes__
    assert len(summaries(project / "short")) == 4


def test_a_dispatcher_runs_one_after_another(project: Path) -> None:
    dispatcher = Dispatcher(project_root=project)
    definition = workflow(loop_graph())
    for name in ("first", "second"):
        result = dispatcher.run(definition, 1, output_dir=project / name, checkpointing=AUTO)
        assert result.state.get(WORK) == Count(n=2)


def test_the_project_is_the_current_directory_unless_it_is_given(project: Path) -> None:
    Dispatcher().run(workflow(line_graph()), 1, output_dir=Path("out"), checkpointing=AUTO)
    assert (project / ".verdog/store").is_dir()
    assert RunStore.open(project / "out").manifest().project_root == project


def test_a_node_that_removes_the_output_directory_fails_the_run(project: Path) -> None:
    import shutil

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        shutil.rmtree(project / "out")
        return Success(output=value, state=state)

    with pytest.raises(OutputLost, match="out is gone") as caught:
        run(project, workflow(line_graph(work)), 1)
    assert caught.value.code == "run.output_lost"

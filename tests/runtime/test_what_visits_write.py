"""What visits may do with files, and what a run that goes on does about it."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.workflows import countdown
from tests.processes import shared_starter
from tests.runtime.graphs import INIT as FEATURE_NODE
from tests.runtime.graphs import (
    LEFT,
    WORK,
    Count,
    count_visits,
    edge,
    graph,
    line_graph,
    loop_graph,
    workflow,
)
from tests.runtime.recorded import artifacts_of, fork, last, resume, run, summaries
from verdog_runtime.declarations import (
    FeatureSuccess,
    NumericalEffectObservation,
    NumericalFeatureEffect,
    Success,
)
from verdog_runtime.layout import format_node_directory


def fails_once(action: Callable[[Path], object]) -> Any:
    """A body that does something, and raises in its first visit."""
    visits: list[Path] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        visits.append(context.output_dir)
        action(context.output_dir)
        if len(visits) == 1:
            raise ValueError("boom")
        return count_visits(value, state, context)

    return work


def test_a_visit_of_a_feature_node_may_write_even_the_one_that_sets_the_first_value(project: Path) -> None:
    def init(value: int, state: Any, context: Any, /) -> FeatureSuccess[Any]:
        assert context.output_dir.is_absolute()
        (context.output_dir / "decision.txt").write_text("accepted\n")
        return FeatureSuccess(state=state.replace(LEFT, value))

    effect = NumericalFeatureEffect(feature_id="left", observation=NumericalEffectObservation.UNCONSTRAINED)
    definition = graph(
        edge("enter", "init", init),
        edge("init", "exit", effects=(effect,)),
        nodes=(FEATURE_NODE,),
        features=(LEFT,),
    )
    run(project, workflow(definition), 1)
    assert b"init/000001/decision.txt" in artifacts_of(project, last(project / "out").sequence)


@pytest.mark.parametrize(
    "name", [".verdog", ".verdog-invocation.json", "trace.log", "config.md", "stats.md", "run.json"]
)
def test_a_node_may_be_called_like_a_file_of_the_runtime(project: Path, name: str) -> None:
    node = dataclasses.replace(WORK, id=name)
    definition = graph(edge("enter", name, count_visits), edge(name, "exit"), nodes=(node,))
    run(project, workflow(definition), 1)
    written = f"{format_node_directory(name)}/000001/out.txt"
    assert written.encode() in artifacts_of(project, last(project / "out").sequence)
    assert (project / "out" / "trace.log").is_file()


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
def test_a_visit_does_not_change_the_working_directory(project: Path, checkpointing: Any) -> None:
    seen: list[Path] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append(Path.cwd())
        return count_visits(value, state, context)

    run(project, workflow(line_graph(work)), 1, checkpointing=checkpointing)
    assert [*seen, Path.cwd()] == [project, project]


def test_what_was_done_outside_the_output_is_not_undone_and_may_be_done_again(
    project: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "elsewhere.txt"

    def order(directory: Path) -> None:
        with journal.open("a") as file:
            file.write("ordered\n")

    definition = workflow(line_graph(fails_once(order)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    assert journal.read_text() == "ordered\n"
    resume(project, definition)
    assert journal.read_text() == "ordered\nordered\n"


def test_a_workspace_in_the_private_directory_of_a_visit_is_never_recorded(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        workspace = context.output_dir / ".verdog/workspace"
        workspace.mkdir(parents=True)
        (workspace / "draft.txt").write_text("draft")
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    run(project, definition, 1)
    (project / "out/work/000001/.verdog/workspace/draft.txt").write_text("changed, and that is fine")
    shutil.move(project / "out/work/000001/.verdog", project / "kept")
    fork(project, definition, 2)
    assert (project / "forked/work/000001/out.txt").exists()
    assert not list((project / "forked/work").rglob(".verdog"))
    assert not [path for path in artifacts_of(project, 2) if b".verdog" in path]


def test_a_changed_file_in_a_private_directory_does_not_stop_a_resumption(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            (context.output_dir / ".verdog").mkdir()
            (context.output_dir / ".verdog/notes.txt").write_text("before")
        if state.n == 1 and not (project / "mended").exists():
            raise ValueError("boom")
        return count_visits(value, state, context)

    definition = workflow(loop_graph(work))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    assert b"work/000001/out.txt" in artifacts_of(project, last(project / "out").sequence)
    (project / "out/work/000001/.verdog/notes.txt").write_text("after")
    (project / "mended").touch()
    assert resume(project, definition).output == 1
    assert all(each.restore_available for each in summaries(project / "out"))


def test_the_trace_of_a_killed_visit_has_a_start_and_no_end(project: Path) -> None:
    (project / "flow.py").write_text(countdown("import os\nif state.taken == 1:\n    os._exit(9)"))
    done = shared_starter().run("run", "flow.py", "--output-dir", "out", cwd=project)
    assert done.code == 9, done.err
    lines = [line.partition("] ")[2] for line in (project / "out/trace.log").read_text().splitlines()]
    assert lines[-1] == "START work/000002"
    assert any(line.startswith("END work/000001") for line in lines)

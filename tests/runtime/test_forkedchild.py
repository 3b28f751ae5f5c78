"""Visits that fork: the child must not go on with the run, however it leaves the visit."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import count_visits, loop_graph, workflow
from tests.runtime.recorded import AUTO, completed, header_of, read_tree, run
from verdog_runtime.declarations import Success, VisitDefinition
from verdog_runtime.interpreter import CheckpointPolicy


def forking(leave: Any, codes: list[int]) -> Any:
    """A body whose child leaves the visit in some way, and whose parent waits for it."""

    def work(value: Any, state: Any, context: Any, /) -> Success[Any, Any]:
        child = os.fork()
        if child == 0:
            return leave()
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return count_visits(value, state, context)

    return work


def return_nothing() -> None:
    return None


def fail() -> None:
    raise ValueError("in the child")


def exit_well() -> None:
    raise SystemExit


def exit_with_a_code() -> None:
    raise SystemExit(7)


def exit_with_words() -> None:
    raise SystemExit("in the child")


def interrupt() -> None:
    raise KeyboardInterrupt


LEAVING = [
    (return_nothing, 1),
    (fail, 1),
    (exit_well, 0),
    (exit_with_a_code, 7),
    (exit_with_words, 1),
    (interrupt, 1),
]


@pytest.mark.parametrize("checkpointing", [AUTO, CheckpointPolicy.OFF])
@pytest.mark.parametrize(("leave", "code"), LEAVING)
def test_a_child_that_a_visit_forked_ends_where_it_leaves_the_visit(
    project: Path, capfd: pytest.CaptureFixture[str], leave: Any, code: int, checkpointing: CheckpointPolicy
) -> None:
    codes: list[int] = []
    definition = workflow(loop_graph(forking(leave, codes)))
    assert run(project, definition, 1, checkpointing=checkpointing).output == 1
    assert codes == [code, code]
    assert not any(path.startswith(b"failure") for path in read_tree(project / "out"))
    assert ("in the child" in capfd.readouterr().err) == (leave in (fail, exit_with_words))
    if checkpointing is AUTO:
        assert header_of(project).status == "succeeded"
        assert completed(project / "out")[-1] == "work/2"


def test_a_child_of_a_feature_node_ends_there_too(project: Path) -> None:
    def init(value: Any, state: Any, context: Any, /) -> Any:
        child = os.fork()
        if child == 0:
            return None
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        return first(value, state, context)

    graph = loop_graph()
    entering = graph.edges[0]
    assert isinstance(entering.visit, VisitDefinition)
    first: Any = entering.visit.implementation
    edges = (dataclasses.replace(entering, visit=VisitDefinition(implementation=init)), *graph.edges[1:])
    assert run(project, workflow(dataclasses.replace(graph, edges=edges)), 1).output == 1
    assert not (project / "out/failure").exists()

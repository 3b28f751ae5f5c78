"""Execution events and the trace: their order, and what a handler can do to a run."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import (
    INIT,
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
from tests.runtime.recorded import AUTO, Stop, header_of, run, summaries
from verdog_runtime.declarations import FeatureSuccess, Success, WorkflowState
from verdog_runtime.interpreter import (
    CheckpointPolicy,
    Dispatcher,
    EdgeExecution,
    ExecutionCancelled,
    ExecutionEvent,
    NodeExecution,
)


def shorten(event: ExecutionEvent) -> tuple[str, str]:
    name = event.node_id if isinstance(event, NodeExecution) else event.edge_id
    return name, event.status.value


def record(project: Path, definition: Any, value: Any = 0, *, error: Any = None, **rest: Any) -> list[Any]:
    """Run and return every event."""
    seen: list[Any] = []
    dispatcher = Dispatcher(project_root=project, execution_handler=seen.append, **rest)
    if error is None:
        dispatcher.run(definition, value, output_dir=project / "out")
    else:
        with pytest.raises(error):
            dispatcher.run(definition, value, output_dir=project / "out")
    return seen


def raising(value: Any, state: Any, context: Any, /) -> Any:
    raise ValueError("boom")


def test_events_come_in_the_documented_order(project: Path) -> None:
    seen = record(project, workflow(loop_graph()))
    assert list(map(shorten, seen)) == [
        ("enter", "running"),
        ("enter", "succeeded"),
        ("enter__init", "succeeded"),
        ("init", "running"),
        ("init", "succeeded"),
        ("init__work", "succeeded"),
        ("work", "running"),
        ("work", "succeeded"),
        ("work__exit", "succeeded"),
        ("exit", "running"),
        ("exit", "succeeded"),
    ]


def test_events_carry_the_state_that_the_documentation_says(project: Path) -> None:
    seen = record(project, workflow(loop_graph()))
    nodes = {shorten(event): event.state for event in seen if isinstance(event, NodeExecution)}
    assert nodes["work", "running"] == Count(n=0)
    assert nodes["work", "succeeded"] == Count(n=1)
    assert {state for (name, _), state in nodes.items() if name != "work"} == {None}
    edges = {event.edge_id: event.state for event in seen if isinstance(event, EdgeExecution)}
    assert all(isinstance(state, WorkflowState) for state in edges.values())
    assert edges["enter__init"].get(LEFT) is None
    assert (edges["init__work"].get(LEFT), edges["init__work"].get(WORK)) == (0, Count(n=0))
    assert edges["work__exit"].get(WORK) == Count(n=1)


def test_events_name_run_graph_and_project(project: Path) -> None:
    seen: list[Any] = []
    dispatcher = Dispatcher(project_root=project, execution_handler=seen.append)
    dispatcher.run(workflow(line_graph()), 1, output_dir=project / "out", run_id="mine")
    assert {(each.run_id, each.graph_id, each.remote, each.project_path) for each in seen} == {
        ("mine", "toy.loop.main", False, ".")
    }


def test_a_failing_node_is_followed_by_the_failure_port(project: Path) -> None:
    seen = record(project, workflow(line_graph(raising)), error=ValueError)
    assert list(map(shorten, seen))[-4:] == [
        ("work", "running"),
        ("work", "failed"),
        ("failure", "running"),
        ("failure", "failed"),
    ]
    assert seen[-3].state == Count()


def test_a_result_that_is_refused_fails_the_node(project: Path) -> None:
    seen = record(project, workflow(line_graph(lambda value, state, context: 3)), error=RuntimeError)
    assert ("work", "failed") in map(shorten, seen)


def test_a_routing_error_comes_after_the_node_succeeded(project: Path) -> None:
    def init(value: Any, state: Any, context: Any, /) -> FeatureSuccess[Any]:
        return FeatureSuccess(state=state.replace(LEFT, 1))

    definition = graph(edge("enter", "init", init), edge("init", "exit"), nodes=(INIT,), features=(LEFT,))
    seen = record(project, workflow(definition), error=RuntimeError)
    assert list(map(shorten, seen))[-3:] == [
        ("init", "succeeded"),
        ("failure", "running"),
        ("failure", "failed"),
    ]


def test_an_edge_to_the_failure_port_is_announced_before_that_is_visited(project: Path) -> None:
    seen = record(project, workflow(line_graph(to="failure")), error=RuntimeError)
    assert list(map(shorten, seen))[-4:] == [
        ("work", "succeeded"),
        ("work__failure", "succeeded"),
        ("failure", "running"),
        ("failure", "failed"),
    ]


def test_the_edge_is_announced_before_its_checkpoint(project: Path) -> None:
    counts: list[int] = []

    def handle(event: ExecutionEvent) -> None:
        if isinstance(event, EdgeExecution):
            counts.append(len(summaries(project / "out")))

    dispatcher = Dispatcher(project_root=project, execution_handler=handle)
    dispatcher.run(workflow(line_graph()), 1, output_dir=project / "out", checkpointing=AUTO)
    assert counts == [0, 1]


def test_nothing_is_announced_of_a_graph_that_breaks_a_rule(project: Path) -> None:
    broken = graph(edge("enter", "nowhere", count_visits), nodes=(WORK,))
    assert record(project, workflow(broken), error=ValueError) == []


def test_a_resumed_run_announces_only_what_it_does(project: Path) -> None:
    fails = [True]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if fails:
            fails.clear()
            raise ValueError("boom")
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    seen: list[Any] = []
    Dispatcher(project_root=project, execution_handler=seen.append).resume(
        definition, output_dir=project / "out"
    )
    assert list(map(shorten, seen)) == [
        ("work", "running"),
        ("work", "succeeded"),
        ("work__exit", "succeeded"),
        ("exit", "running"),
        ("exit", "succeeded"),
    ]


# Handlers that raise.


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
def test_an_exception_of_the_handler_is_logged_and_stops_nothing(
    project: Path, checkpointing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def handle(event: ExecutionEvent) -> None:
        raise ValueError("from the handler")

    dispatcher = Dispatcher(project_root=project, execution_handler=handle)
    with caplog.at_level(logging.ERROR):
        result = dispatcher.run(
            workflow(loop_graph()), 1, output_dir=project / "out", checkpointing=checkpointing
        )
    assert result.output == 1
    assert "from the handler" in caplog.text


EVENTS = [
    ("enter", "running"),
    ("enter", "succeeded"),
    ("enter__work", "succeeded"),
    ("work", "running"),
    ("work", "succeeded"),
    ("exit", "running"),
    ("exit", "succeeded"),
]


@pytest.mark.parametrize("where", EVENTS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ExecutionCancelled, Stop])
def test_anything_else_passes_and_every_visit_has_an_end(
    project: Path, where: tuple[str, str], error: type[BaseException]
) -> None:
    def handle(event: ExecutionEvent) -> None:
        if shorten(event) == where:
            raise error

    dispatcher = Dispatcher(project_root=project, execution_handler=handle)
    with pytest.raises(error):
        dispatcher.run(workflow(line_graph()), 1, output_dir=project / "out")
    lines = read_trace(project / "out")
    assert [path for word, path, _ in lines if word == "START"] == [
        path for word, path, _ in lines if word == "END"
    ]
    if where[0] != "enter__work":
        assert lines[-1][2] == ("cancelled" if error is ExecutionCancelled else "failed")
    assert not (project / "out/failure").exists()


@pytest.mark.parametrize("where", [("work", "failed"), ("failure", "running"), ("failure", "failed")])
def test_anything_else_passes_while_a_run_fails(project: Path, where: tuple[str, str]) -> None:
    def handle(event: ExecutionEvent) -> None:
        if shorten(event) == where:
            raise Stop

    dispatcher = Dispatcher(project_root=project, execution_handler=handle)
    with pytest.raises(Stop):
        dispatcher.run(
            workflow(line_graph(raising)), 1, output_dir=project / "out", checkpointing=CheckpointPolicy.AUTO
        )
    lines = read_trace(project / "out")
    assert len(lines) % 2 == 0
    assert header_of(project).status == "failed"


# The trace.


LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+ *\d+\.\d{3}s\] "
    r"(?:(START) (\S+)|(END) (\S+) status=(\w+) duration=\d+\.\d{6}s)"
)


def read_trace(output: Path) -> list[tuple[str, str, str]]:
    """Return each line as its word, its path and its status."""
    found = []
    for line in (output / "trace.log").read_text().splitlines():
        matched = LINE.fullmatch(line)
        assert matched, line
        start, started, _, ended, status = matched.groups()
        found.append((start or "END", started or ended, status or ""))
    return found


def test_the_trace_holds_a_start_and_an_end_of_every_visit_and_port(project: Path) -> None:
    run(project, workflow(loop_graph()), 1)
    paths = ["enter/000001", "init/000001", "work/000001", "tick/000001", "work/000002", "exit/000001"]
    assert read_trace(project / "out") == [
        line for path in paths for line in (("START", path, ""), ("END", path, "succeeded"))
    ]


def test_a_failed_visit_and_the_failure_port_end_failed(project: Path) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(project, workflow(line_graph(raising)), 1)
    assert read_trace(project / "out")[2:] == [
        ("START", "work/000001", ""),
        ("END", "work/000001", "failed"),
        ("START", "failure/000001", ""),
        ("END", "failure/000001", "failed"),
    ]


def test_a_cancelled_visit_ends_cancelled(project: Path) -> None:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        raise ExecutionCancelled("enough")

    with pytest.raises(ExecutionCancelled):
        run(project, workflow(line_graph(work)), 1)
    assert read_trace(project / "out")[-1] == ("END", "work/000001", "cancelled")

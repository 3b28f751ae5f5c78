"""The machine: control flow without files, clocks or processes."""

import pytest

from tests.runtime.graphs import LEFT, WORK, Count, count_visits, edge, graph, line_graph, loop_graph
from verdog_runtime.declarations.state import with_node_state
from verdog_runtime.interpreter.commands import (
    Command,
    EmitEdge,
    Fail,
    Failed,
    Finish,
    NodeVisited,
    PortVisited,
    Record,
    Recorded,
    VisitNode,
    VisitPort,
)
from verdog_runtime.interpreter.machine import Machine, resume, start, step
from verdog_runtime.interpreter.plan import compile_plan
from verdog_runtime.interpreter.snapshot import restore_snapshot, take_snapshot
from verdog_runtime.interpreter.state import initial_workflow_state


def begin(definition, value=3, limit=100):
    plan = compile_plan(definition)
    return start(plan, input=value, params=None, state=initial_workflow_state(definition), limit=limit)


def visited(machine: Machine, command: VisitNode, **rest) -> NodeVisited:
    number = machine.frame.visits.get(command.node.id, 0) + 1
    return NodeVisited(
        output=machine.frame.value,
        candidate=rest.pop("candidate", machine.frame.state),
        visit=number,
        path=f"{command.node.id}/{number:06d}",
        duration_ns=1,
    )


def port(command: VisitPort) -> PortVisited:
    return PortVisited(visit=1, path=f"{command.port.id}/000001", duration_ns=1)


def run_loop(begun, turns):
    """Drive the loop graph by hand and return every command."""
    machine, commands = begun
    seen: list[Command] = []
    while True:
        seen += commands
        last = commands[-1]
        match last:
            case Finish() | Fail():
                return machine, seen
            case VisitPort():
                answer = port(last)
            case Record():
                answer = Recorded()
            case VisitNode(node=node):
                state = machine.frame.state
                if node.id == "work":
                    state = with_node_state(state, WORK, Count(n=state.get(WORK).n + 1))
                answer = visited(machine, last, candidate=_set_left(state, node.id, turns))
            case _:
                raise AssertionError(last)
        machine, commands = step(machine, answer)


def _set_left(state, node, turns):
    from verdog_runtime.declarations.state import FeatureState, viewed_state

    view = FeatureState.over(state)
    if node == "init":
        return viewed_state(view.replace(LEFT, turns))
    if node == "tick":
        return viewed_state(view.replace(LEFT, state.get(LEFT) - 1))
    return state


def test_a_run_begins_at_the_enter_port():
    _, commands = begin(line_graph())
    assert [type(command) for command in commands] == [VisitPort]
    assert commands[0].port.id == "enter"


def test_a_transition_is_announced_before_it_is_recorded():
    machine, commands = begin(line_graph())
    _, commands = step(machine, port(commands[0]))
    assert [type(command) for command in commands] == [EmitEdge, Record]


def test_the_checkpoint_after_enter_is_an_entry_whose_next_is_the_first_node():
    machine, commands = begin(line_graph())
    _, (_, record) = step(machine, port(commands[0]))
    assert (record.kind, record.completed.node, record.next.node, record.next.visit) == (
        "entry",
        "enter",
        "work",
        1,
    )


def test_a_loop_visits_nodes_as_often_as_its_feature_says():
    _, seen = run_loop(begin(loop_graph(), value=4), 4)
    visits = [command.node.id for command in seen if isinstance(command, VisitNode)]
    assert visits == ["init", *["work", "tick"] * 4, "work"]
    assert isinstance(seen[-1], Finish)


def test_a_terminal_checkpoint_has_no_next():
    _, seen = run_loop(begin(loop_graph()), 1)
    record = [command for command in seen if isinstance(command, Record)][-1]
    assert (record.kind, record.next, record.failing) == ("terminal", None, False)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_limit_allows_exactly_that_many_transitions(limit):
    definition = graph(edge("enter", "work", count_visits), edge("work", "work", count_visits), nodes=(WORK,))
    machine, seen = run_loop(begin(definition, limit=limit), 0)
    assert sum(isinstance(command, EmitEdge) for command in seen) == limit
    assert "[transition_limit]" in str(seen[-1].error)
    assert machine.remaining == 0


def test_a_failed_visit_leads_to_the_failure_port_with_its_error():
    machine, commands = begin(line_graph())
    machine, commands = step(machine, port(commands[0]))
    machine, commands = step(machine, Recorded())
    error = ValueError("boom")
    machine, commands = step(machine, Failed(error=error))
    assert (commands[0].port.id, commands[0].error) == ("failure", error)
    assert step(machine, port(commands[0]))[1] == (Fail(error=error),)


def test_an_error_of_the_failure_port_itself_keeps_the_first_error():
    machine, _ = begin(line_graph())
    first = ValueError("first")
    machine, _ = step(machine, Failed(error=first))
    _, commands = step(machine, Failed(error=OSError("second")))
    assert commands == (Fail(error=first),)
    assert "second" in first.__notes__[0]


def test_an_edge_to_the_failure_port_is_recorded_as_failing_before_it_fails():
    machine, commands = begin(line_graph(to="failure"))
    machine, commands = step(machine, port(commands[0]))
    machine, commands = step(machine, Recorded())
    machine, (_, record) = step(machine, visited(machine, commands[0]))
    assert (record.kind, record.failing) == ("terminal", True)
    machine, commands = step(machine, Recorded())
    assert commands[0].port.id == "failure"
    assert commands[0].error.__notes__ == [
        "source: project=. graph=toy.loop.main source=work output=work/000001",
        "edge=work__failure",
    ]


def test_a_checkpoint_that_fails_leads_to_the_failure_port():
    machine, commands = begin(line_graph())
    machine, commands = step(machine, port(commands[0]))
    _, commands = step(machine, Failed(error=OSError("disk full")))
    assert commands[0].port.id == "failure"


def test_a_machine_restored_from_its_snapshot_takes_the_same_steps():
    definition = loop_graph()
    plan = compile_plan(definition)
    registry = {(".", definition.id): None}
    machine, commands = begin(definition, value=2)
    machine, commands = step(machine, port(commands[0]))
    before = machine, take_snapshot(machine, registry)
    _, undisturbed = run_loop(step(machine, Recorded()), 2)
    frame, remaining, restored = restore_snapshot(plan, before[1])
    assert (remaining, restored) == (machine.remaining, registry)
    _, again = run_loop(resume(frame, remaining=remaining), 2)
    assert [type(command) for command in again] == [type(command) for command in undisturbed]
    assert again[-1].value == undisturbed[-1].value
    assert again[-1].state.get(WORK) == undisturbed[-1].state.get(WORK)


def test_a_snapshot_of_another_graph_is_refused():
    machine, commands = begin(loop_graph())
    machine, _ = step(machine, port(commands[0]))
    values = take_snapshot(machine, {})
    with pytest.raises(ValueError, match="enter__init"):
        restore_snapshot(compile_plan(line_graph()), values)


def test_every_key_of_a_snapshot_is_an_address():
    machine, commands = begin(loop_graph())
    machine, _ = step(machine, port(commands[0]))
    keys = take_snapshot(machine, {(".", "toy.loop.main"): None}).keys()
    assert keys == {
        "input",
        "transit",
        "param:.\0toy.loop.main",
        "node:work",
        "feature:left",
        "frame:0",
    }

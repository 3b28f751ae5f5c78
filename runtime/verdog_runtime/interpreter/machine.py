"""The interpreter's machine: every transition of a run, as a pure function.

It maps a state and an answer to the next state and commands. The driver performs the commands of one step in
order; the last one is answered, and the answer makes the next step. Nothing here touches a file, a clock or a
process, so a run's control flow can be tested without any of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias, assert_never

from verdog_repo.record import Boundary
from verdog_runtime.declarations.graph import EdgeDefinition
from verdog_runtime.declarations.ids import NodeId
from verdog_runtime.declarations.state import AnyState
from verdog_runtime.interpreter.commands import (
    Answer,
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
from verdog_runtime.interpreter.frame import Frame
from verdog_runtime.interpreter.notes import add_note, format_message
from verdog_runtime.interpreter.plan import Plan
from verdog_runtime.interpreter.routing import select_edge


class Phase(StrEnum):
    """What the machine waits for."""

    ENTERING = "entering"
    VISITING = "visiting"
    RECORDING = "recording"
    EXITING = "exiting"
    FAILING = "failing"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The state of a run's control flow.

    Attributes:
        remaining: transitions left in the budget of the whole run.
        error: what the run fails with, once it fails.
    """

    frame: Frame
    remaining: int
    phase: Phase
    error: Exception | None = None


Step: TypeAlias = tuple[Machine, tuple[Command, ...]]


def start(plan: Plan, *, input: object, params: object, state: AnyState, limit: int) -> Step:
    """Begin a run at the enter port of a graph.

    Args:
        plan: the root graph.
        input: the value that travels from the enter port.
        params: the graph's own parameters.
        state: the graph's initial state.
        limit: how many transitions the whole run may make.
    """
    enter = plan.graph.enter
    frame = Frame(plan=plan, input=input, params=params, state=state, value=input, source=enter.id, visits={})
    return Machine(frame=frame, remaining=limit, phase=Phase.ENTERING), (VisitPort(port=enter),)


def resume(frame: Frame, *, remaining: int) -> Step:
    """Go on from a recorded frame: travel the edge that was chosen when it was recorded."""
    return _travel(Machine(frame=frame, remaining=remaining, phase=Phase.RECORDING))


def step(machine: Machine, answer: Answer) -> Step:
    """Return the state after an answer, and what to do next."""
    match answer:
        case Failed(error=error):
            return _fail(machine, error)
        case PortVisited() as visited:
            return _after_port(machine, visited)
        case NodeVisited() as visited:
            edge = _ready_edge(machine.frame)
            frame = replace(machine.frame, visits=_count(machine.frame.visits, edge.target, visited.visit))
            return _route(replace(machine, frame=frame), edge.target, visited)
        case Recorded():
            return _travel(machine)
        case _:
            assert_never(answer)


def _after_port(machine: Machine, visited: PortVisited) -> Step:
    frame = machine.frame
    graph = frame.plan.graph
    match machine.phase:
        case Phase.ENTERING:
            frame = replace(frame, visits=_count(frame.visits, graph.enter.id, visited.visit))
            entered = NodeVisited(
                output=frame.input,
                candidate=frame.state,
                visit=visited.visit,
                path=visited.path,
                duration_ns=visited.duration_ns,
            )
            return _route(replace(machine, frame=frame), graph.enter.id, entered)
        case Phase.EXITING:
            ended = replace(machine, phase=Phase.ENDED)
            return ended, (Finish(value=frame.value, state=frame.state),)
        case Phase.FAILING if machine.error is not None:
            return replace(machine, phase=Phase.ENDED), (Fail(error=machine.error),)
        case _:
            raise AssertionError(f"a port was visited while {machine.phase}")


def _route(machine: Machine, source: NodeId, visited: NodeVisited) -> Step:
    """Choose the one compatible edge, then commit value and state: all of it, or the run fails with none."""
    frame = machine.frame
    plan = frame.plan
    try:
        edge = select_edge(source, plan.routes.get(source, ()), frame.state, visited.candidate, plan.features)
        _require_budget(machine.remaining, edge)
    except Exception as error:
        return _fail(machine, error)
    committed = replace(
        machine,
        frame=replace(
            frame,
            state=visited.candidate,
            value=visited.output,
            source=source,
            output=visited.path,
            edge=edge,
        ),
        remaining=machine.remaining - 1,
        phase=Phase.RECORDING,
    )
    return committed, (
        EmitEdge(edge=edge, state=visited.candidate),
        _describe_checkpoint(committed.frame, edge, visited),
    )


def _require_budget(remaining: int, edge: EdgeDefinition) -> None:
    if remaining > 0:
        return
    error = RuntimeError("the run has used all transitions of its limit [transition_limit]")
    error.add_note(f"edge={edge.id}")
    raise error


def _describe_checkpoint(frame: Frame, edge: EdgeDefinition, visited: NodeVisited) -> Record:
    graph = frame.plan.graph
    terminal = edge.target in (graph.exit.id, graph.failure.id)
    completed = _boundary(frame, frame.source, visited.visit)
    upcoming = None if terminal else _boundary(frame, edge.target, frame.visits.get(edge.target, 0) + 1)
    kind = "terminal" if terminal else "entry" if frame.source == graph.enter.id else "node"
    return Record(
        kind=kind,
        completed=completed,
        next=upcoming,
        failing=edge.target == graph.failure.id,
        duration_ns=visited.duration_ns,
    )


def _boundary(frame: Frame, node: NodeId, visit: int) -> Boundary:
    return Boundary(
        project_path=frame.project_path,
        graph=frame.plan.graph.id,
        node=node,
        visit=visit,
        call_path=frame.call_path,
    )


def _travel(machine: Machine) -> Step:
    """Follow the chosen edge to its target."""
    frame = machine.frame
    graph = frame.plan.graph
    edge = _ready_edge(frame)
    if edge.target == graph.exit.id:
        return replace(machine, phase=Phase.EXITING), (VisitPort(port=graph.exit),)
    if edge.target == graph.failure.id:
        return _fail(machine, _reached_failure(frame, edge))
    node = frame.plan.nodes[edge.target]
    return replace(machine, phase=Phase.VISITING), (VisitNode(edge=edge, node=node),)


def _reached_failure(frame: Frame, edge: EdgeDefinition) -> RuntimeError:
    graph = frame.plan.graph
    error = RuntimeError(f"graph {graph.id} went to its failure port")
    error.add_note(
        f"source: project={frame.project_path} graph={graph.id} source={edge.source} output={frame.output}"
    )
    error.add_note(f"edge={edge.id}")
    return error


def _fail(machine: Machine, error: Exception) -> Step:
    """Visit the failure port with an error. If that visit fails too, the run ends with the first error."""
    if machine.phase is Phase.FAILING and machine.error is not None:
        first = machine.error
        told = f"{type(error).__name__}: {format_message(error)}"
        add_note(first, f"the failure port could not be visited: {told}")
        return replace(machine, phase=Phase.ENDED), (Fail(error=first),)
    failing = replace(machine, phase=Phase.FAILING, error=error)
    return failing, (VisitPort(port=machine.frame.plan.graph.failure, error=error),)


def _ready_edge(frame: Frame) -> EdgeDefinition:
    if frame.edge is None:
        raise AssertionError("no edge was chosen")
    return frame.edge


def _count(visits: Mapping[NodeId, int], node: NodeId, visit: int) -> Mapping[NodeId, int]:
    return MappingProxyType({**visits, node: visit})

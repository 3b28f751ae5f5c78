"""Snapshots: a machine as values at addressable keys, and back."""

from collections.abc import Mapping
from types import MappingProxyType

from verdog_runtime.declarations.ids import NodeId
from verdog_runtime.declarations.operations import ParameterAddress
from verdog_runtime.interpreter.frame import Frame
from verdog_runtime.interpreter.machine import Machine
from verdog_runtime.interpreter.params import format_address
from verdog_runtime.interpreter.plan import Plan
from verdog_runtime.interpreter.state import restore_state, state_values

INPUT = "input"
TRANSIT = "transit"
FRAME = "frame:0"
PARAMETER = "param:"

Registry = Mapping[ParameterAddress, object]


def parameter_key(address: ParameterAddress) -> str:
    """Return the key of one graph's parameters. A project path holds no NUL, so keys never collide."""
    project_path, graph = address
    return f"{PARAMETER}{project_path}\0{graph}"


def parse_parameter_key(key: str) -> ParameterAddress:
    """Return the address that `parameter_key` was given."""
    project_path, _, graph = key.removeprefix(PARAMETER).partition("\0")
    return project_path, graph  # type: ignore[return-value]


def format_key(key: str) -> str:
    """Return a key for people, as the beginning of the path to a part of its value."""
    if key.startswith(PARAMETER):
        return f"params[{format_address(parse_parameter_key(key))}]"
    return key


def take_snapshot(machine: Machine, registry: Registry) -> dict[str, object]:
    """Return everything that a later process needs to go on from a machine that waits for its checkpoint."""
    frame = machine.frame
    if frame.edge is None:
        raise AssertionError("a machine is recorded only after an edge was chosen")
    values: dict[str, object] = {INPUT: frame.input, TRANSIT: frame.value}
    for address, value in registry.items():
        values[parameter_key(address)] = value
    for (kind, name), value in state_values(frame.state).items():
        values[f"{kind}:{name}"] = value
    values[FRAME] = {
        "edge": str(frame.edge.id),
        "graph": str(frame.plan.graph.id),
        "output": frame.output,
        "project_path": frame.project_path,
        "remaining": machine.remaining,
        "source": str(frame.source),
        "visits": {str(node): visit for node, visit in sorted(frame.visits.items())},
    }
    return values


def restore_snapshot(plan: Plan, values: Mapping[str, object]) -> tuple[Frame, int, Registry]:
    """Return the frame, the remaining budget and the parameter registry that a snapshot describes.

    Raises:
        ValueError: the snapshot's graph, edge, node or feature addresses are not those of the plan's graph.
        TypeError: a node's value is not exactly of its declared state type.
    """
    position = _position(values)
    graph = plan.graph
    if position["graph"] != graph.id:
        raise ValueError(f"the checkpoint is of graph {position['graph']}, not of {graph.id}")
    edge = next((each for each in graph.edges if each.id == position["edge"]), None)
    if edge is None:
        raise ValueError(
            f"the checkpoint goes on along edge {position['edge']}, which the graph does not have"
        )
    registry: Registry = {
        parse_parameter_key(key): value for key, value in values.items() if key.startswith(PARAMETER)
    }
    visits = position["visits"]
    remaining = position["remaining"]
    if not isinstance(visits, dict) or not isinstance(remaining, int):
        raise ValueError("the checkpoint's frame is not in the known form")
    frame = Frame(
        plan=plan,
        project_path=str(position["project_path"]),
        input=values[INPUT],
        params=registry.get((".", graph.id)),
        state=restore_state(graph, _state_values(values)),
        value=values[TRANSIT],
        source=NodeId(str(position["source"])),
        output=str(position["output"]),
        edge=edge,
        visits=_parse_visits(visits),  # pyright: ignore[reportUnknownArgumentType]
    )
    return frame, remaining, registry


def _position(values: Mapping[str, object]) -> dict[str, object]:
    found = values.get(FRAME)
    if not isinstance(found, dict) or INPUT not in values or TRANSIT not in values:
        raise ValueError("the checkpoint does not hold a whole frame")
    return found  # pyright: ignore[reportUnknownVariableType]


def _parse_visits(visits: dict[object, object]) -> Mapping[NodeId, int]:
    return MappingProxyType(
        {NodeId(str(node)): visit for node, visit in visits.items() if isinstance(visit, int)}
    )


def _state_values(values: Mapping[str, object]) -> dict[tuple[str, str], object]:
    found: dict[tuple[str, str], object] = {}
    for key, value in values.items():
        kind, separator, name = key.partition(":")
        if separator and kind in ("node", "feature"):
            found[kind, name] = value
    return found

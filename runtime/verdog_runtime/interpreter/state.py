"""States of a graph: the first one, and stored values turned back into one."""

from collections.abc import Mapping
from typing import cast

from typing_extensions import TypeVar

from verdog_runtime.declarations.graph import AnyGraph, AnyNode, GraphDefinition, NodeDefinition
from verdog_runtime.declarations.keys import ScopeT, StateAddress
from verdog_runtime.declarations.state import (
    AnyState,
    WorkflowState,
    addressed_values,
    make_state,
    with_values,
)
from verdog_runtime.interpreter.features import validate_feature_value
from verdog_runtime.interpreter.immutability import require_immutable_state

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ParamsT = TypeVar("ParamsT")


def initial_workflow_state(
    graph: GraphDefinition[InputT, OutputT, ParamsT, ScopeT], /
) -> WorkflowState[ScopeT]:
    """Return the state a graph starts with: each node's `state_type()`, and no feature initialised.

    Each call makes a universe of its own: its states do not mix with any other's.

    Raises:
        TypeError: a node's first state is of another class, or is not immutable.
        Exception: whatever a `state_type` raises. Every error has a note that names the node.
    """
    nodes = stateful_nodes(graph)
    first = [_first_state(node) for node in nodes]
    return cast("WorkflowState[ScopeT]", make_state(nodes, graph.features, first))


def stateful_nodes(graph: AnyGraph) -> tuple[AnyNode, ...]:
    """Return the nodes of a graph that have a state of their own, in declaration order."""
    return tuple(node for node in graph.nodes if isinstance(node, NodeDefinition))


def state_values(state: AnyState) -> Mapping[StateAddress, object]:
    """Return the values of a state by address: nodes, then features, in declaration order."""
    return addressed_values(state)


def restore_state(graph: AnyGraph, values: Mapping[StateAddress, object]) -> AnyState:
    """Return the state that has these values, in a new universe.

    Raises:
        ValueError: the addresses are not exactly the graph's, or a feature's value is not in its domain.
        TypeError: a node's value is not exactly of its state type, or is not immutable.
    """
    nodes = stateful_nodes(graph)
    expected = [node.state_key for node in nodes] + [feature.state_key for feature in graph.features]
    _require_addresses(graph, expected, values)
    for node in nodes:
        require_state(node, values[node.state_key])
    for feature in graph.features:
        value = values[feature.state_key]
        if value is not None:
            validate_feature_value(feature, value)
    node_values = [values[node.state_key] for node in nodes]
    feature_values = [values[feature.state_key] for feature in graph.features]
    return with_values(make_state(nodes, graph.features, node_values), node_values, feature_values)


def require_state(node: AnyNode, value: object) -> None:
    """Check that a value can be the state of a node.

    Raises:
        TypeError: it is not exactly of the node's state type, or is not immutable; a note names the node.
    """
    try:
        if type(value) is not node.state_type:
            raise TypeError(
                f"the state of node {node.id!r} must be exactly a {node.state_type.__qualname__}, "
                f"not a {type(value).__qualname__}"
            )
        require_immutable_state(value)
    except TypeError as error:
        error.add_note(f"node={node.id}")
        raise


def _first_state(node: AnyNode) -> object:
    try:
        value = node.state_type()
    except Exception as error:
        error.add_note(f"node={node.id}")
        raise
    require_state(node, value)
    return value


def _require_addresses(
    graph: AnyGraph, expected: list[StateAddress], values: Mapping[StateAddress, object]
) -> None:
    missing = [address for address in expected if address not in values]
    known = set(expected)
    extra = [address for address in values if address not in known]
    if missing or extra:
        parts = [
            f"{name} {_format_addresses(found)}"
            for name, found in (("without", missing), ("with unknown", extra))
            if found
        ]
        raise ValueError(f"the stored state does not fit graph {graph.id!r}: it is {' and '.join(parts)}")


def _format_addresses(addresses: list[StateAddress]) -> str:
    return ", ".join(f"{kind} {name!r}" for kind, name in addresses)

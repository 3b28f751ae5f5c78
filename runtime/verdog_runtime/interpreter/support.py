"""Support: which operations the interpreter can execute."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from verdog_runtime.declarations.graph import AnyGraph, AnyNode, FeatureNodeDefinition
from verdog_runtime.declarations.operations import Agent, Feature, Python, SubroutineCall, WorkflowCall

OperationKind: TypeAlias = Literal[
    "python", "agent", "feature", "subroutine_call", "workflow_call", "unknown"
]

_KINDS: Mapping[type, OperationKind] = {
    Python: "python",
    Agent: "agent",
    Feature: "feature",
    SubroutineCall: "subroutine_call",
    WorkflowCall: "workflow_call",
}
_LATER = {"agent": "agent", "subroutine_call": "call", "workflow_call": "call"}


def operation_kind(node: AnyNode | FeatureNodeDefinition) -> OperationKind:
    """Return the name of a node's operation; a subclass of an operation is that operation."""
    for known, kind in _KINDS.items():
        if isinstance(node.operation, known):
            return kind
    return "unknown"


def unsupported_operations(graph: AnyGraph) -> tuple[str, ...]:
    """Return a name such as "agent node 'ask'" for each node that cannot be executed yet."""
    kinds = ((node, _LATER.get(operation_kind(node))) for node in graph.nodes)
    return tuple(f"{kind} node {node.id!r}" for node, kind in kinds if kind is not None)

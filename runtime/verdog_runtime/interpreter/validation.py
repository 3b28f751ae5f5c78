"""Validation of a graph: its shape, rule by rule, before it is executed."""

from typing import TypeVar

from verdog_runtime.declarations.graph import AnyGraph
from verdog_runtime.interpreter.immutability import require_immutable_state
from verdog_runtime.interpreter.validation_edges import validate_edges, validate_ports
from verdog_runtime.interpreter.validation_entities import validate_entities
from verdog_runtime.interpreter.validation_resources import validate_features, validate_resources
from verdog_runtime.interpreter.validation_shape import validate_shape

__all__ = ["require_immutable_state", "require_instance", "validate_graph"]

ExpectedT = TypeVar("ExpectedT")


def require_instance(value: object, expected: type[ExpectedT], message: str) -> ExpectedT:
    """Return the value if it is an instance of the class.

    Raises:
        ValueError: it is not; with the given message.
    """
    if not isinstance(value, expected):
        raise ValueError(message)
    return value


def validate_graph(graph: AnyGraph) -> None:
    """Check everything about a graph that can be checked before it is executed.

    Groups in order: what each declaration is made of, then nodes and ports, features, edges, the ports'
    routes, profiles and sessions. Nodes that nothing reaches or that lead nowhere are accepted.

    Raises:
        ValueError: the first rule that is broken.
        TypeError: a node's state type is not a frozen dataclass of immutable defaults.
    """
    validate_shape(graph)
    validate_entities(graph)
    validate_features(graph)
    validate_edges(graph)
    validate_ports(graph)
    validate_resources(graph)

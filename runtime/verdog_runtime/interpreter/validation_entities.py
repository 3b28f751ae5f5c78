"""Validation of the nodes and ports of a graph, and of the nodes' state types."""

import dataclasses
from collections.abc import Iterable
from types import FunctionType
from typing import cast

from verdog_runtime.declarations.graph import (
    AnyGraph,
    AnyNode,
    FeatureNodeDefinition,
    NodeDefinition,
    PortDefinition,
)
from verdog_runtime.declarations.operations import Feature, SubroutineCall, WorkflowCall
from verdog_runtime.interpreter.immutability import is_frozen_dataclass, require_immutable_state

_NO_SLOTS = "must have slots for exactly its fields: use @dataclass(frozen=True, slots=True)"


def validate_entities(graph: AnyGraph) -> None:
    """Check ports and nodes: classes, ids, operations, then state types.

    Raises:
        ValueError: a port, a node or an operation is not what it should be, or an id is empty or taken.
        TypeError: a state type breaks a rule.
    """
    ports = {"enter": graph.enter, "exit": graph.exit, "failure": graph.failure}
    seen: set[str] = set()
    for name, port in ports.items():
        if not isinstance(cast(object, port), PortDefinition):
            raise ValueError(f"the {name} port must be a PortDefinition, not {_class_name(port)}")
        _require_id(port.id, "port", seen)
    for node in graph.nodes:
        if not isinstance(cast(object, node), NodeDefinition | FeatureNodeDefinition):
            raise ValueError(
                f"a node must be a NodeDefinition or a FeatureNodeDefinition, not {_class_name(node)}"
            )
        _require_id(node.id, "node", seen)
        _require_operation(node)
    for node in graph.nodes:
        if isinstance(node, NodeDefinition):
            validate_state_type(node)


def validate_state_type(node: AnyNode) -> None:
    """Check that the state of a node can only be a flat, frozen record of immutable values with defaults.

    Raises:
        TypeError: it can be something else.
    """
    kind = cast(object, node.state_type)
    problem = _class_problem(kind, slotted=node.slotted_state)
    if problem is None:
        fields = dataclasses.fields(node.state_type)  # pyright: ignore[reportArgumentType]
        problem = next((found for found in map(_field_problem, fields) if found), None)
    if problem is not None:
        raise TypeError(f"the state type {_type_name(kind)} of node {node.id!r} {problem}")
    try:
        node.state_type()
    except Exception as error:
        raise TypeError(
            f"the state type {_type_name(kind)} of node {node.id!r} cannot be made without arguments: {error}"
        ) from error


def _require_id(name: object, kind: str, seen: set[str]) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"a {kind} needs an id that is not empty, not {name!r}")
    if name in seen:
        raise ValueError(f"two nodes or ports have the id {name!r}")
    seen.add(name)


def _require_operation(node: AnyNode | FeatureNodeDefinition) -> None:
    operation = cast(object, node.operation)
    if isinstance(node, FeatureNodeDefinition):
        if not isinstance(operation, Feature):
            raise ValueError(
                f"the operation of feature node {node.id!r} must be Feature, not {_class_name(operation)}"
            )
    elif isinstance(operation, Feature):
        raise ValueError(f"node {node.id!r} has a state, so it cannot have the operation Feature")
    elif isinstance(operation, SubroutineCall | WorkflowCall):
        if not operation.definition_id:
            raise ValueError(f"call node {node.id!r} names no definition")
        if not operation.project_path:
            raise ValueError(f"call node {node.id!r} has an empty project path; the same project is '.'")


def _class_problem(kind: object, *, slotted: bool) -> str | None:
    if not isinstance(kind, type) or "__dataclass_params__" not in vars(kind):
        return "must be a dataclass"
    if kind.__bases__ != (object,):
        return "must not inherit from another class"
    if not is_frozen_dataclass(kind):
        return "must be frozen"
    if not _has_generated_init(kind):
        return "must use the __init__ that dataclass generates"
    names = {field.name for field in dataclasses.fields(kind)}
    if set(vars(kind)["__dataclass_fields__"]) != names:
        return "must have plain fields only: no ClassVar, no InitVar"
    slots: str | Iterable[str] | None = vars(kind).get("__slots__")
    if slots is None:
        return _NO_SLOTS if slotted else None
    found = {slots} if isinstance(slots, str) else set(slots)
    return None if found - {"__weakref__"} == names else _NO_SLOTS


def _has_generated_init(kind: type) -> bool:
    """Return whether `__init__` is the one from `dataclass`, which is compiled from text."""
    init = vars(kind).get("__init__")
    return (
        bool(vars(kind)["__dataclass_params__"].init)
        and isinstance(init, FunctionType)
        and init.__code__.co_filename == "<string>"
    )


def _field_problem(field: dataclasses.Field[object]) -> str | None:
    if field.default_factory is not dataclasses.MISSING:
        return f"must give field {field.name!r} a plain default, not a factory"
    if field.default is dataclasses.MISSING:
        return f"must give field {field.name!r} a default"
    plain = field.init and field.repr and field.compare and field.hash is None and not field.metadata
    if not plain:
        return f"must not customise field {field.name!r} with field()"
    try:
        require_immutable_state(field.default)
    except TypeError as error:
        return f"must give field {field.name!r} an immutable default: {error}"
    return None


def _class_name(value: object) -> str:
    return f"an object of class {type(value).__qualname__}"


def _type_name(kind: object) -> str:
    return kind.__qualname__ if isinstance(kind, type) else repr(kind)

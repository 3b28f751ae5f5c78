"""Validation of what declarations are made of: tuples of the right classes, and texts that are texts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from verdog_runtime.declarations.graph import (
    AgentProfileDefinition,
    AgentProfileParameter,
    AgentSessionDefinition,
    AgentSessionParameter,
    AnyGraph,
    BooleanFeatureCondition,
    BooleanFeatureEffect,
    EdgeDefinition,
    EnumFeatureCondition,
    EnumFeatureEffect,
    FeatureDefinition,
    FeatureNodeDefinition,
    NodeDefinition,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
)
from verdog_runtime.declarations.operations import Agent, SubroutineCall, WorkflowCall

_PROFILES = (AgentProfileDefinition, AgentProfileParameter)
_SESSIONS = (AgentSessionDefinition, AgentSessionParameter)
_CALL = ("definition_id", "definition_module", "project_path")
# Ids are checked with the rule that they are unique; what is none of these classes, where its place is known.
_TEXTS: Mapping[type, tuple[str, ...]] = {
    NodeDefinition: ("name",),
    FeatureNodeDefinition: ("name",),
    Agent: ("profile", "session"),
    SubroutineCall: _CALL,
    WorkflowCall: _CALL,
    EdgeDefinition: ("source", "target", "name"),
    FeatureDefinition: ("label", "description"),
    AgentProfileDefinition: ("name",),
    AgentProfileParameter: ("name",),
    AgentSessionDefinition: ("name",),
    AgentSessionParameter: ("name",),
    BooleanFeatureCondition: ("feature_id",),
    NumericalFeatureCondition: ("feature_id",),
    EnumFeatureCondition: ("feature_id",),
    BooleanFeatureEffect: ("feature_id",),
    NumericalFeatureEffect: ("feature_id",),
    EnumFeatureEffect: ("feature_id",),
}


def validate_shape(graph: AnyGraph) -> None:
    """Check that what is listed is a tuple or a list, and that names, ends and references are texts.

    Raises:
        ValueError: one of them is something else; the message names the declaration and the field.
    """
    where = f"graph {graph.id!r}"
    if not isinstance(cast(object, graph.id), str) or not graph.id:
        raise ValueError(f"a graph needs an id that is not empty, not {graph.id!r}")
    for node in _items(graph, "nodes", where):
        _require_texts(node)
        _require_texts(getattr(node, "operation", None), of=f"the operation of {_describe(node)}")
    for edge in _items(graph, "edges", where):
        _require_texts(edge)
        for field in ("conditions", "effects"):
            for reference in _items(edge, field, _describe(edge)) if isinstance(edge, EdgeDefinition) else ():
                _require_texts(reference, of=f"{_describe(edge)}, in a {type(reference).__name__},")
    for feature in _items(graph, "features", where):
        _require_texts(feature)
    for field, classes in (("profiles", _PROFILES), ("profile_parameters", _PROFILES)):
        _require_classes(_items(graph, field, where), classes, f"one of the {field} of {where}")
    for field, classes in (("sessions", _SESSIONS), ("session_parameters", _SESSIONS)):
        _require_classes(_items(graph, field, where), classes, f"one of the {field} of {where}")


def require_sessions(owner: object, where: str) -> None:
    """Check that the sessions of a workflow are a tuple of sessions. Raises as `validate_shape`."""
    _require_classes(_items(owner, "sessions", where), _SESSIONS[:1], f"one of the sessions of {where}")


def _items(owner: object, field: str, where: str) -> Iterator[object]:
    value = cast(object, getattr(owner, field))
    if not isinstance(value, tuple | list):
        raise ValueError(f"the {field} of {where} must be a tuple, not {_name_class(value)}")
    return iter(cast("Iterable[object]", value))


def _require_classes(items: Iterable[object], classes: tuple[type, ...], what: str) -> None:
    for item in items:
        if not isinstance(item, classes):
            names = " or ".join(each.__name__ for each in classes)
            raise ValueError(f"{what} must be an {names}, not {_name_class(item)}")
        _require_texts(item)


def _require_texts(item: object, *, of: str | None = None) -> None:
    for kind, fields in _TEXTS.items():
        if isinstance(item, kind):
            for field in fields:
                value = cast(object, getattr(item, field))
                if not isinstance(value, str):
                    raise ValueError(
                        f"the {field} of {of or _describe(item)} must be a text, not {_name_class(value)}"
                    )


def _describe(item: object) -> str:
    return f"the {type(item).__name__} {getattr(item, 'id', None)!r}"


def _name_class(value: object) -> str:
    return "None" if value is None else f"an object of class {type(value).__qualname__}"

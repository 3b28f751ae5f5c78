"""Validation of a graph's edges: their ends, their visits, and what they say of features."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast

from verdog_runtime.declarations.calls import CallVisitDefinition
from verdog_runtime.declarations.graph import (
    AnyFeature,
    AnyGraph,
    AnyNode,
    BooleanConditionObservation,
    BooleanEffectObservation,
    BooleanFeatureCondition,
    BooleanFeatureEffect,
    EdgeDefinition,
    EnumConditionObservation,
    EnumEffectObservation,
    EnumFeatureCondition,
    EnumFeatureEffect,
    FeatureCondition,
    FeatureEffect,
    FeatureKind,
    FeatureNodeDefinition,
    NumericalConditionObservation,
    NumericalEffectObservation,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
    PortDefinition,
    VisitDefinition,
)
from verdog_runtime.declarations.operations import SubroutineCall, WorkflowCall

_Entity: TypeAlias = AnyNode | FeatureNodeDefinition | PortDefinition
_BOOLEAN = frozenset((FeatureKind.BOOLEAN,))
_NUMERICAL = frozenset((FeatureKind.INTEGER, FeatureKind.FLOAT))
_ENUM = frozenset((FeatureKind.ENUM,))
# The class of a condition or an effect -> the kinds of feature it fits, the class of its observation.
_REFERENCES: Mapping[type, tuple[frozenset[FeatureKind], type]] = {
    BooleanFeatureCondition: (_BOOLEAN, BooleanConditionObservation),
    NumericalFeatureCondition: (_NUMERICAL, NumericalConditionObservation),
    EnumFeatureCondition: (_ENUM, EnumConditionObservation),
    BooleanFeatureEffect: (_BOOLEAN, BooleanEffectObservation),
    NumericalFeatureEffect: (_NUMERICAL, NumericalEffectObservation),
    EnumFeatureEffect: (_ENUM, EnumEffectObservation),
}
_CONDITIONS = (BooleanFeatureCondition, NumericalFeatureCondition, EnumFeatureCondition)
_EFFECTS = (BooleanFeatureEffect, NumericalFeatureEffect, EnumFeatureEffect)


def validate_edges(graph: AnyGraph) -> None:
    """Check every edge by itself.

    Raises:
        ValueError: an edge is no edge, an id is empty or taken, an end is unknown, the visit does not fit the
            target, or a condition or an effect does not fit its feature.
    """
    entities: dict[str, _Entity] = {port.id: port for port in (graph.enter, graph.exit, graph.failure)}
    entities.update((node.id, node) for node in graph.nodes)
    features = {str(feature.id): feature for feature in graph.features}
    seen: set[str] = set()
    for edge in graph.edges:
        if not isinstance(cast(object, edge), EdgeDefinition):
            raise ValueError(
                f"an edge must be an EdgeDefinition, not an object of class {type(edge).__name__}"
            )
        name = cast(object, edge.id)
        if not isinstance(name, str) or not name:
            raise ValueError(f"an edge needs an id that is not empty, not {name!r}")
        if name in seen:
            raise ValueError(f"two edges have the id {name!r}")
        seen.add(name)
        source, target = _require_ends(edge, entities)
        _require_visit(edge, target)
        if edge.visit is not None and isinstance(source, PortDefinition) and source.id != graph.enter.id:
            raise ValueError(f"edge {edge.id!r} has a visit, so the only port it can leave is enter")
        _require_references(edge, source, features)


def validate_ports(graph: AnyGraph) -> None:
    """Check that enter is only left, and that exit and failure are only entered.

    Raises:
        ValueError: they are not.
    """
    sources = {edge.source for edge in graph.edges}
    if graph.enter.id not in sources:
        raise ValueError("no edge leaves the enter port")
    for edge in graph.edges:
        if edge.target == graph.enter.id:
            raise ValueError(f"edge {edge.id!r} enters the enter port")
        if edge.source in (graph.exit.id, graph.failure.id):
            raise ValueError(f"edge {edge.id!r} leaves port {edge.source!r}, which ends the graph")


def _require_ends(edge: EdgeDefinition, entities: Mapping[str, _Entity]) -> tuple[_Entity, _Entity]:
    source, target = entities.get(edge.source), entities.get(edge.target)
    if source is None:
        raise ValueError(f"edge {edge.id!r} leaves {edge.source!r}, which the graph does not have")
    if target is None:
        raise ValueError(f"edge {edge.id!r} enters {edge.target!r}, which the graph does not have")
    return source, target


def _require_visit(edge: EdgeDefinition, target: _Entity) -> None:
    if isinstance(target, PortDefinition):
        if edge.visit is not None:
            raise ValueError(f"edge {edge.id!r} enters port {target.id!r}, so it cannot have a visit")
        return
    is_call = isinstance(target.operation, SubroutineCall | WorkflowCall)
    expected = CallVisitDefinition if is_call else VisitDefinition
    if not isinstance(edge.visit, expected):
        raise ValueError(
            f"edge {edge.id!r} enters node {target.id!r}, so its visit must be a {expected.__name__}"
        )
    if not callable(edge.visit.implementation):
        raise ValueError(f"the implementation of the visit of edge {edge.id!r} is not callable")


def _require_references(edge: EdgeDefinition, source: _Entity, features: Mapping[str, AnyFeature]) -> None:
    if edge.effects and not isinstance(source, FeatureNodeDefinition):
        raise ValueError(
            f"edge {edge.id!r} states effects, but {edge.source!r}, which it leaves, is no feature node"
        )
    _require_each_once(edge, edge.conditions, "condition")
    _require_each_once(edge, edge.effects, "effect")
    for condition in edge.conditions:
        feature = _require_fit(edge, condition, _CONDITIONS, features)
        if isinstance(condition, EnumFeatureCondition):
            _require_value(edge, feature, condition.value)
    for effect in edge.effects:
        feature = _require_fit(edge, effect, _EFFECTS, features)
        if isinstance(effect, EnumFeatureEffect):
            _require_effect_value(edge, feature, effect)


def _require_each_once(
    edge: EdgeDefinition, references: Iterable[FeatureCondition | FeatureEffect], kind: str
) -> None:
    seen: set[str] = set()
    for reference in references:
        name = getattr(reference, "feature_id", None)
        if name is not None and name in seen:
            raise ValueError(f"edge {edge.id!r} has two {kind}s on feature {name!r}")
        seen.add(str(name))


def _require_fit(
    edge: EdgeDefinition,
    reference: FeatureCondition | FeatureEffect,
    allowed: tuple[type, ...],
    features: Mapping[str, AnyFeature],
) -> AnyFeature:
    name = type(reference).__name__
    if type(reference) not in allowed:
        raise ValueError(f"edge {edge.id!r} has a {name} where only {_class_names(allowed)} can be")
    kinds, observation = _REFERENCES[type(reference)]
    feature = features.get(reference.feature_id)
    if feature is None:
        raise ValueError(
            f"edge {edge.id!r} names feature {reference.feature_id!r}, which the graph does not have"
        )
    if feature.kind not in kinds:
        raise ValueError(f"edge {edge.id!r} has a {name} on the {feature.kind} feature {feature.id!r}")
    if not isinstance(reference.observation, observation):
        raise ValueError(
            f"edge {edge.id!r} has a {name} on feature {feature.id!r} without a {observation.__name__}"
        )
    return feature


def _require_effect_value(edge: EdgeDefinition, feature: AnyFeature, effect: EnumFeatureEffect) -> None:
    if effect.observation is EnumEffectObservation.EQUAL:
        _require_value(edge, feature, effect.value)
    elif effect.value is not None:
        raise ValueError(
            f"edge {edge.id!r} gives a value to the effect {effect.observation} on feature {feature.id!r}"
        )


def _require_value(edge: EdgeDefinition, feature: AnyFeature, value: str | None) -> None:
    if value not in feature.values:
        raise ValueError(f"edge {edge.id!r} names {value!r}, which feature {feature.id!r} cannot be")


def _class_names(classes: tuple[type, ...]) -> str:
    return ", ".join(kind.__name__ for kind in classes)

"""Why routes do not fit: what each edge asks of the features, and what they were."""

from collections.abc import Iterator, Sequence

from verdog_runtime.declarations.graph import (
    AnyFeature,
    BooleanConditionObservation,
    BooleanEffectObservation,
    EdgeDefinition,
    EnumEffectObservation,
    EnumFeatureCondition,
    EnumFeatureEffect,
    FeatureCondition,
    FeatureEffect,
    NumericalConditionObservation,
)
from verdog_runtime.declarations.state import AnyState
from verdog_runtime.interpreter.features import (
    Features,
    analyze_effects,
    effects_satisfied,
    evaluate_conditions,
)

_SHOWN = 6
"""So many edges are explained."""


def explain_routing(
    edges: Sequence[EdgeDefinition],
    compatible: Sequence[EdgeDefinition],
    before: AnyState,
    candidate: AnyState,
    features: Features,
) -> str:
    """Return the end of a sentence: why none of some edges is compatible, or which ones are.

    Each edge is told in the words of the author: `to 'tick' only when left.positive, but left is 0`.

    Args:
        edges: those that leave a node. Each of them could be evaluated.
        compatible: those of them that are compatible: none, or more than one.
        before: the state before the visit.
        candidate: the state after it.
        features: the graph's features.
    """
    if not edges:
        return ""
    if compatible:
        names = " and ".join(f"to {edge.target!r}" for edge in compatible[:_SHOWN])
        values = [f"{name} is {_show(feature, before)}" for name, feature in features.items()]
        told = [names, *values] if len(values) <= _SHOWN else [names]
    else:
        told = [_explain(edge, before, candidate, features) for edge in edges[:_SHOWN]]
    return f": {'; '.join(told)}"


def _explain(edge: EdgeDefinition, before: AnyState, candidate: AnyState, features: Features) -> str:
    reason = next(_iter_reasons(edge, before, candidate, features), "")
    return f"to {edge.target!r} {reason}".rstrip()


def _iter_reasons(
    edge: EdgeDefinition, before: AnyState, candidate: AnyState, features: Features
) -> Iterator[str]:
    for condition in edge.conditions:
        if not evaluate_conditions((condition,), before, features):
            name = condition.feature_id
            value = _show(features[name], before)
            yield f"only when {name}.{_name_condition(condition)}, but {name} is {value}"
    for effect in edge.effects:
        if not effects_satisfied((effect,), before, candidate, features):
            name = effect.feature_id
            change = _show_change(features[name], before, candidate)
            yield f"only with {name}.{_name_effect(effect)}, but {name} {change}"
    for effect in analyze_effects(features, edge.effects).inferred:
        if not effects_satisfied((effect,), before, candidate, features):
            name = effect.feature_id
            change = _show_change(features[name], before, candidate)
            yield f"only with {name}.unchanged, since its effects do not name {name}, but {name} {change}"


def _name_condition(condition: FeatureCondition) -> str:
    if isinstance(condition, EnumFeatureCondition):
        return f"equals({condition.value!r})"
    match condition.observation:
        case NumericalConditionObservation.EQUAL_ZERO:
            return "zero"
        case NumericalConditionObservation.GREATER_ZERO | BooleanConditionObservation.POSITIVE:
            return "positive"
        case BooleanConditionObservation.NEGATIVE:
            return "negative"


def _name_effect(effect: FeatureEffect) -> str:
    if isinstance(effect, EnumFeatureEffect) and effect.observation is EnumEffectObservation.EQUAL:
        return f"becomes({effect.value!r})"
    match effect.observation:
        case BooleanEffectObservation.POSITIVE | BooleanEffectObservation.NEGATIVE:
            return f"becomes_{effect.observation.value}"
        case _:
            return effect.observation.value


def _show_change(feature: AnyFeature, before: AnyState, candidate: AnyState) -> str:
    old, new = _show(feature, before), _show(feature, candidate)
    return f"stayed {new}" if old == new else f"went from {old} to {new}"


def _show(feature: AnyFeature, state: AnyState) -> str:
    value: object = state.get(feature)
    return "without a value" if value is None else repr(value)

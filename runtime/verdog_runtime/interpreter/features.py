"""Features: domains of values, conditions before a visit, effects of a visit."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

from typing_extensions import TypeVar

from verdog_runtime.declarations.graph import (
    AnyFeature,
    BooleanConditionObservation,
    BooleanEffectObservation,
    BooleanFeatureCondition,
    BooleanFeatureEffect,
    EnumEffectObservation,
    EnumFeatureCondition,
    EnumFeatureEffect,
    FeatureCondition,
    FeatureDefinition,
    FeatureEffect,
    FeatureKind,
    FeatureValue,
    NumericalConditionObservation,
    NumericalEffectObservation,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
)
from verdog_runtime.declarations.ids import FeatureId
from verdog_runtime.declarations.keys import ScopeT
from verdog_runtime.declarations.state import AnyState

FeatureValueT = TypeVar("FeatureValueT")
Features: TypeAlias = Mapping[FeatureId, AnyFeature]


@dataclass(frozen=True, slots=True)
class EffectAnalysis:
    """What the explicit effects of an edge leave open.

    Attributes:
        inferred: UNCHANGED for each feature that no explicit effect mentions, in the features' order.
    """

    inferred: tuple[FeatureEffect, ...]


def validate_feature_value(
    feature: FeatureDefinition[FeatureValueT, ScopeT], value: object, /
) -> FeatureValueT:
    """Return the value if it is in the feature's domain.

    Raises:
        ValueError: it is not.
    """
    if not _in_domain(feature, value):
        raise ValueError(f"feature {feature.id!r} is {_describe_domain(feature)}; it cannot be {value!r}")
    return cast(FeatureValueT, value)


def evaluate_conditions(
    conditions: Iterable[FeatureCondition], state: AnyState, features: Features, /
) -> bool:
    """Return whether all conditions hold; the first that does not ends the evaluation.

    Raises:
        ValueError: a condition names an unknown or uninitialised feature, or one whose value is not in its
            domain.
    """
    return all(_condition_holds(condition, state, features) for condition in conditions)


def analyze_effects(features: Features, explicit: Iterable[FeatureEffect], /) -> EffectAnalysis:
    """Return the effects that follow from those that are written: everything else stays as it is."""
    mentioned = {effect.feature_id for effect in explicit}
    return EffectAnalysis(
        tuple(_unchanged(feature) for name, feature in features.items() if name not in mentioned)
    )


def effects_satisfied(
    effects: Iterable[FeatureEffect], source: AnyState, successor: AnyState, features: Features, /
) -> bool:
    """Return whether going from one state to another is what the effects allow.

    Raises:
        ValueError: an effect names an unknown feature, or one that is uninitialised where a value is needed.
    """
    return all(_effect_holds(effect, source, successor, features) for effect in effects)


def _in_domain(feature: AnyFeature, value: object) -> bool:
    # Exact types: a bool is an int to Python, but not to a graph.
    match feature.kind:
        case FeatureKind.BOOLEAN:
            return isinstance(value, bool)
        case FeatureKind.ENUM:
            return type(value) is str and value in feature.values
        case FeatureKind.INTEGER:
            return type(value) is int and value >= 0
        case FeatureKind.FLOAT:
            return type(value) is float and math.isfinite(value) and value >= 0
        case _:
            assert_never(feature.kind)


def _describe_domain(feature: AnyFeature) -> str:
    match feature.kind:
        case FeatureKind.BOOLEAN:
            return "a bool"
        case FeatureKind.ENUM:
            return f"one of {', '.join(map(repr, feature.values))}"
        case FeatureKind.INTEGER:
            return "an int that is not negative"
        case FeatureKind.FLOAT:
            return "a finite float that is not negative"
        case _:
            assert_never(feature.kind)


def _condition_holds(condition: FeatureCondition, state: AnyState, features: Features) -> bool:
    value = _initialised(_known(condition.feature_id, features), state)
    match condition:
        case BooleanFeatureCondition():
            return value is (condition.observation is BooleanConditionObservation.POSITIVE)
        case NumericalFeatureCondition():
            number = cast(float, value)
            return number == 0 if condition.observation is _EQUAL_ZERO else number > 0
        case EnumFeatureCondition():
            return value == condition.value
        case _:
            assert_never(condition)


def _effect_holds(effect: FeatureEffect, source: AnyState, successor: AnyState, features: Features) -> bool:
    feature = _known(effect.feature_id, features)
    if effect.observation in _UNCONSTRAINED:
        _initialised(feature, successor)
        return True
    if effect.observation in _UNCHANGED:
        return bool(source.get(feature) == successor.get(feature))
    match effect:
        case BooleanFeatureEffect():
            return successor.get(feature) is (effect.observation is BooleanEffectObservation.POSITIVE)
        case NumericalFeatureEffect():
            before = cast(float, _initialised(feature, source))
            after = cast(float, _initialised(feature, successor))
            return after > before if effect.observation is _INCREASES else after < before
        case EnumFeatureEffect():
            return bool(successor.get(feature) == effect.value)
        case _:
            assert_never(effect)


_EQUAL_ZERO = NumericalConditionObservation.EQUAL_ZERO
_INCREASES = NumericalEffectObservation.INCREASES
_UNCHANGED = frozenset(
    (
        BooleanEffectObservation.UNCHANGED,
        NumericalEffectObservation.UNCHANGED,
        EnumEffectObservation.UNCHANGED,
    )
)
_UNCONSTRAINED = frozenset(
    (
        BooleanEffectObservation.UNCONSTRAINED,
        NumericalEffectObservation.UNCONSTRAINED,
        EnumEffectObservation.UNCONSTRAINED,
    )
)


def _known(name: FeatureId, features: Features) -> AnyFeature:
    feature = features.get(name)
    if feature is None:
        raise ValueError(f"there is no feature {name!r}")
    return feature


def _initialised(feature: AnyFeature, state: AnyState) -> FeatureValue:
    value: object = state.get(feature)
    if value is None:
        raise ValueError(f"feature {feature.id!r} has no value yet: a feature node has to set it first")
    return cast(FeatureValue, validate_feature_value(feature, value))


def _unchanged(feature: AnyFeature) -> FeatureEffect:
    match feature.kind:
        case FeatureKind.BOOLEAN:
            return BooleanFeatureEffect(feature_id=feature.id, observation=BooleanEffectObservation.UNCHANGED)
        case FeatureKind.ENUM:
            return EnumFeatureEffect(feature_id=feature.id, observation=EnumEffectObservation.UNCHANGED)
        case FeatureKind.INTEGER | FeatureKind.FLOAT:
            return NumericalFeatureEffect(
                feature_id=feature.id, observation=NumericalEffectObservation.UNCHANGED
            )
        case _:
            assert_never(feature.kind)

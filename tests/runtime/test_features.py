import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.pieces import FEATURES, LEFT, MOOD, RATIO, READY, first_state, with_features
from verdog_runtime.declarations import (
    BooleanConditionObservation,
    BooleanEffectObservation,
    BooleanFeatureCondition,
    BooleanFeatureEffect,
    EnumConditionObservation,
    EnumEffectObservation,
    EnumFeatureCondition,
    EnumFeatureEffect,
    NumericalConditionObservation,
    NumericalEffectObservation,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
)
from verdog_runtime.interpreter import (
    EffectAnalysis,
    analyze_effects,
    effects_satisfied,
    evaluate_conditions,
    validate_feature_value,
)

IS_READY = BooleanFeatureCondition(feature_id="ready", observation=BooleanConditionObservation.POSITIVE)
NOT_READY = BooleanFeatureCondition(feature_id="ready", observation=BooleanConditionObservation.NEGATIVE)
NONE_LEFT = NumericalFeatureCondition(feature_id="left", observation=NumericalConditionObservation.EQUAL_ZERO)
SOME_LEFT = NumericalFeatureCondition(
    feature_id="left", observation=NumericalConditionObservation.GREATER_ZERO
)
SOME_RATIO = NumericalFeatureCondition(
    feature_id="ratio", observation=NumericalConditionObservation.GREATER_ZERO
)
CALM = EnumFeatureCondition(feature_id="mood", observation=EnumConditionObservation.EQUAL, value="calm")


def boolean(observation: str) -> BooleanFeatureEffect:
    return BooleanFeatureEffect(feature_id="ready", observation=BooleanEffectObservation(observation))


def number(observation: str, feature: str = "left") -> NumericalFeatureEffect:
    return NumericalFeatureEffect(feature_id=feature, observation=NumericalEffectObservation(observation))


def choice(observation: str, value: str | None = None) -> EnumFeatureEffect:
    return EnumFeatureEffect(feature_id="mood", observation=EnumEffectObservation(observation), value=value)


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        *((READY, True), (READY, False), (MOOD, "calm"), (LEFT, 0), (LEFT, 2**80)),
        *((RATIO, 0.0), (RATIO, -0.0), (RATIO, 1.5)),
    ],
)
def test_a_value_in_the_domain_is_returned(feature: Any, value: Any) -> None:
    assert validate_feature_value(feature, value) is value


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        *((READY, 1), (READY, 0), (READY, "true"), (READY, None)),
        *((MOOD, "angry"), (MOOD, Text("calm")), (MOOD, ""), (MOOD, None), (MOOD, 1)),
        *((LEFT, True), (LEFT, -1), (LEFT, 1.0), (LEFT, "1"), (LEFT, None)),
        *((RATIO, 1), (RATIO, True), (RATIO, -0.5), (RATIO, math.nan), (RATIO, math.inf), (RATIO, None)),
    ],
)
def test_a_value_outside_the_domain_is_refused_by_the_feature_s_name(feature: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=feature.id):
        validate_feature_value(feature, value)


@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        (IS_READY, {"ready": True}, True),
        (IS_READY, {"ready": False}, False),
        (NOT_READY, {"ready": False}, True),
        (NOT_READY, {"ready": True}, False),
        (NONE_LEFT, {"left": 0}, True),
        (NONE_LEFT, {"left": 1}, False),
        (SOME_LEFT, {"left": 0}, False),
        (SOME_LEFT, {"left": 1}, True),
        (SOME_RATIO, {"ratio": -0.0}, False),
        (SOME_RATIO, {"ratio": 0.1}, True),
        (CALM, {"mood": "calm"}, True),
        (CALM, {"mood": "tense"}, False),
    ],
)
def test_a_condition_observes_the_value(condition: Any, values: dict[str, object], expected: bool) -> None:
    assert evaluate_conditions((condition,), first_state(**values), FEATURES) is expected


def test_no_conditions_hold() -> None:
    assert evaluate_conditions((), first_state(), FEATURES) is True


def test_conditions_hold_together() -> None:
    state = first_state(ready=True, left=1)
    assert evaluate_conditions((IS_READY, SOME_LEFT), state, FEATURES)
    assert not evaluate_conditions((IS_READY, NONE_LEFT), state, FEATURES)


@pytest.mark.parametrize("condition", [IS_READY, NOT_READY, NONE_LEFT, SOME_RATIO, CALM])
def test_a_condition_needs_a_value(condition: Any) -> None:
    with pytest.raises(ValueError, match=condition.feature_id):
        evaluate_conditions((condition,), first_state(), FEATURES)


def test_a_condition_checks_the_value_again() -> None:
    with pytest.raises(ValueError, match="left"):
        evaluate_conditions((SOME_LEFT,), first_state(left=True), FEATURES)


def test_the_first_false_condition_ends_the_evaluation() -> None:
    assert not evaluate_conditions((IS_READY, SOME_LEFT), first_state(ready=False), FEATURES)
    with pytest.raises(ValueError, match="left"):
        evaluate_conditions((SOME_LEFT, IS_READY), first_state(ready=False), FEATURES)


def test_an_unknown_feature_is_named() -> None:
    with pytest.raises(ValueError, match="ready"):
        evaluate_conditions((IS_READY,), first_state(ready=True), {})
    with pytest.raises(ValueError, match="ready"):
        effects_satisfied((boolean("positive"),), first_state(), first_state(), {})


def test_features_without_an_effect_are_inferred_to_stay_in_their_order() -> None:
    analysis = analyze_effects(FEATURES, (number("increases", "left"),))
    assert analysis == EffectAnalysis(
        (boolean("unchanged"), number("unchanged", "ratio"), choice("unchanged"))
    )
    assert analyze_effects(FEATURES, ()).inferred[1] == number("unchanged", "left")
    assert analyze_effects({}, ()) == EffectAnalysis(())


@pytest.mark.parametrize(
    ("effect", "before", "after", "expected"),
    [
        (boolean("positive"), {}, {"ready": True}, True),
        (boolean("positive"), {}, {"ready": False}, False),
        (boolean("positive"), {}, {}, False),
        (boolean("negative"), {"ready": True}, {"ready": False}, True),
        (boolean("negative"), {}, {"ready": True}, False),
        (boolean("unchanged"), {}, {}, True),
        (boolean("unchanged"), {"ready": True}, {"ready": True}, True),
        (boolean("unchanged"), {"ready": True}, {"ready": False}, False),
        (boolean("unchanged"), {}, {"ready": False}, False),
        (boolean("unconstrained"), {}, {"ready": False}, True),
        (number("increases"), {"left": 1}, {"left": 2}, True),
        (number("increases"), {"left": 1}, {"left": 1}, False),
        (number("increases", "ratio"), {"ratio": 0.5}, {"ratio": 0.25}, False),
        (number("decreases"), {"left": 1}, {"left": 0}, True),
        (number("decreases"), {"left": 1}, {"left": 1}, False),
        (number("unchanged"), {"left": 1}, {"left": 1}, True),
        (number("unchanged"), {"left": 1}, {"left": 2}, False),
        (number("unchanged", "ratio"), {"ratio": 0.0}, {"ratio": -0.0}, True),
        (number("unconstrained"), {"left": 1}, {"left": 7}, True),
        (choice("equal", "calm"), {}, {"mood": "calm"}, True),
        (choice("equal", "calm"), {}, {"mood": "tense"}, False),
        (choice("equal", "calm"), {}, {}, False),
        (choice("unchanged"), {"mood": "calm"}, {"mood": "calm"}, True),
        (choice("unchanged"), {"mood": "calm"}, {"mood": "tense"}, False),
        (choice("unconstrained"), {}, {"mood": "tense"}, True),
    ],
)
def test_an_effect_compares_before_and_after(
    effect: Any, before: dict[str, object], after: dict[str, object], expected: bool
) -> None:
    source = first_state(**before)
    assert effects_satisfied((effect,), source, with_features(source, **after), FEATURES) is expected


@pytest.mark.parametrize(
    ("effect", "before", "after"),
    [
        (boolean("unconstrained"), {}, {}),
        (number("unconstrained"), {}, {}),
        (choice("unconstrained"), {}, {}),
        (number("increases"), {}, {"left": 1}),
        (number("decreases"), {}, {"left": 1}),
        (number("increases"), {}, {}),
    ],
)
def test_an_effect_that_needs_a_value_says_so(
    effect: Any, before: dict[str, object], after: dict[str, object]
) -> None:
    source = first_state(**before)
    with pytest.raises(ValueError, match=effect.feature_id):
        effects_satisfied((effect,), source, with_features(source, **after), FEATURES)


@given(st.integers(min_value=0), st.integers(min_value=0))
def test_exactly_one_of_increase_decrease_and_stay_describes_two_numbers(before: int, after: int) -> None:
    source = first_state(left=before)
    successor = with_features(source, left=after)
    held = [
        name
        for name in ("increases", "decreases", "unchanged")
        if effects_satisfied((number(name),), source, successor, FEATURES)
    ]
    expected = "increases" if after > before else "decreases" if after < before else "unchanged"
    assert held == [expected]

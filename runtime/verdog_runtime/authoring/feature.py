"""Features: the values that routing reads, as handles with their conditions and effects."""

from typing import TypeVar

from verdog_runtime.declarations.graph import (
    BooleanConditionObservation,
    BooleanEffectObservation,
    BooleanFeatureCondition,
    BooleanFeatureEffect,
    EnumConditionObservation,
    EnumEffectObservation,
    EnumFeatureCondition,
    EnumFeatureEffect,
    FeatureDefinition,
    NumericalConditionObservation,
    NumericalEffectObservation,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
)

NumberT = TypeVar("NumberT", int, float)


class BooleanFeature(FeatureDefinition[bool, object]):
    """A feature that is true or false."""

    @property
    def positive(self) -> BooleanFeatureCondition:
        """The condition that it is true."""
        return BooleanFeatureCondition(feature_id=self.id, observation=BooleanConditionObservation.POSITIVE)

    @property
    def negative(self) -> BooleanFeatureCondition:
        """The condition that it is false."""
        return BooleanFeatureCondition(feature_id=self.id, observation=BooleanConditionObservation.NEGATIVE)

    @property
    def becomes_positive(self) -> BooleanFeatureEffect:
        """The effect that it is true afterwards."""
        return BooleanFeatureEffect(feature_id=self.id, observation=BooleanEffectObservation.POSITIVE)

    @property
    def becomes_negative(self) -> BooleanFeatureEffect:
        """The effect that it is false afterwards."""
        return BooleanFeatureEffect(feature_id=self.id, observation=BooleanEffectObservation.NEGATIVE)

    @property
    def unchanged(self) -> BooleanFeatureEffect:
        """The effect that it is as before, which holds for every feature that no effect names."""
        return BooleanFeatureEffect(feature_id=self.id, observation=BooleanEffectObservation.UNCHANGED)

    @property
    def unconstrained(self) -> BooleanFeatureEffect:
        """The effect that it has any value afterwards."""
        return BooleanFeatureEffect(feature_id=self.id, observation=BooleanEffectObservation.UNCONSTRAINED)


class NumericalFeature(FeatureDefinition[NumberT, object]):
    """A feature that is a number, never negative."""

    @property
    def zero(self) -> NumericalFeatureCondition:
        """The condition that it is zero."""
        return self._condition(NumericalConditionObservation.EQUAL_ZERO)

    @property
    def positive(self) -> NumericalFeatureCondition:
        """The condition that it is greater than zero."""
        return self._condition(NumericalConditionObservation.GREATER_ZERO)

    @property
    def increases(self) -> NumericalFeatureEffect:
        """The effect that it is greater than before."""
        return self._effect(NumericalEffectObservation.INCREASES)

    @property
    def decreases(self) -> NumericalFeatureEffect:
        """The effect that it is less than before."""
        return self._effect(NumericalEffectObservation.DECREASES)

    @property
    def unchanged(self) -> NumericalFeatureEffect:
        """The effect that it is as before, which holds for every feature that no effect names."""
        return self._effect(NumericalEffectObservation.UNCHANGED)

    @property
    def unconstrained(self) -> NumericalFeatureEffect:
        """The effect that it has any value afterwards."""
        return self._effect(NumericalEffectObservation.UNCONSTRAINED)

    def _condition(self, observation: NumericalConditionObservation) -> NumericalFeatureCondition:
        return NumericalFeatureCondition(feature_id=self.id, observation=observation)

    def _effect(self, observation: NumericalEffectObservation) -> NumericalFeatureEffect:
        return NumericalFeatureEffect(feature_id=self.id, observation=observation)


class IntegerFeature(NumericalFeature[int]):
    """A feature that is a whole number, never negative."""


class FloatFeature(NumericalFeature[float]):
    """A feature that is a finite float, never negative."""


class EnumFeature(FeatureDefinition[str, object]):
    """A feature that is one of a few words."""

    def equals(self, value: str) -> EnumFeatureCondition:
        """Return the condition that it is one word."""
        return EnumFeatureCondition(
            feature_id=self.id, observation=EnumConditionObservation.EQUAL, value=value
        )

    def becomes(self, value: str) -> EnumFeatureEffect:
        """Return the effect that it is one word afterwards."""
        return EnumFeatureEffect(feature_id=self.id, observation=EnumEffectObservation.EQUAL, value=value)

    @property
    def unchanged(self) -> EnumFeatureEffect:
        """The effect that it is as before, which holds for every feature that no effect names."""
        return EnumFeatureEffect(feature_id=self.id, observation=EnumEffectObservation.UNCHANGED)

    @property
    def unconstrained(self) -> EnumFeatureEffect:
        """The effect that it has any value afterwards."""
        return EnumFeatureEffect(feature_id=self.id, observation=EnumEffectObservation.UNCONSTRAINED)

"""State: what a feature node's function reads and replaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, cast, overload

from verdog_runtime.authoring.feature import FloatFeature
from verdog_runtime.declarations.graph import FeatureDefinition, NodeDefinition
from verdog_runtime.declarations.keys import StateKey
from verdog_runtime.declarations.state import FeatureState as DeclaredFeatureState
from verdog_runtime.declarations.state import WorkflowState, viewed_state

StateT = TypeVar("StateT")
ValueT = TypeVar("ValueT")

Aliases = Mapping[int, NodeDefinition[Any, object]]
"""The declaration that stands for a handle in one graph, by the identity of the handle, where they differ."""


@dataclass(frozen=True)
class NoState:
    """The state of a node that was declared without one. Its functions see None instead."""


_NO_ALIASES: Aliases = MappingProxyType({})


class FeatureState(DeclaredFeatureState[object]):
    """The state of a graph, with features that may be replaced.

    It is immutable: `replace` returns another one.
    """

    __slots__ = ("_aliases",)

    _aliases: Aliases

    def __init__(self) -> None:
        """Make a view of a graph without nodes and features."""
        super().__init__()
        object.__setattr__(self, "_aliases", _NO_ALIASES)

    @classmethod
    def over(cls, state: WorkflowState[object], /) -> "FeatureState":
        """Internal. Return the view of a state that a feature node's function gets."""
        view = cls.__new__(cls)
        object.__setattr__(view, "_state", state)
        object.__setattr__(view, "_aliases", _NO_ALIASES)
        return view

    @overload
    def get(self, key: FeatureDefinition[ValueT, object], /) -> ValueT: ...
    @overload
    def get(self, key: StateKey[StateT, object], /) -> StateT: ...
    def get(self, key: StateKey[Any, object], /) -> Any:
        """Return the value of a feature, or the state of a node.

        Raises:
            ValueError: the feature has no value yet.
            KeyError: the feature or node belongs to another graph.
        """
        value = super().get(self._aliases.get(id(key), key))
        if value is None and isinstance(key, FeatureDefinition):
            name = cast(FeatureDefinition[object, object], key).id
            raise ValueError(f"feature {name!r} has no value yet: an earlier feature node must set it")
        return None if isinstance(value, NoState) else value

    def has(self, feature: FeatureDefinition[ValueT, object], /) -> bool:
        """Return whether a feature has a value yet.

        Raises:
            KeyError: the feature belongs to another graph.
        """
        return super().get(feature) is not None

    def replace(self, key: FeatureDefinition[ValueT, object], value: ValueT, /) -> "FeatureState":
        """Return a state in which a feature has another value. A float feature also takes an int.

        Raises:
            TypeError: the key is no feature.
            KeyError: the feature belongs to another graph.
        """
        return view_features(super().replace(key, _widen(key, value)), self._aliases)


def _widen(key: object, value: ValueT) -> ValueT:
    """Return an int as the float that a type checker takes it for, where a feature is one."""
    given = cast(object, value)
    return cast(ValueT, float(given)) if isinstance(key, FloatFeature) and type(given) is int else value


def view_features(state: DeclaredFeatureState[object], aliases: Aliases = _NO_ALIASES) -> FeatureState:
    """Internal. Return a view with the authors' methods over the same state."""
    view = FeatureState.over(viewed_state(state))
    object.__setattr__(view, "_aliases", aliases)
    return view

"""State: the immutable values of a graph's nodes and features.

Authors see `WorkflowState` and `FeatureState`. The functions below them are internal: the interpreter makes,
updates, compares and restores states with them.
"""

# The classes hide their slots from authors; the functions of this module are their other half.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Never, Self, TypeAlias, cast

from typing_extensions import TypeVar

from verdog_runtime.declarations.keys import ScopeT, StateAddress, StateKey

if TYPE_CHECKING:
    # Graphs refer to results, and results to states, so this module cannot import graphs when it is loaded.
    from verdog_runtime.declarations.graph import AnyFeature, AnyNode, FeatureDefinition

StateT = TypeVar("StateT")
ValueT = TypeVar("ValueT")


class Universe:
    """The slots of one activation of a graph, and the token that tells its states from all others."""

    __slots__ = ("feature_index", "features", "node_index", "nodes")

    def __init__(self, nodes: Iterable[AnyNode], features: Iterable[AnyFeature]) -> None:
        self.nodes = tuple(nodes)
        self.features = tuple(features)
        # By identity: the tuples above keep the declarations alive, so their ids stay theirs.
        self.node_index = {id(key): position for position, key in enumerate(self.nodes)}
        self.feature_index = {id(key): position for position, key in enumerate(self.features)}


class _Immutable:
    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Never:
        raise TypeError(f"{type(self).__name__} belongs to its declarations and cannot be pickled")


class WorkflowState(_Immutable, Generic[ScopeT]):
    """The state of every node and feature of one graph.

    Cost: a read is two dictionary look-ups at most; an update copies the references of the nodes, or of the
    features, of one graph.
    """

    __slots__ = ("_features", "_nodes", "_universe")

    _universe: Universe
    _nodes: tuple[object, ...]
    _features: tuple[object, ...]

    def __init__(self) -> None:
        """Make the state of a graph without nodes and features."""
        _fill(self, Universe((), ()), (), ())

    def get(self, key: StateKey[StateT, ScopeT], /) -> StateT:
        """Return the value of a slot, named by its declaration.

        Raises:
            KeyError: this very declaration object owns no slot here.
        """
        universe = self._universe
        position = universe.node_index.get(id(key))
        if position is not None:
            return cast(StateT, self._nodes[position])
        position = universe.feature_index.get(id(key))
        if position is not None:
            return cast(StateT, self._features[position])
        raise KeyError(_describe(key))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WorkflowState):
            return NotImplemented
        ours, theirs = self._universe, cast("AnyState", other)._universe
        if ours is not theirs and not (
            ours.node_index.keys() == theirs.node_index.keys()
            and ours.feature_index.keys() == theirs.feature_index.keys()
        ):
            return False
        return all(value == cast("AnyState", other).get(key) for key, value in iter_slots(self))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        slots = ", ".join(f"{key.state_key!r}: {value!r}" for key, value in iter_slots(self))
        return f"WorkflowState({{{slots}}})"


AnyState: TypeAlias = WorkflowState[Any]


class FeatureState(_Immutable, Generic[ScopeT]):
    """A view of a graph's state that may replace features; the interpreter checks them when it commits."""

    __slots__ = ("_state",)

    _state: WorkflowState[ScopeT]

    def __init__(self) -> None:
        """Make a view of a graph without nodes and features."""
        object.__setattr__(self, "_state", WorkflowState[ScopeT]())

    @classmethod
    def over(cls, state: WorkflowState[ScopeT], /) -> FeatureState[ScopeT]:
        """Internal. Return the view of a state that a feature node's visit gets."""
        view = cls.__new__(cls)
        object.__setattr__(view, "_state", state)
        return view

    def get(self, key: StateKey[StateT, ScopeT], /) -> StateT:
        """Return the value of a node's or a feature's slot, named by its declaration.

        Raises:
            KeyError: this very declaration object owns no slot here.
        """
        return self._state.get(key)

    def replace(self, key: FeatureDefinition[ValueT, ScopeT], value: ValueT, /) -> FeatureState[ScopeT]:
        """Return a view in which one feature has another value.

        Raises:
            TypeError: the key is no feature.
            KeyError: this very feature object is not one of the graph's.
        """
        state = self._state
        position = state._universe.feature_index.get(id(key))
        if position is None:
            raise _unknown_feature(key)
        return FeatureState[ScopeT].over(_with_feature(state, position, value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureState):
            return NotImplemented
        return self._state == cast("FeatureState[Any]", other)._state

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"FeatureState({self._state!r})"


# Internal to the runtime from here on.


def make_state(
    nodes: Iterable[AnyNode], features: Iterable[AnyFeature], node_values: Iterable[object]
) -> AnyState:
    """Internal. Return a first state, in a universe of its own, with every feature uninitialised.

    Args:
        nodes: the declarations that own the node slots.
        features: the declarations that own the feature slots.
        node_values: the nodes' states, in the order of `nodes`.
    """
    universe = Universe(nodes, features)
    return _new_state(universe, tuple(node_values), (None,) * len(universe.features))


def with_values(state: AnyState, node_values: Iterable[object], feature_values: Iterable[object]) -> AnyState:
    """Internal. Return a state of the same universe with all values replaced, in declaration order."""
    return _new_state(state._universe, tuple(node_values), tuple(feature_values))


def with_node_state(state: AnyState, node: AnyNode, value: object) -> AnyState:
    """Internal. Return a state in which one node has another state.

    Raises:
        KeyError: this very node object owns no slot here.
    """
    universe = state._universe
    position = universe.node_index.get(id(node))
    if position is None:
        raise KeyError(_describe(node))
    nodes = state._nodes
    if nodes[position] is value:
        return state
    return _new_state(universe, _with_item(nodes, position, value), state._features)


def viewed_state(view: FeatureState[ScopeT]) -> WorkflowState[ScopeT]:
    """Internal. Return the state under a view."""
    return view._state


def same_universe(one: AnyState, other: AnyState) -> bool:
    """Internal. Return whether two states belong to the same activation of a graph."""
    return one._universe is other._universe


def same_nodes(one: AnyState, other: AnyState) -> bool:
    """Internal. Return whether two states of one universe hold the very same node state objects."""
    return one._nodes is other._nodes or all(
        left is right for left, right in zip(one._nodes, other._nodes, strict=True)
    )


def replaced_features(before: AnyState, after: AnyState) -> tuple[AnyFeature, ...]:
    """Internal. Return the features that hold another *object* in two states of one universe.

    Cost: O(1) when no feature was replaced since `before`.
    """
    if before._features is after._features:
        return ()
    pairs = zip(before._universe.features, before._features, after._features, strict=True)
    return tuple(feature for feature, old, new in pairs if old is not new)


def changed_features(before: AnyState, after: AnyState) -> tuple[AnyFeature, ...]:
    """Internal. Return the features whose values are not equal in two states of one universe."""
    return tuple(key for key in replaced_features(before, after) if before.get(key) != after.get(key))


def iter_slots(state: AnyState) -> Iterator[tuple[AnyNode | AnyFeature, object]]:
    """Internal. Yield each declaration with its value: nodes, then features, in declaration order."""
    universe = state._universe
    yield from zip(universe.nodes, state._nodes, strict=True)
    yield from zip(universe.features, state._features, strict=True)


def addressed_values(state: AnyState) -> Mapping[StateAddress, object]:
    """Internal. Return the values by address, nodes then features, in declaration order."""
    return {key.state_key: value for key, value in iter_slots(state)}


def _with_feature(state: WorkflowState[ScopeT], position: int, value: object) -> WorkflowState[ScopeT]:
    features = state._features
    if features[position] is value:
        return state
    replaced = _with_item(features, position, value)
    return cast(WorkflowState[ScopeT], _new_state(state._universe, state._nodes, replaced))


def _with_item(values: tuple[object, ...], position: int, value: object) -> tuple[object, ...]:
    items = list(values)
    items[position] = value
    return tuple(items)


def _new_state(universe: Universe, nodes: tuple[object, ...], features: tuple[object, ...]) -> AnyState:
    state = cast("AnyState", WorkflowState.__new__(WorkflowState))
    _fill(state, universe, nodes, features)
    return state


def _fill(
    state: AnyState, universe: Universe, nodes: tuple[object, ...], features: tuple[object, ...]
) -> None:
    object.__setattr__(state, "_universe", universe)
    object.__setattr__(state, "_nodes", nodes)
    object.__setattr__(state, "_features", features)


def _unknown_feature(key: object) -> Exception:
    from verdog_runtime.declarations.graph import FeatureDefinition

    if isinstance(key, FeatureDefinition):
        return KeyError(_describe(cast(object, key)))
    return TypeError(f"only features can be replaced, not {_describe(key)}")


def _describe(key: object) -> str:
    if isinstance(key, StateKey):
        kind, name = cast(StateKey[object, object], key).state_key
        return f"{kind} {name!r}"
    return f"a {type(key).__name__}"

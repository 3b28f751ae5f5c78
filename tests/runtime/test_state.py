import copy
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.pieces import (
    CHECK,
    FEATURES,
    GRAPH,
    LEFT,
    MOOD,
    READY,
    WORK,
    Count,
    first_state,
    graph,
    with_features,
)
from verdog_runtime.declarations import FeatureDefinition, FeatureState, NodeDefinition, Python, WorkflowState
from verdog_runtime.declarations.keys import StateAddress
from verdog_runtime.declarations.state import (
    changed_features,
    iter_slots,
    replaced_features,
    same_nodes,
    same_universe,
    viewed_state,
    with_node_state,
)
from verdog_runtime.interpreter import initial_workflow_state
from verdog_runtime.interpreter.state import restore_state, state_values


@dataclass(frozen=True, slots=True)
class Broken:
    def __post_init__(self) -> None:
        raise LookupError("no state today")


@dataclass(frozen=True, slots=True)
class Listed:
    items: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", [])


def twin(key: Any) -> Any:
    return copy.copy(key)


def node(state_type: Any) -> NodeDefinition[Any, Any]:
    return NodeDefinition(id="odd", name="Odd", operation=Python(), state_type=state_type)


def test_a_first_state_has_default_nodes_and_uninitialised_features() -> None:
    state = initial_workflow_state(GRAPH)
    assert state.get(WORK) == Count()
    assert [state.get(feature) for feature in FEATURES.values()] == [None] * 4


@pytest.mark.parametrize(
    ("kind", "error"),
    [(Broken, LookupError), (Listed, TypeError), (lambda: 3, TypeError), (list, TypeError)],
)
def test_a_state_type_that_cannot_give_a_first_state_is_named_in_a_note(kind: Any, error: Any) -> None:
    with pytest.raises(error) as caught:
        initial_workflow_state(graph(nodes=(node(kind),)))
    assert caught.value.__notes__ == ["node=odd"]


def test_a_slot_is_found_by_the_very_declaration() -> None:
    state = first_state()
    for key in (WORK, READY):
        assert twin(key) == key
        with pytest.raises(KeyError):
            state.get(twin(key))
    with pytest.raises(KeyError):
        state.get(CHECK)  # type: ignore[arg-type]


def test_an_empty_state_has_no_slots() -> None:
    assert WorkflowState() == WorkflowState()
    assert repr(WorkflowState()) == "WorkflowState({})"
    with pytest.raises(KeyError):
        WorkflowState().get(WORK)
    with pytest.raises(KeyError):
        FeatureState().get(WORK)


@pytest.mark.parametrize("state", [first_state(), FeatureState.over(first_state())])
class TestImmutability:
    def test_attributes_cannot_be_set(self, state: Any) -> None:
        for name in ("_nodes", "_state", "other"):
            with pytest.raises(AttributeError):
                setattr(state, name, 1)

    def test_attributes_cannot_be_deleted(self, state: Any) -> None:
        with pytest.raises(AttributeError):
            del state.other

    def test_it_cannot_be_hashed(self, state: Any) -> None:
        with pytest.raises(TypeError):
            hash(state)

    def test_copies_are_itself(self, state: Any) -> None:
        assert copy.copy(state) is state
        assert copy.deepcopy(state) is state

    def test_it_cannot_be_pickled(self, state: Any) -> None:
        with pytest.raises(TypeError, match="declarations"):
            pickle.dumps(state)

    def test_it_has_no_dictionary(self, state: Any) -> None:
        assert not hasattr(state, "__dict__")


def test_states_are_equal_by_keys_and_values() -> None:
    assert first_state() == first_state()
    assert first_state(left=1) == first_state(left=1)
    assert first_state(left=1) != first_state(left=2)
    assert first_state() != WorkflowState()
    assert first_state() != 3
    others = graph(features=tuple(map(twin, GRAPH.features)))
    assert initial_workflow_state(others) != first_state()


def test_views_are_equal_by_their_states() -> None:
    assert FeatureState.over(first_state()) == FeatureState.over(first_state())
    assert FeatureState.over(first_state(left=1)) != FeatureState.over(first_state())
    assert FeatureState() == FeatureState()
    assert FeatureState() != WorkflowState()


def test_a_repr_shows_addresses_and_values() -> None:
    small = initial_workflow_state(graph(features=(LEFT,)))
    text = "WorkflowState({('node', 'work'): Count(taken=0), ('feature', 'left'): None})"
    assert repr(small) == text
    assert repr(FeatureState.over(small)) == f"FeatureState({text})"


def test_a_view_reads_nodes_and_features() -> None:
    view = FeatureState.over(first_state(left=4))
    assert view.get(WORK) == Count()
    assert view.get(LEFT) == 4


def test_replacing_a_feature_leaves_the_view_as_it_was() -> None:
    view = FeatureState.over(first_state())
    after = view.replace(LEFT, 4)
    assert (view.get(LEFT), after.get(LEFT)) == (None, 4)
    assert after.replace(LEFT, 4) == after


def test_replacing_does_not_check_the_domain() -> None:
    assert FeatureState.over(first_state()).replace(READY, "x").get(READY) == "x"


def test_only_features_can_be_replaced() -> None:
    view = FeatureState.over(first_state())
    for key in (WORK, CHECK, "left"):
        with pytest.raises(TypeError):
            view.replace(key, 1)  # type: ignore[arg-type]


def test_a_feature_of_another_graph_cannot_be_replaced() -> None:
    with pytest.raises(KeyError, match="left"):
        FeatureState.over(first_state()).replace(twin(LEFT), 1)


def test_each_first_state_is_a_universe_of_its_own() -> None:
    one, other = first_state(), first_state()
    assert not same_universe(one, other)
    assert same_universe(one, with_features(one, left=1))
    assert same_universe(one, with_node_state(one, WORK, Count(3)))


def test_a_node_state_is_replaced_in_a_new_state() -> None:
    before = first_state()
    after = with_node_state(before, WORK, Count(1))
    assert (before.get(WORK), after.get(WORK)) == (Count(0), Count(1))
    assert not same_nodes(before, after)
    assert same_nodes(after, with_features(after, left=1))
    assert with_node_state(after, WORK, after.get(WORK)) is after
    with pytest.raises(KeyError):
        with_node_state(before, twin(WORK), Count(1))


def test_changed_features_are_those_with_unequal_values() -> None:
    before = first_state(left=1, ratio=2.0, mood="calm")
    assert changed_features(before, before) == ()
    same = float("2.0")
    after = with_features(before, left=2, ratio=same)
    assert [feature.id for feature in changed_features(before, after)] == ["left"]
    assert [feature.id for feature in replaced_features(before, after)] == ["left", "ratio"]


def test_slots_come_in_declaration_order() -> None:
    addresses = [key.state_key for key, _ in iter_slots(first_state())]
    assert addresses == [
        ("node", "work"),
        ("feature", "ready"),
        ("feature", "left"),
        ("feature", "ratio"),
        ("feature", "mood"),
    ]
    assert list(state_values(first_state())) == addresses


VALUES: Mapping[StateAddress, object] = {
    ("feature", "mood"): "calm",
    ("feature", "left"): 3,
    ("feature", "ready"): None,
    ("feature", "ratio"): 0.5,
    ("node", "work"): Count(7),
}


def test_stored_values_become_an_equal_state() -> None:
    state = with_node_state(first_state(left=3, ratio=0.5, mood="calm"), WORK, Count(7))
    assert restore_state(GRAPH, VALUES) == state
    assert restore_state(GRAPH, state_values(state)) == state
    assert not same_universe(restore_state(GRAPH, VALUES), state)


@pytest.mark.parametrize(
    "changes",
    [
        {("feature", "left"): -1},
        {("feature", "left"): True},
        {("feature", "mood"): "angry"},
        {("feature", "ready"): 0},
        {("feature", "new"): 0},
        {("node", "check"): None},
    ],
)
def test_stored_values_must_fit_the_features_and_the_addresses(changes: Any) -> None:
    with pytest.raises(ValueError, match=r"feature|check"):
        restore_state(GRAPH, {**VALUES, **changes})


@pytest.mark.parametrize("address", VALUES)
def test_stored_values_must_not_lack_an_address(address: StateAddress) -> None:
    kept = {key: value for key, value in VALUES.items() if key != address}
    with pytest.raises(ValueError, match=address[1]):
        restore_state(GRAPH, kept)


class Counted(Count):
    __slots__ = ()


@pytest.mark.parametrize("value", [None, 0, Counted(1), Count(taken=[])])  # type: ignore[arg-type]
def test_a_stored_node_state_must_be_exactly_of_its_type_and_immutable(value: object) -> None:
    with pytest.raises(TypeError) as caught:
        restore_state(GRAPH, {**VALUES, ("node", "work"): value})
    assert caught.value.__notes__ == ["node=work"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["work", *FEATURES]),
            st.integers(min_value=0, max_value=3),
        ),
        max_size=12,
    )
)
def test_any_chain_of_updates_acts_like_a_dictionary(updates: list[tuple[str, int]]) -> None:
    state = first_state()
    model: dict[str, object] = {"work": Count(), **dict.fromkeys(FEATURES)}
    for name, number in updates:
        if name == "work":
            state = with_node_state(state, WORK, Count(number))
            model[name] = Count(number)
        else:
            state = viewed_state(FeatureState.over(state).replace(FEATURES[name], number))  # type: ignore[index]
            model[name] = number
    assert {address[1]: value for address, value in state_values(state).items()} == model


def test_a_graph_may_declare_a_feature_and_a_node_of_one_name() -> None:
    feature: FeatureDefinition[Any, Any] = FeatureDefinition(
        id="work", label="W", description="", kind=MOOD.kind, values=("a",)
    )
    both = graph(features=(feature,))
    state = initial_workflow_state(both)
    assert state_values(state) == {("node", "work"): Count(), ("feature", "work"): None}

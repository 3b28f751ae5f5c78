from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.pieces import FEATURES, WORK, Count, edge, first_state, with_features
from tests.runtime.test_features import CALM, IS_READY, NOT_READY, SOME_LEFT, boolean, choice, number
from verdog_runtime.declarations import EdgeDefinition
from verdog_runtime.declarations.state import AnyState, with_node_state
from verdog_runtime.interpreter import analyze_effects, effects_satisfied, evaluate_conditions
from verdog_runtime.interpreter.routing import select_edge

TENSE = replace(CALM, value="tense")


def select(before: AnyState, after: AnyState, *edges: EdgeDefinition) -> str:
    return select_edge("check", edges, before, after, FEATURES).id  # type: ignore[arg-type]


def test_the_only_compatible_edge_is_selected() -> None:
    state = first_state(ready=False)
    edges = (
        edge("check", "work", id="yes", conditions=(IS_READY,)),
        edge("check", "exit", id="no", conditions=(NOT_READY,)),
    )
    assert select(state, state, *edges) == "no"


def test_conditions_see_the_state_before_the_visit() -> None:
    before = first_state(ready=False)
    after = with_features(before, ready=True)
    edges = (
        edge("check", "work", id="was", conditions=(NOT_READY,), effects=(boolean("unconstrained"),)),
        edge("check", "exit", id="is", conditions=(IS_READY,), effects=(boolean("unconstrained"),)),
    )
    assert select(before, after, *edges) == "was"


def test_effects_choose_between_edges_without_conditions() -> None:
    before = first_state(left=3)
    edges = (
        edge("check", "work", id="down", effects=(number("decreases"),)),
        edge("check", "exit", id="up", effects=(number("increases"),)),
        edge("check", "exit", id="same"),
    )
    assert select(before, with_features(before, left=2), *edges) == "down"
    assert select(before, with_features(before, left=4), *edges) == "up"
    assert select(before, before, *edges) == "same"


def test_a_feature_without_an_effect_must_not_change() -> None:
    before = first_state()
    after = with_features(before, left=1)
    with pytest.raises(RuntimeError, match=r"0 of the 1 .*\[routing_failed\]") as caught:
        select(before, after, edge("check", "exit", id="out"))
    assert caught.value.__notes__ == ["node=check compatible= of=out changed=left"]


def test_two_compatible_edges_are_one_too_many() -> None:
    state = first_state()
    with pytest.raises(RuntimeError, match=r"2 of the 2 .* exactly 1: .*\[routing_failed\]") as caught:
        select(state, state, edge("check", "exit", id="a"), edge("check", "work", id="b"))
    assert caught.value.__notes__ == ["node=check compatible=a,b of=a,b changed="]


def fail(before: AnyState, after: AnyState, *edges: EdgeDefinition) -> str:
    with pytest.raises(RuntimeError, match="routing_failed") as caught:
        select(before, after, *edges)
    return str(caught.value).removesuffix(" [routing_failed]")


def test_the_refusal_says_what_each_edge_asks_and_what_the_features_were() -> None:
    state = first_state(ready=False, left=0, mood="calm")
    told = fail(
        state,
        state,
        edge("check", "work", id="a", conditions=(SOME_LEFT,)),
        edge("check", "exit", id="b", conditions=(NOT_READY, TENSE)),
    )
    assert told.endswith(
        ": to 'work' only when left.positive, but left is 0; "
        "to 'exit' only when mood.equals('tense'), but mood is 'calm'"
    )


@pytest.mark.parametrize(
    ("effects", "values", "reason"),
    [
        ((number("decreases"),), {}, "only with left.decreases, but left stayed 7"),
        ((number("decreases"),), {"left": 9}, "only with left.decreases, but left went from 7 to 9"),
        (
            (),
            {"left": 6},
            "only with left.unchanged, since its effects do not name left, but",
        ),
        ((boolean("positive"),), {}, "only with ready.becomes_positive, but ready stayed False"),
        ((choice("equal", "tense"),), {}, "only with mood.becomes('tense'), but mood stayed 'calm'"),
        ((choice("unchanged"),), {"mood": "tense"}, "only with mood.unchanged, but mood went from"),
    ],
)
def test_the_refusal_says_which_effect_did_not_happen(
    effects: tuple[Any, ...], values: dict[str, object], reason: str
) -> None:
    before = first_state(ready=False, left=7, mood="calm")
    told = fail(before, with_features(before, **values), edge("check", "work", effects=effects))
    assert f": to 'work' {reason}" in told


def test_the_refusal_says_which_edges_fit_when_several_do() -> None:
    state = first_state(left=7)
    told = fail(state, state, edge("check", "exit", id="a"), edge("check", "work", conditions=(SOME_LEFT,)))
    assert ": to 'exit' and to 'work'; " in told
    assert "left is 7" in told


def test_a_node_without_edges_leads_nowhere() -> None:
    state = first_state()
    with pytest.raises(RuntimeError, match=r"'check'.*\[routing_failed\]"):
        select(state, state)


def test_a_new_node_state_does_not_matter() -> None:
    before = first_state()
    after = with_node_state(before, WORK, Count(9))
    assert select(before, after, edge("check", "exit", id="out")) == "out"


@pytest.mark.parametrize(
    "fields",
    [{"conditions": (SOME_LEFT,)}, {"conditions": (CALM,)}, {"effects": (number("increases"),)}],
)
def test_an_edge_that_cannot_be_evaluated_is_named(fields: dict[str, Any]) -> None:
    state = first_state()
    with pytest.raises(ValueError, match="has no value yet: a feature node") as caught:
        select(state, state, edge("check", "exit", id="fine"), edge("check", "exit", id="bad", **fields))
    assert caught.value.__notes__ == ["edge=bad"]


CONDITIONS = st.lists(st.sampled_from([IS_READY, SOME_LEFT, CALM]), max_size=2)
EFFECTS = st.lists(
    st.sampled_from(
        [
            *(boolean(name) for name in ("positive", "negative", "unchanged", "unconstrained")),
            *(number(name) for name in ("increases", "decreases", "unchanged", "unconstrained")),
            *(choice("equal", "tense"), choice("unchanged"), choice("unconstrained")),
        ]
    ),
    max_size=3,
    unique_by=lambda effect: effect.feature_id,
)
VALUES = st.fixed_dictionaries(
    {"ready": st.booleans(), "left": st.integers(0, 2), "mood": st.sampled_from(["calm", "tense"])}
)


@given(st.lists(st.tuples(CONDITIONS, EFFECTS), max_size=4), VALUES, VALUES)
def test_selection_is_conditions_and_explicit_and_inferred_effects(
    parts: list[tuple[list[Any], list[Any]]], old: dict[str, Any], new: dict[str, Any]
) -> None:
    before = first_state(**old)
    after = with_features(before, **new)
    edges = [
        edge("check", "exit", id=f"e{place}", conditions=tuple(conditions), effects=tuple(effects))
        for place, (conditions, effects) in enumerate(parts)
    ]
    expected = [
        each.id
        for each in edges
        if evaluate_conditions(each.conditions, before, FEATURES)
        and effects_satisfied(
            (*each.effects, *analyze_effects(FEATURES, each.effects).inferred), before, after, FEATURES
        )
    ]
    if len(expected) == 1:
        assert select(before, after, *edges) == expected[0]
    else:
        with pytest.raises(RuntimeError, match="routing_failed"):
            select(before, after, *edges)

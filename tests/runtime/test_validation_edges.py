from typing import Any

import pytest

from tests.runtime.pieces import GRAPH, VISIT, Count, echo, edge, graph, with_edge
from tests.runtime.test_features import (
    CALM,
    IS_READY,
    NONE_LEFT,
    NOT_READY,
    SOME_LEFT,
    boolean,
    choice,
    number,
)
from verdog_runtime.declarations import (
    BooleanFeatureCondition,
    BooleanFeatureEffect,
    CallVisitDefinition,
    EnumConditionObservation,
    EnumFeatureCondition,
    NodeDefinition,
    NumericalConditionObservation,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
    SubroutineCall,
    VisitDefinition,
    WorkflowCall,
)
from verdog_runtime.interpreter import validate_graph

CALL_VISIT: Any = CallVisitDefinition(implementation=echo)
REST: dict[str, Any] = {"params_types": {}, "profile_arguments": {}, "session_arguments": {}}
CALLS = [
    SubroutineCall(definition_id="a.main", definition_module="a", **REST),
    WorkflowCall(definition_id="a.main", definition_module="a"),
]


def refuse(match: str, source: str, target: str, **fields: Any) -> None:
    with pytest.raises(ValueError, match=match):
        validate_graph(with_edge(edge(source, target, **fields)))


def accept(source: str, target: str, **fields: Any) -> None:
    validate_graph(with_edge(edge(source, target, **fields)))


def test_edges_need_ids_of_their_own() -> None:
    for name in ("", None):
        refuse("empty", "work", "exit", id=name)
    with pytest.raises(ValueError, match="enter__work"):
        validate_graph(graph(edges=(*GRAPH.edges, edge("work", "exit", id="enter__work"))))


@pytest.mark.parametrize("other", [None, "enter__work", VISIT])
def test_edges_must_be_edges(other: Any) -> None:
    with pytest.raises(ValueError, match="an edge must be"):
        validate_graph(graph(edges=(*GRAPH.edges, other)))


def test_edges_join_known_nodes() -> None:
    refuse("'nowhere'", "nowhere", "exit")
    refuse("'nowhere'", "work", "nowhere")


@pytest.mark.parametrize("target", ["exit", "failure"])
def test_an_edge_into_a_port_has_no_visit(target: str) -> None:
    accept("work", target)
    refuse(target, "work", target, visit=VISIT)
    refuse(target, "work", target, visit=VisitDefinition())


@pytest.mark.parametrize("target", ["work", "check"])
@pytest.mark.parametrize(
    "visit", [None, CALL_VISIT, VisitDefinition(), VisitDefinition(implementation=3), echo]
)  # type: ignore[arg-type]
def test_an_edge_into_a_node_has_a_callable_visit(target: str, visit: Any) -> None:
    refuse("visit", "check", target, visit=visit)


@pytest.mark.parametrize("call", CALLS)
def test_an_edge_into_a_call_node_has_a_call_visit(call: Any) -> None:
    calling: Any = NodeDefinition(id="call", name="Call", operation=call, state_type=Count)

    def changed(visit: Any) -> Any:
        edges = (*GRAPH.edges, edge("work", "call", visit=visit))
        return graph(nodes=(*GRAPH.nodes, calling), edges=edges)

    validate_graph(changed(CALL_VISIT))
    for visit in (None, VISIT, CallVisitDefinition(implementation=None)):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="visit"):
            validate_graph(changed(visit))


@pytest.mark.parametrize("port", ["exit", "failure"])
def test_a_visit_cannot_be_entered_from_exit_or_failure(port: str) -> None:
    refuse("only port", port, "work")


def test_effects_belong_to_edges_that_leave_feature_nodes() -> None:
    accept("check", "work", effects=(boolean("positive"),))
    refuse("no feature node", "work", "exit", effects=(boolean("positive"),))
    refuse("no feature node", "enter", "work", effects=(boolean("unchanged"),))


def test_conditions_belong_to_any_edge() -> None:
    accept("work", "exit", conditions=(IS_READY, SOME_LEFT, CALM))
    accept("enter", "work", conditions=(IS_READY,))


def test_a_feature_has_at_most_one_condition_and_one_effect() -> None:
    refuse("two conditions", "check", "exit", conditions=(IS_READY, NOT_READY))
    refuse("two conditions", "check", "exit", conditions=(NONE_LEFT, NONE_LEFT))
    refuse("two effects", "check", "exit", effects=(number("increases"), number("increases")))
    accept("check", "exit", conditions=(IS_READY,), effects=(boolean("negative"),))


def condition(kind: Any, feature: str, observation: Any, **rest: Any) -> Any:
    return kind(feature_id=feature, observation=observation, **rest)


POSITIVE = IS_READY.observation
ZERO = NumericalConditionObservation.EQUAL_ZERO
EQUAL = EnumConditionObservation.EQUAL


@pytest.mark.parametrize(
    "reference",
    [
        condition(BooleanFeatureCondition, "unknown", POSITIVE),
        condition(BooleanFeatureCondition, "left", POSITIVE),
        condition(BooleanFeatureCondition, "mood", POSITIVE),
        condition(NumericalFeatureCondition, "ready", ZERO),
        condition(NumericalFeatureCondition, "mood", ZERO),
        condition(EnumFeatureCondition, "ready", EQUAL, value="calm"),
        condition(EnumFeatureCondition, "ratio", EQUAL, value="calm"),
        condition(EnumFeatureCondition, "mood", EQUAL, value="angry"),
        condition(EnumFeatureCondition, "mood", EQUAL, value=None),
        condition(EnumFeatureCondition, "mood", "equals", value="calm"),
        condition(BooleanFeatureCondition, "ready", ZERO),
        condition(NumericalFeatureCondition, "left", POSITIVE),
        boolean("positive"),
        "ready",
        None,
    ],
)
def test_a_condition_must_fit_its_feature(reference: Any) -> None:
    refuse("check__exit", "check", "exit", conditions=(reference,))


@pytest.mark.parametrize("feature", ["left", "ratio"])
def test_both_kinds_of_number_have_numerical_references(feature: str) -> None:
    accept("check", "exit", conditions=(condition(NumericalFeatureCondition, feature, ZERO),))
    accept("check", "exit", effects=(number("decreases", feature),))


@pytest.mark.parametrize(
    "reference",
    [
        condition(BooleanFeatureEffect, "unknown", boolean("positive").observation),
        condition(BooleanFeatureEffect, "left", boolean("positive").observation),
        condition(NumericalFeatureEffect, "mood", number("increases").observation),
        condition(type(choice("unchanged")), "ready", choice("unchanged").observation),
        condition(BooleanFeatureEffect, "ready", number("increases").observation),
        choice("equal"),
        choice("equal", "angry"),
        choice("unchanged", "calm"),
        choice("unconstrained", "calm"),
        IS_READY,
        None,
    ],
)
def test_an_effect_must_fit_its_feature(reference: Any) -> None:
    refuse("check__exit", "check", "exit", effects=(reference,))


@pytest.mark.parametrize("effect", [choice("equal", "calm"), choice("unchanged"), choice("unconstrained")])
def test_an_enum_effect_has_a_value_exactly_if_it_is_equal(effect: Any) -> None:
    accept("check", "exit", effects=(effect,))


def test_edges_come_before_the_ports_routes() -> None:
    with pytest.raises(ValueError, match="'nowhere'"):
        validate_graph(graph(edges=(edge("work", "nowhere"),)))

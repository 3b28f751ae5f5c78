"""Declarations whose fields are of other classes than declared: one clear error, whichever field it is."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.runtime import graphs, pieces
from verdog_runtime.declarations import (
    AgentProfileDefinition,
    AgentProfileParameter,
    AgentSessionDefinition,
    AgentSessionParameter,
    EnumConditionObservation,
    EnumFeatureCondition,
    NumericalEffectObservation,
    NumericalFeatureEffect,
)
from verdog_runtime.declarations.graph import AnyGraph
from verdog_runtime.interpreter import validate_graph
from verdog_runtime.interpreter.resources import bind_entry

CONDITION = EnumFeatureCondition(feature_id="mood", observation=EnumConditionObservation.EQUAL, value="calm")
EFFECT = NumericalFeatureEffect(feature_id="left", observation=NumericalEffectObservation.INCREASES)
EDGE = pieces.edge("check", "exit", conditions=(CONDITION,), effects=(EFFECT,))
GRAPH = replace(
    pieces.with_edge(EDGE),
    profiles=(AgentProfileDefinition(id="own", name="Own", implementation=lambda input, params: None),),  # type: ignore[arg-type,return-value]
    profile_parameters=(AgentProfileParameter(id="given", name="Given"),),
    sessions=(AgentSessionDefinition(id="talk", name="Talk", persistent=True),),
    session_parameters=(AgentSessionParameter(id="shared", name="Shared"),),
)
LISTS = ("nodes", "edges", "features", "profiles", "profile_parameters", "sessions", "session_parameters")
ODD = [None, 0, 1.5, True, b"x", (1,), {}, [[]], object()]


def show(value: object) -> str:
    """Return the name of a case, the same in every process."""
    return "object" if type(value) is object else repr(value)


Change = Callable[[object], AnyGraph]


def in_list(field: str, index: int, change: Callable[[Any, object], Any]) -> Change:
    def make(value: object) -> AnyGraph:
        items = list(getattr(GRAPH, field))
        items[index] = change(items[index], value)
        return replace(GRAPH, **{field: tuple(items)})

    return make


def of_field(name: str) -> Callable[[Any, object], Any]:
    return lambda item, value: replace(item, **{name: value})


def of_inner(collection: str, name: str) -> Callable[[Any, object], Any]:
    def change(item: Any, value: object) -> Any:
        (inner,) = getattr(item, collection)
        return replace(item, **{collection: (replace(inner, **{name: value}),)})

    return change


def changes() -> Iterator[tuple[str, Change]]:
    """Every way to put something else into one field of one declaration that holds a text or a tuple."""
    yield "graph id", lambda value: replace(GRAPH, id=value)
    for field in LISTS:
        yield field, lambda value, field=field: replace(GRAPH, **{field: value})  # type: ignore[misc]
        for index, item in enumerate(getattr(GRAPH, field)):
            yield f"{field} {index}", in_list(field, index, lambda item, value: value)
            for each in fields(item):
                if isinstance(getattr(item, each.name), str):
                    yield f"{field} {index} {each.name}", in_list(field, index, of_field(each.name))
    for collection in ("conditions", "effects"):
        yield f"edge {collection}", in_list("edges", 2, of_field(collection))
        yield f"edge {collection} id", in_list("edges", 2, of_inner(collection, "feature_id"))
        yield f"edge {collection} observation", in_list("edges", 2, of_inner(collection, "observation"))


CHANGES = dict(changes())


def test_the_graph_that_is_changed_is_valid() -> None:
    validate_graph(GRAPH)
    assert len(CHANGES) > 40


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_of_another_class_is_refused(name: str) -> None:
    for value in ODD:
        if name in LISTS and value == (1,):
            continue  # a tuple that holds something odd: the items are tried one by one
        with pytest.raises(ValueError, match=r"\w"):
            validate_graph(CHANGES[name](value))
            pytest.fail(f"{value!r} was accepted")


def test_the_message_names_the_declaration_and_the_field() -> None:
    with pytest.raises(ValueError, match=r"the name of the NodeDefinition 'work' must be a text, not None"):
        validate_graph(in_list("nodes", 0, of_field("name"))(None))


def test_a_list_will_do_for_a_tuple() -> None:
    validate_graph(replace(GRAPH, **{field: list(getattr(GRAPH, field)) for field in LISTS}))


@pytest.mark.parametrize("value", [*ODD, ""], ids=show)
def test_a_workflow_needs_an_id_that_is_a_text(value: Any) -> None:
    with pytest.raises(ValueError, match="needs an id"):
        replace(graphs.workflow(graphs.line_graph()), id=value)


def test_a_workflow_needs_an_entry() -> None:
    with pytest.raises(TypeError, match="the entry of workflow"):
        replace(graphs.workflow(graphs.line_graph()), entry={})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ODD, ids=show)
def test_a_workflow_needs_a_configuration(value: Any) -> None:
    definition = graphs.workflow(graphs.line_graph())
    with pytest.raises(TypeError, match="has no WorkflowConfiguration"):
        bind_entry(replace(definition, configuration=value), graphs.line_graph())


@pytest.mark.parametrize("value", [each for each in ODD if each != {}], ids=show)
def test_the_sessions_of_a_workflow_are_sessions(value: Any) -> None:
    definition = graphs.workflow(graphs.line_graph())
    with pytest.raises(ValueError, match="sessions of workflow"):
        bind_entry(replace(definition, sessions=value), graphs.line_graph())

from typing import Any

import pytest

from tests.runtime.pieces import graph
from verdog_runtime.agents.codex import CodexInvoker
from verdog_runtime.declarations import (
    AgentProfileParameter,
    AgentSessionDefinition,
    AgentSessionParameter,
    SubroutineCall,
    WorkflowConfiguration,
    WorkflowDefinition,
)
from verdog_runtime.interpreter.resources import bind_entry

INVOKER = CodexInvoker()
TALK = AgentSessionDefinition(id="talk", name="Talk", persistent=True)
ASKING = graph(
    profile_parameters=(AgentProfileParameter(id="writer", name="Writer"),),
    session_parameters=(AgentSessionParameter(id="chat", name="Chat"),),
)


def bind(
    *,
    profiles: Any = None,
    profile_arguments: Any = None,
    sessions: Any = (TALK,),
    session_arguments: Any = None,
    target: Any = ASKING,
) -> Any:
    entry = SubroutineCall(
        definition_id="demo.flow.main",
        definition_module="demo.flow",
        params_types={},
        profile_arguments={"writer": "author"} if profile_arguments is None else profile_arguments,
        session_arguments={"chat": "talk"} if session_arguments is None else session_arguments,
    )
    definition: Any = WorkflowDefinition(
        id="demo.flow.main",
        input_type=object,
        entry=entry,
        configuration=WorkflowConfiguration(
            profile_arguments={"author": INVOKER} if profiles is None else profiles
        ),
        sessions=sessions,
    )
    return bind_entry(definition, target)


def test_each_slot_gets_what_its_argument_names() -> None:
    bound = bind()
    assert bound.profiles == {"writer": INVOKER}
    assert bound.sessions == {"chat": TALK}


def test_a_graph_without_slots_needs_nothing() -> None:
    bound = bind(profile_arguments={}, session_arguments={}, profiles={}, sessions=(), target=graph())
    assert (bound.profiles, bound.sessions) == ({}, {})


def test_more_profiles_and_sessions_than_slots_are_accepted() -> None:
    assert bind(profiles={"author": INVOKER, "other": None}).profiles == {"writer": INVOKER}


def test_a_missing_profile_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="author"):
        bind(profiles={})


class Silent:
    def __call__(self, request: object) -> None: ...


class Named(Silent):
    def __init__(self, provider: object) -> None:
        self.session_provider = provider


@pytest.mark.parametrize("invoker", [None, "codex", Silent(), Named(""), Named(None), Named(1)])
def test_an_invoker_is_callable_and_names_its_provider(invoker: Any) -> None:
    with pytest.raises(TypeError, match="author"):
        bind(profiles={"author": invoker})


def test_any_callable_with_a_provider_is_an_invoker() -> None:
    named = Named("echo")
    assert bind(profiles={"author": named}).profiles == {"writer": named}


@pytest.mark.parametrize("arguments", [{}, {"writer": "author", "more": "author"}, {"other": "author"}])
def test_the_profile_arguments_are_exactly_the_slots(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="profile"):
        bind(profile_arguments=arguments)


@pytest.mark.parametrize("arguments", [{}, {"chat": "talk", "more": "talk"}, {"other": "talk"}])
def test_the_session_arguments_are_exactly_the_slots(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="session"):
        bind(session_arguments=arguments)


def test_a_missing_session_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="talk"):
        bind(sessions=())


@pytest.mark.parametrize(
    "sessions",
    [
        (TALK, TALK),
        (AgentSessionDefinition(id="", name="x", persistent=True),),
        (AgentSessionDefinition(id="talk", name="", persistent=True),),
        (AgentSessionDefinition(id="talk", name="x", persistent=1),),  # type: ignore[arg-type]
    ],
)
def test_the_workflow_s_sessions_are_valid(sessions: Any) -> None:
    with pytest.raises(ValueError, match="session"):
        bind(sessions=sessions)

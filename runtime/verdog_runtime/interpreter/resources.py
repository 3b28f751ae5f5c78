"""Resources: the profiles and sessions that a workflow gives its entry graph."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from verdog_runtime.declarations.agents import AgentInvoker
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.graph import AgentSessionDefinition, AnyGraph, AnyWorkflow
from verdog_runtime.declarations.ids import AgentProfileId, AgentSessionId
from verdog_runtime.interpreter.validation_resources import require_session_definitions
from verdog_runtime.interpreter.validation_shape import require_sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What fills the slots of one activation of a graph.

    Attributes:
        profiles: the invoker of each profile parameter.
        sessions: the session of each session parameter.
    """

    profiles: Mapping[AgentProfileId, AgentInvoker]
    sessions: Mapping[AgentSessionId, AgentSessionDefinition]


def bind_entry(definition: AnyWorkflow, graph: AnyGraph) -> Resources:
    """Return the resources of a workflow's entry graph.

    Raises:
        ValueError: the arguments of the entry are not exactly the graph's parameters, or name a profile or a
            session that the workflow does not have; or a session of the workflow is invalid.
        TypeError: there is no configuration, or a profile is not callable or has no `session_provider` text.
    """
    entry = definition.entry
    require_sessions(definition, f"workflow {definition.id!r}")
    require_session_definitions(definition.sessions)
    profile_ids = {profile.id for profile in graph.profile_parameters}
    session_ids = {session.id for session in graph.session_parameters}
    _require_same(entry.profile_arguments.keys(), profile_ids, "profile", graph)
    _require_same(entry.session_arguments.keys(), session_ids, "session", graph)
    if not isinstance(cast(object, definition.configuration), WorkflowConfiguration):
        raise TypeError(f"workflow {definition.id!r} has no WorkflowConfiguration")
    invokers = definition.configuration.profile_arguments
    profiles: dict[AgentProfileId, AgentInvoker] = {}
    for slot, argument in entry.profile_arguments.items():
        if argument not in invokers:
            raise ValueError(f"the workflow's configuration has no profile {argument!r}")
        profiles[slot] = require_invoker(argument, invokers[argument])
    known = {session.id: session for session in definition.sessions}
    sessions: dict[AgentSessionId, AgentSessionDefinition] = {}
    for slot, argument in entry.session_arguments.items():
        if argument not in known:
            raise ValueError(f"the workflow has no session {argument!r}")
        sessions[slot] = known[argument]
    return Resources(profiles=MappingProxyType(profiles), sessions=MappingProxyType(sessions))


def require_invoker(profile: AgentProfileId, invoker: object) -> AgentInvoker:
    """Return a profile's invoker after checking what can be seen of it.

    Raises:
        TypeError: it is not callable, or has no `session_provider` text.
    """
    if not callable(invoker):
        raise TypeError(f"profile {profile!r} is not callable")
    provider = getattr(invoker, "session_provider", None)
    if not isinstance(provider, str) or not provider:
        raise TypeError(f"profile {profile!r} needs a session_provider: a text that is not empty")
    return cast(AgentInvoker, invoker)


def _require_same(given: Set[str], wanted: Set[str], kind: str, graph: AnyGraph) -> None:
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    if missing:
        raise ValueError(f"the call of graph {graph.id!r} does not fill {kind} {', '.join(missing)}")
    if extra:
        raise ValueError(f"graph {graph.id!r} has no {kind} parameter {', '.join(extra)}")

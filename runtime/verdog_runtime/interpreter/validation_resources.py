"""Validation of a graph's features, profiles and sessions."""

from collections.abc import Iterable
from typing import cast

from verdog_runtime.declarations.graph import (
    AgentProfileDefinition,
    AgentProfileParameter,
    AgentSessionDefinition,
    AgentSessionParameter,
    AnyFeature,
    AnyGraph,
    FeatureDefinition,
    FeatureKind,
)
from verdog_runtime.declarations.operations import Agent


def validate_features(graph: AnyGraph) -> None:
    """Check ids, labels and domains.

    Raises:
        ValueError: one of them is empty, taken, or does not fit the feature's kind.
    """
    seen: set[str] = set()
    for feature in graph.features:
        if not isinstance(cast(object, feature), FeatureDefinition):
            raise ValueError(
                f"a feature must be a FeatureDefinition, not an object of class {type(feature).__name__}"
            )
        _require_name(feature.id, seen, "feature")
        if not feature.label:
            raise ValueError(f"feature {feature.id!r} needs a label")
        if not isinstance(cast(object, feature.kind), FeatureKind):
            raise ValueError(f"feature {feature.id!r} has an unknown kind: {feature.kind!r}")
        _require_values(feature)


def validate_resources(graph: AnyGraph) -> None:
    """Check profiles and sessions, and that every agent node's are among them.

    Raises:
        ValueError: an id or a name is empty or taken, a profile is not callable, `persistent` is no bool, or
            an agent node names what the graph does not have.
    """
    profiles = _require_profiles((*graph.profiles, *graph.profile_parameters))
    sessions = _require_sessions((*graph.sessions, *graph.session_parameters))
    for node in graph.nodes:
        operation = node.operation
        if not isinstance(operation, Agent):
            continue
        if operation.profile not in profiles:
            raise ValueError(f"agent node {node.id!r} names an unknown profile {operation.profile!r}")
        if operation.session not in sessions:
            raise ValueError(f"agent node {node.id!r} names an unknown session {operation.session!r}")


def require_session_definitions(sessions: Iterable[AgentSessionDefinition]) -> set[str]:
    """Return the ids of sessions after checking them.

    Raises:
        ValueError: an id or a name is empty or taken, or `persistent` is no bool.
    """
    return _require_sessions(sessions)


def _require_values(feature: AnyFeature) -> None:
    values = cast(object, feature.values)
    if feature.kind is not FeatureKind.ENUM:
        if values != ():
            raise ValueError(f"feature {feature.id!r} is no enum, so it cannot list values")
        return
    if not isinstance(values, tuple) or not values:
        raise ValueError(f"enum feature {feature.id!r} needs a tuple of values")
    items = cast("tuple[object, ...]", values)
    if not all(type(item) is str and item for item in items):
        raise ValueError(f"the values of enum feature {feature.id!r} must be texts that are not empty")
    if len(set(items)) != len(items):
        raise ValueError(f"enum feature {feature.id!r} lists a value twice")


def _require_profiles(
    profiles: Iterable[AgentProfileDefinition[object, object] | AgentProfileParameter],
) -> set[str]:
    seen: set[str] = set()
    for profile in profiles:
        _require_name(profile.id, seen, "profile")
        if not profile.name:
            raise ValueError(f"profile {profile.id!r} needs a name")
        if isinstance(profile, AgentProfileDefinition) and not callable(profile.implementation):
            raise ValueError(f"the implementation of profile {profile.id!r} is not callable")
    return seen


def _require_sessions(sessions: Iterable[AgentSessionDefinition | AgentSessionParameter]) -> set[str]:
    seen: set[str] = set()
    for session in sessions:
        _require_name(session.id, seen, "session")
        if not session.name:
            raise ValueError(f"session {session.id!r} needs a name")
        if isinstance(session, AgentSessionDefinition) and type(session.persistent) is not bool:
            raise ValueError(f"session {session.id!r} must say with a bool whether it is persistent")
    return seen


def _require_name(name: object, seen: set[str], kind: str) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"a {kind} needs an id that is not empty, not {name!r}")
    if name in seen:
        raise ValueError(f"two {kind}s have the id {name!r}")
    seen.add(name)

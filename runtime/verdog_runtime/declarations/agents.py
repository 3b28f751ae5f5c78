"""Agents: the request, the reply, and the protocol that an invoker follows."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from verdog_runtime.cancellation import CancellationToken
from verdog_runtime.declarations.context import AgentAccess, NodeContext
from verdog_runtime.declarations.ids import AgentProfileId, AgentSessionId, ProviderSessionId


class AgentSessionAction(StrEnum):
    """What a provider should do with the session it is given."""

    CONTINUE = "continue"
    FORK = "fork"


@dataclass(frozen=True, slots=True)
class AgentSessionCapabilities:
    """What a provider can do with sessions.

    Attributes:
        fork_latest: it can branch off the latest turn of a session, leaving the original as it was.
    """

    fork_latest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """One prompt on its way to a provider.

    Attributes:
        prompt: what to ask.
        profile_id: the profile that answers.
        session_id: the session it belongs to.
        persistent: whether the session outlives this request.
        provider_session_id: the provider's own id of the session, once known.
        node_context: the context of the visit that asks.
        workspace: the directory to work in, resolved.
        access: what may be done there.
        artifact_dir: an empty directory for what the invoker wants to keep.
        provider_session_action: go on with the session, or branch off it.
        cancellation: the run's token.
    """

    prompt: str
    profile_id: AgentProfileId
    session_id: AgentSessionId
    persistent: bool
    provider_session_id: ProviderSessionId | None
    node_context: NodeContext[object]
    workspace: Path
    access: AgentAccess
    artifact_dir: Path
    provider_session_action: AgentSessionAction = AgentSessionAction.CONTINUE
    cancellation: CancellationToken = field(default_factory=CancellationToken)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """A provider's answer.

    Attributes:
        text: the answer.
        provider_session_id: the provider's id of the session from here on, or None if it did not change.
    """

    text: str
    provider_session_id: ProviderSessionId | None = None


class AgentInvocationError(RuntimeError):
    """An agent could not be asked, or did not answer."""


class AgentInvoker(Protocol):
    """Anything callable that asks a provider.

    At run time the protocol is structural: a callable whose `session_provider` is a non-empty string.
    """

    @property
    def session_provider(self) -> str:
        """The provider's name. Session ids of two providers never mix."""
        ...

    def __call__(self, request: AgentRequest, /) -> AgentReply:
        """Ask, wait, and return the answer."""
        ...


class ForkingAgentInvoker(AgentInvoker, Protocol):
    """An invoker that says what its provider can do with sessions."""

    @property
    def session_capabilities(self) -> AgentSessionCapabilities:
        """What the provider can do with sessions."""
        ...

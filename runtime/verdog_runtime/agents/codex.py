"""The built-in invoker of the Codex command."""

from dataclasses import dataclass

from verdog_runtime.agents.command import refuse_invocation, require_extra_args
from verdog_runtime.declarations.agents import AgentReply, AgentRequest, AgentSessionCapabilities

_RESERVED = frozenset(
    [
        "--add-dir",
        "--approve-for-me",
        "--cd",
        "--dangerously-bypass-approvals-and-sandbox",
        "--ephemeral",
        "--json",
        "--model",
        "--output-last-message",
        "--sandbox",
        "--skip-git-repo-check",
        "-C",
        "-m",
        "-o",
        "-s",
        "fork",
        "resume",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexInvoker:
    """Asks Codex through its command.

    Attributes:
        executable: the command.
        model: the model, or None for the command's own choice.
        reasoning_effort: how hard to think, or None for the command's own choice.
        extra_args: further arguments of the command.

    Raises:
        TypeError: `extra_args` is no tuple of texts.
        ValueError: `extra_args` holds what the invoker sets itself.
    """

    # Class attributes without an annotation: no fields, and what the protocol's properties can be.
    session_provider = "codex"
    session_capabilities = AgentSessionCapabilities(fork_latest=True)

    executable: str = "codex"
    model: str | None = None
    reasoning_effort: str | None = None
    extra_args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_extra_args(self.extra_args, _RESERVED)

    def __call__(self, request: AgentRequest, /) -> AgentReply:
        """Refuse: agents are not executed yet.

        Raises:
            AgentInvocationError: always.
        """
        refuse_invocation(self.session_provider)

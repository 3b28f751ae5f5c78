"""The built-in invoker of the Claude command."""

from dataclasses import dataclass

from verdog_runtime.agents.command import refuse_invocation, require_extra_args
from verdog_runtime.declarations.agents import AgentReply, AgentRequest, AgentSessionCapabilities

_RESERVED = frozenset(
    [
        "--add-dir",
        "--allow-dangerously-skip-permissions",
        "--allowed-tools",
        "--allowedTools",
        "--continue",
        "--dangerously-skip-permissions",
        "--effort",
        "--fork-session",
        "--model",
        "--no-session-persistence",
        "--output-format",
        "--permission-mode",
        "--print",
        "--resume",
        "--session-id",
        "--verbose",
        "--worktree",
        "-c",
        "-p",
        "-r",
        "-w",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeInvoker:
    """Asks Claude through its command.

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
    session_provider = "claude"
    session_capabilities = AgentSessionCapabilities(fork_latest=True)

    executable: str = "claude"
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

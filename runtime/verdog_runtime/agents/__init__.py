"""Agents: the names that the author of an invoker needs.

The built-in invokers are in `.codex` and `.claude`, which importing this package does not load.
"""

from verdog_runtime.declarations.agents import (
    AgentInvocationError,
    AgentInvoker,
    AgentReply,
    AgentRequest,
    AgentSessionAction,
    AgentSessionCapabilities,
    ForkingAgentInvoker,
)

__all__ = [
    "AgentInvocationError",
    "AgentInvoker",
    "AgentReply",
    "AgentRequest",
    "AgentSessionAction",
    "AgentSessionCapabilities",
    "ForkingAgentInvoker",
]

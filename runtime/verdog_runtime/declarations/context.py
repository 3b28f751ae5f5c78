"""Contexts: what a visit is given besides its input and its state."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from pathlib import Path
from typing import Final, Generic

from typing_extensions import TypeVar

from verdog_runtime.declarations.ids import EdgeId, GraphId, NodeId, RunId

ParamsT = TypeVar("ParamsT", default=None)
ChildParamsT = TypeVar("ChildParamsT", default=None)
ChildInputT = TypeVar("ChildInputT", default=object)
ChildOutputT = TypeVar("ChildOutputT", default=object)


class AgentAccess(StrEnum):
    """What an agent may do in its workspace."""

    READ_ONLY = "read-only"
    WORKSPACE_WRITE = "workspace-write"


class _Unset(Enum):
    UNSET = "unset"


_UNSET: Final = _Unset.UNSET


@dataclass(frozen=True, kw_only=True)
class NodeContext(Generic[ParamsT]):
    """The context of one visit.

    Attributes:
        run_id: the run's id.
        graph_id: the graph that owns the node.
        node_id: the node being visited.
        edge_id: the edge by which it was entered.
        output_dir: this visit's own directory: absolute, existing, empty at first.
        params: the Params of the graph.
    """

    run_id: RunId
    graph_id: GraphId
    node_id: NodeId
    edge_id: EdgeId
    output_dir: Path
    params: ParamsT


@dataclass(frozen=True, kw_only=True)
class AgentNodeContext(NodeContext[ParamsT]):
    """The context of a visit to an agent node."""

    _invoke: Callable[[str, Path, AgentAccess], str] = field(repr=False)

    def invoke(self, prompt: str, /, *, workspace: Path, access: AgentAccess = AgentAccess.READ_ONLY) -> str:
        """Send a prompt to the node's agent and return the text of the reply.

        Args:
            prompt: what to ask.
            workspace: an existing directory that the agent works in.
            access: what the agent may do there.

        Raises:
            AgentInvocationError: the agent failed, or its session cannot be continued as asked.
        """
        return self._invoke(prompt, workspace, access)


@dataclass(frozen=True, kw_only=True)
class CallContext(NodeContext[ParamsT], Generic[ParamsT, ChildParamsT, ChildInputT, ChildOutputT]):
    """The context of a visit to a call node.

    Attributes:
        child_params: the Params that the called graph gets unless `invoke` is given others.
    """

    child_params: ChildParamsT
    _invoke: Callable[[ChildInputT, ChildParamsT], ChildOutputT] = field(repr=False)

    def invoke(self, input: ChildInputT, /, *, params: ChildParamsT | _Unset = _UNSET) -> ChildOutputT:
        """Run the called graph and return its output; exactly one call per visit.

        Args:
            input: the called graph's input.
            params: its Params; left out, `child_params`. An explicit None is passed as None.
        """
        return self._invoke(input, self.child_params if params is _UNSET else params)

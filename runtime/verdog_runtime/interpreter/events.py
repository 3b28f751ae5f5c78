"""Events: what an execution handler is told while a run executes."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from verdog_runtime.declarations.ids import EdgeId, GraphId, NodeId, RunId
from verdog_runtime.declarations.state import AnyState


class ExecutionStatus(StrEnum):
    """How far a node or an edge is. PENDING and WAITING are reserved."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(slots=True, kw_only=True)
class NodeExecution:
    """A node or a port began or ended.

    Attributes:
        run_id: the run.
        graph_id: the graph that owns the node.
        node_id: the node or port.
        status: RUNNING, SUCCEEDED or FAILED.
        state: the node's state: after the visit when it succeeded, else before; None for feature nodes, ports
            and remote nodes.
        remote: whether it happened in the process of a called workflow.
        project_path: the project of the graph, relative to the run's.
    """

    run_id: RunId
    graph_id: GraphId
    node_id: NodeId
    status: ExecutionStatus
    state: object
    remote: bool = False
    project_path: str = "."


@dataclass(slots=True, kw_only=True)
class EdgeExecution:
    """An edge was taken and its state committed.

    Attributes:
        run_id: the run.
        graph_id: the graph that owns the edge.
        edge_id: the edge.
        status: SUCCEEDED.
        state: the committed state; None for remote edges.
        remote: whether it happened in the process of a called workflow.
        project_path: the project of the graph, relative to the run's.
    """

    run_id: RunId
    graph_id: GraphId
    edge_id: EdgeId
    status: ExecutionStatus
    state: AnyState | None
    remote: bool = False
    project_path: str = "."


ExecutionEvent: TypeAlias = NodeExecution | EdgeExecution
ExecutionHandler: TypeAlias = Callable[[ExecutionEvent], None]

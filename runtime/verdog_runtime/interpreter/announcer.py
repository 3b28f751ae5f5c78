"""The announcer: public execution events, sent to the handler of a dispatcher."""

import logging

from verdog_runtime.declarations.graph import EdgeDefinition
from verdog_runtime.declarations.ids import NodeId, RunId
from verdog_runtime.declarations.state import AnyState
from verdog_runtime.interpreter.events import (
    EdgeExecution,
    ExecutionEvent,
    ExecutionHandler,
    ExecutionStatus,
    NodeExecution,
)
from verdog_runtime.interpreter.frame import Frame

_LOG = logging.getLogger("verdog.events")


class Announcer:
    """Calls the handler. An `Exception` from it is logged and stops nothing; a `BaseException` passes."""

    def __init__(self, run_id: RunId, handler: ExecutionHandler | None) -> None:
        self._run_id = run_id
        self._handler = handler

    def node(self, frame: Frame, node: NodeId, status: ExecutionStatus, state: object) -> None:
        """Announce that a node or port began or ended."""
        if self._handler is None:
            return
        self._send(
            NodeExecution(
                run_id=self._run_id,
                graph_id=frame.plan.graph.id,
                node_id=node,
                status=status,
                state=state,
                project_path=frame.project_path,
            )
        )

    def edge(self, frame: Frame, edge: EdgeDefinition, status: ExecutionStatus, state: AnyState) -> None:
        """Announce a committed transition."""
        if self._handler is None:
            return
        self._send(
            EdgeExecution(
                run_id=self._run_id,
                graph_id=frame.plan.graph.id,
                edge_id=edge.id,
                status=status,
                state=state,
                project_path=frame.project_path,
            )
        )

    def _send(self, event: ExecutionEvent) -> None:
        if self._handler is None:
            return
        try:
            self._handler(event)
        except Exception:
            _LOG.exception("the execution handler raised; the run goes on")

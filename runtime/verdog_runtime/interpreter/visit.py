"""Visits: the execution of one node body or port in a directory of its own."""

import os
import time
from collections.abc import Callable

from verdog_runtime.cancellation import ExecutionCancelled
from verdog_runtime.declarations.context import NodeContext
from verdog_runtime.declarations.graph import (
    EdgeDefinition,
    FeatureNodeDefinition,
    PortDefinition,
    VisitDefinition,
)
from verdog_runtime.declarations.ids import NodeId, RunId
from verdog_runtime.declarations.state import AnyState, FeatureState
from verdog_runtime.interpreter.announcer import Announcer
from verdog_runtime.interpreter.commands import Answer, Failed, NodeVisited, PortVisited
from verdog_runtime.interpreter.events import ExecutionStatus
from verdog_runtime.interpreter.forkedchild import end_forked_child
from verdog_runtime.interpreter.frame import Frame
from verdog_runtime.interpreter.notes import add_note, format_traceback
from verdog_runtime.interpreter.observer import Observer
from verdog_runtime.interpreter.outcomes import (
    check_feature_result,
    check_visit_result,
    missing_visit,
    unsupported_operation,
)
from verdog_runtime.interpreter.plan import Node
from verdog_runtime.interpreter.support import operation_kind
from verdog_runtime.layout import VisitDirectories, VisitDirectory
from verdog_runtime.trace import TraceLog


class Visitor:
    """Executes node bodies and ports: the only caller of authored code."""

    def __init__(
        self,
        run_id: RunId,
        directories: VisitDirectories,
        trace: TraceLog,
        events: Announcer,
        observer: Observer,
    ) -> None:
        self.events = events
        self._run_id = run_id
        self._directories = directories
        self._trace = trace
        self._observer = observer
        self._pid = os.getpid()

    def visit_node(self, frame: Frame, edge: EdgeDefinition, node: Node) -> Answer:
        """Run the body that an edge selects, and check what it returned.

        Returns:
            `NodeVisited`, or `Failed` with an error that names project, graph, node, edge and directory.
        """
        before = None if isinstance(node, FeatureNodeDefinition) else frame.state.get(node)
        try:
            place = self._open(frame, node.id)
        except Exception as error:
            add_note(error, _describe_visit(frame, node, edge))
            raise
        begun = time.perf_counter_ns()
        try:
            try:
                output, candidate = self._call(frame, edge, node, place, before)
            except Exception as error:
                add_note(error, f"{_describe_visit(frame, node, edge)} output={place.path}")
                self.events.node(frame, node.id, ExecutionStatus.FAILED, before)
                self._close(place, "failed", begun)
                return Failed(error=error)
            after = None if isinstance(node, FeatureNodeDefinition) else candidate.get(node)
            self.events.node(frame, node.id, ExecutionStatus.SUCCEEDED, after)
        except BaseException as error:
            self._close(place, _format_end(error), begun, stopped=isinstance(error, KeyboardInterrupt))
            raise
        duration_ns = self._close(place, "succeeded", begun)
        return NodeVisited(
            output=output,
            candidate=candidate,
            visit=place.number,
            path=place.path,
            duration_ns=duration_ns,
        )

    def visit_port(self, frame: Frame, port: PortDefinition, error: Exception | None) -> PortVisited:
        """Pass a control port. With an error it is the failure port, which keeps the traceback."""
        place = self._open(frame, port.id)
        begun = time.perf_counter_ns()
        status = ExecutionStatus.SUCCEEDED if error is None else ExecutionStatus.FAILED
        try:
            self.events.node(frame, port.id, ExecutionStatus.RUNNING, None)
            if error is not None:
                self._keep_traceback(frame, port, place, error)
            self.events.node(frame, port.id, status, None)
        except BaseException as worse:
            self._close(place, _format_end(worse), begun)
            raise
        duration_ns = self._close(place, status.value, begun)
        return PortVisited(visit=place.number, path=place.path, duration_ns=duration_ns)

    def _keep_traceback(
        self, frame: Frame, port: PortDefinition, place: VisitDirectory, error: Exception
    ) -> None:
        add_note(
            error,
            f"failure: project={frame.project_path} graph={frame.plan.graph.id} failure={port.id} "
            f"output={place.path}",
        )
        text = format_traceback(error)
        try:
            (place.directory / "stacktrace.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as worse:
            add_note(error, f"stacktrace.txt could not be written: {worse.strerror}")

    def _call(
        self, frame: Frame, edge: EdgeDefinition, node: Node, place: VisitDirectory, before: object
    ) -> tuple[object, AnyState]:
        implementation = _implementation(edge)
        context = NodeContext[object](
            run_id=self._run_id,
            graph_id=frame.plan.graph.id,
            node_id=node.id,
            edge_id=edge.id,
            output_dir=place.directory,
            params=frame.params,
        )
        self.events.node(frame, node.id, ExecutionStatus.RUNNING, before)
        if isinstance(node, FeatureNodeDefinition):
            before = FeatureState[object].over(frame.state)
        elif operation_kind(node) == "unknown":
            raise unsupported_operation(node)
        try:
            result = implementation(frame.value, before, context)
        finally:
            if os.getpid() != self._pid:
                end_forked_child()
        if isinstance(node, FeatureNodeDefinition):
            return frame.value, check_feature_result(node, result, frame.state, frame.plan.features)
        return check_visit_result(node, result, frame.state)

    def _open(self, frame: Frame, node: NodeId) -> VisitDirectory:
        place = self._directories.allocate(frame.scope, node, frame.visits.get(node, 0))
        self._trace.start(place.path)
        self._observer.visit_started(place.path)
        return place

    def _close(self, place: VisitDirectory, status: str, begun_ns: int, *, stopped: bool = False) -> int:
        """End a visit. One that Ctrl+C stopped is `failed` in the trace; people are told what happened."""
        duration_ns = time.perf_counter_ns() - begun_ns
        self._trace.end(place.path, status, duration_ns / 1e9)
        self._observer.visit_finished(place.path, "cancelled" if stopped else status, duration_ns / 1e9)
        return duration_ns


def _describe_visit(frame: Frame, node: Node, edge: EdgeDefinition) -> str:
    return f"visit: project={frame.project_path} graph={frame.plan.graph.id} node={node.id} edge={edge.id}"


def _format_end(error: BaseException) -> str:
    return "cancelled" if isinstance(error, ExecutionCancelled) else "failed"


def _implementation(edge: EdgeDefinition) -> Callable[..., object]:
    visit = edge.visit
    if not isinstance(visit, VisitDefinition) or visit.implementation is None:
        raise missing_visit(edge)
    return visit.implementation

"""Frames: the immutable picture of one activation of a graph."""

from collections.abc import Mapping
from dataclasses import dataclass

from verdog_runtime.declarations.graph import EdgeDefinition
from verdog_runtime.declarations.ids import NodeId
from verdog_runtime.declarations.state import AnyState
from verdog_runtime.interpreter.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One activation of a graph on the stack.

    Attributes:
        project_path: the project that holds the graph, relative to the workflow's project; `.` for that one.
        call_path: the call nodes that lead here, as `call#1/child#2`; empty for the root graph.
        scope: the run-relative directory of the activation's visit directories; empty for the root graph.
        input: what the activation was entered with.
        params: the value of the graph's parameters.
        state: node and feature state, committed at the last transition.
        value: the value in transit: the output of `source`.
        source: the node whose output is in transit.
        output: the run-relative directory of the visit that produced it.
        edge: the edge that was chosen and not travelled yet; None only before the enter port was left.
        visits: per node, the number of its last visit directory.
    """

    plan: Plan
    project_path: str = "."
    call_path: str = ""
    scope: str = ""
    input: object
    params: object
    state: AnyState
    value: object
    source: NodeId
    output: str = ""
    edge: EdgeDefinition | None = None
    visits: Mapping[NodeId, int]

"""Commands: what the machine asks the driver to do, and what the driver answers."""

from dataclasses import dataclass

from verdog_repo.record import Boundary
from verdog_runtime.declarations.graph import EdgeDefinition, PortDefinition
from verdog_runtime.declarations.state import AnyState
from verdog_runtime.interpreter.plan import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitPort:
    """Visit a control port. Answered by `PortVisited`, or by `Failed`.

    Attributes:
        error: what the failure port is visited with; None for the other two ports.
    """

    port: PortDefinition
    error: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitNode:
    """Execute the target of an edge once. Answered by `NodeVisited` or `Failed`."""

    edge: EdgeDefinition
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitEdge:
    """Tell observers that a transition was committed. Needs no answer."""

    edge: EdgeDefinition
    state: AnyState


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Write a checkpoint of the machine as it is now. Answered by `Recorded` or `Failed`.

    Attributes:
        kind: `entry`, `node` or `terminal`.
        next: where the run would go on; None at a terminal.
        failing: the transition leads to the failure port, so nothing can be resumed from here.
        duration_ns: how long the completed visit took.
    """

    kind: str
    completed: Boundary
    next: Boundary | None
    failing: bool
    duration_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The run ended at its exit port."""

    value: object
    state: AnyState


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """The run ended at its failure port, or, without its output directory, before it."""

    error: Exception


Command = VisitPort | VisitNode | EmitEdge | Record | Finish | Fail


@dataclass(frozen=True, slots=True, kw_only=True)
class PortVisited:
    """A port was visited in its `visit`-th directory.

    Attributes:
        path: the visit's run-relative directory.
    """

    visit: int
    path: str
    duration_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVisited:
    """A node's visit ended and its result was accepted.

    Attributes:
        candidate: the state that becomes the graph's state if exactly one edge is compatible with it.
        path: the visit's run-relative directory.
    """

    output: object
    candidate: AnyState
    visit: int
    path: str
    duration_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The checkpoint is durable, or none is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What was asked for raised an `Exception`, which already bears its notes."""

    error: Exception


Answer = PortVisited | NodeVisited | Recorded | Failed

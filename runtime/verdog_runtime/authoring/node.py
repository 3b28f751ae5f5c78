"""Nodes: the ports and nodes of a graph as handles, joined by `on`."""

from collections.abc import Iterable
from typing import ClassVar, Generic, cast

from typing_extensions import TypeVar

from verdog_runtime.authoring.draft import ENTER, EXIT, FAILURE, Draft, DraftEdge
from verdog_runtime.authoring.location import AuthoringError, locate_caller
from verdog_runtime.authoring.state import NoState
from verdog_runtime.authoring.visit import (
    AgentVisit,
    CallVisit,
    FeatureVisit,
    PythonVisit,
    wrap_call,
    wrap_feature,
    wrap_node,
)
from verdog_runtime.declarations.graph import (
    FeatureCondition,
    FeatureEffect,
    FeatureNodeDefinition,
    NodeDefinition,
)
from verdog_runtime.declarations.ids import EdgeId, NodeId
from verdog_runtime.declarations.operations import Feature, Operation

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
OutputT_co = TypeVar("OutputT_co", covariant=True)
StateT = TypeVar("StateT")
ChildInputT = TypeVar("ChildInputT")
ChildOutputT = TypeVar("ChildOutputT")
ChildParamsT = TypeVar("ChildParamsT")


class Source(Generic[OutputT_co]):
    """Something that an edge can leave, with a value of a known type.

    Attributes:
        draft: (internal) the graph it belongs to.
        id: its id in the graph.
    """

    draft: Draft
    id: NodeId


class EnterPort(Source[OutputT_co]):
    """Where a graph is entered, with its input."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.id = ENTER.id


class ExitPort(Generic[InputT]):
    """Where a graph is left, with its output."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def on(
        self,
        source: Source[InputT],
        *,
        when: Iterable[FeatureCondition] = (),
        effects: Iterable[FeatureEffect] = (),
        name: str = "",
    ) -> None:
        """Leave the graph after a node.

        Args:
            source: the node whose output becomes the graph's.
            when: what must hold before the node's visit.
            effects: what the visit may have done to features; only a feature node's visit does.
            name: a text for people.

        Raises:
            AuthoringError: there is such an edge already, or it breaks a rule.
        """
        _join(self.draft, source, EXIT.id, when, effects, name)


class FailurePort:
    """Where a graph fails on purpose."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def on(
        self,
        source: Source[object],
        *,
        when: Iterable[FeatureCondition] = (),
        effects: Iterable[FeatureEffect] = (),
        name: str = "",
    ) -> None:
        """Fail after a node. The arguments are those of `ExitPort.on`.

        Raises:
            AuthoringError: there is such an edge already, or it breaks a rule.
        """
        _join(self.draft, source, FAILURE.id, when, effects, name)


class FeatureNode(Source[OutputT]):
    """A node that sets features and passes its input on."""

    def __init__(self, draft: Draft, id: NodeId, label: str) -> None:
        self.draft = draft
        self.id = id
        self.definition = FeatureNodeDefinition(id=id, name=label, operation=Feature())

    def on(
        self,
        source: Source[OutputT],
        *,
        when: Iterable[FeatureCondition] = (),
        effects: Iterable[FeatureEffect] = (),
        name: str = "",
    ) -> FeatureVisit[OutputT]:
        """Return the decorator for what this node does after another; arguments as for `ExitPort.on`.

        Raises:
            AuthoringError: there is such an edge already, or it breaks a rule.
        """
        edge = _join(self.draft, source, self.id, when, effects, name)
        return FeatureVisit(self.draft, edge, wrap_feature)


class StateNode(NodeDefinition[StateT, object], Source[OutputT], Generic[OutputT, StateT]):
    """A node with a state of its own. It is its own declaration, so it also names that state."""

    slotted_state: ClassVar[bool] = False

    def __init__(
        self, draft: Draft, id: NodeId, label: str, operation: Operation, state_type: type[StateT] | None
    ) -> None:
        kept = cast("type[StateT]", NoState) if state_type is None else state_type
        super().__init__(id=id, name=label, operation=operation, state_type=kept)
        self.draft = draft

    @property
    def stateless(self) -> bool:
        """Whether it was declared without a state, so that its functions see None."""
        return cast(object, self.state_type) is NoState

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class PythonNode(StateNode[OutputT, StateT]):
    """A node that runs a Python function."""

    def on(
        self,
        source: Source[InputT],
        *,
        when: Iterable[FeatureCondition] = (),
        effects: Iterable[FeatureEffect] = (),
        name: str = "",
    ) -> PythonVisit[InputT, OutputT, StateT]:
        """Return the decorator for what this node does after another; arguments as for `ExitPort.on`.

        Raises:
            AuthoringError: there is such an edge already, or it breaks a rule.
        """
        edge = _join(self.draft, source, self.id, when, effects, name)
        return PythonVisit(self.draft, edge, wrap_node(stateless=self.stateless))


class AgentNode(StateNode[OutputT, StateT]):
    """A node that runs a Python function which may ask an agent."""

    def on(
        self,
        source: Source[InputT],
        *,
        when: Iterable[FeatureCondition] = (),
        effects: Iterable[FeatureEffect] = (),
        name: str = "",
    ) -> AgentVisit[InputT, OutputT, StateT]:
        """Return the decorator for what this node does after another; arguments as for `ExitPort.on`.

        Raises:
            AuthoringError: there is such an edge already, or it breaks a rule.
        """
        edge = _join(self.draft, source, self.id, when, effects, name)
        return AgentVisit(self.draft, edge, wrap_node(stateless=self.stateless))


class CallNode(StateNode[OutputT, StateT], Generic[OutputT, StateT, ChildInputT, ChildOutputT, ChildParamsT]):
    """A node that calls another graph."""

    def on(
        self,
        source: Source[InputT],
        *,
        when: Iterable[FeatureCondition] = (),
        effects: Iterable[FeatureEffect] = (),
        name: str = "",
    ) -> CallVisit[InputT, OutputT, StateT, ChildInputT, ChildOutputT, ChildParamsT]:
        """Return the decorator for what this node does after another; arguments as for `ExitPort.on`.

        Raises:
            AuthoringError: there is such an edge already, or it breaks a rule.
        """
        edge = _join(self.draft, source, self.id, when, effects, name)
        return CallVisit(self.draft, edge, wrap_call(stateless=self.stateless))


def _join(
    draft: Draft,
    source: Source[object],
    target: NodeId,
    when: Iterable[FeatureCondition],
    effects: Iterable[FeatureEffect],
    name: str,
) -> DraftEdge:
    location = locate_caller()
    given = cast(object, source)
    if not isinstance(given, Source):
        raise AuthoringError(
            location, f"an edge into {target!r} must leave a node or the enter port, not {given!r}"
        )
    if source.draft is not draft:
        raise AuthoringError(
            location,
            f"an edge into {target!r} cannot leave {source.id!r}, which is a node of {source.draft.name!r}",
        )
    for argument, value in (("when", when), ("effects", effects)):
        if not isinstance(cast(object, value), Iterable):
            raise AuthoringError(location, f"{argument} takes a list, not {value!r}")
    edge = DraftEdge(
        id=EdgeId(f"{source.id}__{target}"),
        source=source.id,
        target=target,
        name=name,
        conditions=tuple(when),
        effects=tuple(effects),
        location=location,
        needs_visit=target not in (EXIT.id, FAILURE.id),
    )
    draft.add_edge(edge)
    return edge

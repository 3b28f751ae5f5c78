"""Drafts: graphs while they are being written, each mistake refused at the line that makes it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from verdog_runtime.authoring.location import AuthoringError, Location
from verdog_runtime.authoring.naming import format_graph_id
from verdog_runtime.authoring.state import Aliases
from verdog_runtime.declarations.agents import AgentInvoker
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.graph import (
    AgentProfileDefinition,
    AgentProfileParameter,
    AgentSessionDefinition,
    AgentSessionParameter,
    CallVisitDefinition,
    EdgeDefinition,
    FeatureCondition,
    FeatureDefinition,
    FeatureEffect,
    FeatureNodeDefinition,
    GraphDefinition,
    NodeDefinition,
    PortDefinition,
    SubroutineDefinition,
    VisitDefinition,
    WorkflowDefinition,
)
from verdog_runtime.declarations.ids import (
    AgentProfileId,
    EdgeId,
    GraphId,
    NodeId,
    is_valid_entity_id,
)
from verdog_runtime.declarations.operations import ParameterType, SubroutineCall, WorkflowCall

AnyNode: TypeAlias = NodeDefinition[Any, object] | FeatureNodeDefinition
AnyGraph: TypeAlias = GraphDefinition[Any, Any, Any, object]
AnyVisit: TypeAlias = VisitDefinition | CallVisitDefinition[Any, Any, Any, Any, Any, Any, Any]
PartT = TypeVar("PartT")
MakeVisit: TypeAlias = Callable[[Aliases], AnyVisit]
"""Makes an edge's visit for one definition of the graph."""

ENTER = PortDefinition(id=NodeId("enter"))
EXIT = PortDefinition(id=NodeId("exit"))
FAILURE = PortDefinition(id=NodeId("failure"))


@dataclass(kw_only=True)
class DraftEdge:
    """An edge while it is being written.

    Attributes:
        location: the line that made it.
        make_visit: what its target does, once the author has said so.
        needs_visit: whether its target does anything.
    """

    id: EdgeId
    source: NodeId
    target: NodeId
    name: str
    conditions: tuple[FeatureCondition, ...]
    effects: tuple[FeatureEffect, ...]
    location: Location
    needs_visit: bool
    make_visit: MakeVisit | None = None

    def define(self, aliases: Aliases) -> EdgeDefinition:
        """Return the declaration of the edge in one definition of the graph."""
        return EdgeDefinition(
            id=self.id,
            source=self.source,
            target=self.target,
            name=self.name,
            conditions=self.conditions,
            effects=self.effects,
            visit=self.make_visit(aliases) if self.make_visit else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCall:
    """What a call node calls.

    Attributes:
        profiles: which of the caller's profiles fills each slot; one left out takes that of its name.
        sessions: the same for sessions.
    """

    callee: "Draft"
    profiles: Mapping[str, str]
    sessions: Mapping[str, str]
    location: Location

    def placeholder(self) -> SubroutineCall | WorkflowCall:
        """Return an operation of the right class, for as long as the called graph has no id."""
        name = self.callee.name
        if self.callee.isolated:
            return WorkflowCall(definition_id=GraphId(name), definition_module=name)
        return SubroutineCall(
            definition_id=GraphId(name),
            definition_module=name,
            params_types={},
            profile_arguments={},
            session_arguments={},
        )


@dataclass(kw_only=True)
class Instance:
    """A graph's definition in one package, and the modules by which others find it.

    Attributes:
        modules: where the graph is found and, for a workflow, where the workflow is.
        aliases: see `Aliases`.
    """

    id: GraphId
    modules: tuple[str, ...]
    aliases: dict[int, NodeDefinition[Any, object]] = field(
        default_factory=dict[int, NodeDefinition[Any, object]]
    )
    subroutine: SubroutineDefinition[Any, Any, Any, object] | None = None
    workflow: WorkflowDefinition[Any, Any, Any, object] | None = None


@dataclass(kw_only=True, eq=False)
class Draft:
    """A workflow's or a subroutine's graph while it is being written.

    Attributes:
        isolated: whether it is a workflow, which is called in a process of its own.
        configuration: the invoker of each profile that has a default.
        instances: its definitions, by package. Once there is one, nothing can be added.
    """

    name: str
    package: str
    location: Location
    isolated: bool
    input_type: ParameterType
    params_type: ParameterType
    nodes: dict[NodeId, AnyNode] = field(default_factory=dict[NodeId, AnyNode])
    features: list[FeatureDefinition[Any, object]] = field(
        default_factory=list[FeatureDefinition[Any, object]]
    )
    profiles: list[AgentProfileDefinition[Any, Any]] = field(
        default_factory=list[AgentProfileDefinition[Any, Any]]
    )
    profile_parameters: list[AgentProfileParameter] = field(default_factory=list[AgentProfileParameter])
    sessions: list[AgentSessionDefinition] = field(default_factory=list[AgentSessionDefinition])
    session_parameters: list[AgentSessionParameter] = field(default_factory=list[AgentSessionParameter])
    edges: dict[EdgeId, DraftEdge] = field(default_factory=dict[EdgeId, DraftEdge])
    calls: dict[NodeId, DraftCall] = field(default_factory=dict[NodeId, DraftCall])
    configuration: dict[AgentProfileId, AgentInvoker] = field(
        default_factory=dict[AgentProfileId, AgentInvoker]
    )
    options_type: type[Any] | None = None
    configure: Callable[[Any], WorkflowConfiguration] | None = None
    instances: dict[str, Instance] = field(default_factory=dict[str, Instance])
    _names: dict[tuple[str, str], Location] = field(default_factory=dict[tuple[str, str], Location])

    def claim(self, kind: str, name: str, location: Location) -> None:
        """Take a name for a new part of the graph.

        Raises:
            AuthoringError: the name is not legal or taken, or the graph is already defined.
        """
        self.require_open(location)
        require_name(kind, name, location)
        first = self._names.setdefault((kind, name), location)
        if first is not location:
            raise AuthoringError(location, f"{kind} {name!r} is declared twice, first in line {first.line}")

    def require_open(self, location: Location) -> None:
        """Refuse to change a graph that is already defined.

        Raises:
            AuthoringError: it is.
        """
        if self.instances:
            raise AuthoringError(location, f"{self.name!r} is already defined: add to it before definition()")

    def add_node(self, node: AnyNode, location: Location) -> None:
        """Add a node whose name is already claimed."""
        self.check(location, nodes=(node,))
        self.nodes[node.id] = node

    def add(self, parts: list[PartT], part: PartT, location: Location) -> None:
        """Add a feature, a profile or a session whose name is already claimed."""
        parts.append(part)
        try:
            self.check(location)
        except AuthoringError:
            parts.pop()
            raise

    def add_edge(self, edge: DraftEdge) -> None:
        """Add an edge. If its target does something, it is checked when the author says what.

        Raises:
            AuthoringError: there is one already, or the graph is already defined, or the edge breaks a rule.
        """
        self.require_open(edge.location)
        first = self.edges.get(edge.id)
        if first is not None:
            raise AuthoringError(
                edge.location,
                f"the edge from {edge.source!r} to {edge.target!r} is declared twice, "
                f"first in line {first.location.line}",
            )
        if not edge.needs_visit:
            self.check_edge(edge)
        self.edges[edge.id] = edge

    def check_edge(self, edge: DraftEdge) -> None:
        """Check an edge by itself, with everything that has been declared so far.

        Raises:
            AuthoringError: it breaks a rule of `validate_graph`.
        """
        ends = dict.fromkeys((edge.source, edge.target))
        nodes = tuple(self.nodes[end] for end in ends if end in self.nodes)
        self.check(edge.location, nodes=nodes, edges=(edge.define({}),))

    def check(
        self, location: Location, *, nodes: Iterable[AnyNode] = (), edges: tuple[EdgeDefinition, ...] = ()
    ) -> None:
        """Check some nodes and edges by the rules of `validate_graph`, and blame a line for what is wrong.

        Raises:
            AuthoringError: something breaks a rule.
        """
        if not any(edge.source == ENTER.id for edge in edges):
            edges = (EdgeDefinition(id=EdgeId("enter__exit"), source=ENTER.id, target=EXIT.id), *edges)
        check_graph(
            self.define_graph(format_graph_id(self.package, self.name), tuple(nodes), edges), location
        )

    def define_graph(
        self, id: GraphId, nodes: tuple[AnyNode, ...], edges: tuple[EdgeDefinition, ...]
    ) -> AnyGraph:
        """Return a graph of some nodes and edges, with all features, profiles and sessions."""
        return GraphDefinition[Any, Any, Any, object](
            id=id,
            params_type=self.params_type,
            enter=ENTER,
            exit=EXIT,
            failure=FAILURE,
            nodes=nodes,
            edges=edges,
            features=tuple(self.features),
            profiles=tuple(self.profiles),
            profile_parameters=tuple(self.profile_parameters),
            sessions=tuple(self.sessions),
            session_parameters=tuple(self.session_parameters),
        )


def require_name(kind: str, name: str, location: Location) -> None:
    """Refuse a name that cannot be an id.

    Raises:
        AuthoringError: it cannot.
    """
    if not isinstance(cast(object, name), str) or not is_valid_entity_id(name):
        raise AuthoringError(
            location,
            f"{name!r} cannot name a {kind}: use lower-case letters, digits and single underscores, "
            "starting with a letter, and no Python keyword",
        )


def check_graph(graph: AnyGraph, location: Location) -> None:
    """Check a graph by the rules of `validate_graph`.

    Raises:
        AuthoringError: it breaks one; the error blames the given line.
    """
    from verdog_runtime.interpreter.validation import validate_graph

    try:
        validate_graph(graph)
    except (TypeError, ValueError) as error:
        raise AuthoringError(location, str(error)) from error

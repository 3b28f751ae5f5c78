"""Graphs: nodes, ports, edges, features, profiles and sessions, and the definitions that hold them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeAlias, cast

from typing_extensions import TypeVar

from verdog_runtime.declarations.calls import CallVisitDefinition
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.ids import (
    AgentProfileId,
    AgentSessionId,
    EdgeId,
    FeatureId,
    GraphId,
    NodeId,
    ParameterAddress,
)
from verdog_runtime.declarations.interfaces import AgentProfileInitializer
from verdog_runtime.declarations.keys import ScopeT, StateAddress, StateKey, StateT_co
from verdog_runtime.declarations.operations import Feature, Operation, ParameterType, SubroutineCall

FeatureValue: TypeAlias = bool | int | float | str
VisitImplementation: TypeAlias = Callable[..., object]

FeatureValueT = TypeVar("FeatureValueT")
InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ParamsT = TypeVar("ParamsT")


class FeatureKind(StrEnum):
    """The domain of a feature."""

    BOOLEAN = "boolean"
    ENUM = "enum"
    INTEGER = "integer"
    FLOAT = "float"


class BooleanConditionObservation(StrEnum):
    """What a condition asks of a boolean feature."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class NumericalConditionObservation(StrEnum):
    """What a condition asks of a number."""

    EQUAL_ZERO = "equal_zero"
    GREATER_ZERO = "greater_zero"


class EnumConditionObservation(StrEnum):
    """What a condition asks of an enum feature."""

    EQUAL = "equal"


class BooleanEffectObservation(StrEnum):
    """What an effect promises of a boolean feature."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNCHANGED = "unchanged"
    UNCONSTRAINED = "unconstrained"


class NumericalEffectObservation(StrEnum):
    """What an effect promises of a number."""

    INCREASES = "increases"
    DECREASES = "decreases"
    UNCHANGED = "unchanged"
    UNCONSTRAINED = "unconstrained"


class EnumEffectObservation(StrEnum):
    """What an effect promises of an enum feature."""

    EQUAL = "equal"
    UNCHANGED = "unchanged"
    UNCONSTRAINED = "unconstrained"


@dataclass(frozen=True, kw_only=True)
class AgentProfileDefinition(Generic[InputT, ParamsT]):
    """A profile that a graph makes itself, once per activation."""

    id: AgentProfileId
    name: str
    implementation: AgentProfileInitializer[InputT, ParamsT]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfileParameter:
    """A profile slot that the caller fills."""

    id: AgentProfileId
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSessionDefinition:
    """A session that belongs to one activation of the graph."""

    id: AgentSessionId
    name: str
    persistent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSessionParameter:
    """A session slot that the caller fills."""

    id: AgentSessionId
    name: str


@dataclass(frozen=True, kw_only=True)
class FeatureDefinition(StateKey[FeatureValueT | None, ScopeT], Generic[FeatureValueT, ScopeT]):
    """A value that routing reads. It starts as None; feature nodes set it.

    Attributes:
        id: its id in the graph.
        label: a short text for people.
        description: a longer one.
        kind: its domain; INTEGER and FLOAT are never negative.
        values: the domain of an ENUM, otherwise empty.
    """

    id: FeatureId
    label: str
    description: str
    kind: FeatureKind
    values: tuple[str, ...] = ()

    @property
    def state_key(self) -> StateAddress:
        """("feature", id)."""
        return ("feature", self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanFeatureCondition:
    """A condition on a boolean feature before the visit."""

    feature_id: FeatureId
    observation: BooleanConditionObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericalFeatureCondition:
    """A condition on a number before the visit."""

    feature_id: FeatureId
    observation: NumericalConditionObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumFeatureCondition:
    """A condition on an enum feature before the visit."""

    feature_id: FeatureId
    observation: EnumConditionObservation
    value: str


FeatureCondition: TypeAlias = BooleanFeatureCondition | NumericalFeatureCondition | EnumFeatureCondition


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanFeatureEffect:
    """What a visit may have done to a boolean feature."""

    feature_id: FeatureId
    observation: BooleanEffectObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericalFeatureEffect:
    """What a visit may have done to a number."""

    feature_id: FeatureId
    observation: NumericalEffectObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumFeatureEffect:
    """What a visit may have done to an enum feature; `value` belongs to EQUAL only."""

    feature_id: FeatureId
    observation: EnumEffectObservation
    value: str | None = None


FeatureEffect: TypeAlias = BooleanFeatureEffect | NumericalFeatureEffect | EnumFeatureEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitDefinition:
    """The visit of an edge: called as `implementation(input, state, context)`."""

    implementation: VisitImplementation | None = None


@dataclass(frozen=True, kw_only=True)
class NodeDefinition(StateKey[StateT_co, ScopeT], Generic[StateT_co, ScopeT]):
    """A node with a state of its own.

    Attributes:
        id: its id in the graph.
        name: a text for people.
        operation: what it does.
        state_type: the class of its state; called without arguments for the first one.
        slotted_state: (class attribute) whether validation asks for a state class with slots. Generated
            projects have them; a subclass for hand-written graphs may do without.
    """

    id: NodeId
    name: str
    operation: Operation
    state_type: type[StateT_co]

    slotted_state: ClassVar[bool] = True

    @property
    def state_key(self) -> StateAddress:
        """("node", id)."""
        return ("node", self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureNodeDefinition:
    """A node that sets features; it has no state of its own."""

    id: NodeId
    name: str
    operation: Feature


@dataclass(frozen=True, slots=True, kw_only=True)
class PortDefinition:
    """A place where a graph is entered or left."""

    id: NodeId


# Type arguments that differ from element to element of a tuple have no other spelling than Any.
AnyCallVisit: TypeAlias = CallVisitDefinition[Any, Any, Any, Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDefinition:
    """A way from one node or port to another.

    Attributes:
        id: its id in the graph.
        source: the node or port it leaves.
        target: the node or port it enters.
        name: a text for people.
        conditions: what must hold before the source's visit.
        effects: what the source's visit may have done; a feature not named here must not have changed.
        visit: what the target does when entered by this edge; None into a port.
    """

    id: EdgeId
    source: NodeId
    target: NodeId
    name: str = ""
    conditions: tuple[FeatureCondition, ...] = ()
    effects: tuple[FeatureEffect, ...] = ()
    visit: VisitDefinition | AnyCallVisit | None = None


@dataclass(frozen=True, kw_only=True)
class GraphDefinition(Generic[InputT, OutputT, ParamsT, ScopeT]):
    """A graph. `interpreter.validate_graph` checks it; construction does not.

    Attributes:
        id: its id, unique in the workflow.
        params_type: the type of its Params.
        enter: the port where it starts.
        exit: the port whose value is its output.
        failure: the port where it fails.
        nodes: its nodes.
        edges: its edges; where several leave one node, exactly one must be compatible.
        features: its features.
        profiles: the profiles it makes itself.
        profile_parameters: the profile slots its caller fills.
        sessions: the sessions of one activation.
        session_parameters: the session slots its caller fills.
    """

    id: GraphId
    params_type: ParameterType
    enter: PortDefinition
    exit: PortDefinition
    failure: PortDefinition
    nodes: tuple[NodeDefinition[object, ScopeT] | FeatureNodeDefinition, ...]
    edges: tuple[EdgeDefinition, ...]
    features: tuple[FeatureDefinition[Any, ScopeT], ...] = ()
    profiles: tuple[AgentProfileDefinition[InputT, ParamsT], ...] = ()
    profile_parameters: tuple[AgentProfileParameter, ...] = ()
    sessions: tuple[AgentSessionDefinition, ...] = ()
    session_parameters: tuple[AgentSessionParameter, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WorkflowDefinition(Generic[InputT, OutputT, ParamsT, ScopeT]):
    """A workflow: an entry graph with everything it needs from outside.

    Attributes:
        id: its id; often the same as its entry graph's, in a name space of its own.
        input_type: the type of its input, for the command line only.
        entry: how its entry graph is called.
        configuration: its invokers.
        sessions: the sessions of one run.
        params_types: the Params of every reachable graph: a read-only copy of the entry's.

    Raises:
        ValueError: the id is empty or no text.
        TypeError: the entry is no SubroutineCall.
    """

    id: GraphId
    input_type: ParameterType
    entry: SubroutineCall
    configuration: WorkflowConfiguration
    sessions: tuple[AgentSessionDefinition, ...] = ()
    params_types: Mapping[ParameterAddress, ParameterType] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.id), str) or not self.id:
            raise ValueError(f"a workflow needs an id that is not empty, not {self.id!r}")
        if not isinstance(cast(object, self.entry), SubroutineCall):
            kind = type(self.entry).__qualname__
            raise TypeError(f"the entry of workflow {self.id!r} must be a SubroutineCall, not a {kind}")
        object.__setattr__(self, "params_types", MappingProxyType(dict(self.entry.params_types)))


@dataclass(frozen=True, kw_only=True)
class SubroutineDefinition(Generic[InputT, OutputT, ParamsT, ScopeT]):
    """What the `definition()` of a subroutine's module returns.

    Raises:
        ValueError: the graph's id is empty or no text.
    """

    graph: GraphDefinition[InputT, OutputT, ParamsT, ScopeT]

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.graph.id), str) or not self.graph.id:
            raise ValueError(f"a graph needs an id that is not empty, not {self.graph.id!r}")


AnyNode: TypeAlias = NodeDefinition[object, Any]
AnyFeature: TypeAlias = FeatureDefinition[Any, Any]
AnyGraph: TypeAlias = GraphDefinition[Any, Any, Any, Any]
AnyWorkflow: TypeAlias = WorkflowDefinition[Any, Any, Any, Any]
AnySubroutine: TypeAlias = SubroutineDefinition[Any, Any, Any, Any]

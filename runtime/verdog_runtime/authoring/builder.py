"""Builders: what a workflow and a subroutine have in common, the parts of a graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from verdog_runtime.authoring.draft import Draft, DraftCall
from verdog_runtime.authoring.feature import BooleanFeature, EnumFeature, FloatFeature, IntegerFeature
from verdog_runtime.authoring.location import AuthoringError, Location, locate_caller
from verdog_runtime.authoring.node import (
    AgentNode,
    CallNode,
    EnterPort,
    ExitPort,
    FailurePort,
    FeatureNode,
    PythonNode,
)
from verdog_runtime.declarations.graph import (
    AgentProfileDefinition,
    AgentProfileParameter,
    AgentSessionDefinition,
    FeatureKind,
)
from verdog_runtime.declarations.ids import AgentProfileId, AgentSessionId, FeatureId, NodeId
from verdog_runtime.declarations.interfaces import AgentProfileInitializer
from verdog_runtime.declarations.operations import Agent, Python

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ParamsT = TypeVar("ParamsT", default=None)
NodeOutputT = TypeVar("NodeOutputT")
StateT = TypeVar("StateT", default=None)
ValueT = TypeVar("ValueT")
ChildInputT = TypeVar("ChildInputT")
ChildOutputT = TypeVar("ChildOutputT")
ChildParamsT = TypeVar("ChildParamsT")


@dataclass(frozen=True, slots=True)
class Profile:
    """An agent profile of a graph: who answers.

    Attributes:
        draft: (internal) the graph it belongs to.
    """

    draft: Draft
    id: AgentProfileId


@dataclass(frozen=True, slots=True)
class Session:
    """An agent session of a graph: what the answers remember.

    Attributes:
        draft: (internal) the graph it belongs to.
    """

    draft: Draft
    id: AgentSessionId


FeatureT = TypeVar("FeatureT", BooleanFeature, IntegerFeature, FloatFeature)
SlotT = TypeVar("SlotT", Profile, Session)


class GraphBuilder(Generic[InputT, OutputT, ParamsT]):
    """A graph that is being written. Every mistake is an `AuthoringError` at the line that makes it.

    Attributes:
        enter: where it is entered, with its input.
        exit: where it is left, with its output.
        failure: where it fails on purpose.
        draft: (internal) what was written so far.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.enter = EnterPort[InputT](draft)
        self.exit = ExitPort[OutputT](draft)
        self.failure = FailurePort(draft)

    @property
    def name(self) -> str:
        """The name it was made with."""
        return self.draft.name

    def boolean(self, name: str, *, label: str = "", description: str = "") -> BooleanFeature:
        """Declare a feature that is true or false."""
        return self._feature(BooleanFeature, FeatureKind.BOOLEAN, name, label, description)

    def integer(self, name: str, *, label: str = "", description: str = "") -> IntegerFeature:
        """Declare a feature that is a whole number, never negative."""
        return self._feature(IntegerFeature, FeatureKind.INTEGER, name, label, description)

    def float(self, name: str, *, label: str = "", description: str = "") -> FloatFeature:
        """Declare a feature that is a finite float, never negative."""
        return self._feature(FloatFeature, FeatureKind.FLOAT, name, label, description)

    def enum(self, name: str, *values: str, label: str = "", description: str = "") -> EnumFeature:
        """Declare a feature that is one of a few words."""
        location = self._claim("feature", name)
        feature = EnumFeature(
            id=FeatureId(name),
            label=label or _format_label(name),
            description=description,
            kind=FeatureKind.ENUM,
            values=values,
        )
        self.draft.add(self.draft.features, feature, location)
        return feature

    def feature_node(self, name: str, *, carries: type[ValueT], label: str = "") -> FeatureNode[ValueT]:
        """Declare a node that sets features.

        Args:
            name: its id.
            carries: the type of the value that comes in and goes out unchanged.
            label: a text for people.
        """
        location = self._claim("node", name)
        node = FeatureNode[ValueT](self.draft, NodeId(name), label or _format_label(name))
        self.draft.add_node(node.definition, location)
        return node

    def python_node(
        self, name: str, *, output: type[NodeOutputT], state: type[StateT] | None = None, label: str = ""
    ) -> PythonNode[NodeOutputT, StateT]:
        """Declare a node that runs a Python function.

        Args:
            name: its id.
            output: the type of what it passes on.
            state: the class of its own state, a frozen dataclass in which each field has a default. Left out,
                the node has no state: its functions are given None and return None.
            label: a text for people.
        """
        location = self._claim("node", name)
        node = PythonNode[NodeOutputT, StateT](
            self.draft, NodeId(name), label or _format_label(name), Python(), state
        )
        self.draft.add_node(node, location)
        return node

    def agent_node(
        self,
        name: str,
        *,
        output: type[NodeOutputT],
        profile: Profile,
        session: Session,
        state: type[StateT] | None = None,
        label: str = "",
    ) -> AgentNode[NodeOutputT, StateT]:
        """Declare a node that runs a Python function which may ask an agent.

        Args:
            name: its id.
            output: the type of what it passes on.
            profile: who answers.
            session: what the answers remember.
            state: as for `python_node`.
            label: a text for people.
        """
        location = self._claim("node", name)
        for kind, used in (("profile", profile), ("session", session)):
            if used.draft is not self.draft:
                raise AuthoringError(location, f"{kind} {used.id!r} belongs to {used.draft.name!r}")
        node = AgentNode[NodeOutputT, StateT](
            self.draft,
            NodeId(name),
            label or _format_label(name),
            Agent(profile=profile.id, session=session.id),
            state,
        )
        self.draft.add_node(node, location)
        return node

    def call_node(
        self,
        name: str,
        callee: "GraphBuilder[ChildInputT, ChildOutputT, ChildParamsT]",
        *,
        output: type[NodeOutputT],
        state: type[StateT] | None = None,
        profiles: Mapping[Profile, Profile] | None = None,
        sessions: Mapping[Session, Session] | None = None,
    ) -> CallNode[NodeOutputT, StateT, ChildInputT, ChildOutputT, ChildParamsT]:
        """Declare a node that calls another graph.

        Args:
            name: its id.
            callee: a `Subroutine`, which runs in this process, or a `Workflow`, which gets one of its own.
            output: the type of what it passes on.
            state: as for `python_node`.
            profiles: which profile of this graph fills each profile of the subroutine. One that is left out
                is filled by the profile of the same name.
            sessions: the same for sessions.
        """
        location = self._claim("node", name)
        call = DraftCall(
            callee=callee.draft,
            profiles=_match("profile", profiles or {}, self.draft, callee.draft, location),
            sessions=_match("session", sessions or {}, self.draft, callee.draft, location),
            location=location,
        )
        node = CallNode[NodeOutputT, StateT, ChildInputT, ChildOutputT, ChildParamsT](
            self.draft, NodeId(name), _format_label(name), call.placeholder(), state
        )
        self.draft.add_node(node, location)
        self.draft.calls[node.id] = call
        return node

    def session(self, name: str, *, persistent: bool, label: str = "") -> Session:
        """Declare a session that lives as long as one activation of this graph.

        Args:
            name: its id.
            persistent: whether later prompts remember earlier ones.
            label: a text for people.
        """
        location = self._claim("session", name)
        session = AgentSessionDefinition(
            id=AgentSessionId(name), name=label or _format_label(name), persistent=persistent
        )
        self.draft.add(self.draft.sessions, session, location)
        return Session(self.draft, session.id)

    def made_profile(
        self, name: str, make: AgentProfileInitializer[InputT, ParamsT], *, label: str = ""
    ) -> Profile:
        """Declare a profile whose invoker this graph makes itself, once per activation.

        Args:
            name: its id.
            make: a function of the graph's input and parameters that returns the invoker.
            label: a text for people.
        """
        location = self._claim("profile", name)
        profile = AgentProfileDefinition[InputT, ParamsT](
            id=AgentProfileId(name), name=label or _format_label(name), implementation=make
        )
        self.draft.add(self.draft.profiles, profile, location)
        return Profile(self.draft, profile.id)

    def _profile_parameter(self, name: str, label: str, location: Location) -> Profile:
        profile = AgentProfileParameter(id=AgentProfileId(name), name=label or _format_label(name))
        self.draft.add(self.draft.profile_parameters, profile, location)
        return Profile(self.draft, profile.id)

    def _claim(self, kind: str, name: str) -> Location:
        location = locate_caller()
        self.draft.claim(kind, name, location)
        return location

    def _feature(
        self, handle: type[FeatureT], kind: FeatureKind, name: str, label: str, description: str
    ) -> FeatureT:
        location = self._claim("feature", name)
        feature = handle(
            id=FeatureId(name), label=label or _format_label(name), description=description, kind=kind
        )
        self.draft.add(self.draft.features, feature, location)
        return feature


def _match(
    kind: str,
    given: Mapping[SlotT, SlotT],
    caller: Draft,
    callee: Draft,
    location: Location,
) -> dict[str, str]:
    """Return ids for handles, after checking whose they are."""
    for slot, argument in given.items():
        for handle, owner in ((slot, callee), (argument, caller)):
            if handle.draft is not owner:
                raise AuthoringError(
                    location, f"{kind} {handle.id!r} belongs to {handle.draft.name!r}, not {owner.name!r}"
                )
    return {str(slot.id): str(argument.id) for slot, argument in given.items()}


def _format_label(name: str) -> str:
    return name.replace("_", " ").capitalize()

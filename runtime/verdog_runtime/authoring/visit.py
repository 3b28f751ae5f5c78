"""Visits: the decorators that say what a node does when it is entered by an edge.

Each accepts a function of the source's output, the node's own state and the context, and returns it
unchanged, so one function may serve several edges. The first overload keeps the type of a function that
accepts more than this edge brings (`A | B` from two sources); without it, the next decorator above would
see only this edge's.
"""

from collections.abc import Callable
from functools import wraps
from typing import Generic, TypeAlias, cast, overload

from typing_extensions import TypeVar

from verdog_runtime.authoring.draft import Draft, DraftEdge, MakeVisit
from verdog_runtime.authoring.location import AuthoringError, locate_caller
from verdog_runtime.authoring.state import Aliases, FeatureState, NoState, view_features
from verdog_runtime.declarations.calls import CallVisitDefinition
from verdog_runtime.declarations.context import AgentNodeContext, CallContext, NodeContext
from verdog_runtime.declarations.graph import AnyCallVisit, VisitDefinition
from verdog_runtime.declarations.results import FeatureSuccess, Success
from verdog_runtime.declarations.state import FeatureState as DeclaredFeatureState

InputT = TypeVar("InputT")
WiderT = TypeVar("WiderT")
OutputT = TypeVar("OutputT")
StateT = TypeVar("StateT")
ParamsT = TypeVar("ParamsT")
ChildInputT = TypeVar("ChildInputT")
ChildOutputT = TypeVar("ChildOutputT")
ChildParamsT = TypeVar("ChildParamsT")

Function: TypeAlias = Callable[..., object]
FeatureResult: TypeAlias = FeatureState | FeatureSuccess[object]


class _EdgeVisit:
    """The part that all decorators share: it gives the edge its function."""

    def __init__(self, draft: Draft, edge: DraftEdge, wrap: Callable[[Function], MakeVisit]) -> None:
        self._draft = draft
        self._edge = edge
        self._wrap = wrap

    def _use(self, function: Function) -> Function:
        edge = self._edge
        if edge.make_visit is not None:
            raise AuthoringError(
                locate_caller(), f"the edge {edge.id!r} has two visits, but each `on` takes one function"
            )
        self._draft.require_open(edge.location)
        edge.make_visit = self._wrap(function)
        self._draft.check_edge(edge)
        return function


class PythonVisit(_EdgeVisit, Generic[InputT, OutputT, StateT]):
    """What a Python node does when it is entered by one edge."""

    @overload
    def __call__(
        self, function: Callable[[InputT | WiderT, StateT, NodeContext[ParamsT]], Success[OutputT, StateT]], /
    ) -> Callable[[InputT | WiderT, StateT, NodeContext[ParamsT]], Success[OutputT, StateT]]: ...
    @overload
    def __call__(
        self, function: Callable[[InputT, StateT, NodeContext[ParamsT]], Success[OutputT, StateT]], /
    ) -> Callable[[InputT, StateT, NodeContext[ParamsT]], Success[OutputT, StateT]]: ...
    def __call__(self, function: Function, /) -> Function:
        """Use a function as the visit, and return it unchanged."""
        return self._use(function)


class AgentVisit(_EdgeVisit, Generic[InputT, OutputT, StateT]):
    """What an agent node does when it is entered by one edge."""

    @overload
    def __call__(
        self,
        function: Callable[[InputT | WiderT, StateT, AgentNodeContext[ParamsT]], Success[OutputT, StateT]],
        /,
    ) -> Callable[[InputT | WiderT, StateT, AgentNodeContext[ParamsT]], Success[OutputT, StateT]]: ...
    @overload
    def __call__(
        self, function: Callable[[InputT, StateT, AgentNodeContext[ParamsT]], Success[OutputT, StateT]], /
    ) -> Callable[[InputT, StateT, AgentNodeContext[ParamsT]], Success[OutputT, StateT]]: ...
    def __call__(self, function: Function, /) -> Function:
        """Use a function as the visit, and return it unchanged."""
        return self._use(function)


class CallVisit(_EdgeVisit, Generic[InputT, OutputT, StateT, ChildInputT, ChildOutputT, ChildParamsT]):
    """What a call node does, before and after the call, when it is entered by one edge."""

    @overload
    def __call__(
        self,
        function: Callable[
            [InputT | WiderT, StateT, CallContext[ParamsT, ChildParamsT, ChildInputT, ChildOutputT]],
            Success[OutputT, StateT],
        ],
        /,
    ) -> Callable[
        [InputT | WiderT, StateT, CallContext[ParamsT, ChildParamsT, ChildInputT, ChildOutputT]],
        Success[OutputT, StateT],
    ]: ...
    @overload
    def __call__(
        self,
        function: Callable[
            [InputT, StateT, CallContext[ParamsT, ChildParamsT, ChildInputT, ChildOutputT]],
            Success[OutputT, StateT],
        ],
        /,
    ) -> Callable[
        [InputT, StateT, CallContext[ParamsT, ChildParamsT, ChildInputT, ChildOutputT]],
        Success[OutputT, StateT],
    ]: ...
    def __call__(self, function: Function, /) -> Function:
        """Use a function as the visit, and return it unchanged."""
        return self._use(function)


class FeatureVisit(_EdgeVisit, Generic[InputT]):
    """What a feature node does when it is entered by one edge."""

    @overload
    def __call__(
        self, function: Callable[[InputT | WiderT, FeatureState, NodeContext[ParamsT]], FeatureResult], /
    ) -> Callable[[InputT | WiderT, FeatureState, NodeContext[ParamsT]], FeatureResult]: ...
    @overload
    def __call__(
        self, function: Callable[[InputT, FeatureState, NodeContext[ParamsT]], FeatureResult], /
    ) -> Callable[[InputT, FeatureState, NodeContext[ParamsT]], FeatureResult]: ...
    def __call__(self, function: Function, /) -> Function:
        """Use a function as the visit, and return it unchanged."""
        return self._use(function)


def wrap_node(*, stateless: bool) -> Callable[[Function], MakeVisit]:
    """Return how a function becomes the visit of a Python or an agent node."""

    def wrap(function: Function) -> MakeVisit:
        visit = VisitDefinition(implementation=_adapt(function, stateless))
        return lambda aliases: visit

    return wrap


def wrap_call(*, stateless: bool) -> Callable[[Function], MakeVisit]:
    """Return how a function becomes the visit of a call node."""

    def wrap(function: Function) -> MakeVisit:
        adapter = cast(Callable[..., Success[object, object]], _adapt(function, stateless))
        visit: AnyCallVisit = CallVisitDefinition(implementation=adapter)
        return lambda aliases: visit

    return wrap


def wrap_feature(function: Function) -> MakeVisit:
    """Return how a function becomes the visit of a feature node."""

    def make_visit(aliases: Aliases) -> VisitDefinition:
        @wraps(function)
        def visit(value: object, state: DeclaredFeatureState[object], context: object, /) -> object:
            result = function(value, view_features(state, aliases), context)
            if isinstance(result, DeclaredFeatureState):
                return FeatureSuccess[object](state=cast("DeclaredFeatureState[object]", result))
            return result

        return VisitDefinition(implementation=visit)

    return make_visit


def _adapt(function: Function, stateless: bool) -> Function:
    """Let a function see None instead of `NoState`, and return it."""
    if not stateless or not callable(function):
        return function

    @wraps(function)
    def visit(value: object, state: NoState, context: object, /) -> object:
        result = function(value, None, context)
        if not isinstance(result, Success):
            return result
        success = cast("Success[object, object]", result)
        return Success(output=success.output, state=state) if success.state is None else success

    return visit

"""Calls: the adapter between a call node and the graph it calls."""

from dataclasses import dataclass
from typing import Generic, Protocol

from typing_extensions import TypeVar

from verdog_runtime.declarations.context import CallContext
from verdog_runtime.declarations.results import Success

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
InputT_contra = TypeVar("InputT_contra", contravariant=True)
OutputT_co = TypeVar("OutputT_co", covariant=True)
StateT = TypeVar("StateT")
ParamsT = TypeVar("ParamsT")
ChildInputT = TypeVar("ChildInputT")
ChildOutputT = TypeVar("ChildOutputT")
ChildParamsT = TypeVar("ChildParamsT")


class CallImplementation(
    Protocol[InputT_contra, OutputT_co, StateT, ParamsT, ChildInputT, ChildOutputT, ChildParamsT]
):
    """A visit of a call node.

    It is evaluated once to learn what it asks of `context.invoke` and again to use the answer, so it must
    ask the same thing each time.
    """

    def __call__(
        self,
        input: InputT_contra,
        state: StateT,
        context: CallContext[ParamsT, ChildParamsT, ChildInputT, ChildOutputT],
        /,
    ) -> Success[OutputT_co, StateT]:
        """Turn the input into the called graph's, invoke it once, and turn its output into a result."""
        ...


@dataclass(frozen=True, kw_only=True)
class CallVisitDefinition(Generic[InputT, OutputT, StateT, ParamsT, ChildInputT, ChildOutputT, ChildParamsT]):
    """The visit of an edge into a call node.

    Attributes:
        implementation: the adapter.
    """

    implementation: CallImplementation[
        InputT, OutputT, StateT, ParamsT, ChildInputT, ChildOutputT, ChildParamsT
    ]

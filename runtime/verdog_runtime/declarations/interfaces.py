"""Interfaces: the callables that a graph declares besides its visits."""

from typing import Protocol

from typing_extensions import TypeVar

from verdog_runtime.declarations.agents import AgentInvoker

InputT_contra = TypeVar("InputT_contra", contravariant=True)
ParamsT_contra = TypeVar("ParamsT_contra", contravariant=True)


class AgentProfileInitializer(Protocol[InputT_contra, ParamsT_contra]):
    """Makes the invoker of a profile that a graph defines itself."""

    def __call__(self, input: InputT_contra, params: ParamsT_contra, /) -> AgentInvoker:
        """Return the invoker; called once per activation of the graph."""
        ...

"""State keys: the declarations that own a slot of a graph's state."""

from typing import Generic, TypeAlias

from typing_extensions import TypeVar

StateAddress: TypeAlias = tuple[str, str]
"""("node" | "feature", id): the name of a slot where objects cannot go, in stored state and messages."""

StateT_co = TypeVar("StateT_co", covariant=True)
ScopeT = TypeVar("ScopeT")


class StateKey(Generic[StateT_co, ScopeT]):
    """A declaration that owns one slot of state.

    While a run executes, a slot is found by the *identity* of its declaration, never by its address.
    """

    __slots__ = ()

    @property
    def state_key(self) -> StateAddress:
        """The slot's address."""
        raise NotImplementedError

"""Neutral values: what a payload says, without the types that it names.

Values of built-in and standard-library types that carry no code are themselves. Everything else is one of the
nodes below. Reading a payload into them imports and runs nothing.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from verdog_runtime.values.anchors import Anchor

Leaf = (
    None
    | bool
    | int
    | float
    | complex
    | str
    | bytes
    | Decimal
    | Fraction
    | range
    | UUID
    | date
    | time
    | datetime
    | timedelta
    | timezone
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a class."""

    module: str
    qualname: str

    def __str__(self) -> str:
        return f"{self.module}:{self.qualname}"


@dataclass(frozen=True, slots=True)
class StoredPath:
    """A path. `flavour` is one of the numbers of `verdog_runtime.values.leaves`."""

    flavour: int
    anchor: Anchor
    rest: str


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone of the tz database."""

    key: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A time or date and time in a zone that is not a fixed offset."""

    naive: datetime | time
    zone: "Neutral"


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple, list, set, frozenset or deque, as its tag says."""

    tag: int
    items: tuple["Neutral", ...]
    maxlen: int | None = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """A dict, ordered dict, counter or read-only view of a dict, as its tag says."""

    tag: int
    pairs: tuple[tuple["Neutral", "Neutral"], ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """An instance of a dataclass or a named tuple, as its tag says."""

    tag: int
    reference: Reference
    fields: tuple[tuple[str, "Neutral"], ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration; of a flag's class, its number."""

    reference: Reference
    member: str | int


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception."""

    reference: Reference
    args: "Neutral"
    attributes: tuple[tuple[str, "Neutral"], ...]
    suppress_context: bool
    cause: "Neutral"
    context: "Neutral"


@dataclass(frozen=True, slots=True)
class Class:
    """A class itself."""

    reference: Reference


@dataclass(frozen=True, slots=True)
class Blob:
    """What only cloudpickle can read. Reading it runs the code it holds."""

    name: str
    data: bytes


Node = StoredPath | Zone | Moment | Items | Pairs | Fields | Member | Raised | Class | Blob
Neutral = Leaf | Node

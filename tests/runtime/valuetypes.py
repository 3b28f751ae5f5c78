"""Types for the tests of the value codec: each is something that an author may put into a value."""

import enum
import math
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from verdog_runtime.values import encode_value


class Colour(enum.Enum):
    RED = "red"
    GREEN = ("green", 2)
    ALSO_RED = "red"  # noqa: PIE796


class Mood(enum.StrEnum):
    CALM = "calm"
    WILD = "wild"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


@dataclass(frozen=True)
class Point:
    x: object
    y: object = None


@dataclass(frozen=True, slots=True)
class Slotted:
    name: str
    value: object


@dataclass
class Loose:
    items: list[object]
    total: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.total = len(self.items)


@dataclass(frozen=True, eq=False)
class Unequal:
    value: object


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    content: T


@dataclass(frozen=True)
class Base:
    one: int


@dataclass(frozen=True)
class Derived(Base):
    two: int


class Outer:
    @dataclass(frozen=True)
    class Inner:
        value: int


class Pair(NamedTuple):
    left: object
    right: object = 0


class LoosePair(Pair):
    """Has a dictionary, unlike `Pair`."""


class MyInt(int):
    pass


class MyStr(str):
    pass


class MyDict(dict[str, int]):
    pass


class MyList(list[int]):
    pass


class Plain:
    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and other.value == self.value

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Reduced:
    value: int

    def __reduce__(self) -> tuple[object, ...]:
        return (Reduced, (self.value,))


@dataclass
class Stateful:
    value: int

    def __getstate__(self) -> object:
        return {"value": self.value + 1}


class Coded(Exception):
    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


class SlottedError(Exception):
    __slots__ = ("__private", "place")

    def __init__(self, place: object) -> None:
        super().__init__("at", place)
        self.place = place
        self.__private = None

    def reveal(self) -> object:
        return self.__private


class Strange(OSError):
    def __init__(self, wanted: int, *, more: str) -> None:
        super().__init__(wanted, more)
        self.more = more


class Hooked(Exception):
    def __reduce__(self) -> tuple[object, ...]:
        return (Hooked, ())


def same(one: object, other: object) -> bool:
    """Whether two values are equal, with equal types all the way down, and nan equal to nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other) and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, complex) and isinstance(other, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, BaseException) and isinstance(other, BaseException):
        return (
            same(one.args, other.args)
            and same(one.__dict__, other.__dict__)
            and same(one.__cause__, other.__cause__)
            and same(one.__context__, other.__context__)
            and one.__suppress_context__ == other.__suppress_context__
        )
    if isinstance(one, dict | MappingProxyType) and isinstance(other, dict | MappingProxyType):
        return same_items(list(one.items()), list(other.items()))
    if isinstance(one, set | frozenset) and isinstance(other, set | frozenset):
        return same_items(sorted(one, key=_order), sorted(other, key=_order))
    if isinstance(one, deque) and isinstance(other, deque):
        return one.maxlen == other.maxlen and same_items(list(one), list(other))
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return same_items(one, other)
    if isinstance(one, type):
        return one is other
    if isinstance(one, PurePath):
        return str(one) == str(other)
    if hasattr(one, "__dataclass_fields__"):
        names = list(one.__dataclass_fields__)
        return same_items([getattr(one, n) for n in names], [getattr(other, n) for n in names])
    if isinstance(one, Decimal) or hasattr(one, "fold"):
        return repr(one) == repr(other)
    return one == other


def _order(value: object) -> bytes:
    return encode_value(value).payload


def same_items(one: object, other: object) -> bool:
    assert isinstance(one, list | tuple)
    assert isinstance(other, list | tuple)
    return len(one) == len(other) and all(map(same, one, other))


EXAMPLES_OF_MAPPINGS = (
    OrderedDict([("b", 1), ("a", 2)]),
    Counter({"x": 3, "y": 0, "z": -1}),
    MappingProxyType({"k": (1,)}),
    {"b": 1, "a": 2},
)

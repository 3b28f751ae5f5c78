"""Building: neutral values to the objects they describe."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import tzinfo
from enum import Enum, Flag
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any, TypeVar, cast

from verdog_objects.errors import Corrupt
from verdog_repo.filenames import parse_filename
from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchors
from verdog_runtime.values.blobs import load_blob
from verdog_runtime.values.classes import (
    builtin_attributes,
    dataclass_fields,
    list_slots,
    namedtuple_fields,
    solid_base,
)
from verdog_runtime.values.errors import TypeMismatch, UntrustedValue
from verdog_runtime.values.leaves import CONCRETE, PURE_WINDOWS
from verdog_runtime.values.neutral import (
    Blob,
    Class,
    Fields,
    Items,
    Member,
    Moment,
    Neutral,
    Pairs,
    Raised,
    Reference,
    StoredPath,
    Zone,
)
from verdog_runtime.values.parse import decode_neutral
from verdog_runtime.values.resolver import Resolver


def decode_value(
    payload: bytes, *, anchors: Anchors | None = None, resolver: Resolver | None = None
) -> object:
    """Return the value of a payload.

    Objects are restored field by field; no `__init__` and no `__post_init__` runs.

    Args:
        payload: what `encode_value` returned.
        anchors: the directories that stored paths are put below.
        resolver: where classes are found. Without one, only loaded modules count and blobs are refused.

    Raises:
        Corrupt: the payload is not what any value encodes to.
        TypeMismatch: a class is not there, or its fields or members are not those that were stored.
        UntrustedValue: a blob, or a class outside the project, and the resolver is not trusted.
    """
    neutral = decode_neutral(payload)
    return _Builder(anchors or Anchors(), resolver or Resolver()).build(neutral)


class _Builder:
    """What objects are built with."""

    def __init__(self, anchors: Anchors, resolver: Resolver) -> None:
        self._anchors = anchors
        self._resolver = resolver

    def build(self, value: Neutral) -> object:
        builder = _BUILDERS.get(type(value))
        return value if builder is None else builder(self, value)

    def items(self, value: Items) -> object:
        parts = [self.build(item) for item in value.items]
        if value.tag == tags.TUPLE:
            return tuple(parts)
        if value.tag == tags.LIST:
            return parts
        if value.tag == tags.DEQUE:
            return deque(parts, value.maxlen)
        made = _hashing(lambda: set(parts) if value.tag == tags.SET else frozenset(parts))
        if len(made) != len(parts):
            raise Corrupt("a stored set has the same element twice")
        return made

    def pairs(self, value: Pairs) -> object:
        parts = [(self.build(key), self.build(item)) for key, item in value.pairs]
        made = _hashing(lambda: OrderedDict(parts) if value.tag == tags.ORDERED_DICT else dict(parts))
        if len(made) != len(parts):
            raise Corrupt("a stored mapping has the same key twice")
        if value.tag == tags.PROXY:
            return MappingProxyType(made)
        if value.tag == tags.COUNTER:
            counter = cast("Counter[object]", Counter())
            for key, count in made.items():
                counter[key] = cast("int", count)
            return counter
        return made

    def fields(self, value: Fields) -> object:
        cls = self.find(value.reference)
        names = [name for name, _ in value.fields]
        if value.tag == tags.NAMEDTUPLE:
            _expect_fields(value.reference, names, namedtuple_fields(cls), "named tuple")
            parts = [self.build(part) for _, part in value.fields]
            return cast("Any", tuple).__new__(cls, parts)
        _expect_fields(value.reference, names, dataclass_fields(cls), "dataclass")
        made: object = object.__new__(cls)
        for name, part in value.fields:
            object.__setattr__(made, name, self.build(part))
        return made

    def member(self, value: Member) -> object:
        cls = self.find(value.reference)
        if not issubclass(cls, Enum) or issubclass(cls, Flag) != isinstance(value.member, int):
            raise TypeMismatch(
                str(value.reference), "a stored value is a member of it, but it is no such enumeration"
            )
        try:
            return cls[value.member] if isinstance(value.member, str) else cls(value.member)
        except (KeyError, ValueError) as error:
            raise TypeMismatch(
                str(value.reference),
                f"a stored value is its member {value.member!r}, which is not there any more",
            ) from error

    def path(self, value: StoredPath) -> object:
        if value.flavour != CONCRETE:
            return (PureWindowsPath if value.flavour == PURE_WINDOWS else PurePosixPath)(value.rest)
        return Path(self._anchors.locate(value.anchor, parse_filename(value.rest)))

    def zone(self, value: Zone) -> object:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            return ZoneInfo(value.key)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise TypeMismatch(
                "zoneinfo:ZoneInfo", f"the time zone {value.key!r} is not known here"
            ) from error

    def moment(self, value: Moment) -> object:
        zone = self.build(value.zone)
        if not isinstance(zone, tzinfo):
            raise Corrupt("a stored time has no time zone where one is expected")
        return value.naive.replace(tzinfo=zone)

    def raised(self, value: Raised) -> BaseException:
        cls = self.find(value.reference)
        if not issubclass(cls, BaseException):
            raise TypeMismatch(
                str(value.reference), "a stored value is an exception of it, but it is no exception"
            )
        args = cast("tuple[object, ...]", self.build(value.args))
        make = cast("Callable[..., object]", solid_base(cls).__new__)
        try:
            made = make(cls, *args) if solid_base(cls) in _GROUPS else make(cls)
        except (TypeError, ValueError) as error:
            raise TypeMismatch(
                str(value.reference), f"a stored exception of it cannot be made: {error}"
            ) from error
        assert isinstance(made, BaseException)
        made.args = args
        kept = {*builtin_attributes(cls), *list_slots(cls)}
        for name, part in value.attributes:
            if name in kept:
                _set_kept(value.reference, made, name, self.build(part))
            else:
                made.__dict__[name] = self.build(part)
        made.__cause__ = _expect_exception(self.build(value.cause))
        made.__context__ = _expect_exception(self.build(value.context))
        made.__suppress_context__ = value.suppress_context
        return made

    def blob(self, value: Blob) -> object:
        if not self._resolver.trusted:
            raise UntrustedValue(
                f"{value.name}: a stored value can only be read by cloudpickle, which runs the code in it; "
                "that is done only for a run that is trusted"
            )
        return load_blob(value.name, value.data)

    def find(self, reference: Reference) -> type[Any]:
        return self._resolver.resolve(reference.module, reference.qualname)

    def class_(self, value: Class) -> object:
        return self.find(value.reference)


_GROUPS = (BaseExceptionGroup, ExceptionGroup)
_Made = TypeVar("_Made")


def _hashing(make: Callable[[], _Made]) -> _Made:
    """Make a collection, which hashes its elements by their own code."""
    try:
        return make()
    except Exception as error:
        raise TypeMismatch("collection", f"a stored element cannot be hashed here: {error}") from error


def _expect_fields(reference: Reference, stored: list[str], own: tuple[str, ...] | None, what: str) -> None:
    if own is None:
        raise TypeMismatch(str(reference), f"a stored value is an instance of it, but it is no {what}")
    current = list(own)
    if current == stored:
        return
    gone = [name for name in stored if name not in current]
    new = [name for name in current if name not in stored]
    parts = [f"without {', '.join(gone)}"] if gone else []
    parts += [f"with the new {', '.join(new)}"] if new else []
    change = " and ".join(parts) or f"in the order {', '.join(current)}"
    raise TypeMismatch(str(reference), f"its fields were {', '.join(stored) or 'none'}; now it is {change}")


def _set_kept(reference: Reference, made: BaseException, name: str, value: object) -> None:
    try:
        object.__setattr__(made, name, value)
    except (AttributeError, TypeError, ValueError) as error:
        raise TypeMismatch(str(reference), f"a stored exception of it cannot be made: {error}") from error


def _expect_exception(value: object) -> BaseException | None:
    if value is None or isinstance(value, BaseException):
        return value
    raise Corrupt("a stored exception was caused by something that is no exception")


_BUILDERS: dict[type, Callable[[_Builder, Any], object]] = {
    Items: _Builder.items,
    Pairs: _Builder.pairs,
    Fields: _Builder.fields,
    Member: _Builder.member,
    StoredPath: _Builder.path,
    Zone: _Builder.zone,
    Moment: _Builder.moment,
    Raised: _Builder.raised,
    Blob: _Builder.blob,
    Class: _Builder.class_,
}

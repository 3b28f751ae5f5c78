"""Building: neutral values to the objects they describe."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
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
from verdog_runtime.values.errors import Located, TypeMismatch, UnrestorableValue, UntrustedValue
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
from verdog_runtime.values.show import format_neutral


def decode_value(
    payload: bytes, *, anchors: Anchors | None = None, resolver: Resolver | None = None
) -> object:
    """Return the value of a payload.

    Objects are restored field by field; no `__init__` and no `__post_init__` runs, except in a blob. The last
    three errors say in `path` where in the value they are.

    Args:
        payload: what `encode_value` returned.
        anchors: the directories that stored paths are put below.
        resolver: where classes are found. Without one, only loaded modules count and blobs are refused.

    Raises:
        Corrupt: the payload is not what any value encodes to.
        TypeMismatch: a class is not there, or its fields or members are not those that were stored.
        UnrestorableValue: code of a class, such as its `__setstate__` or `__hash__`, raises.
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
        parts: list[object] = []
        try:
            for item in value.items:
                parts.append(self.build(item))
        except Located as error:
            raise error.below(f"[{len(parts)}]") from error.__cause__
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
        parts: list[tuple[object, object]] = []
        try:
            for key, item in value.pairs:
                parts.append((self.build(key), self.build(item)))
        except Located as error:
            key = value.pairs[len(parts)][0]
            raise error.below(f"[{format_neutral(key, limit_chars=_KEY_CHARS)}]") from error.__cause__
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
            return cast("Any", tuple).__new__(cls, [part for _, part in self.named(value.fields)])
        _expect_fields(value.reference, names, dataclass_fields(cls), "dataclass")
        parts = self.named(value.fields)
        try:
            made: object = object.__new__(cls)
            for name, part in parts:
                object.__setattr__(made, name, part)
        except Exception as error:  # from a descriptor of the class
            raise UnrestorableValue(str(value.reference), error) from error
        return made

    def named(self, fields: Iterable[tuple[str, Neutral]]) -> list[tuple[str, object]]:
        """Build fields or attributes, in order."""
        made: list[tuple[str, object]] = []
        name = ""
        try:
            for name, part in fields:
                made.append((name, self.build(part)))
        except Located as error:
            raise error.below(f".{name}") from error.__cause__
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
        except Exception as error:  # from its own __new__ or _missing_
            raise UnrestorableValue(str(value.reference), error) from error

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
        for name, part in self.named(value.attributes):
            if name in kept:
                _set_kept(value.reference, made, name, part)
            else:
                made.__dict__[name] = part
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


_KEY_CHARS = 60
_GROUPS = (BaseExceptionGroup, ExceptionGroup)
_Made = TypeVar("_Made")


def _hashing(make: Callable[[], _Made]) -> _Made:
    """Make a collection, which hashes its elements by their own code."""
    try:
        return make()
    except (Exception, SystemExit) as error:
        if isinstance(error, TypeError) and _raised_by_python(error):
            raise TypeMismatch("collection", f"a stored element cannot be hashed here: {error}") from error
        raise UnrestorableValue("collection", error) from error


def _raised_by_python(error: BaseException) -> bool:
    """Return whether an error comes from no code but the call in which it was caught."""
    trace = error.__traceback__
    return trace is None or trace.tb_next is None or trace.tb_next.tb_next is None


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

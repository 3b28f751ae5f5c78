"""Parsing: a payload to neutral values, strictly and in bounded space."""

import struct
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final
from uuid import UUID, SafeUUID

from verdog_objects.errors import Corrupt
from verdog_objects.varint import MAX_VARINT, read_varint
from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchor
from verdog_runtime.values.leaves import CONCRETE
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

_FLOAT = struct.Struct(">d")
_COMPLEX = struct.Struct(">dd")
_SAFETY = (SafeUUID.unknown, SafeUUID.safe, SafeUUID.unsafe)
_DEEPEST: Final = tags.MAX_DEPTH + 4


def decode_neutral(payload: bytes) -> Neutral:
    """Return what a payload says, without importing or running anything.

    Raises:
        Corrupt: the payload is not what any value encodes to.

    Cost: space in proportion to the payload, whatever lengths it claims.
    """
    if len(payload) < tags.HEADER_BYTES or payload[0] != tags.VERSION:
        raise Corrupt("a value's bytes do not begin with the header of format 1")
    reader = _Reader(payload)
    value = _parse(reader, 0)
    if reader.at != len(payload):
        raise Corrupt(f"a value ends at byte {reader.at} of {len(payload)}")
    if payload[1] != (tags.HAS_BLOB if reader.blobs else 0):
        raise Corrupt("a value's flags do not say what is in it")
    return value


class _Reader:
    """A position in a payload."""

    __slots__ = ("at", "blobs", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = tags.HEADER_BYTES
        self.blobs = False

    def corrupt(self, problem: str) -> Corrupt:
        return Corrupt(f"a value's bytes are damaged near byte {self.at}: {problem}")

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise self.corrupt("they end too early")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            raise self.corrupt("they end too early")
        self.at = at + 1
        return self.data[at]

    def varint(self) -> int:
        try:
            number, self.at = read_varint(self.data, self.at)
        except Corrupt as error:
            raise self.corrupt(str(error)) from None
        return number

    def count(self, least_bytes: int) -> int:
        """A number of parts, each of which takes at least so many bytes of what is left."""
        number = self.varint()
        if number * least_bytes > len(self.data) - self.at:
            raise self.corrupt("a length is more than what is left")
        return number

    def text(self) -> str:
        piece = self.take(self.varint())
        try:
            return piece.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self.corrupt("a text is not UTF-8") from None

    def integer(self) -> int:
        size = self.varint()
        number = int.from_bytes(self.take(size), "big", signed=True)
        if size != number.bit_length() // 8 + 1:
            raise self.corrupt("a number is not in its shortest form")
        return number

    def flag(self, most: int) -> int:
        number = self.byte()
        if number > most:
            raise self.corrupt("an unknown choice")
        return number

    def reference(self) -> Reference:
        return Reference(self.text(), self.text())


def _parse(reader: _Reader, depth: int) -> Neutral:
    if depth > _DEEPEST:
        raise reader.corrupt("it is nested too deep")
    tag = reader.byte()
    parser = _PARSERS.get(tag)
    if parser is None:
        raise reader.corrupt(f"unknown tag {tag:#04x}")
    return parser(reader, tag, depth + 1)


def _float(reader: _Reader, tag: int, depth: int) -> Neutral:
    number: float = _FLOAT.unpack(reader.take(8))[0]
    return number


def _complex(reader: _Reader, tag: int, depth: int) -> Neutral:
    return complex(*_COMPLEX.unpack(reader.take(16)))


def _decimal(reader: _Reader, tag: int, depth: int) -> Neutral:
    text = reader.text()
    try:
        value = Decimal(text)
    except (InvalidOperation, ValueError):
        raise reader.corrupt("not a decimal number") from None
    if str(value) != text:
        raise reader.corrupt("a decimal number in another form")
    return value


def _fraction(reader: _Reader, tag: int, depth: int) -> Neutral:
    numerator, denominator = reader.integer(), reader.integer()
    if denominator < 1:
        raise reader.corrupt("a fraction without a positive denominator")
    value = Fraction(numerator, denominator)
    if value.denominator != denominator:
        raise reader.corrupt("a fraction that is not reduced")
    return value


def _range(reader: _Reader, tag: int, depth: int) -> Neutral:
    start, stop, step = reader.integer(), reader.integer(), reader.integer()
    if not step:
        raise reader.corrupt("a range without a step")
    return range(start, stop, step)


def _uuid(reader: _Reader, tag: int, depth: int) -> Neutral:
    safety = _SAFETY[reader.flag(2)]
    return UUID(bytes=reader.take(16), is_safe=safety)


def _path(reader: _Reader, tag: int, depth: int) -> Neutral:
    flavour, anchor = reader.flag(CONCRETE), Anchor(reader.flag(Anchor.PROJECT))
    if anchor and flavour != CONCRETE:
        raise reader.corrupt("a pure path with an anchor")
    text = reader.text()
    if anchor and (text.startswith("/") or ".." in text.split("/")):
        raise reader.corrupt("a path that leaves its anchor")
    return StoredPath(flavour, anchor, text)


def _read_date(reader: _Reader) -> date:
    year, month, day = int.from_bytes(reader.take(2), "big"), reader.byte(), reader.byte()
    try:
        return date(year, month, day)
    except ValueError:
        raise reader.corrupt("no such date") from None


def _read_time(reader: _Reader, depth: int) -> tuple[time, Neutral]:
    hour, minute, second = reader.byte(), reader.byte(), reader.byte()
    microsecond, fold = int.from_bytes(reader.take(3), "big"), reader.flag(1)
    zone = _parse(reader, depth)
    try:
        return time(hour, minute, second, microsecond, fold=fold), zone
    except ValueError:
        raise reader.corrupt("no such time") from None


def _date(reader: _Reader, tag: int, depth: int) -> Neutral:
    return _read_date(reader)


def _time(reader: _Reader, tag: int, depth: int) -> Neutral:
    day = _read_date(reader) if tag == tags.DATETIME else None
    clock, zone = _read_time(reader, depth)
    moment = clock if day is None else datetime.combine(day, clock)
    if zone is None:
        return moment
    if isinstance(zone, timezone):
        return moment.replace(tzinfo=zone)
    return Moment(moment, zone)


def _timedelta(reader: _Reader, tag: int, depth: int) -> Neutral:
    days, seconds, microseconds = reader.integer(), reader.integer(), reader.integer()
    if not (0 <= seconds < 86_400 and 0 <= microseconds < 1_000_000):
        raise reader.corrupt("a duration in another form")
    try:
        return timedelta(days, seconds, microseconds)
    except OverflowError:
        raise reader.corrupt("no such duration") from None


def _timezone(reader: _Reader, tag: int, depth: int) -> Neutral:
    offset, name = _parse(reader, depth), _parse(reader, depth)
    if not isinstance(offset, timedelta) or not isinstance(name, str | None):
        raise reader.corrupt("a time zone of something else")
    try:
        return timezone(offset) if name is None else timezone(offset, name)
    except ValueError:
        raise reader.corrupt("no such time zone") from None


def _zone(reader: _Reader, tag: int, depth: int) -> Neutral:
    return Zone(reader.text())


def _items(reader: _Reader, tag: int, depth: int) -> Neutral:
    maxlen: Neutral = None
    if tag == tags.DEQUE:
        maxlen = _parse(reader, depth)
        if maxlen is not None and (type(maxlen) is not int or not 0 <= maxlen <= MAX_VARINT):
            raise reader.corrupt("a deque of an odd size")
    count = reader.count(1)
    if isinstance(maxlen, int) and count > maxlen:
        raise reader.corrupt("a deque over its size")
    if tag not in (tags.SET, tags.FROZENSET):
        items = tuple([_parse(reader, depth) for _ in range(count)])
        return Items(tag, items, maxlen if isinstance(maxlen, int) else None)
    return Items(tag, tuple(_ordered(reader, count, depth)))


def _ordered(reader: _Reader, count: int, depth: int) -> list[Neutral]:
    items: list[Neutral] = []
    last = b""
    for _ in range(count):
        start = reader.at
        items.append(_parse(reader, depth))
        this = reader.data[start : reader.at]
        if this < last:
            raise reader.corrupt("a set out of order")
        last = this
    return items


def _pairs(reader: _Reader, tag: int, depth: int) -> Neutral:
    count = reader.count(2)
    return Pairs(tag, tuple([(_parse(reader, depth), _parse(reader, depth)) for _ in range(count)]))


def _read_named(reader: _Reader, depth: int) -> tuple[tuple[str, Neutral], ...]:
    named = tuple([(reader.text(), _parse(reader, depth)) for _ in range(reader.count(2))])
    if len({name for name, _ in named}) != len(named):
        raise reader.corrupt("a field twice")
    return named


def _fields(reader: _Reader, tag: int, depth: int) -> Neutral:
    return Fields(tag, reader.reference(), _read_named(reader, depth))


def _raised(reader: _Reader, tag: int, depth: int) -> Neutral:
    reference = reader.reference()
    args = _parse(reader, depth)
    attributes = _read_named(reader, depth)
    suppress = bool(reader.flag(1))
    cause, context = _parse(reader, depth), _parse(reader, depth)
    if not isinstance(args, Items) or args.tag != tags.TUPLE:
        raise reader.corrupt("an exception without arguments")
    if not isinstance(cause, Raised | Blob | None) or not isinstance(context, Raised | None):
        raise reader.corrupt("an exception caused by something else")
    return Raised(reference, args, attributes, suppress, cause, context)


def _blob(reader: _Reader, tag: int, depth: int) -> Neutral:
    reader.blobs = True
    return Blob(reader.text(), reader.take(reader.varint()))


_PARSERS: dict[int, Callable[[_Reader, int, int], Neutral]] = {
    tags.NONE: lambda reader, tag, depth: None,
    tags.FALSE: lambda reader, tag, depth: False,
    tags.TRUE: lambda reader, tag, depth: True,
    tags.INT: lambda reader, tag, depth: reader.integer(),
    tags.FLOAT: _float,
    tags.COMPLEX: _complex,
    tags.STR: lambda reader, tag, depth: reader.text(),
    tags.BYTES: lambda reader, tag, depth: reader.take(reader.varint()),
    tags.DECIMAL: _decimal,
    tags.FRACTION: _fraction,
    tags.RANGE: _range,
    tags.UUID_: _uuid,
    tags.PATH: _path,
    tags.DATE: _date,
    tags.TIME: _time,
    tags.DATETIME: _time,
    tags.TIMEDELTA: _timedelta,
    tags.TIMEZONE: _timezone,
    tags.ZONE: _zone,
    tags.TUPLE: _items,
    tags.LIST: _items,
    tags.SET: _items,
    tags.FROZENSET: _items,
    tags.DEQUE: _items,
    tags.DICT: _pairs,
    tags.ORDERED_DICT: _pairs,
    tags.COUNTER: _pairs,
    tags.PROXY: _pairs,
    tags.DATACLASS: _fields,
    tags.NAMEDTUPLE: _fields,
    tags.ENUM: lambda reader, tag, depth: Member(reader.reference(), reader.text()),
    tags.FLAG: lambda reader, tag, depth: Member(reader.reference(), reader.integer()),
    tags.EXCEPTION: _raised,
    tags.TYPE: lambda reader, tag, depth: Class(reader.reference()),
    tags.BLOB: _blob,
}

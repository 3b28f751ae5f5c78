"""Leaves: how values without parts are written."""

import struct
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from uuid import UUID, SafeUUID

from verdog_objects.varint import append_varint
from verdog_repo.filenames import format_filename
from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchor
from verdog_runtime.values.tags import append_int, append_text
from verdog_runtime.values.writer import Encoder, Writer, put

_FLOAT = struct.Struct(">d")
_COMPLEX = struct.Struct(">dd")
_SAFETY = {SafeUUID.unknown: 0, SafeUUID.safe: 1, SafeUUID.unsafe: 2}

PURE_POSIX = 0
PURE_WINDOWS = 1
CONCRETE = 2
"""Flavours of paths: two of pure ones, and the paths of whatever system decodes them."""


def _put_none(writer: Writer, value: None, depth: int) -> None:
    writer.out.append(tags.NONE)


def _put_bool(writer: Writer, value: bool, depth: int) -> None:
    writer.out.append(tags.TRUE if value else tags.FALSE)


def _put_int(writer: Writer, value: int, depth: int) -> None:
    out = writer.out
    out.append(tags.INT)
    append_int(out, value)


def _put_float(writer: Writer, value: float, depth: int) -> None:
    out = writer.out
    out.append(tags.FLOAT)
    out += _FLOAT.pack(value)


def _put_complex(writer: Writer, value: complex, depth: int) -> None:
    out = writer.out
    out.append(tags.COMPLEX)
    out += _COMPLEX.pack(value.real, value.imag)


def _put_str(writer: Writer, value: str, depth: int) -> None:
    out = writer.out
    data = value.encode("utf-8", "surrogatepass")
    out.append(tags.STR)
    size = len(data)
    if size < 0x80:
        out.append(size)
    else:
        append_varint(out, size)
    out += data


def _put_bytes(writer: Writer, value: bytes, depth: int) -> None:
    out = writer.out
    out.append(tags.BYTES)
    append_varint(out, len(value))
    out += value


def _put_decimal(writer: Writer, value: Decimal, depth: int) -> None:
    writer.out.append(tags.DECIMAL)
    append_text(writer.out, str(value))


def _put_fraction(writer: Writer, value: Fraction, depth: int) -> None:
    writer.out.append(tags.FRACTION)
    append_int(writer.out, value.numerator)
    append_int(writer.out, value.denominator)


def _put_range(writer: Writer, value: range, depth: int) -> None:
    writer.out.append(tags.RANGE)
    for number in (value.start, value.stop, value.step):
        append_int(writer.out, number)


def _put_uuid(writer: Writer, value: UUID, depth: int) -> None:
    writer.out.append(tags.UUID_)
    writer.out.append(_SAFETY[value.is_safe])
    writer.out += value.bytes


def _put_pure_path(writer: Writer, value: PurePath, depth: int) -> None:
    out = writer.out
    out.append(tags.PATH)
    out.append(PURE_WINDOWS if type(value) is PureWindowsPath else PURE_POSIX)
    out.append(Anchor.NOTHING)
    append_text(out, str(value))


def _put_path(writer: Writer, value: PurePath, depth: int) -> None:
    anchor, rest = writer.anchors.relate(str(value))
    out = writer.out
    out.append(tags.PATH)
    out.append(CONCRETE)
    out.append(anchor)
    append_text(out, format_filename(rest))


def _append_date(out: bytearray, value: date) -> None:
    out += value.year.to_bytes(2, "big")
    out.append(value.month)
    out.append(value.day)


def _append_time(writer: Writer, value: time | datetime, depth: int) -> None:
    out = writer.out
    out.append(value.hour)
    out.append(value.minute)
    out.append(value.second)
    out += value.microsecond.to_bytes(3, "big")
    out.append(value.fold)
    put(writer, value.tzinfo, depth + 1)


def _put_date(writer: Writer, value: date, depth: int) -> None:
    writer.out.append(tags.DATE)
    _append_date(writer.out, value)


def _put_time(writer: Writer, value: time, depth: int) -> None:
    writer.out.append(tags.TIME)
    _append_time(writer, value, depth)


def _put_datetime(writer: Writer, value: datetime, depth: int) -> None:
    writer.out.append(tags.DATETIME)
    _append_date(writer.out, value)
    _append_time(writer, value, depth)


def _put_timedelta(writer: Writer, value: timedelta, depth: int) -> None:
    writer.out.append(tags.TIMEDELTA)
    for number in (value.days, value.seconds, value.microseconds):
        append_int(writer.out, number)


def _put_timezone(writer: Writer, value: timezone, depth: int) -> None:
    writer.out.append(tags.TIMEZONE)
    offset = value.utcoffset(None)
    name = value.tzname(None)
    put(writer, offset, depth + 1)
    put(writer, None if name == timezone(offset).tzname(None) else name, depth + 1)


LEAVES: dict[type, Encoder] = {
    type(None): _put_none,
    bool: _put_bool,
    int: _put_int,
    float: _put_float,
    complex: _put_complex,
    str: _put_str,
    bytes: _put_bytes,
    Decimal: _put_decimal,
    Fraction: _put_fraction,
    range: _put_range,
    UUID: _put_uuid,
    PurePosixPath: _put_pure_path,
    PureWindowsPath: _put_pure_path,
    PosixPath: _put_path,
    WindowsPath: _put_path,
    date: _put_date,
    time: _put_time,
    datetime: _put_datetime,
    timedelta: _put_timedelta,
    timezone: _put_timezone,
}
"""How values of exactly these types are written."""

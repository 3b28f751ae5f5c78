"""The byte format of values: tags and limits. `docs/reference/format.md` says what follows each tag."""

from typing import Final

from verdog_objects.varint import append_varint

VERSION: Final = 1
HEADER_BYTES: Final = 2
HAS_BLOB: Final = 1

NONE: Final = 0x00
FALSE: Final = 0x01
TRUE: Final = 0x02
INT: Final = 0x03
FLOAT: Final = 0x04
COMPLEX: Final = 0x05
STR: Final = 0x06
BYTES: Final = 0x07
TUPLE: Final = 0x10
LIST: Final = 0x11
SET: Final = 0x12
FROZENSET: Final = 0x13
DEQUE: Final = 0x14
DICT: Final = 0x18
ORDERED_DICT: Final = 0x19
COUNTER: Final = 0x1A
PROXY: Final = 0x1B
DECIMAL: Final = 0x20
FRACTION: Final = 0x21
RANGE: Final = 0x22
UUID_: Final = 0x23
PATH: Final = 0x24
DATE: Final = 0x25
TIME: Final = 0x26
DATETIME: Final = 0x27
TIMEDELTA: Final = 0x28
TIMEZONE: Final = 0x29
ZONE: Final = 0x2A
DATACLASS: Final = 0x30
NAMEDTUPLE: Final = 0x31
ENUM: Final = 0x32
FLAG: Final = 0x33
EXCEPTION: Final = 0x34
TYPE: Final = 0x35
BLOB: Final = 0x40

MAX_DEPTH: Final = 200
"""How deep values may be nested in each other."""

MAX_PAYLOAD_BYTES: Final = 1 << 30
"""The longest payload. A value that shares parts of itself unfolds, so a small object can need more."""


def append_text(out: bytearray, text: str) -> None:
    """Append a text with its length."""
    data = text.encode("utf-8", "surrogatepass")
    append_varint(out, len(data))
    out += data


def append_int(out: bytearray, number: int) -> None:
    """Append a signed integer of any size."""
    size = number.bit_length() // 8 + 1
    append_varint(out, size)
    out += number.to_bytes(size, "big", signed=True)

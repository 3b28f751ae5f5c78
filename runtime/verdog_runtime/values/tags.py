"""The byte format of values: tags, lengths and limits.

A payload is a header and one value. Format 1, frozen:

| offset | size | content |
|---|---|---|
| 0 | 1 | version, 1 |
| 1 | 1 | flags: bit 0 is set exactly if a cloudpickle blob is in it |
| 2 | to the end | the value: a tag (1 byte) and what the tag says |

`n` is an unsigned LEB128 number of the fewest bytes; `text` is `n` bytes of UTF-8 (lone surrogates are
encoded like other code points); `int` is `n` and the fewest bytes of two's complement, big endian; `ref` is
two texts, module and qualified name; `field` is a text and a value; `value` is a tag and its content.

| tag | content |
|---|---|
| NONE, FALSE, TRUE | |
| INT | int |
| FLOAT | 8 bytes, IEEE 754 big endian |
| COMPLEX | two of them |
| STR, DECIMAL, ZONE | text |
| BYTES | n, bytes |
| TUPLE, LIST | n, values |
| SET, FROZENSET | n, values in the order of their bytes |
| DEQUE | value (its maxlen: INT or NONE), n, values |
| DICT, ORDERED_DICT, COUNTER, PROXY | n, pairs of values in iteration order |
| FRACTION | int, int |
| RANGE | int, int, int |
| UUID | 1 byte (0 unknown, 1 safe, 2 unsafe), 16 bytes |
| PATH | 1 byte flavour, 1 byte anchor, text |
| DATE | 2 bytes year, month, day |
| TIME | hour, minute, second, 3 bytes microsecond, fold, value (its zone or NONE) |
| DATETIME | a DATE's content, a TIME's content |
| TIMEDELTA | int days, int seconds, int microseconds |
| TIMEZONE | value (its offset: TIMEDELTA), value (its name: STR or NONE) |
| DATACLASS, NAMEDTUPLE | ref, n, fields |
| ENUM | ref, text (the member's name) |
| FLAG | ref, int |
| EXCEPTION | ref, value (args), n, fields, 1 byte (1: context hidden), value (cause), value (context) |
| TYPE | ref |
| BLOB | text (name of the value's type), n, bytes of cloudpickle |
"""

from typing import Final

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


def append_varint(out: bytearray, number: int) -> None:
    """Append an unsigned number of up to 63 bits."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


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

"""Unsigned integers of one to nine bytes: seven bits a byte, lowest first, the top bit set if more follow."""

from verdog_objects.errors import Corrupt

MAX_VARINT = 2**63 - 1
"""The largest number: what a signed 64-bit column holds."""

_SHORTEST = [bytes([value]) for value in range(0x80)]


def encode_varint(value: int) -> bytes:
    """Return the only encoding of a number from 0 to `MAX_VARINT`, the shortest."""
    if value < 0x80:
        return _SHORTEST[value]
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    append_varint(out, value)
    return bytes(out)


def append_varint(out: bytearray, value: int) -> None:
    """Append a number from 0 to `MAX_VARINT` in its only encoding, the shortest."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at a position and the position after it.

    Raises:
        Corrupt: the data ends within the number, it is too large, or a shorter encoding exists.
    """
    end = len(data)
    if position >= end:
        raise Corrupt("a number is cut off")
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    value = byte & 0x7F
    for shift in range(7, 63, 7):
        position += 1
        if position >= end:
            raise Corrupt("a number is cut off")
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if not byte:
                raise Corrupt("a number is longer than it needs to be")
            return value, position + 1
    raise Corrupt("a number is out of range")

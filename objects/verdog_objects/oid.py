"""Object ids: the BLAKE3-256 of an injective framing of kind, length and payload."""

from enum import IntEnum, unique
from typing import NewType

from blake3 import blake3

from verdog_objects.errors import InvalidInput

Oid = NewType("Oid", bytes)
"""32 raw bytes. Text form: 64 lower-case hexadecimal digits."""

OID_BYTES = 32


@unique
class Kind(IntEnum):
    """What an object's payload is. Part of the hashed bytes, so equal payloads of two kinds have two ids.

    The numbers are frozen by format 1.
    """

    BLOB = 1
    """The whole content of a file of up to 64 KiB, or the target of a symbolic link."""
    CHUNK = 2
    """A content-defined piece of a larger file."""
    CHUNKS = 3
    """The ordered list of chunks of a larger file."""
    NODE = 4
    """A node of a manifest."""
    VALUE = 5
    """An encoded value of a run's state."""
    RECORD = 6
    """A checkpoint record (canonical JSON)."""
    HEADER = 7
    """A run header (canonical JSON)."""
    ENVIRONMENT = 8
    """The fingerprint of code and installed distributions (canonical JSON)."""
    LEDGER = 9
    """A piece of a run's ledger."""


_PREFIXES = {kind: bytes([kind]) for kind in Kind}


def frame_object(kind: Kind, payload: bytes) -> bytes:
    """Return the bytes that are hashed: kind (1 byte), payload length (8 bytes, big endian), payload."""
    return _PREFIXES[kind] + len(payload).to_bytes(8, "big") + payload


def compute_oid(kind: Kind, payload: bytes | bytearray | memoryview) -> Oid:
    """Return the id of an object without copying its payload."""
    hasher = blake3(_PREFIXES[kind] + len(payload).to_bytes(8, "big"))
    hasher.update(payload)
    return Oid(hasher.digest())


def format_oid(oid: Oid) -> str:
    """Return an id as 64 hexadecimal digits."""
    return oid.hex()


def parse_oid(text: str) -> Oid:
    """Return the id written as 64 lower-case hexadecimal digits.

    Raises:
        InvalidInput: any other text.
    """
    if len(text) != 2 * OID_BYTES or text.strip("0123456789abcdef"):
        raise InvalidInput(f"{text!r} is no object id: 64 hexadecimal digits expected")
    return Oid(bytes.fromhex(text))

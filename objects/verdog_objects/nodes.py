"""The nodes of a manifest: what they hold, their bytes, where one ends and the next begins.

A manifest is a sorted map cut into nodes. Level 0 holds the entries; each level above holds one link for
each node below, under that node's first key. The format is frozen as format 1; `docs/reference/format.md`
has its table.
"""

from collections.abc import Sequence
from enum import IntEnum, unique
from typing import NamedTuple, TypeAlias

from blake3 import blake3

from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.oid import OID_BYTES, Kind, Oid, compute_oid
from verdog_objects.varint import MAX_VARINT, append_varint, encode_varint, read_varint

TARGET_ENTRIES = 8
"""How many entries or links a node has on average. Decision record 0001 says why; frozen by format 1."""

MAX_NODE_BYTES = 64 * 1024
"""No node's payload is longer."""

MAX_KEY_BYTES = 16 * 1024
"""The longest key; a node above the leaves has room for three of them."""

MAX_LEVEL = 40
"""The highest level a node can have. A map that needed it could not be stored anywhere."""

EMPTY_OID = compute_oid(Kind.BLOB, b"")
"""The id of an empty blob, which every directory's entry carries."""

_ITEM_BYTES = 72  # more than any encoded entry or link has beside its key
_MAX_WEIGHT = MAX_NODE_BYTES - 8  # less the node's own header
_THRESHOLD = 2**32 // TARGET_ENTRIES
_LEVELS = [bytes([level]) for level in range(MAX_LEVEL + 1)]
_MODE_BITS = 12
_MODE_MASK = 2**_MODE_BITS - 1
_LINK_MODE = 0o777


@unique
class EntryKind(IntEnum):
    """What an entry stands for. The numbers are frozen by format 1."""

    FILE = 1
    DIRECTORY = 2
    SYMLINK = 3
    VALUE = 4


class Entry(NamedTuple):
    """What a manifest says of one key.

    Attributes:
        kind: file, directory, symbolic link or value.
        mode: 12 permission bits; 0 for a value, 0o777 for a symbolic link.
        size: bytes of the file, the link's target or the value; 0 for a directory.
        oid: a file's `BLOB` (up to `INLINE_LIMIT`) or `CHUNKS`, a link's target as `BLOB`, a `VALUE`;
            `EMPTY_OID` for a directory.
    """

    kind: EntryKind
    mode: int
    size: int
    oid: Oid


class Totals(NamedTuple):
    """What is below a node, or in a whole manifest.

    Attributes:
        entries: keys of any kind.
        files: entries that are files.
        size_bytes: the sum of all sizes.
    """

    entries: int
    files: int
    size_bytes: int


class Link(NamedTuple):
    """A node's child: its id and what it claims to hold. The key beside it is the child's first key."""

    oid: Oid
    totals: Totals


class Node(NamedTuple):
    """A decoded node. Level 0 has entries and no links, the others links and no entries.

    Attributes:
        size_bytes: the length of its payload.
    """

    level: int
    keys: tuple[bytes, ...]
    entries: tuple[Entry, ...]
    links: tuple[Link, ...]
    totals: Totals
    size_bytes: int


Item: TypeAlias = Entry | Link

NO_TOTALS = Totals(0, 0, 0)


def is_boundary(level: int, key: bytes) -> bool:
    """Return whether a node begins at this key wherever it occurs: true of one key in `TARGET_ENTRIES`."""
    return int.from_bytes(blake3(_LEVELS[level] + key).digest(length=4), "big") < _THRESHOLD


def weigh(*keys: bytes) -> int:
    """Return what keys count towards `exceeds`: no less than their items encode to, whatever these are."""
    return sum(map(len, keys)) + len(keys) * _ITEM_BYTES


def exceeds(weight: int) -> bool:
    """Return whether items of this weight are too many for one node."""
    return weight > _MAX_WEIGHT


def sum_totals(links: Sequence[Link]) -> Totals:
    """Return what is below all the links together."""
    entries = files = size_bytes = 0
    for _, totals in links:
        entries += totals.entries
        files += totals.files
        size_bytes += totals.size_bytes
    return Totals(entries, files, size_bytes)


def make_leaf(keys: Sequence[bytes], entries: Sequence[Entry]) -> tuple[Node, bytes]:
    """Return a leaf and its payload.

    Raises:
        InvalidInput: an entry or a key that no manifest can hold.
    """
    out = bytearray((0,))
    _append_keys(out, keys)
    sizes = bytearray()
    oids: list[bytes] = []
    files = size_bytes = 0
    for kind, mode, size, oid in entries:
        _check_entry(kind, mode, size, oid)
        out += (kind << _MODE_BITS | mode).to_bytes(2, "big")
        if kind != EntryKind.DIRECTORY:
            append_varint(sizes, size)
            oids.append(oid)
            size_bytes += size
            files += kind == EntryKind.FILE
    out += sizes
    payload = b"".join((out, *oids))
    totals = Totals(len(keys), files, size_bytes)
    return Node(0, tuple(keys), tuple(entries), (), _check_totals(totals), len(payload)), payload


def make_inner(level: int, keys: Sequence[bytes], links: Sequence[Link]) -> tuple[Node, bytes]:
    """Return a node above the leaves and its payload."""
    if level > MAX_LEVEL:
        raise InvalidInput("a manifest cannot have so many levels")
    out = bytearray((level,))
    _append_keys(out, keys)
    for column in range(3):
        out += b"".join([encode_varint(link.totals[column]) for link in links])
    payload = b"".join((out, *[link.oid for link in links]))
    totals = sum_totals(links)
    return Node(level, tuple(keys), (), tuple(links), _check_totals(totals), len(payload)), payload


def decode_node(payload: bytes) -> Node:
    """Return the node whose payload this is.

    Keys rise strictly, every number is in its range and shortest form, and no byte is left over: the
    payload is the only encoding of what is returned. Whether the node belongs where it is linked is the
    caller's to check.

    Raises:
        Corrupt: any other bytes.
    """
    if not 0 < len(payload) <= MAX_NODE_BYTES:
        raise Corrupt(f"a manifest node of {len(payload)} bytes")
    level = payload[0]
    if level > MAX_LEVEL:
        raise Corrupt(f"a manifest node at level {level}")
    keys, position = _read_keys(payload)
    if level:
        return _decode_inner(payload, level, keys, position)
    return _decode_leaf(payload, keys, position)


def _append_keys(out: bytearray, keys: Sequence[bytes]) -> None:
    """Append how many keys, then each as (length shared with the last one, length of the rest, the rest)."""
    append_varint(out, len(keys))
    previous = b""
    for key in keys:
        shared = len(previous)
        if not key.startswith(previous):
            # As numbers, two strings of equal length differ from their first differing byte on.
            shared = min(shared, len(key))
            differing = int.from_bytes(previous[:shared], "big") ^ int.from_bytes(key[:shared], "big")
            shared -= (differing.bit_length() + 7) >> 3
        rest = len(key) - shared
        if rest <= 0 or len(key) > MAX_KEY_BYTES:
            raise InvalidInput(f"a manifest cannot hold a key of {len(key)} bytes here", paths=[key])
        if shared < 0x80 and rest < 0x80:
            out.append(shared)
            out.append(rest)
        else:
            append_varint(out, shared)
            append_varint(out, rest)
        out += key[shared:]
        previous = key


def _read_keys(payload: bytes) -> tuple[tuple[bytes, ...], int]:
    count, position = read_varint(payload, 1)
    if count * 5 > len(payload):  # a key takes three bytes, its item two
        raise Corrupt(f"{count} keys do not fit in a node of {len(payload)} bytes")
    keys: list[bytes] = []
    key = b""
    weight = 0
    for _ in range(count):
        shared, position = read_varint(payload, position)
        length, position = read_varint(payload, position)
        rest = payload[position : position + length]
        position += length
        if not rest or len(rest) != length or shared + length > MAX_KEY_BYTES:
            raise Corrupt("a key is empty, too long or cut off")
        weight += shared + length + _ITEM_BYTES
        if exceeds(weight):  # long shared prefixes make much of few bytes
            raise Corrupt("a node's keys are too long together")
        # Keys rise and share all they can exactly if the first new byte is above the one it replaces.
        if shared > len(key) or (shared < len(key) and rest[0] <= key[shared]):
            raise Corrupt("the keys of a node do not rise")
        key = key[:shared] + rest
        keys.append(key)
    return tuple(keys), position


def _decode_leaf(payload: bytes, keys: tuple[bytes, ...], position: int) -> Node:
    count = len(keys)
    start = position
    position += 2 * count
    if position > len(payload):
        raise Corrupt("a leaf is cut off")
    heads: list[tuple[EntryKind, int, int]] = []
    files = size_bytes = with_oid = 0
    for at in range(start, position, 2):
        tag = payload[at] << 8 | payload[at + 1]
        mode = tag & _MODE_MASK
        kind = _KINDS.get(tag >> _MODE_BITS)
        size = 0
        if kind is EntryKind.FILE:
            files += 1
        elif (
            kind is None
            or (kind is EntryKind.SYMLINK and mode != _LINK_MODE)
            or (kind is EntryKind.VALUE and mode)
        ):
            raise Corrupt(f"an entry with the tag {tag:#06x}")
        if kind is not EntryKind.DIRECTORY:
            size, position = read_varint(payload, position)
            size_bytes += size
            with_oid += 1
        heads.append((kind, mode, size))
    if position + with_oid * OID_BYTES != len(payload):
        raise Corrupt("a leaf has bytes missing or left over")
    if size_bytes > MAX_VARINT:
        raise Corrupt("the sizes in a node are out of range")
    entries: list[Entry] = []
    for kind, mode, size in heads:
        if kind is EntryKind.DIRECTORY:
            entries.append(Entry(kind, mode, 0, EMPTY_OID))
        else:
            end = position + OID_BYTES
            entries.append(Entry(kind, mode, size, Oid(payload[position:end])))
            position = end
    return Node(0, keys, tuple(entries), (), Totals(count, files, size_bytes), len(payload))


def _decode_inner(payload: bytes, level: int, keys: tuple[bytes, ...], position: int) -> Node:
    count = len(keys)
    columns: list[list[int]] = []
    for _ in range(3):
        column: list[int] = []
        for _ in range(count):
            value, position = read_varint(payload, position)
            column.append(value)
        columns.append(column)
    if not count or position + count * OID_BYTES != len(payload):
        raise Corrupt("a node is empty, or has bytes missing or left over")
    links: list[Link] = []
    for entries, files, size_bytes in zip(*columns, strict=True):
        if not entries or files > entries:
            raise Corrupt(f"a node of {entries} entries, {files} of them files")
        end = position + OID_BYTES
        links.append(Link(Oid(payload[position:end]), Totals(entries, files, size_bytes)))
        position = end
    totals = sum_totals(links)
    if totals.entries > MAX_VARINT or totals.size_bytes > MAX_VARINT:
        raise Corrupt("the totals of a node are out of range")
    return Node(level, keys, (), tuple(links), totals, len(payload))


def _check_entry(kind: EntryKind, mode: int, size: int, oid: Oid) -> None:
    if (
        kind not in _KINDS
        or not 0 <= mode <= _MODE_MASK
        or not 0 <= size <= MAX_VARINT
        or len(oid) != OID_BYTES
    ):
        raise InvalidInput(f"no manifest entry: kind {kind}, mode {mode:o}, {size} bytes")
    if kind is EntryKind.FILE:
        return
    if kind is EntryKind.DIRECTORY:
        right = not size and oid == EMPTY_OID
    else:
        right = mode == (_LINK_MODE if kind is EntryKind.SYMLINK else 0)
    if not right:
        raise InvalidInput(f"no manifest entry: kind {kind.name}, mode {mode:o}, {size} bytes")


def _check_totals(totals: Totals) -> Totals:
    if totals.size_bytes > MAX_VARINT:
        raise InvalidInput("a manifest's sizes add up to more than 2**63 - 1 bytes")
    return totals


_KINDS = {int(kind): kind for kind in EntryKind}

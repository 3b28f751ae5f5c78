"""A reader of format 1 made from `docs/reference/format.md` alone: it uses nothing of verdog.

It shows that the page says enough, and that the store which is kept for ever does not depend on our code.
"""

import hashlib
import json
import sqlite3
import struct
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import zstandard
from blake3 import blake3

KINDS = {
    1: "BLOB", 2: "CHUNK", 3: "CHUNKS", 4: "NODE", 5: "VALUE",
    6: "RECORD", 7: "HEADER", 8: "ENVIRONMENT", 9: "LEDGER",
}  # fmt: skip
ENTRY_KINDS = {1: "FILE", 2: "DIRECTORY", 3: "SYMLINK", 4: "VALUE"}
SEALED = {"runs", "refs", "reflog", "operations"}


class Reader:
    """The store in a directory."""

    def __init__(self, directory: Path) -> None:
        self.database = sqlite3.connect(f"file:{directory / 'store.db'}?mode=ro&immutable=1", uri=True)
        rows = self.database.execute("SELECT id, name, size FROM packs").fetchall()
        self.packs = {number: (directory / "packs" / f"{name}.pack", size) for number, name, size in rows}

    def close(self) -> None:
        self.database.close()

    def pragma(self, name: str) -> int:
        return self.database.execute(f"PRAGMA {name}").fetchone()[0]

    def meta(self) -> dict[str, Any]:
        return dict(self.database.execute("SELECT name, value FROM meta"))

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """Return the rows of a table without their seals, which are checked."""
        cursor = self.database.execute(f"SELECT * FROM {table}")
        rows = cursor.fetchall()
        if table not in SEALED:
            return rows
        assert cursor.description[-1][0] == "seal"
        for *values, seal in rows:
            assert seal == compute_seal(table, values)
        return [row[:-1] for row in rows]

    def objects(self) -> Iterator[tuple[bytes, int]]:
        return iter(self.database.execute("SELECT oid, kind FROM objects"))

    def get(self, kind: int, oid: bytes) -> bytes:
        """Return an object's payload, checked against its id."""
        columns = "kind, size, codec, pack, start, length, data"
        named = f"SELECT {columns} FROM names JOIN objects ON id = object WHERE names.oid = ?"
        recent = f"SELECT {columns} FROM objects WHERE oid = ? AND id > ?"
        found = self.database.execute(named, (oid,)).fetchall()
        found += self.database.execute(recent, (oid, self.meta()["named"])).fetchall()
        [(stored, size, codec, pack, start, length, data)] = found
        assert stored == kind
        if pack is not None:
            path, end = self.packs[pack]
            assert start >= 16 and start + length <= end
            data = path.read_bytes()[start : start + length]
        if codec == 1:
            frame = zstandard.get_frame_parameters(data)
            assert frame.content_size == size and not frame.dict_id
            data = zstandard.ZstdDecompressor().decompress(data)
        assert len(data) == size
        assert blake3(bytes([kind]) + struct.pack(">Q", size) + data).digest() == oid
        return data

    def entries(self, root: bytes) -> dict[bytes, "Entry"]:
        """Return a manifest's entries by their keys; every rule of its nodes is checked."""
        leaves: dict[bytes, Entry] = {}
        levels: dict[int, list[list[bytes]]] = {}
        level, _, _ = parse_node(self.get(4, root))
        self._walk(root, level, None, None, leaves, levels)
        for number, nodes in levels.items():
            keys = [key for node in nodes for key in node]
            assert keys == sorted(set(keys))
            assert nodes == cut(number, keys)
        assert len(levels.get(level, [])) <= 1
        return leaves

    def _walk(
        self,
        oid: bytes,
        level: int,
        first: bytes | None,
        below: bytes | None,
        leaves: dict[bytes, "Entry"],
        levels: dict[int, list[list[bytes]]],
    ) -> tuple[int, int, int]:
        found, keys, items = parse_node(self.get(4, oid))
        assert found == level
        assert first is None or keys[0] == first
        assert below is None or keys[-1] < below
        if keys:
            levels.setdefault(level, []).append(keys)
        if level == 0:
            leaves.update(zip(keys, items, strict=True))
            files = [each for each in items if each.kind == 1]
            return len(items), len(files), sum(each.size for each in items)
        ends = [*keys[1:], below]
        totals = (0, 0, 0)
        for key, end, (child, claimed) in zip(keys, ends, items, strict=True):
            held = self._walk(child, level - 1, key, end, leaves, levels)
            assert held == claimed
            totals = (totals[0] + held[0], totals[1] + held[1], totals[2] + held[2])
        return totals

    def content(self, entry: "Entry") -> bytes:
        """Return the bytes of a file, or a link's target."""
        if entry.size <= 65_536:
            return self.get(1, entry.oid)
        payload = self.get(3, entry.oid)
        count, position = parse_varint(payload, 0)
        lengths: list[int] = []
        for _ in range(count):
            length, position = parse_varint(payload, position)
            lengths.append(length)
        assert len(payload) == position + 32 * count
        chunks = [self.get(2, payload[at : at + 32]) for at in range(position, len(payload), 32)]
        assert [len(each) for each in chunks] == lengths
        return b"".join(chunks)


class Entry(NamedTuple):
    kind: int
    mode: int
    size: int
    oid: bytes


def compute_seal(table: str, values: list[Any]) -> bytes:
    parts = [b"verdog row %d:%b" % (len(table), table.encode())]
    for value in values:
        match value:
            case None:
                parts.append(b"n")
            case int():
                parts.append(b"i%d;" % value)
            case str():
                parts.append(b"t%d:%b" % (len(value.encode()), value.encode()))
            case _:
                parts.append(b"b%d:%b" % (len(value), value))
    return blake3(b"".join(parts)).digest()


def parse_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            assert shift == 7 or byte, "not the shortest"
            return value, position


def parse_node(payload: bytes) -> tuple[int, list[bytes], list[Any]]:
    """Return a node's level, its keys, and its entries or its links (id and totals)."""
    level, position = payload[0], 1
    count, position = parse_varint(payload, position)
    keys: list[bytes] = []
    key = b""
    for _ in range(count):
        shared, position = parse_varint(payload, position)
        length, position = parse_varint(payload, position)
        key = key[:shared] + payload[position : position + length]
        position += length
        keys.append(key)
    if level:
        columns: list[list[int]] = []
        for _ in range(3):
            column: list[int] = []
            for _ in range(count):
                value, position = parse_varint(payload, position)
                column.append(value)
            columns.append(column)
        assert len(payload) == position + 32 * count
        oids = [payload[at : at + 32] for at in range(position, len(payload), 32)]
        return level, keys, list(zip(oids, zip(*columns, strict=True), strict=True))
    heads = [int.from_bytes(payload[at : at + 2], "big") for at in range(position, position + 2 * count, 2)]
    position += 2 * count
    sizes: list[int] = []
    for head in heads:
        size = 0
        if head >> 12 != 2:
            size, position = parse_varint(payload, position)
        sizes.append(size)
    entries: list[Entry] = []
    for head, size in zip(heads, sizes, strict=True):
        oid = blake3(bytes([1]) + bytes(8)).digest()
        if head >> 12 != 2:
            oid, position = payload[position : position + 32], position + 32
        entries.append(Entry(head >> 12, head & 0xFFF, size, oid))
    assert position == len(payload)
    return level, keys, entries


def cut(level: int, keys: list[bytes]) -> list[list[bytes]]:
    """Return the keys of a level in nodes, as they have to be cut."""
    nodes: list[list[bytes]] = []
    weight = 0
    for key in keys:
        head = blake3(bytes([level]) + key).digest()[:4]
        weight += len(key) + 72
        if not nodes or int.from_bytes(head, "big") < 2**32 // 8 or weight > 65_528:
            nodes.append([])
            weight = len(key) + 72
        nodes[-1].append(key)
    return nodes


def parse_json(payload: bytes) -> Any:
    """Return canonical JSON that needs no escape but those of Python's own writer."""
    value = json.loads(payload)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    escaped = "".join(f"\\u{ord(each):04x}" if "\ud800" <= each <= "\udfff" else each for each in text)
    assert escaped.encode() == payload
    return value


def derive_commit(payload: bytes, parent: tuple[str, int] | None) -> tuple[str, int, bytes]:
    """Return the id, the time and the bytes of the commit of a record after its parent's (id, time)."""
    record = parse_json(payload)
    blob = git_id(b"blob", payload)
    tree = git_id(b"tree", b"100644 checkpoint.json\0" + blob)
    created = int(datetime.fromisoformat(record["created_at"].replace("Z", "+00:00")).timestamp())
    time_s = max(0, created, parent[1] if parent else 0)
    completed, following = record["completed"], record["next"]
    before = f"{place(completed)}/{completed['visit']}" if completed else record["kind"]
    who = f"verdog <verdog@localhost> {time_s} +0000"
    text = (
        f"tree {tree.hex()}\n"
        + (f"parent {parent[0]}\n" if parent else "")
        + f"author {who}\ncommitter {who}\n\n{before} -> {place(following) if following else 'end'}\n\n"
        + f"Run: {record['run']}\nCheckpoint: {record['sequence']}\nOperation: {record['operation']}\n"
    )
    return git_id(b"commit", text.encode()).hex(), time_s, text.encode()


def git_id(kind: bytes, payload: bytes) -> bytes:
    return hashlib.sha1(b"%b %d\0%b" % (kind, len(payload), payload), usedforsecurity=False).digest()


def place(boundary: dict[str, Any]) -> str:
    node = escape(boundary["node"], "._-")
    return f"{escape(boundary['call_path'], '._-#/')}/{node}" if boundary["call_path"] else node


def escape(text: str, kept: str) -> str:
    return "".join(
        each if each.isalnum() or each in kept else "".join(f"%{byte:02X}" for byte in each.encode())
        for each in text
    )


def parse_value(payload: bytes) -> Any:
    """Return an encoded value as (tag, what it holds), nested."""
    assert payload[0] == 1
    value, position = _parse(payload, 2)
    assert position == len(payload)
    return value


def _parse(data: bytes, at: int) -> tuple[Any, int]:
    tag, at = data[at], at + 1
    match tag:
        case 0x00 | 0x01 | 0x02:
            return (None, False, True)[tag], at
        case 0x03:
            number, at = _parse_bytes(data, at)
            return int.from_bytes(number, "big", signed=True), at
        case 0x04:
            return struct.unpack(">d", data[at : at + 8])[0], at + 8
        case 0x06 | 0x20:
            text, at = _parse_text(data, at)
            return (text if tag == 0x06 else (tag, text)), at
        case 0x07:
            return _parse_bytes(data, at)
        case 0x10 | 0x11 | 0x12 | 0x13:
            items, at = _parse_items(data, at)
            return (tag, *items), at
        case 0x14:
            limit, at = _parse(data, at)
            items, at = _parse_items(data, at)
            return (tag, limit, *items), at
        case 0x18 | 0x19:
            count, at = parse_varint(data, at)
            pairs: list[Any] = []
            for _ in range(count):
                key, at = _parse(data, at)
                value, at = _parse(data, at)
                pairs.append((key, value))
            return (tag, *pairs), at
        case 0x21:
            above, at = _parse_bytes(data, at)
            below, at = _parse_bytes(data, at)
            return (tag, *(int.from_bytes(each, "big", signed=True) for each in (above, below))), at
        case 0x24:
            flavour, anchor = data[at], data[at + 1]
            text, at = _parse_text(data, at + 2)
            return (tag, flavour, anchor, text), at
        case 0x30:
            module, at = _parse_text(data, at)
            name, at = _parse_text(data, at)
            fields, at = _parse_fields(data, at)
            return (tag, f"{module}:{name}", *fields), at
        case 0x32:
            module, at = _parse_text(data, at)
            name, at = _parse_text(data, at)
            member, at = _parse_text(data, at)
            return (tag, f"{module}:{name}", member), at
        case 0x34:
            module, at = _parse_text(data, at)
            name, at = _parse_text(data, at)
            arguments, at = _parse(data, at)
            fields, at = _parse_fields(data, at)
            suppressed, at = data[at], at + 1
            cause, at = _parse(data, at)
            context, at = _parse(data, at)
            return (tag, f"{module}:{name}", arguments, fields, suppressed, cause, context), at
        case _:
            raise AssertionError(f"tag {tag:02x} is not in the store that is kept for ever")


def _parse_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    count, at = parse_varint(data, at)
    return data[at : at + count], at + count


def _parse_text(data: bytes, at: int) -> tuple[str, int]:
    content, at = _parse_bytes(data, at)
    return content.decode("utf-8", "surrogatepass"), at


def _parse_items(data: bytes, at: int) -> tuple[list[Any], int]:
    count, at = parse_varint(data, at)
    items: list[Any] = []
    for _ in range(count):
        item, at = _parse(data, at)
        items.append(item)
    return items, at


def _parse_fields(data: bytes, at: int) -> tuple[list[Any], int]:
    count, at = parse_varint(data, at)
    fields: list[Any] = []
    for _ in range(count):
        name, at = _parse_text(data, at)
        value, at = _parse(data, at)
        fields.append((name, value))
    return fields, at

"""What is in the small store that is kept for ever, and how all of a store is told as JSON."""

import hashlib
from collections import OrderedDict, deque
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.runtime.valuetypes import Colour, Slotted
from verdog_objects import manifest
from verdog_objects.content import iter_content
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid, format_oid
from verdog_objects.store import Query, Row, Table, Value
from verdog_repo.record import encode_record
from verdog_repo.repository import Repository
from verdog_repo.runs import encode_header
from verdog_repo.tables import TABLES
from verdog_runtime.values import decode_neutral, format_neutral


def stretch(count: int) -> bytes:
    """Return bytes that look random and are the same everywhere."""
    return hashlib.shake_256(b"golden").digest(count)


LINES = b"".join(b"%d squared is %d\n" % (each, each * each) for each in range(6_000))

FILES: dict[bytes, tuple[EntryKind, int, bytes]] = {
    b"empty": (EntryKind.DIRECTORY, 0o755, b""),
    b"late": (EntryKind.FILE, 0o600, b""),
    b"odd-\xff": (EntryKind.FILE, 0o4755, b"not Unicode\n"),
    b"link": (EntryKind.SYMLINK, 0o777, b"work/000001/large"),
    b"work": (EntryKind.DIRECTORY, 0o2750, b""),
    b"work/000001": (EntryKind.DIRECTORY, 0o755, b""),
    b"work/000001/large": (EntryKind.FILE, 0o644, LINES),
    b"work/000001/packed": (EntryKind.FILE, 0o444, stretch(5_000)),
    b"work/000001/small.txt": (EntryKind.FILE, 0o644, "grüße\n".encode()),
    **{
        f"work/000001/{number:03}".encode(): (EntryKind.FILE, 0o644, f"{number}\n".encode())
        for number in range(40)
    },
}
"""The files of the second checkpoint: every kind of entry, and enough of them for a tree of several nodes."""

STATE: dict[str, object] = {
    "input": Slotted("in", 3),
    "transit": [
        None,
        True,
        -(2**70),
        1.5,
        "text\ud800",
        b"bytes",
        Path("/project/out/work/000001/small.txt"),
    ],
    "param:.\0verdog_file.golden.golden": None,
    "node:work": Slotted("state", (Decimal("1.10"), Fraction(1, 3), Colour.RED, deque([1], maxlen=2))),
    "feature:left": 2,
    "feature:mood": "calm",
    "feature:seen": OrderedDict(a=-0.0),
    "frame:0": {
        "edge": "work__next",
        "graph": "verdog_file.golden.golden",
        "output": "work/000001",
        "project_path": ".",
        "remaining": 9_998,
        "source": "work",
        "visits": {"enter": 1, "work": 1},
    },
    "session:chat": ValueError("kept", {"a": frozenset({1, 2})}),
}

RESULT = Slotted("out", None)


def describe_store(project: Path) -> dict[str, Any]:
    """Return everything that the store of a project says, but for what a store decides freely."""
    with Repository.open(project, read_only=True) as repository:
        objects = {
            format_oid(oid): [Kind(kind).name, hashlib.sha256(payload).hexdigest()]
            for oid, (kind, payload) in _objects(repository)
        }
        commits = [row[2] for row in _rows(repository, "checkpoints")]
        return {
            "objects": objects,
            "tables": {
                table.name: [[_show(value) for value in row] for row in _select(repository, table)]
                for table in TABLES
            },
            "headers": {each.header.run: encode_header(each.header).decode() for each in repository.runs()},
            "checkpoints": {
                commit.hex(): _describe_checkpoint(repository, commit)  # type: ignore[union-attr]
                for commit in commits
            },
        }


def _describe_checkpoint(repository: Repository, commit: Any) -> dict[str, Any]:
    checkpoint = repository.checkpoint(commit)
    record = repository.record(checkpoint)
    return {
        "commit": repository.catalog.commit_bytes(checkpoint).decode(),
        "record": encode_record(record).decode(),
        "files": _describe_files(repository, record.artifacts),
        "state": _describe_state(repository, record.state),
    }


def _describe_files(repository: Repository, root: Oid | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, entry in manifest.iterate(repository.store, root) if root is not None else ():
        path = manifest.key_path(key)
        found[path.decode("utf-8", "surrogateescape")] = [
            entry.kind.name,
            f"{entry.mode:o}",
            entry.size,
            _digest(repository, path, entry),
        ]
    return found


def _digest(repository: Repository, path: bytes, entry: Entry) -> str | None:
    if entry.kind is EntryKind.DIRECTORY:
        return None
    return hashlib.sha256(b"".join(iter_content(repository.store, path, entry))).hexdigest()


def _describe_state(repository: Repository, root: Oid | None) -> dict[str, str]:
    if root is None:
        return {}
    return {
        key.decode(): format_neutral(decode_neutral(repository.store.get(Kind.VALUE, entry.oid)))
        for key, entry in manifest.iterate(repository.store, root)
    }


def _objects(repository: Repository) -> Iterator[tuple[Oid, tuple[Kind, bytes]]]:
    return iter(repository.store.get_many([each.oid for each in repository.store.scan()]).items())


def _rows(repository: Repository, name: str) -> list[Row]:
    return _select(repository, next(table for table in TABLES if table.name == name))


def _select(repository: Repository, table: Table) -> list[Row]:
    return repository.store.select(Query(table=table))


def _show(value: Value) -> Any:
    return value.hex() if isinstance(value, bytes) else value

"""The writer of the SQLite store: collects the objects of a change, and puts bulk ahead of its end."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from verdog_objects import objecttable, packs, rows
from verdog_objects.compression import compress, decompress
from verdog_objects.connections import Connections, Database, Port
from verdog_objects.errors import Conflict, Corrupt, InvalidInput
from verdog_objects.objecttable import StoredObject
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid
from verdog_objects.packhealth import PackHealth
from verdog_objects.sessions import Session

ROW_LIMIT_BYTES = 4096
"""Payloads up to this size are rows; larger ones go to a pack."""

FINAL_LIMIT_BYTES = 1 << 20
"""A change whose rows are larger in total puts them ahead of its final transaction."""

AHEAD_LIMIT_BYTES = 2 << 20
AHEAD_LIMIT_S = 0.01
"""What one transaction ahead of the final one inserts at most, and for how long."""

SESSIONS_NAME = "sessions"

_ROW_COST_BYTES = 256
_SLICE_ROWS = 64
_CONFIRM_ATTEMPTS = 3


class Context(Protocol):
    """What a writer uses of its store."""

    connections: Connections
    directory: Path
    port: Port

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return a stored object's payload."""
        ...


class SqliteWriter:
    """A `Writer` on the SQLite store."""

    def __init__(self, store: Context) -> None:
        self._store = store
        self._small: dict[Oid, tuple[Kind, bytes]] = {}  # not compressed yet
        self._ready: dict[Oid, StoredObject] = {}  # to be inserted
        self._found: set[Oid] = set()  # in the database, whoever put them there
        self._row_bytes = 0
        self._deletions: int | None = None
        self._pack: packs.PackAppender | None = None
        self._pack_number = 0
        self._health = PackHealth(store.directory / packs.PACKS_NAME)
        self._session: Session | None = None
        self._tried = False
        self._open = True
        self._pid = os.getpid()

    def put(self, kind: Kind, payload: bytes) -> Oid:
        """Stage one object and return its id."""
        self._check_open()
        rows.check_object(kind, payload)
        oid = compute_oid(kind, payload)
        if oid in self._small or oid in self._ready or oid in self._found:
            return oid
        if len(payload) <= ROW_LIMIT_BYTES:
            self._small[oid] = (kind, payload)
            self._row_bytes += len(payload) + _ROW_COST_BYTES
        else:
            with self._store.port:
                self._put_large(kind, oid, payload)
        if self._row_bytes > AHEAD_LIMIT_BYTES:
            with self._store.port:
                self._put_ahead()
        return oid

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return the payload of a staged or stored object."""
        self._check_open()
        small = self._small.get(oid)
        ready = self._ready.get(oid) if small is None else None
        if small is not None:
            staged_kind, payload = small
        elif ready is not None:
            staged_kind, payload = Kind(ready.kind), _read_ready(ready, self._pack)
        else:
            return self._store.get(kind, oid)
        if staged_kind is not kind:
            raise Corrupt(f"object {format_oid(oid)} is a {staged_kind.name}, not a {kind.name}", paths=[oid])
        return payload

    def abandon(self) -> None:
        """Forget what was staged and release the pack, if one was taken."""
        self._open = False
        self._small, self._ready, self._found = {}, {}, set()
        self._release_pack()
        session, self._session = self._session, None
        if session is not None and self._pid == os.getpid():
            session.abandon(self._store.connections)

    def prepare(self, store: object) -> None:
        """Make ready for the final transaction: compress, sync the pack, and put bulk ahead."""
        self._check_open()
        if store is not self._store:
            raise InvalidInput("a writer is applied to the store that made it")
        if self._row_bytes > FINAL_LIMIT_BYTES:
            self._put_ahead()
        self._stage_small({})
        if self._pack is not None:
            self._pack.sync()
        connection = self._store.connections.get()
        for _ in range(_CONFIRM_ATTEMPTS):  # so that the write lock is not held meanwhile
            if self._confirm(connection):
                break

    def insert(self, connection: Database) -> None:
        """Insert what was staged, in the final transaction.

        Raises:
            Conflict: an object that was found stored is gone.
        """
        self._confirm(connection)
        self._tried = True
        self._health.forget_lost(connection)
        objecttable.insert_objects(connection, self._ready.values())
        if self._pack is not None and self._pack.end > self._pack.committed:
            objecttable.extend_pack(connection, self._pack_number, self._pack.end)
        if self._session is not None:
            self._session.remove(connection)

    def finish(self) -> None:
        """Close the writer after the final transaction was committed."""
        if self._pack is not None:
            self._pack.commit()
        session, self._session = self._session, None
        if session is not None:
            session.close()
        self.abandon()

    def _put_large(self, kind: Kind, oid: Oid, payload: bytes) -> None:
        connection = self._store.connections.get()
        self._begin_finding(connection)
        if self._health.is_stored(connection, oid, len(payload)):
            self._found.add(oid)
            return
        pack = self._pack
        if pack is not None and pack.end >= packs.PACK_LIMIT_BYTES:
            self._insert_ahead()
            self._release_pack()
            pack = None
        if pack is None:
            self._pack_number, pack = _take_pack(self._store)
            self._pack = pack
        codec, data = compress(payload)
        start = pack.append(data)
        self._ready[oid] = StoredObject(
            oid, kind, len(payload), codec, self._pack_number, start, len(data), None
        )
        self._row_bytes += _ROW_COST_BYTES

    def _release_pack(self) -> None:
        pack, self._pack = self._pack, None
        if pack is not None:  # whether a transaction that failed will be found after a crash is not known
            pack.release(cut=not self._tried)

    def _begin_finding(self, connection: Database) -> None:
        """Note the count of deletions before an object is first found stored, so that later ones show."""
        if self._deletions is None:
            self._deletions = objecttable.read_deletions(connection)

    def _confirm(self, connection: Database) -> bool:
        """Check that what was found stored still is; return whether nothing was deleted since last time."""
        if self._deletions is None:
            return True
        deletions = objecttable.read_deletions(connection)
        if deletions == self._deletions:
            return True
        gone = self._found - objecttable.find_stored(connection, self._found).keys()
        if gone:
            raise Conflict(f"object {format_oid(min(gone))} was deleted meanwhile")
        self._deletions = deletions
        return False

    def _stage_small(self, stored: Mapping[Oid, int]) -> None:
        """Compress the small objects that are not stored."""
        for oid, (kind, payload) in self._small.items():
            if stored.get(oid) == len(payload):
                self._found.add(oid)
                self._row_bytes -= len(payload) + _ROW_COST_BYTES
            else:
                codec, data = compress(payload)
                self._ready[oid] = StoredObject(oid, kind, len(payload), codec, None, None, None, data)
                self._row_bytes -= len(payload) - len(data)
        self._small.clear()

    def _put_ahead(self) -> None:
        """Insert what was staged so far if it is much; small objects are looked for in the database first."""
        connection = self._store.connections.get()
        self._begin_finding(connection)
        self._stage_small(objecttable.find_stored(connection, self._small))
        if self._row_bytes > FINAL_LIMIT_BYTES:
            self._insert_ahead()

    def _insert_ahead(self) -> None:
        """Insert what was staged so far, in short transactions, protected by a session.

        Durability: the objects, though nothing refers to them yet.
        """
        self._stage_small({})
        connections, pack = self._store.connections, self._pack
        if self._session is None:
            self._session = Session.begin(connections, self._store.directory / SESSIONS_NAME)
        if pack is not None:
            pack.sync()
        self._tried = True
        pending = list(self._ready.values())
        while pending:
            with connections.transaction() as connection:
                if pack is not None and pack.end > pack.committed:
                    objecttable.extend_pack(connection, self._pack_number, pack.end)
                done = _insert_slices(connection, pending, self._health)
            if pack is not None:
                pack.commit()
            self._found.update(each.oid for each in pending[:done])
            pending = pending[done:]
        self._tried = False
        self._ready.clear()
        self._row_bytes = 0

    def _check_open(self) -> None:
        if not self._open:
            raise InvalidInput("this writer was applied or abandoned")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.abandon()


def _insert_slices(connection: Database, objects: list[StoredObject], health: PackHealth) -> int:
    """Insert objects until one transaction has had its share; return how many."""
    health.forget_lost(connection)
    deadline = time.monotonic() + AHEAD_LIMIT_S
    done = 0
    size_bytes = 0
    while done < len(objects):
        batch = objects[done : done + _SLICE_ROWS]
        objecttable.insert_objects(connection, batch)
        done += len(batch)
        size_bytes += sum(_ROW_COST_BYTES + len(each.data or b"") for each in batch)
        if size_bytes >= AHEAD_LIMIT_BYTES or time.monotonic() >= deadline:
            break
    return done


def _read_ready(ready: StoredObject, pack: packs.PackAppender | None) -> bytes:
    data = ready.data
    if data is None and pack is not None:
        data = pack.read(ready.start or 0, ready.length or 0)
    return decompress(ready.codec, data or b"", ready.size)


def _take_pack(store: Context) -> tuple[int, packs.PackAppender]:
    """Take a pack with room, or make one, and return its number too."""
    directory = store.directory / packs.PACKS_NAME
    connection = store.connections.get()
    for number, name in objecttable.list_open_packs(connection, packs.PACK_LIMIT_BYTES):
        taken = packs.take_pack(directory, name, _end_reader(connection, number))
        if taken is not None:
            return number, taken
    created = packs.create_pack(directory, packs.new_name())
    try:
        with store.connections.transaction() as connection:
            return objecttable.insert_pack(connection, created.name, created.committed), created
    except BaseException:
        created.release()
        raise


def _end_reader(connection: Database, number: int) -> Callable[[], int | None]:
    def read_end() -> int | None:
        end = objecttable.read_pack_end(connection, number)
        return end if end is not None and end < packs.PACK_LIMIT_BYTES else None

    return read_end

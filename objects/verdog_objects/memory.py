"""A store in memory: the double of the real one in tests, and its model."""

from collections.abc import Iterable, Mapping, Sequence
from threading import RLock
from types import TracebackType
from typing import Self

from verdog_objects import rows
from verdog_objects.errors import Conflict, Corrupt, InvalidInput, Missing
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid
from verdog_objects.store import PAGE_ROWS, Guard, ObjectInfo, PutRow, Query, Row, Table, Value, Write, Writer

_KEPT_BYTES = 4096
"""Payloads up to this size are kept, whether they are stored or not, so they cannot go away meanwhile."""

_Sortable = tuple[bool, Value]


class MemoryStore:
    """An `ObjectStore` on dictionaries. Nothing survives it."""

    def __init__(self, tables: Sequence[Table] = ()) -> None:
        self._tables = rows.check_tables(tables)
        self._rows: dict[str, dict[Row, Row]] = {name: {} for name in self._tables}
        self._numbers = dict.fromkeys(self._tables, 0)
        self._objects: dict[Oid, tuple[Kind, bytes]] = {}
        self._lock = RLock()

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return an object's payload."""
        rows.check_oid(oid)
        return _open(kind, oid, self.stored(oid))

    def get_many(self, oids: Sequence[Oid]) -> dict[Oid, tuple[Kind, bytes]]:
        """Return the objects that exist."""
        with self._lock:
            return {oid: self._objects[oid] for oid in rows.check_oids(oids) if oid in self._objects}

    def has_many(self, oids: Iterable[Oid]) -> set[Oid]:
        """Return which of the ids are stored."""
        with self._lock:
            return {oid for oid in rows.check_oids(oids) if oid in self._objects}

    def put_many(self, objects: Sequence[tuple[Kind, bytes]]) -> list[Oid]:
        """Store objects that nothing refers to yet."""
        with self.writer() as writer:
            oids = [writer.put(kind, payload) for kind, payload in objects]
            self.apply(writer)
        return oids

    def delete_many(self, oids: Sequence[Oid]) -> int:
        """Delete objects and return how many there were."""
        with self._lock:
            return sum(self._objects.pop(oid, None) is not None for oid in list(rows.check_oids(oids)))

    def prefix(self, digits: str, limit: int = PAGE_ROWS) -> list[Oid]:
        """Return the ids that begin with these hexadecimal digits, in order."""
        rows.check_limit(limit)
        first, last = rows.prefix_range(digits)
        with self._lock:
            return sorted(oid for oid in self._objects if first <= oid <= last)[:limit]

    def scan(self, after: Oid | None = None, limit: int = PAGE_ROWS) -> list[ObjectInfo]:
        """Return the objects after an id in id order."""
        rows.check_limit(limit)
        if after is not None:
            rows.check_oid(after)
        with self._lock:
            page = sorted(oid for oid in self._objects if after is None or oid > after)[:limit]
            return [self._describe(oid) for oid in page]

    def _describe(self, oid: Oid) -> ObjectInfo:
        kind, payload = self._objects[oid]
        size = len(payload)
        return ObjectInfo(oid=oid, kind=kind, size_bytes=size, stored_bytes=size, place="row")

    def writer(self) -> "MemoryWriter":
        """Begin to collect the objects of a change."""
        return MemoryWriter(self)

    def apply(
        self,
        writer: Writer | None = None,
        *,
        guards: Sequence[Guard] = (),
        writes: Sequence[Write] = (),
    ) -> None:
        """Make a writer's objects and the row changes visible in one step, if every guard holds."""
        rows.check_batch(self._tables, guards, writes)
        if writer is not None and not isinstance(writer, MemoryWriter):
            raise InvalidInput("a writer is applied to the store that made it")
        staged, found = writer.take(self) if writer is not None else ({}, set[Oid]())
        with self._lock:
            for guard in guards:
                if self._rows[guard.table.name].get(guard.key) != guard.expected:
                    raise Conflict(f"table {guard.table.name}: the row at {guard.key!r} is not as expected")
            for oid in found:
                if oid not in self._objects:
                    raise Conflict(f"object {format_oid(oid)} was deleted meanwhile")
            self._objects.update(staged)
            for write in writes:
                self._write(write)
        if writer is not None:
            writer.abandon()

    def _write(self, write: Write) -> None:
        table, stored = write.table, self._rows[write.table.name]
        if isinstance(write, PutRow):
            row = write.row
            if table.numbered:
                self._numbers[table.name] += 1
                row = (self._numbers[table.name], *row)
            stored[rows.row_key(table, row)] = row
        else:
            stored.pop(write.key, None)

    def select(self, query: Query) -> list[Row]:
        """Return one page of rows."""
        rows.check_known(self._tables, query.table)
        rows.check_query(query)
        positions = [query.table.position(name) for name in rows.full_order(query)]

        def sort_key(row: Row) -> tuple[_Sortable, ...]:
            return tuple((row[each] is not None, row[each]) for each in positions)

        with self._lock:
            found = [row for row in self._rows[query.table.name].values() if _matches(query, row)]
        found.sort(key=sort_key, reverse=query.descending)
        return found[: query.limit]

    def count(self, table: Table, equal: Mapping[str, Value]) -> int:
        """Return how many rows have these values."""
        rows.check_known(self._tables, table)
        query = Query(table=table, equal=tuple(equal.items()))
        rows.check_query(query)
        with self._lock:
            return sum(_matches(query, row) for row in self._rows[table.name].values())

    def stored(self, oid: Oid) -> tuple[Kind, bytes] | None:
        """Return what is stored under an id, or None."""
        with self._lock:
            return self._objects.get(oid)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _open(kind: Kind, oid: Oid, found: tuple[Kind, bytes] | None) -> bytes:
    if found is None:
        raise Missing(f"object {format_oid(oid)} is missing", paths=[oid])
    if found[0] is not kind:
        raise Corrupt(f"object {format_oid(oid)} is a {found[0].name}, not a {kind.name}", paths=[oid])
    return found[1]


def _matches(query: Query, row: Row) -> bool:
    position = query.table.position
    if any(row[position(name)] != value for name, value in query.equal):
        return False
    if query.at_least is not None:
        value = row[position(query.at_least[0])]
        if value is None or value < query.at_least[1]:  # type: ignore[operator]
            return False
    if query.below is not None:
        value = row[position(query.below[0])]
        if value is None or value >= query.below[1]:  # type: ignore[operator]
            return False
    return True


class MemoryWriter:
    """A `Writer` on a dictionary."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._staged: dict[Oid, tuple[Kind, bytes]] = {}
        self._found: set[Oid] = set()
        self._open = True

    def put(self, kind: Kind, payload: bytes) -> Oid:
        """Stage one object and return its id."""
        self._check_open()
        rows.check_object(kind, payload)
        oid = compute_oid(kind, payload)
        if oid not in self._staged and oid not in self._found:
            if len(payload) <= _KEPT_BYTES or self._store.stored(oid) is None:
                self._staged[oid] = (kind, payload)
            else:
                self._found.add(oid)
        return oid

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return the payload of a staged or stored object."""
        self._check_open()
        rows.check_oid(oid)
        return _open(kind, oid, self._staged.get(oid) or self._store.stored(oid))

    def take(self, store: MemoryStore) -> tuple[dict[Oid, tuple[Kind, bytes]], set[Oid]]:
        """Hand what was staged and what was found to the store that this writer belongs to."""
        self._check_open()
        if store is not self._store:
            raise InvalidInput("a writer is applied to the store that made it")
        return self._staged, self._found

    def abandon(self) -> None:
        """Forget what was staged."""
        self._open = False
        self._staged, self._found = {}, set()

    def _check_open(self) -> None:
        if not self._open:
            raise InvalidInput("this writer was applied or abandoned")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.abandon()

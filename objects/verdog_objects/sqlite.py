"""The store on disk: one SQLite database beside a directory of packs."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from verdog_objects import durable, objecttable, packs, rows, schema
from verdog_objects.connections import Access, Connections, Database, Port, open_database
from verdog_objects.errors import Corrupt, InvalidInput, NotFound, Unavailable
from verdog_objects.filesystems import is_frozen, is_network, is_writable
from verdog_objects.oid import Kind, Oid
from verdog_objects.reading import StoredReader
from verdog_objects.rowtable import RowTables
from verdog_objects.store import PAGE_ROWS, Guard, ObjectInfo, Query, Row, Table, Value, Write, Writer

if TYPE_CHECKING:  # loaded by the first writer: most commands only read
    from verdog_objects.writer import SqliteWriter

DATABASE_NAME = "store.db"

_OLDEST_SQLITE = (3, 51, 3)
"""Older ones can lose a committed transaction when a WAL is reset while another connection writes."""


class SqliteStore:
    """An `ObjectStore` on SQLite and packs. Make one with `create_store` or `open_store`.

    Attributes:
        directory: where the store is.
        uuid: names the store for ever, wherever it is moved.
        connections: the database.
        port: a block in which the database's errors become house errors.
    """

    def __init__(self, directory: Path, uuid: str, connections: Connections, tables: Sequence[Table]) -> None:
        self.directory = directory
        self.uuid = uuid
        self.connections = connections
        self.port = Port(connections.path)
        self._rows = RowTables(rows.check_tables(tables))
        self._packs = packs.PackReader(directory / packs.PACKS_NAME)
        self._reader = StoredReader(connections, self._packs)

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return an object's payload; its hash was checked."""
        rows.check_oid(oid)
        with self.port:
            return self._reader.get(kind, oid)

    def get_many(self, oids: Sequence[Oid]) -> dict[Oid, tuple[Kind, bytes]]:
        """Return the objects that exist, each checked against its id."""
        with self.port:
            return self._reader.get_many(list(rows.check_oids(oids)))

    def has_many(self, oids: Iterable[Oid]) -> set[Oid]:
        """Return which of the ids are stored; one whose reading failed is not."""
        with self.port:
            return set(objecttable.find_stored(self.connections.get(), rows.check_oids(oids)))

    def put_many(self, objects: Sequence[tuple[Kind, bytes]]) -> list[Oid]:
        """Store objects that nothing refers to yet, durably, and return their ids."""
        with self.writer() as writer:
            oids = [writer.put(kind, payload) for kind, payload in objects]
            self.apply(writer)
        return oids

    def delete_many(self, oids: Sequence[Oid]) -> int:
        """Delete objects and return how many there were."""
        deleted = 0
        oids = list(rows.check_oids(oids))
        with self.port:
            for start in range(0, len(oids), PAGE_ROWS):
                with self.connections.transaction() as connection:
                    deleted += objecttable.delete_objects(connection, oids[start : start + PAGE_ROWS])
        return deleted

    def prefix(self, digits: str, limit: int = PAGE_ROWS) -> list[Oid]:
        """Return the ids that begin with these hexadecimal digits, in order."""
        rows.check_limit(limit)
        first, last = rows.prefix_range(digits)
        with self.port:
            return objecttable.scan_range(self.connections.get(), first, last, limit)

    def scan(self, after: Oid | None = None, limit: int = PAGE_ROWS) -> list[ObjectInfo]:
        """Return the objects after an id in id order."""
        rows.check_limit(limit)
        if after is not None:
            rows.check_oid(after)
        with self.port:
            return objecttable.scan_objects(self.connections.get(), after or b"", limit)

    def writer(self) -> "SqliteWriter":
        """Begin to collect the objects of a change."""
        from verdog_objects.writer import SqliteWriter

        return SqliteWriter(self)

    def apply(
        self,
        writer: Writer | None = None,
        *,
        guards: Sequence[Guard] = (),
        writes: Sequence[Write] = (),
    ) -> None:
        """Make a writer's objects and the row changes durable in one atomic step, if every guard holds.

        Durability: all of it once the call returned, none of it before.
        Cost: one fsync, and one more if the writer appended to a pack.
        """
        rows.check_batch(self._rows.tables, guards, writes)
        own = None if writer is None else _require_own(writer)
        with self.port:
            if own is not None:
                own.prepare(self)
            with self.connections.transaction() as connection:
                for guard in guards:
                    self._rows.check_guard(connection, guard)
                if own is not None:
                    own.insert(connection)
                for write in writes:
                    self._rows.write(connection, write)
            if own is not None:
                own.finish()

    def select(self, query: Query) -> list[Row]:
        """Return one page of rows."""
        rows.check_known(self._rows.tables, query.table)
        rows.check_query(query)
        with self.port:
            return self._rows.select(self.connections.get(), query)

    def count(self, table: Table, equal: Mapping[str, Value]) -> int:
        """Return how many rows have these values."""
        rows.check_known(self._rows.tables, table)
        query = Query(table=table, equal=tuple(equal.items()))
        rows.check_query(query)
        with self.port:
            return self._rows.count(self.connections.get(), query)

    def close(self) -> None:
        """Close the database and every pack. Safe to call twice."""
        with self.port:
            self.connections.close()
        self._packs.close()

    def pack_files(self) -> list[Path]:
        """Return where the packs are that the database knows."""
        with self.port:
            known = objecttable.list_packs(self.connections.get())
        return [packs.pack_path(self.directory / packs.PACKS_NAME, name) for _, name, _ in known]

    def check(self) -> list[str]:
        """Return what is wrong with the database, the packs, and the locations in them, one sentence each.

        Payloads are not read: `get_many` over `scan` checks them.

        Cost: reads the whole database.
        """
        problems: list[str] = []
        parts = [self._check_database, self._check_packs, *map(self._seal_check, self._rows.tables.values())]
        for part in parts:
            try:
                with self.port:
                    problems += part(self.connections.get())
            except Corrupt as error:
                problems.append(str(error))
        return problems

    def mend(self) -> bool:
        """Make the list of which row holds which object anew if it is wrong, and return whether it was.

        Durability: all of it once the call returned, none of it before.
        Cost: reads every row.
        """
        with self.port, self.connections.transaction() as connection:
            wrong = bool(objecttable.check_names(connection))
            if wrong:
                connection.names.rebuild(connection)
        return wrong

    def _check_database(self, connection: Database) -> list[str]:
        return objecttable.check_database(connection)

    def _check_packs(self, connection: Database) -> list[str]:
        problems: list[str] = []
        for number, name, end in objecttable.list_packs(connection):
            problem = packs.check_pack(self.directory / packs.PACKS_NAME, name, end)
            if problem is not None:
                problems.append(problem)
            outside = objecttable.count_outside(connection, number, end)
            if outside:
                problems.append(f"pack {name}: {outside} objects lie outside its committed {end} bytes")
        return problems

    def _seal_check(self, table: Table) -> Callable[[Database], list[str]]:
        return lambda connection: self._rows.check_seals(connection, table)


def _require_own(writer: Writer) -> "SqliteWriter":
    from verdog_objects.writer import SqliteWriter

    if not isinstance(writer, SqliteWriter):
        raise InvalidInput("a writer is applied to the store that made it")
    return writer


def create_store(directory: Path, tables: Sequence[Table], *, allow_network: bool = False) -> SqliteStore:
    """Make a store if there is none, and open it for writing.

    Durability: the store, once the call returned; a store half made is never seen.
    """
    rows.check_tables(tables)
    path = directory / DATABASE_NAME
    if not path.exists():
        _check_lost(directory)
        durable.make_directory(directory, parents=True)
        _check_writing(directory, allow_network)
        durable.make_directory(directory / packs.PACKS_NAME)
        _create_database(path, tables)
    return open_store(directory, tables, allow_network=allow_network)


def open_store(
    directory: Path, tables: Sequence[Table], *, read_only: bool = False, allow_network: bool = False
) -> SqliteStore:
    """Open a store.

    Raises:
        NotFound: there is none.
        Corrupt: it is damaged, or not a store.
        FormatUnsupported: a newer version wrote it.
        Unavailable: it cannot be written here and `read_only` was not asked for.
    """
    rows.check_tables(tables)
    path = directory / DATABASE_NAME
    if not path.exists():
        _check_lost(directory)
        raise NotFound(f"there is no store in {directory}")
    if not read_only:
        _check_writing(directory, allow_network)
        return _open(directory, tables, Access.WRITE)
    access = _choose_access(path)
    try:
        return _open(directory, tables, access)
    except Unavailable:  # a full disk has no room for the shared memory that the database wants
        if access is not Access.READ or _has_pending_wal(path):
            raise
        return _open(directory, tables, Access.FROZEN)


def _check_lost(directory: Path) -> None:
    """Refuse a directory without a database that holds what is only made beside one: locks, packs, a WAL."""
    if not directory.is_dir():
        return
    names = {each.name for each in directory.iterdir() if not each.name.startswith(f".{DATABASE_NAME}.")}
    if names - {packs.PACKS_NAME} or any((directory / packs.PACKS_NAME).glob("*.pack")):
        if (directory / DATABASE_NAME).exists():  # by now: another process is making the store
            return
        raise Corrupt(f"{directory} has lost its {DATABASE_NAME}")


def _open(directory: Path, tables: Sequence[Table], access: Access) -> SqliteStore:
    path = directory / DATABASE_NAME
    connections = Connections(path, access)
    try:
        with Port(path):
            uuid = schema.check_schema(connections.get(), path, tables)
    except BaseException:
        connections.close()
        raise
    return SqliteStore(directory, uuid, connections, tables)


def _choose_access(path: Path) -> Access:
    """Return how to open a database for reading."""
    if is_writable(path.parent):
        return Access.READ
    if not _has_pending_wal(path):
        return Access.FROZEN
    return Access.ALONE if is_frozen(path.parent) else Access.READ


def _check_writing(directory: Path, allow_network: bool) -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < _OLDEST_SQLITE:
        raise Unavailable(f"SQLite {apsw.sqlite_lib_version()} can lose writes; 3.51.3 or newer is needed")
    if not is_writable(directory):
        raise Unavailable(f"{directory} cannot be written")
    if not allow_network and is_network(directory):
        raise Unavailable(
            f"{directory} is on a network file system, where the database's locks cannot be trusted"
        )


def _has_pending_wal(path: Path) -> bool:
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _create_database(path: Path, tables: Sequence[Table]) -> None:
    temporary = path.with_name(f".{path.name}.{os.urandom(16).hex()}.tmp")
    with durable.translated(temporary):
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, durable.FILE_MODE))
    try:
        with Port(temporary):
            connection = open_database(temporary, Access.WRITE)
            try:
                schema.create_schema(connection, tables, os.urandom(16).hex())
            finally:
                connection.close()
        durable.sync_path(temporary)
        durable.publish(temporary, path)
    finally:
        for leftover in path.parent.glob(f"{temporary.name}*"):
            durable.unlink(leftover)

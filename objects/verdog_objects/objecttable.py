"""Objects and packs as rows of the database: the statements, and what each row means."""
# ruff: noqa: S608  (the statements are made of constants)

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from verdog_objects.connections import Database
from verdog_objects.errors import Corrupt
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectInfo, Value

_BATCH = 250


class StoredObject(NamedTuple):
    """A row of the table `objects`.

    Attributes:
        codec: how the bytes are compressed; `-1 - codec` when the object is quarantined: reading it failed,
            it counts as absent for writers, and the next one that has it stores it again.
        pack: the number of the pack that holds the bytes, or None when `data` does.
    """

    oid: Oid
    kind: int
    size: int
    codec: int
    pack: int | None
    start: int | None
    length: int | None
    data: bytes | None


_StoredRow = tuple[Oid, int, int, int, int | None, int | None, int | None, bytes | None]

_COLUMNS = "oid, kind, size, codec, pack, start, length, data"
_INSERT = f"""INSERT INTO objects ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
 ON CONFLICT (oid) DO UPDATE SET kind = excluded.kind, size = excluded.size, codec = excluded.codec,
 pack = excluded.pack, start = excluded.start, length = excluded.length, data = excluded.data
 WHERE objects.codec < 0 OR objects.size <> excluded.size"""


def _batches(oids: Iterable[Oid]) -> Iterator[list[Oid]]:
    batch: list[Oid] = []
    for oid in oids:
        batch.append(oid)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _select_in(connection: Database, statement: str, batch: list[Oid]) -> list[tuple[Value, ...]]:
    """Run a statement on a batch of ids, padded to one of a few lengths that stay prepared."""
    width = 8 if len(batch) <= 8 else 32 if len(batch) <= 32 else _BATCH
    marks = ", ".join("?" * width)
    padded = [*batch, *[None] * (width - len(batch))]
    return connection.execute(statement.replace("(@)", f"({marks})"), padded).fetchall()


def find_object(connection: Database, oid: Oid) -> StoredObject | None:
    """Return the row of one object."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM objects WHERE oid = ?", (oid,)).fetchone()
    return None if row is None else StoredObject._make(cast("_StoredRow", row))


def find_objects(connection: Database, oids: Iterable[Oid]) -> Iterator[StoredObject]:
    """Yield the rows of those objects that exist."""
    for batch in _batches(oids):
        for row in _select_in(connection, f"SELECT {_COLUMNS} FROM objects WHERE oid IN (@)", batch):
            yield StoredObject._make(cast("_StoredRow", row))


def find_stored(connection: Database, oids: Iterable[Oid]) -> dict[Oid, int]:
    """Return the payload sizes of those objects that are stored and sound."""
    found: dict[Oid, int] = {}
    for batch in _batches(oids):
        rows = _select_in(connection, "SELECT oid, size FROM objects WHERE oid IN (@) AND codec >= 0", batch)
        found.update(cast("list[tuple[Oid, int]]", rows))
    return found


def insert_objects(connection: Database, objects: Iterable[StoredObject]) -> None:
    """Insert objects; those that are stored and sound stay as they are."""
    connection.executemany(_INSERT, objects)


def delete_objects(connection: Database, oids: Sequence[Oid]) -> int:
    """Delete objects, note that some were, and return how many there were."""
    deleted = 0
    for oid in oids:
        connection.execute("DELETE FROM objects WHERE oid = ?", (oid,))
        deleted += connection.changes()
    if deleted:
        _count_deletion(connection)
    return deleted


def _count_deletion(connection: Database) -> None:
    connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'deletions'")


def read_deletions(connection: Database) -> int:
    """Return how many batches of deletions there were. While it stays, no object went away."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'deletions'").fetchone()
    return -1 if row is None else cast("int", row[0])


def quarantine_object(connection: Database, oid: Oid) -> None:
    """Mark an object as unsound. A writer that found it stored is told as if it had been deleted."""
    connection.execute("UPDATE objects SET codec = -1 - codec WHERE oid = ? AND codec >= 0", (oid,))
    _count_deletion(connection)


def scan_range(connection: Database, first: bytes, last: bytes, limit: int) -> list[Oid]:
    """Return the ids between two, both included, in order."""
    statement = "SELECT oid FROM objects WHERE oid BETWEEN ? AND ? ORDER BY oid LIMIT ?"
    return [cast("Oid", row[0]) for row in connection.execute(statement, (first, last, limit)).fetchall()]


def scan_objects(connection: Database, after: bytes, limit: int) -> list[ObjectInfo]:
    """Return what is known of the objects after an id."""
    statement = """SELECT oid, kind, objects.size, coalesce(length, length(data)), coalesce(name, 'row')
 FROM objects LEFT JOIN packs ON packs.id = pack WHERE oid > ? ORDER BY oid LIMIT ?"""
    found = connection.execute(statement, (after, limit)).fetchall()
    rows = cast("list[tuple[Oid, int, int, int, str]]", found)
    try:
        return [
            ObjectInfo(oid=oid, kind=Kind(kind), size_bytes=size, stored_bytes=stored, place=place)
            for oid, kind, size, stored, place in rows
        ]
    except ValueError as error:
        raise Corrupt(f"an object after {after.hex()} is damaged: {error}") from error


def list_packs(connection: Database) -> list[tuple[int, str, int]]:
    """Return number, name and committed end of every pack."""
    return cast(
        "list[tuple[int, str, int]]", connection.execute("SELECT id, name, size FROM packs").fetchall()
    )


def list_open_packs(connection: Database, limit_bytes: int) -> list[tuple[int, str]]:
    """Return number and name of the packs with room, the fullest first."""
    statement = "SELECT id, name FROM packs WHERE size < ? ORDER BY size DESC"
    return cast("list[tuple[int, str]]", connection.execute(statement, (limit_bytes,)).fetchall())


def read_pack_end(connection: Database, number: int) -> int | None:
    """Return the committed end of a pack."""
    row = connection.execute("SELECT size FROM packs WHERE id = ?", (number,)).fetchone()
    return None if row is None else cast("int", row[0])


def read_pack_name(connection: Database, number: int) -> str | None:
    """Return the name of a pack."""
    row = connection.execute("SELECT name FROM packs WHERE id = ?", (number,)).fetchone()
    return None if row is None else cast("str", row[0])


def insert_pack(connection: Database, name: str, end: int) -> int:
    """Register a pack and return its number."""
    connection.execute("INSERT INTO packs (name, size) VALUES (?, ?)", (name, end))
    return connection.last_insert_rowid()


def extend_pack(connection: Database, number: int, end: int) -> None:
    """Move the committed end of a pack."""
    connection.execute("UPDATE packs SET size = ? WHERE id = ?", (end, number))


def count_outside(connection: Database, number: int, end: int) -> int:
    """Return how many objects of a pack lie outside its committed bytes."""
    statement = """SELECT count(*) FROM objects
 WHERE pack = ? AND (start IS NULL OR length IS NULL OR start < 0 OR length < 0 OR start + length > ?)"""
    row = connection.execute(statement, (number, end)).fetchone()
    return cast("int", row[0]) if row is not None else 0


def check_database(connection: Database) -> list[str]:
    """Return what the database finds wrong with itself, and locations in packs that it does not know."""
    found = cast("list[tuple[str]]", connection.execute("PRAGMA integrity_check(100)").fetchall())
    problems = [f"database: {text}" for (text,) in found if text != "ok"]
    lost = connection.execute(
        "SELECT count(*) FROM objects WHERE pack IS NOT NULL AND pack NOT IN (SELECT id FROM packs)"
    ).fetchone()
    if lost is not None and lost[0]:
        problems.append(f"database: {lost[0]} objects lie in unknown packs")
    return problems

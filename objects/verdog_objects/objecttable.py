"""Objects and packs as rows of the database: the statements, and what each row means."""
# ruff: noqa: S608  (the statements are made of constants)

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from verdog_objects.connections import Database
from verdog_objects.errors import Corrupt
from verdog_objects.oid import Kind, Oid
from verdog_objects.rownames import BATCH, batches
from verdog_objects.store import ObjectInfo


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
_INSERT = f"INSERT INTO objects ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_RECENT_IDS = """SELECT oid FROM objects WHERE id > (SELECT value FROM meta WHERE name = 'named')
 AND oid BETWEEN ? AND ? ORDER BY oid LIMIT ?"""
_LAST_OID = b"\xff" * 32
_NAMED = "(SELECT value FROM meta WHERE name = 'named')"
_LOWER_NAMED = """UPDATE meta SET value = min(value, (SELECT coalesce(max(id), 0) FROM objects))
 WHERE name = 'named'"""
"""After deletions: a number that is given again has to be above it, or its row would never be listed."""

_NAME_CHECKS = (
    (
        f"""SELECT count(*) FROM objects WHERE id <= {_NAMED}
 AND NOT EXISTS (SELECT 1 FROM names WHERE names.oid = objects.oid AND object = id)""",
        "objects are not listed under their ids",
    ),
    (
        """SELECT count(*) FROM names
 WHERE NOT EXISTS (SELECT 1 FROM objects WHERE id = object AND objects.oid = names.oid)""",
        "ids are listed without their objects",
    ),
    (
        f"""SELECT count(*) FROM (SELECT oid FROM objects WHERE id > {_NAMED}
 GROUP BY oid HAVING count(*) > 1 OR EXISTS (SELECT 1 FROM names WHERE names.oid = objects.oid))""",
        "ids have several objects",
    ),
)
_REPLACE = f"""UPDATE objects SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?)
 WHERE id = ? AND (codec < 0 OR size <> ?)"""


def find_object(connection: Database, oid: Oid) -> StoredObject | None:
    """Return the row of one object."""
    return next(find_objects(connection, (oid,)), None)


def find_objects(connection: Database, oids: Iterable[Oid]) -> Iterator[StoredObject]:
    """Yield the rows of those objects that exist."""
    for batch in batches(oids):
        for row in connection.names.select(connection, _COLUMNS, batch):
            yield StoredObject._make(cast("_StoredRow", row))


def find_stored(connection: Database, oids: Iterable[Oid]) -> dict[Oid, int]:
    """Return the payload sizes of those objects that are stored and sound."""
    found: dict[Oid, int] = {}
    for batch in batches(oids):
        rows = connection.names.select(connection, "oid, size, codec", batch)
        found.update(
            (oid, size) for oid, size, codec in cast("list[tuple[Oid, int, int]]", rows) if codec >= 0
        )
    return found


def is_stored(connection: Database, oid: Oid, size_bytes: int) -> bool:
    """Return whether an object of this length is stored and sound."""
    return find_stored(connection, (oid,)).get(oid) == size_bytes


def insert_objects(connection: Database, objects: Iterable[StoredObject]) -> None:
    """Insert objects, in a transaction; those that are stored and sound stay as they are."""
    pending = list(objects)
    for start in range(0, len(pending), BATCH):
        batch = pending[start : start + BATCH]
        known = connection.names.locate(connection, [each.oid for each in batch])
        connection.executemany(_INSERT, [each for each in batch if each.oid not in known])
        if known:
            replaced = [(*each, known[each.oid], each.size) for each in batch if each.oid in known]
            connection.executemany(_REPLACE, replaced)
    connection.names.list_recent(connection)


def delete_objects(connection: Database, oids: Sequence[Oid]) -> int:
    """Delete objects, note that some were, and return how many there were."""
    found: dict[Oid, int] = {}
    for batch in batches(oids):
        found.update(connection.names.locate(connection, batch))
    connection.executemany("DELETE FROM objects WHERE id = ?", [(number,) for number in found.values()])
    connection.executemany("DELETE FROM names WHERE oid = ?", [(oid,) for oid in found])
    if found:
        connection.execute(_LOWER_NAMED)
        _count_deletion(connection)
    return len(found)


def _count_deletion(connection: Database) -> None:
    connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'deletions'")


def read_deletions(connection: Database) -> int:
    """Return how many batches of deletions there were. While it stays, no object went away."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'deletions'").fetchone()
    return -1 if row is None else cast("int", row[0])


def quarantine_object(connection: Database, oid: Oid) -> None:
    """Mark an object as unsound. A writer that found it stored is told as if it had been deleted."""
    for number in connection.names.locate(connection, (oid,)).values():
        connection.execute("UPDATE objects SET codec = -1 - codec WHERE id = ? AND codec >= 0", (number,))
    _count_deletion(connection)


def scan_range(connection: Database, first: bytes, last: bytes, limit: int) -> list[Oid]:
    """Return the ids between two, both included, in order."""
    found: set[Oid] = set()
    for statement in (_RECENT_IDS, "SELECT oid FROM names WHERE oid BETWEEN ? AND ? ORDER BY oid LIMIT ?"):
        rows = connection.execute(statement, (first, last, limit)).fetchall()
        found.update(cast("Oid", row[0]) for row in rows)
    return sorted(found)[:limit]


def scan_objects(connection: Database, after: bytes, limit: int) -> list[ObjectInfo]:
    """Return what is known of the objects after an id."""
    oids = [oid for oid in scan_range(connection, after, _LAST_OID, limit + 1) if oid > after][:limit]
    packs = {number: name for number, name, _ in list_packs(connection)}
    found = sorted(find_objects(connection, oids))
    try:
        return [
            ObjectInfo(
                oid=each.oid,
                kind=Kind(each.kind),
                size_bytes=each.size,
                stored_bytes=len(each.data or b"") if each.length is None else each.length,
                place="row" if each.pack is None else packs.get(each.pack, "row"),
            )
            for each in found
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
    return problems + check_names(connection)


def check_names(connection: Database) -> list[str]:
    """Return how the table `names` differs from the objects."""
    problems: list[str] = []
    for statement, problem in _NAME_CHECKS:
        row = connection.execute(statement).fetchone()
        if row is not None and row[0]:
            problems.append(f"database: {row[0]} {problem}")
    return problems

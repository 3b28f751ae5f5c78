"""Which row holds an object: the table `names` for old rows, and a map in memory for recent ones."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from verdog_objects.errors import Corrupt
from verdog_objects.oid import Oid
from verdog_objects.store import Value

if TYPE_CHECKING:
    from verdog_objects.connections import Cursor

RECENT_ROWS = 8192
"""With so many rows that `names` does not list yet, a transaction lists them, in the order of their ids.

Ids are random, so each would change another page of `names`; listed together, they share pages.
"""

NEWEST_ROWS = 256
"""So many rows are looked at first: what a process that only looks wants is among the last ones."""

BATCH = 250
"""How many ids one statement is asked for at most."""

_LIST = """INSERT INTO names (oid, object) SELECT oid, id FROM objects WHERE id > ? ORDER BY oid
 ON CONFLICT (oid) DO UPDATE SET object = excluded.object"""

_NAMED = "SELECT value FROM meta WHERE name = 'named'"
_LAST_AND_DELETIONS = """SELECT coalesce((SELECT max(id) FROM objects), 0), value FROM meta
 WHERE name = 'deletions'"""
_COUNT_RECENT = "SELECT coalesce((SELECT max(id) FROM objects), 0) - value FROM meta WHERE name = 'named'"
_READ = "SELECT oid, id FROM objects WHERE id > ? ORDER BY id"
_READ_OLDER = "SELECT oid, id FROM objects WHERE id > ? AND id <= ?"

_DROP_DOUBLES = """DELETE FROM objects WHERE id IN (SELECT id FROM (
 SELECT id, row_number() OVER (PARTITION BY oid ORDER BY codec >= 0 DESC, id DESC) AS place FROM objects
) WHERE place > 1)"""


class Executor(Protocol):
    """What is used of a connection."""

    def execute(self, statements: str, bindings: Sequence[Value] = ()) -> "Cursor":
        """Run a statement."""
        ...


class RowNames:
    """The rows of objects by the objects' ids, as one connection finds them.

    Rows are numbered in the order in which they were inserted, and `names` lists those up to the number that
    `meta` calls `named`. The rows after it are read once and kept here; what others insert is read when an id
    is found nowhere else. A number from here may be out of date, so a row counts only with the id it was
    looked for under.
    """

    def __init__(self) -> None:
        self._recent: dict[Oid, int] = {}
        self._named = self._begin = 0  # rows up to the first are listed; those up to the second were not read
        self._seen = -1  # the last row that was read; -1: none was yet
        self._deletions: int = -1  # how many there had been when the recent rows were read

    def forget(self) -> None:
        """Read the recent rows anew when they are next needed: the transaction that inserted some failed."""
        self._recent, self._seen = {}, -1

    def find(self, connection: Executor, oids: Sequence[Oid]) -> dict[Oid, int]:
        """Return the numbers of the rows of those objects that exist, of at most `BATCH`."""
        recent = self._recent
        found = {oid: recent[oid] for oid in oids if oid in recent}
        if len(found) < len(oids):
            found.update(self._find_named(connection, [oid for oid in oids if oid not in found]))
        if len(found) < len(oids):
            anew = self._read_recent(connection)
            found.update((oid, self._recent[oid]) for oid in oids if oid in self._recent)
            if len(found) < len(oids) and self._begin > self._named:
                self._read_older(connection)
                found.update((oid, self._recent[oid]) for oid in oids if oid in self._recent)
            if anew:  # rows may have been listed between the two looks
                found.update(self._find_named(connection, [oid for oid in oids if oid not in found]))
        return found

    def select(self, connection: Executor, columns: str, oids: Sequence[Oid]) -> list[tuple[Value, ...]]:
        """Return columns, of which the first has to be `oid`, of those of at most `BATCH` that exist."""
        numbers = self.find(connection, oids)
        rows = self._select_rows(connection, columns, numbers)
        if len(rows) < len(numbers):  # some were deleted since, and perhaps inserted again
            self.forget()
            numbers = self.find(connection, oids)
            rows = self._select_rows(connection, columns, numbers)
        return rows

    def locate(self, connection: Executor, oids: Sequence[Oid]) -> dict[Oid, int]:
        """Return the numbers of the rows of those objects of at most `BATCH` that exist, each looked at."""
        return dict(cast("list[tuple[Oid, int]]", self.select(connection, "oid, id", oids)))

    def _select_rows(
        self, connection: Executor, columns: str, numbers: dict[Oid, int]
    ) -> list[tuple[Value, ...]]:
        statement = f"SELECT id, {columns} FROM objects WHERE id IN (@)"  # noqa: S608
        found = _select_in(connection, statement, list(numbers.values()))
        return [row[1:] for row in found if numbers.get(cast("Oid", row[1])) == row[0]]

    def _find_named(self, connection: Executor, oids: Sequence[Oid]) -> list[tuple[Oid, int]]:
        found = _select_in(connection, "SELECT oid, object FROM names WHERE oid IN (@)", oids)
        return cast("list[tuple[Oid, int]]", found)

    def _read_recent(self, connection: Executor) -> bool:
        """Read the recent rows that were not read yet, and return whether that began anew."""
        last, deletions = _read_numbers(connection, _LAST_AND_DELETIONS)
        anew = self._seen < 0 or deletions != self._deletions or len(self._recent) > 2 * RECENT_ROWS
        if anew:  # once rows were deleted, their numbers can be given again
            (self._named,) = _read_numbers(connection, _NAMED)
            self._begin = self._seen = max(self._named, last - NEWEST_ROWS)
            self._recent, self._deletions = {}, deletions
        if last > self._seen:
            rows = connection.execute(_READ, (self._seen,)).fetchall()
            self._recent.update(cast("list[tuple[Oid, int]]", rows))
            self._seen = cast("int", rows[-1][1]) if rows else self._seen
        return anew

    def _read_older(self, connection: Executor) -> None:
        """Read the recent rows that `_read_recent` left out when it began anew."""
        rows = connection.execute(_READ_OLDER, (self._named, self._begin)).fetchall()
        self._recent.update(cast("list[tuple[Oid, int]]", rows))
        self._begin = self._named

    def list_recent(self, connection: Executor) -> None:
        """List the recent rows in `names` if they are many, in a transaction."""
        (count,) = _read_numbers(connection, _COUNT_RECENT)
        if count >= RECENT_ROWS:
            self.list_all(connection)

    def list_all(self, connection: Executor) -> None:
        """List in `names` every row that is not there, in a transaction."""
        connection.execute(_LIST, _read_numbers(connection, _NAMED))
        connection.execute(
            "UPDATE meta SET value = (SELECT coalesce(max(id), 0) FROM objects) WHERE name = 'named'"
        )
        self.forget()

    def rebuild(self, connection: Executor) -> None:
        """Make `names` anew, in a transaction, and of rows with one id keep the last sound one.

        Cost: reads every row.
        """
        connection.execute(_DROP_DOUBLES)
        connection.execute("DELETE FROM names")
        connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'deletions'")
        connection.execute("UPDATE meta SET value = 0 WHERE name = 'named'")
        self.list_all(connection)


def batches(oids: Iterable[Oid]) -> Iterable[list[Oid]]:
    """Yield ids in lists that one statement takes."""
    batch: list[Oid] = []
    for oid in oids:
        batch.append(oid)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _read_numbers(connection: Executor, statement: str) -> tuple[int, ...]:
    row = connection.execute(statement).fetchone()
    if row is None or not all(isinstance(each, int) for each in row):
        raise Corrupt("the database is damaged: a number in its table meta is lost")
    return cast("tuple[int, ...]", row)


def _select_in(connection: Executor, statement: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
    """Run a statement on a batch of values, padded to one of a few lengths that stay prepared."""
    if not values:
        return []
    width = next(width for width in (1, 8, 32, BATCH) if len(values) <= width)
    marks = ", ".join("?" * width)
    padded = [*values, *[None] * (width - len(values))]
    return connection.execute(statement.replace("(@)", f"({marks})"), padded).fetchall()

"""Sessions: what protects objects that were stored ahead of the change that will refer to them."""

import contextlib
import os
import time
from pathlib import Path
from typing import Self, cast

import apsw

from verdog_objects import durable, locking
from verdog_objects.connections import Connections, Database
from verdog_objects.errors import VerdogError


class Session:
    """A row that says: keep every object numbered above the floor, while the lock is held.

    Garbage collection deletes no object that is numbered above the lowest floor of a session whose lock is
    held, nor the highest numbered one, so that numbers only rise.
    """

    def __init__(self, number: int, lock: locking.FileLock) -> None:
        self._number = number
        self._lock = lock

    @classmethod
    def begin(cls, connections: Connections, directory: Path) -> Self:
        """Register a session.

        Durability: the row, once the call returned.
        """
        durable.make_directory(directory)
        name = os.urandom(8).hex()
        lock = locking.acquire(directory / name, owner="objects stored ahead of a change")
        try:
            with connections.transaction() as connection:
                connection.execute(
                    "INSERT INTO sessions (floor, lock, since_ns)"
                    " VALUES ((SELECT coalesce(max(id), 0) FROM objects), ?, ?)",
                    (name, time.time_ns()),
                )
                number = connection.last_insert_rowid()
        except BaseException:
            _drop(lock)
            raise
        return cls(number, lock)

    def remove(self, connection: Database) -> None:
        """Remove the row, in the transaction that refers to the objects."""
        connection.execute("DELETE FROM sessions WHERE id = ?", (self._number,))

    def close(self) -> None:
        """Release the lock and remove its file, after the row was removed."""
        _drop(self._lock)

    def abandon(self, connections: Connections) -> None:
        """Remove the row, if the database lets us: an unlocked session protects nothing anyway."""
        with contextlib.suppress(apsw.Error, VerdogError), connections.transaction() as connection:
            self.remove(connection)
        self.close()


def list_sessions(connection: Database, directory: Path) -> list[tuple[int, bool]]:
    """Return the floor of each session, and whether its writer lives."""
    found = connection.execute("SELECT floor, lock FROM sessions").fetchall()
    sessions = cast("list[tuple[int, str]]", found)
    return [(floor, locking.is_locked(directory / name)) for floor, name in sessions]


def _drop(lock: locking.FileLock) -> None:
    with contextlib.suppress(VerdogError):
        durable.unlink(lock.path, missing_ok=True)
    lock.release()

"""Connections to the database file: one for each thread of each process, and none that crosses a fork."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import apsw

from verdog_objects.errors import Busy, Corrupt, InvalidInput, Unavailable, VerdogError

BUSY_TIMEOUT_MS = 10_000
WAL_LIMIT_BYTES = 64 << 20
WAL_CHECKPOINT_PAGES = 1000

_PRAGMAS = f"""
PRAGMA synchronous = FULL;
PRAGMA journal_size_limit = {WAL_LIMIT_BYTES};
PRAGMA wal_autocheckpoint = {WAL_CHECKPOINT_PAGES};
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""

_CORRUPT = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.MismatchError, apsw.ConstraintError)


def translate(error: apsw.Error, path: Path) -> VerdogError:
    """Return the house error for one of the database's."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Busy(f"{path} is in use by another process")
    if isinstance(error, apsw.FullError):
        return Unavailable(f"{path}: the disk is full")
    if isinstance(error, _CORRUPT):
        return Corrupt(f"{path} is damaged: {error}")
    if isinstance(error, apsw.ConnectionClosedError):
        return InvalidInput(f"{path} was closed")
    return Unavailable(f"{path}: {error}")


class Port:
    """A block in which the database's errors become house errors."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if isinstance(error, apsw.Error):
            raise translate(error, self._path) from error


class Connections:
    """Opens a connection for each thread that asks.

    Attributes:
        path: the database file.
        read_only: whether connections refuse to write.
        immutable: whether the file cannot change, so that no lock and no shared memory is used.
    """

    def __init__(self, path: Path, *, read_only: bool = False, immutable: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.immutable = immutable
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._local = threading.local()
        self._opened: list[tuple[threading.Thread, apsw.Connection]] = []
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()

    def get(self) -> apsw.Connection:
        """Return the calling thread's connection."""
        if self._pid != os.getpid():
            self._leave_parent()
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
        return connection

    def _open(self) -> apsw.Connection:
        if self._closed:
            raise InvalidInput(f"{self.path} was closed")
        connection = open_database(self.path, read_only=self.read_only, immutable=self.immutable)
        with self._lock:
            alive = [pair for pair in self._opened if pair[0].is_alive()]
            for thread, other in self._opened:
                if not thread.is_alive():
                    other.close()
            self._opened = [*alive, (threading.current_thread(), connection)]
        return connection

    def _leave_parent(self) -> None:
        """Forget, without closing them, connections that belong to the process this one was forked from."""
        for _, connection in self._opened:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        self._reset()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Run a block in one write transaction, which an exception rolls back.

        Durability: everything the block wrote, once the block was left without an exception.
        """
        if self.read_only:
            raise Unavailable(f"{self.path} was opened for reading only")
        connection = self.get()
        if not self._write_lock.acquire(timeout=BUSY_TIMEOUT_MS / 1000):
            raise Busy(f"{self.path} is in use by another thread")
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        finally:
            self._write_lock.release()

    def close(self) -> None:
        """Close every thread's connection."""
        self._closed = True
        if self._pid != os.getpid():
            self._leave_parent()
        with self._lock:
            for _, connection in self._opened:
                connection.close()
            self._opened = []
        self._local = threading.local()


def open_database(
    path: Path,
    *,
    read_only: bool,
    immutable: bool = False,
    prepare: Callable[[apsw.Connection], None] | None = None,
) -> apsw.Connection:
    """Open the database file, which must exist, and set what holds for each connection."""
    flags = apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE)
    uri = f"file:{quote(os.fspath(path))}" + ("?immutable=1" if immutable else "")
    connection = apsw.Connection(uri, flags=flags)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
        if prepare is not None:
            prepare(connection)
        connection.execute(_PRAGMAS).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection

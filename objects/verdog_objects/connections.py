"""Connections to the database file: one for each thread of each process, and none that crosses a fork."""

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Protocol, cast
from urllib.parse import quote

import apsw

from verdog_objects.errors import Busy, Corrupt, InvalidInput, Unavailable, VerdogError
from verdog_objects.rownames import RowNames
from verdog_objects.store import Value

BUSY_TIMEOUT_S = 10.0
WAL_LIMIT_BYTES = 64 << 20
WAL_CHECKPOINT_PAGES = 4000
CACHE_KIB = 16 << 10

_PRAGMAS = f"""
PRAGMA synchronous = FULL;
PRAGMA journal_size_limit = {WAL_LIMIT_BYTES};
PRAGMA wal_autocheckpoint = {WAL_CHECKPOINT_PAGES};
PRAGMA cache_size = -{CACHE_KIB};
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""
_FIRST_PAUSE_S = 0.0002
_LONGEST_PAUSE_S = 0.005

_CORRUPT = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.MismatchError, apsw.ConstraintError)


class Access(Enum):
    """How the database file is opened."""

    WRITE = "write"
    READ = "read"
    FROZEN = "frozen"
    """For reading a file that cannot change and has no WAL: without locks and shared memory."""
    ALONE = "alone"
    """For reading on a file system that cannot be written, with a WAL: its index is kept in this process."""


class Cursor(Protocol):
    """The rows of one statement. Fetch all of them at once: an open cursor keeps the WAL growing."""

    def fetchone(self) -> tuple[Value, ...] | None:
        """Return the only row that is wanted."""
        ...

    def fetchall(self) -> list[tuple[Value, ...]]:
        """Return all rows."""
        ...


class Database(Protocol):
    """What the store uses of a connection.

    Attributes:
        names: which row holds an object, as this connection sees it.
    """

    names: RowNames

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def execute(self, statements: str, bindings: Sequence[Value] = ()) -> Cursor:
        """Run a statement."""
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Value]]) -> Cursor:
        """Run a statement for each of many bindings."""
        ...

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        ...

    def last_insert_rowid(self) -> int:
        """Return the number of the row that was inserted last."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def translate(error: Exception, path: Path) -> VerdogError:
    """Return the house error for one of the database's."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return Busy(f"{path} is in use by another process")
        case apsw.FullError():
            return Unavailable(f"{path}: the disk is full")
        case apsw.ConnectionClosedError():
            return InvalidInput(f"{path} was closed")
        case UnicodeDecodeError():
            return Corrupt(f"{path} is damaged: it holds text that is not UTF-8")
        case _ if isinstance(error, _CORRUPT):
            return Corrupt(f"{path} is damaged: {error}")
        case _:
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
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            raise translate(error, self._path) from error


class Connections:
    """Opens a connection for each thread that asks.

    Attributes:
        path: the database file.
        access: how it is opened.
    """

    def __init__(self, path: Path, access: Access) -> None:
        self.path = path
        self.access = access
        self._file: tuple[int, int] | None = None
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._local = threading.local()
        self._opened: list[tuple[threading.Thread, Database]] = []
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()

    @property
    def read_only(self) -> bool:
        """Whether connections refuse to write."""
        return self.access is not Access.WRITE

    def get(self) -> Database:
        """Return the calling thread's connection."""
        if self._pid != os.getpid():
            self._reset()  # what the parent opened is its own
        connection: Database | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
        return connection

    def _open(self) -> Database:
        if self._closed:
            raise InvalidInput(f"{self.path} was closed")
        connection = open_database(self.path, self.access)
        with self._lock:
            self._file = self._file or _identify(self.path)
            for thread, other in self._opened:
                if not thread.is_alive():
                    other.close()
            alive = [pair for pair in self._opened if pair[0].is_alive()]
            self._opened = [*alive, (threading.current_thread(), connection)]
        return connection

    @contextlib.contextmanager
    def transaction(self) -> Generator[Database]:
        """Run a block in one write transaction, which an exception rolls back.

        Raises:
            Corrupt: the file was removed or replaced: what is committed would be in no file that has a name.

        Durability: everything the block wrote, once the block was left without an exception.
        """
        if self.read_only:
            raise Unavailable(f"{self.path} was opened for reading only")
        connection = self.get()
        if not self._write_lock.acquire(timeout=BUSY_TIMEOUT_S):
            raise Busy(f"{self.path} is in use by another thread")
        try:
            if _identify(self.path) != self._file:
                raise Corrupt(f"{self.path} was removed or replaced while it was in use")
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.names.forget()
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        finally:
            self._write_lock.release()

    def close(self) -> None:
        """Close every thread's connection."""
        self._closed = True
        if self._pid != os.getpid():
            self._reset()  # what the parent opened is its own
        with self._lock:
            for _, connection in self._opened:
                connection.close()
            self._opened = []
        self._local = threading.local()


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


class _Connection(apsw.Connection):
    """A connection that knows the rows of recent objects.

    Attributes:
        file: the database file, if the connection locks it.
    """

    names: RowNames
    file: tuple[int, int] | None

    def close(self, force: bool = False) -> None:
        """Close the connection."""
        super().close(force)
        _live.discard(self)


_live: weakref.WeakSet[_Connection] = weakref.WeakSet()
_inherited: set[tuple[int, int]] = set()
"""The database files that were open, with locks, in the process this one was forked from.

SQLite notes in memory which locks a process holds, and the system gives none of them to a child. So the child
would work without locks, and its parent, who as far as the system knows is the last to close the file, would
remove the WAL that the child goes on to write.
"""


def _leave_parent() -> None:
    """Never close what the process had open that this one was forked from: that would touch its file."""
    if not _live:
        return
    import ctypes  # only after such a fork: it takes milliseconds

    for connection in list(_live):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        if connection.file is not None:
            _inherited.add(connection.file)
    _live.clear()


os.register_at_fork(after_in_child=_leave_parent)


def open_database(path: Path, access: Access) -> Database:
    """Open the database file, which must exist, and set what holds for each connection.

    Raises:
        InvalidInput: it was open in the process that this one was forked from.
    """
    file = _identify(path) if access in (Access.WRITE, Access.READ) else None
    if file in _inherited:
        raise InvalidInput(
            f"{path} was open when this process was forked, and cannot be used in it; start the process with"
            " `spawn` or `forkserver`, or fork it while the store is closed"
        )
    mode = apsw.SQLITE_OPEN_READWRITE if access is Access.WRITE else apsw.SQLITE_OPEN_READONLY
    options = {Access.FROZEN: "?immutable=1", Access.ALONE: "?vfs=unix-none"}.get(access, "")
    uri = f"file:{quote(os.fsencode(path.absolute()))}{options}"
    connection = _Connection(uri, flags=apsw.SQLITE_OPEN_URI | mode)
    connection.names = RowNames()
    connection.file = file
    _live.add(connection)
    try:
        connection.set_busy_handler(_wait_busy())
        for option, value in (
            (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
            (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
            (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
        ):
            connection.config(option, value)
        database = cast("Database", connection)
        if access is Access.ALONE:
            database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        database.execute(_PRAGMAS).fetchall()
    except BaseException:
        connection.close()
        raise
    return database


def _wait_busy() -> Callable[[int], bool]:
    """Return a handler that waits for a lock in short pauses: commits hold it for less than a millisecond."""
    deadline = 0.0

    def wait(calls: int) -> bool:
        nonlocal deadline
        now = time.monotonic()
        if calls == 0:
            deadline = now + BUSY_TIMEOUT_S
        if now >= deadline:
            return False
        time.sleep(min(_FIRST_PAUSE_S * (calls + 1), _LONGEST_PAUSE_S))
        return True

    return wait

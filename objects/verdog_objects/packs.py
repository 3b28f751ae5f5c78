"""Packs: files of stored bytes, one after another, that rows of the database locate.

A pack knows nothing of what it holds. Bytes after the end that the database has committed are garbage of a
writer that was stopped, and the next writer cuts them off.
"""

import contextlib
import fcntl
import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from verdog_objects import durable
from verdog_objects.errors import Unavailable

PACKS_NAME = "packs"
"""The directory of the packs, in the store's."""

PACK_LIMIT_BYTES = 256 << 20
"""A pack of this size is full: no writer takes it."""

SYNC_BYTES = 32 << 20
"""A growing pack is synced this often, so that no single sync stalls other writers for long."""

HEADER = b"verdog pack 1\n".ljust(16, b"\0")
"""The first bytes of every pack."""

_BUFFER_BYTES = 1 << 20
_OPEN_PACKS = 64


def new_name() -> str:
    """Return a name for a new pack."""
    return os.urandom(8).hex()


def pack_path(directory: Path, name: str) -> Path:
    """Return where a pack of this name is."""
    return directory / f"{name}.pack"


class PackAppender:
    """A pack that this writer alone appends to, until it releases it."""

    def __init__(self, name: str, fd: int, committed: int) -> None:
        self.name = name
        self.committed = committed
        self.end = committed
        self._fd = fd
        self._pid = os.getpid()
        self._buffers: list[bytes] = []
        self._buffered = 0
        self._synced = committed
        self._lost = False

    def append(self, data: bytes) -> int:
        """Add bytes and return where they start.

        Durability: none until `sync`.
        """
        start = self.end
        self._buffers.append(data)
        self._buffered += len(data)
        self.end += len(data)
        if self._buffered >= _BUFFER_BYTES:
            self._flush()
        return start

    def read(self, start: int, length: int) -> bytes:
        """Return bytes that were appended."""
        self._flush()
        with durable.translated(None):
            return _read_range(self._fd, start, length)

    def sync(self) -> None:
        """Make everything that was appended durable."""
        self._flush()
        if self._lost:
            raise Unavailable(f"pack {self.name} could not be synced before, so bytes of it may be lost")
        if self._synced < self.end:
            self._lost = (
                True  # after a sync that fails, the next one succeeds without having written anything
            )
            durable.sync_file(self._fd)
            self._lost = False
            self._synced = self.end

    def commit(self) -> None:
        """Note that the database has committed everything that was appended so far."""
        self.committed = self.end

    def release(self, *, cut: bool = True) -> None:
        """Let other writers take the pack, and cut off what was not committed. A forked child only lets go.

        Args:
            cut: false when it is not known what was committed; then the next writer cuts.
        """
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        self._buffers.clear()
        try:
            if cut and self.end > self.committed and self._pid == os.getpid():
                with contextlib.suppress(OSError):  # the next writer cuts it off
                    durable.current_disk().truncate(fd, self.committed)
        finally:
            os.close(fd)

    def _flush(self) -> None:
        if not self._buffers:
            return
        start = self.end - self._buffered
        with durable.translated(None):
            durable.write_all(self._fd, self._buffers, start)
        if self._buffered >= _BUFFER_BYTES:
            durable.start_writeback(self._fd, start, self._buffered)
        self._buffers.clear()
        self._buffered = 0
        if self.end - self._synced >= SYNC_BYTES:
            self.sync()


def create_pack(directory: Path, name: str) -> PackAppender:
    """Make an empty pack and take it.

    Durability: its name and header, once the call returned.
    """
    path = pack_path(directory, name)
    with durable.translated(path):
        fd = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, durable.FILE_MODE
        )
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            durable.write_all(fd, [HEADER], 0)
            durable.current_disk().fsync(fd)
            durable.fsync_directory(directory)
        except BaseException:
            os.close(fd)
            raise
    return PackAppender(name, fd, len(HEADER))


def take_pack(directory: Path, name: str, read_committed: Callable[[], int | None]) -> PackAppender | None:
    """Take a pack and cut it to its committed end; return None when another writer has it or it is unusable.

    Args:
        directory: where packs are.
        name: of the pack.
        read_committed: tells the committed end, or None if the pack is full or gone; called under the lock.
    """
    try:
        fd = os.open(pack_path(directory, name), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    keep = False
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        committed = read_committed()
        status = os.fstat(fd)
        if committed is None or status.st_nlink == 0 or status.st_size < committed:
            return None
        if status.st_size > committed:
            with durable.translated(pack_path(directory, name)):
                durable.current_disk().truncate(fd, committed)
        keep = True
        return PackAppender(name, fd, committed)
    finally:
        if not keep:
            os.close(fd)


class _OpenPack:
    """A descriptor that is closed when its last user let go of it."""

    __slots__ = ("fd",)

    def __init__(self, path: Path) -> None:
        self.fd = -1
        self.fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)


class PackReader:
    """Reads packs of one directory, from any thread, with a bounded number of open files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._packs: OrderedDict[str, _OpenPack] = OrderedDict()
        self._lock = Lock()

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return a range of a pack; shorter when the pack is.

        Raises:
            FileNotFoundError: there is no such pack.
            ValueError: the range begins or ends before the pack does.
            Unavailable: the disk does not give the bytes.
        """
        try:
            pack = self._open(name)
            return _read_range(pack.fd, start, length)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Unavailable(f"pack {name}: {error.strerror}") from error

    def _open(self, name: str) -> _OpenPack:
        with self._lock:
            pack = self._packs.get(name)
            if pack is None:
                pack = self._packs[name] = _OpenPack(pack_path(self._directory, name))
                if len(self._packs) > _OPEN_PACKS:
                    self._packs.popitem(last=False)
            else:
                self._packs.move_to_end(name)
            return pack

    def forget(self, name: str) -> None:
        """Close a pack, so that the next read opens whatever has its name then."""
        with self._lock:
            self._packs.pop(name, None)

    def close(self) -> None:
        """Close every pack."""
        with self._lock:
            self._packs.clear()


def check_pack(directory: Path, name: str, committed: int) -> str | None:
    """Return what is wrong with a pack file, or None."""
    path = pack_path(directory, name)
    try:
        with path.open("rb") as file:
            header = file.read(len(HEADER))
            size_bytes = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return f"pack {name} is missing"
    except OSError as error:
        return f"pack {name} cannot be read: {error.strerror}"
    if header != HEADER:
        return f"pack {name} does not begin like a pack"
    if size_bytes < committed:
        return f"pack {name} ends at {size_bytes}, before its committed end {committed}"
    return None


def _read_range(fd: int, start: int, length: int) -> bytes:
    if start < 0 or length < 0:
        raise ValueError("no such range")
    if length > _BUFFER_BYTES:  # a damaged location must not make room for more than there is
        length = min(length, max(0, os.fstat(fd).st_size - start))
    data = os.pread(fd, length, start)
    if len(data) < length and data:
        parts = [data]
        missing = length - len(data)
        while missing and (data := os.pread(fd, missing, start + length - missing)):
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)
    return data

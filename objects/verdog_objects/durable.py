"""Durable changes of the disk: the only module that syncs, renames, links, unlinks and makes directories.

Every operation goes through one replaceable `Disk`, so that a test can stop it at operation k, for every k.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from verdog_objects.errors import Unavailable

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


class Disk:
    """The primitives, one system call each. A test replaces them with `replaced`."""

    def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
        """Write some of the buffers at an offset and return how many bytes were written."""
        return os.pwritev(fd, buffers, offset)

    def truncate(self, fd: int, size_bytes: int) -> None:
        """Set a file's length."""
        os.ftruncate(fd, size_bytes)

    def fsync(self, fd: int) -> None:
        """Make a file's content and attributes, or a directory's names, durable."""
        os.fsync(fd)

    def fdatasync(self, fd: int) -> None:
        """Make a file's content and length durable."""
        os.fdatasync(fd)

    def syncfs(self, fd: int) -> None:
        """Make everything written to the file system of a descriptor durable."""
        _syncfs(fd)

    def rename(self, source: Path, target: Path) -> None:
        """Move a name over another one in the same file system."""
        os.replace(source, target)  # noqa: PTH105

    def rename_into(self, source: bytes, directory: int, name: bytes) -> None:
        """Move a name over one in an open directory of the same file system."""
        os.rename(source, name, dst_dir_fd=directory)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name; it must be free."""
        os.link(source, target, follow_symlinks=False)

    def unlink(self, path: Path) -> None:
        """Remove a name of a file."""
        os.unlink(path)  # noqa: PTH108

    def mkdir(self, path: Path, mode: int) -> None:
        """Make a directory; its name must be free."""
        os.mkdir(path, mode)  # noqa: PTH102

    def rmdir(self, path: Path) -> None:
        """Remove an empty directory."""
        os.rmdir(path)  # noqa: PTH106


class _Switch:
    """Where the current `Disk` is held."""

    def __init__(self) -> None:
        self.disk = Disk()


_SWITCH = _Switch()


def current_disk() -> Disk:
    """Return the primitives in use."""
    return _SWITCH.disk


@contextlib.contextmanager
def replaced(disk: Disk) -> Generator[None]:
    """Use other primitives, in every thread, until the block ends. For tests."""
    before = _SWITCH.disk
    _SWITCH.disk = disk
    try:
        yield
    finally:
        _SWITCH.disk = before


def write_all(fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> None:
    """Write all the buffers at an offset.

    Durability: none until the file was synced.
    """
    pending = [memoryview(buffer) for buffer in buffers if len(buffer)]
    disk = _SWITCH.disk
    while pending:
        written = disk.write(fd, pending[:_BUFFERS_PER_CALL], offset)
        offset += written
        while pending and written >= len(pending[0]):
            written -= len(pending.pop(0))
        if written:
            pending[0] = pending[0][written:]


_BUFFERS_PER_CALL = 512


def write_file(path: Path, data: bytes, mode: int = FILE_MODE) -> None:
    """Replace a file's content in one step.

    Durability: after the call returned, the new content; before, the old content or the new, never a part.
    """
    temporary = path.with_name(f".{path.name[:200]}.{os.urandom(8).hex()}.tmp")
    disk = _SWITCH.disk
    with translated(path):
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        try:
            try:
                write_all(fd, [data], 0)
                disk.fsync(fd)
            finally:
                os.close(fd)
            disk.rename(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                disk.unlink(temporary)
            raise
        fsync_directory(path.parent)


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    with translated(path):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _SWITCH.disk.fsync(fd)
        finally:
            os.close(fd)


def sync_path(path: Path) -> None:
    """Make a file's content and attributes durable."""
    with translated(path):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _SWITCH.disk.fsync(fd)
        finally:
            os.close(fd)


def sync_file(fd: int) -> None:
    """Make an open file's content and length durable."""
    with translated(None):
        _SWITCH.disk.fdatasync(fd)


def sync_tree(path: Path) -> None:
    """Make everything below a directory durable, with one sync of its whole file system."""
    with translated(path):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _SWITCH.disk.syncfs(fd)
        finally:
            os.close(fd)


def rename(source: Path, target: Path) -> None:
    """Move a name over another one.

    Durability: once the call returned.
    """
    with translated(target):
        _SWITCH.disk.rename(source, target)
    fsync_directory(target.parent)
    if source.parent != target.parent:
        fsync_directory(source.parent)


def publish(source: Path, target: Path) -> bool:
    """Give a finished file its name unless that is taken, drop the temporary one, return whether it was free.

    Durability: once the call returned.
    """
    disk = _SWITCH.disk
    with translated(target):
        try:
            disk.link(source, target)
        except FileExistsError:
            disk.unlink(source)
            return False
        disk.unlink(source)
    fsync_directory(target.parent)
    return True


def unlink(path: Path, *, missing_ok: bool = False) -> None:
    """Remove a name of a file.

    Durability: once the call returned.
    """
    with translated(path):
        try:
            _SWITCH.disk.unlink(path)
        except FileNotFoundError:
            if not missing_ok:
                raise
            return
    fsync_directory(path.parent)


def make_directory(path: Path, mode: int = DIRECTORY_MODE, *, parents: bool = False) -> bool:
    """Make a directory if it is absent and return whether it was.

    Durability: once the call returned.
    """
    with translated(path):
        if parents and not path.parent.is_dir():
            make_directory(path.parent, mode, parents=True)
        try:
            _SWITCH.disk.mkdir(path, mode)
        except FileExistsError:
            if not path.is_dir():
                raise
            return False
    fsync_directory(path.parent)
    return True


def remove_directory(path: Path) -> None:
    """Remove an empty directory.

    Durability: once the call returned.
    """
    with translated(path):
        _SWITCH.disk.rmdir(path)
    fsync_directory(path.parent)


def start_writeback(fd: int, offset: int, size_bytes: int) -> None:
    """Ask the system to begin to write a range to the disk. A hint: it promises nothing."""
    function = _find_function("sync_file_range")
    if function is not None:
        function(fd, offset, size_bytes, _SYNC_FILE_RANGE_WRITE)


_SYNC_FILE_RANGE_WRITE = 2


@functools.cache
def _find_function(name: str) -> Callable[..., int] | None:
    """Return a function of the C library that Python does not offer, where the system has it."""
    import ctypes  # it takes milliseconds, and most commands sync nothing

    number = ctypes.c_int
    arguments = {
        "syncfs": [number],
        "sync_file_range": [number, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint],
    }
    try:
        function = ctypes.CDLL(None, use_errno=True)[name]
    except (AttributeError, OSError):
        return None
    function.argtypes = arguments[name]
    function.restype = number
    return function


def _syncfs(fd: int) -> None:
    function = _find_function("syncfs")
    if function is None:
        os.sync()
    elif function(fd) != 0:
        import ctypes

        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@contextlib.contextmanager
def translated(path: Path | None) -> Generator[None]:
    """Turn the system's errors into `Unavailable`, naming the path."""
    try:
        yield
    except Unavailable:
        raise
    except OSError as error:
        where = f"{path}: " if path is not None else ""
        raise Unavailable(f"{where}{error.strerror or error}") from error

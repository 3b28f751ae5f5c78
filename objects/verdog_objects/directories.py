"""Directories reached by descriptor, one step at a time, never through a symbolic link."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from verdog_objects.errors import InvalidInput, NotFound, Unavailable
from verdog_objects.paths import escape_path

OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""For reading a file: a link is refused, and a FIFO that took a file's place does not block."""

Excluded = Callable[[bytes, bool], bool]
"""Says whether a path (with whether it is a directory) is left out, and everything below it."""

_MOST_OPEN = 64


class Descent:
    """An open directory and the chain of directories last visited below it.

    `open` answers from the chain where it can, so visiting paths in tree order costs one system call for each
    directory. At most 64 descriptors are held however deep the tree is.
    """

    def __init__(self, root: Path) -> None:
        """Open the directory at `root`. Links in the path to it are followed; below it none is.

        Raises:
            NotFound: there is nothing at `root`.
            InvalidInput: it is no directory.
            Unavailable: it cannot be opened.
        """
        try:
            self._root = os.open(root, OPEN_DIRECTORY & ~os.O_NOFOLLOW)
        except FileNotFoundError as error:
            raise NotFound(f"{escape_path(os.fsencode(root))}: no such directory") from error
        except NotADirectoryError as error:
            raise InvalidInput(f"{escape_path(os.fsencode(root))} is not a directory") from error
        except OSError as error:
            raise translate_os_error(error, os.fsencode(root)) from error
        self._path = b""
        self._names: list[bytes] = []
        self._open: list[int] = []  # the descriptors of the last len(_open) names

    def open(self, path: bytes) -> int:
        """Return a descriptor of the directory at a relative path. It stays valid until the next call.

        Raises:
            OSError: as the system reports it; a link or a file in the way is ENOTDIR or ELOOP.
        """
        if path != self._path:
            self._move(path)
        return self._open[-1] if self._names else self._root

    def close(self) -> None:
        """Close every descriptor."""
        self._drop(0)
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _move(self, path: bytes) -> None:
        names = path.split(b"/") if path else []
        shared = 0
        for ours, theirs in zip(self._names, names, strict=False):
            if ours != theirs:
                break
            shared += 1
        self._drop(shared)
        if not self._open:
            self._names.clear()  # the shared part was closed long ago: begin again at the root
        while len(self._names) < len(names):
            name = names[len(self._names)]
            parent = self._open[-1] if self._open else self._root
            self._open.append(os.open(name, OPEN_DIRECTORY, dir_fd=parent))
            self._names.append(name)
            if len(self._open) > _MOST_OPEN:
                os.close(self._open.pop(0))
        self._path = path

    def _drop(self, keep: int) -> None:
        self._path = b"\x00"  # no path: the chain is being changed
        while len(self._names) > keep:
            self._names.pop()
            if self._open:
                os.close(self._open.pop())
        if not self._names:
            self._path = b""


def translate_os_error(error: OSError, path: bytes) -> Unavailable:
    """Return the error of the house for a system error about a path."""
    return Unavailable(f"{escape_path(path)}: {error.strerror or error}", paths=(path,))


def join_path(directory: bytes, name: bytes) -> bytes:
    """Return the path of a name in a directory; the root is the empty path."""
    return directory + b"/" + name if directory else name


def split_path(path: bytes) -> tuple[bytes, bytes]:
    """Return the directory of a path (empty for the root) and its last name."""
    directory, _, name = path.rpartition(b"/")
    return directory, name


def list_directory(directory: int) -> list["os.DirEntry[str]"]:
    """Return what is in an open directory, by name."""
    with os.scandir(directory) as listing:
        return sorted(listing, key=_get_name)


def _get_name(entry: "os.DirEntry[str]") -> str:
    return entry.name


def read_format(found: "os.DirEntry[str]") -> int:
    """Return the type bits of a listed name, without a system call where the listing tells a file or link."""
    if found.is_file(follow_symlinks=False):
        return stat.S_IFREG
    if found.is_symlink():
        return stat.S_IFLNK
    try:
        return stat.S_IFMT(found.stat(follow_symlinks=False).st_mode)
    except OSError:
        return 0


def describe_format(mode: int) -> str:
    """Return what kind of thing a stat's mode says it is, with its article."""
    return _FORMAT_NAMES.get(stat.S_IFMT(mode), "a special file")


_FORMAT_NAMES = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}

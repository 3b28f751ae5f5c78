"""What a disk would hold if the machine stopped at any of the operations of a workload.

There are two images: *killed*, everything that was written so far, and *cut*, what was synced by then and no
more. The operations are those of `durable.Disk`, and those of SQLite through a VFS.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from verdog_objects import durable

SYSTEM_VFS = "unix"


class Machine(durable.Disk):
    """Watches one directory and hands out images of it.

    Attributes:
        root: the directory.
        before: called before each operation, with its name.
    """

    def __init__(self, root: Path, before: Callable[[str], None]) -> None:
        self.root = root
        self.before = before
        self._names: dict[Path, set[str]] = {root: set()}
        self._contents: dict[int, bytes] = {}
        self._inodes: dict[Path, int] = {}

    # What was made durable

    def synced_file(self, path: Path) -> None:
        self._contents[path.stat().st_ino] = path.read_bytes()

    def synced_directory(self, path: Path) -> None:
        names = {name.name for name in path.iterdir() if not name.name.endswith("-shm")}
        self._names[path] = names
        for name in names:
            self._inodes[path / name] = (path / name).stat().st_ino
            if (path / name).is_dir():
                self._names.setdefault(path / name, set())

    def killed_image(self, target: Path) -> None:
        shutil.copytree(self.root, target, ignore=shutil.ignore_patterns("*-shm"))

    def cut_image(self, target: Path) -> None:
        self._build(self.root, target)

    def _build(self, directory: Path, target: Path) -> None:
        target.mkdir()
        for name in self._names[directory]:
            if directory / name in self._names:
                self._build(directory / name, target / name)
            else:
                (target / name).write_bytes(self._contents.get(self._inodes[directory / name], b""))

    # The primitives of `durable`

    def _path(self, fd: int) -> Path:
        return Path(os.readlink(f"/proc/self/fd/{fd}"))  # noqa: PTH115

    def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
        self.before("write")
        return super().write(fd, buffers, offset)

    def truncate(self, fd: int, size_bytes: int) -> None:
        self.before("truncate")
        super().truncate(fd, size_bytes)

    def fsync(self, fd: int) -> None:
        path = self._path(fd)
        self.before(f"fsync {path.name}")
        if path.is_dir():
            self.synced_directory(path)
        else:
            self.synced_file(path)

    def fdatasync(self, fd: int) -> None:
        self.before("fdatasync")
        self.synced_file(self._path(fd))

    def rename(self, source: Path, target: Path) -> None:
        self.before("rename")
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self.before("link")
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self.before("unlink")
        super().unlink(path)

    def mkdir(self, path: Path, mode: int) -> None:
        self.before("mkdir")
        super().mkdir(path, mode)


class WatchedVfs(apsw.VFS):
    """The system's VFS, with every write, truncation, sync and deletion told to a `Machine` first."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        super().__init__("watched", SYSTEM_VFS, makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> "WatchedFile":
        return WatchedFile(self.machine, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.machine.before("delete")
        super().xDelete(filename, syncdir)
        if syncdir:
            self.machine.synced_directory(Path(filename).parent)


class WatchedFile(apsw.VFSFile):
    def __init__(self, machine: Machine, name: Any, flags: Any) -> None:
        self._machine = machine
        text = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._path = Path(text) if text else None
        super().__init__(SYSTEM_VFS, name, flags)

    def xLock(self, level: int) -> None:
        try:
            super().xLock(level)
        except apsw.IOError as error:
            # A file opened for reading cannot be locked. SQLite goes on without; the exception would stay.
            raise apsw.BusyError from error

    def xWrite(self, data: bytes, offset: int) -> None:
        self._machine.before("database write")
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._machine.before("database truncate")
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._machine.before("database sync")
        if self._path is not None:
            self._machine.synced_file(self._path)
            self._machine.synced_directory(self._path.parent)  # SQLite syncs it with a new log's first sync

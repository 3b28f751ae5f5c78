"""A disk that remembers what was done to it in which order, and shows what would be left if it had stopped.

Everything that changes a store goes through `durable.Disk` or through SQLite's VFS. A `Recording` notes both
while an action runs once. Then, for any number of operations, it says what a killed process would leave, or a
power cut might: a write counts only once its file was synced, and a name only once its directory was.
"""

import contextlib
import os
import random
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import apsw

from verdog_objects import durable

SECTOR_BYTES = 512


class Loss(StrEnum):
    """What becomes of the operations that were not synced."""

    NOTHING = "the process was killed"
    TORN = "the process was killed in the middle of a write"
    EVERYTHING = "the power was cut and nothing that was not synced is left"
    SOMETHING = "the power was cut and some of what was not synced is left"


@dataclass(frozen=True, slots=True)
class Write:
    path: Path
    offset: int
    data: bytes

    def __str__(self) -> str:
        return f"write of {len(self.data)} bytes at {self.offset} to {self.path}"


@dataclass(frozen=True, slots=True)
class Truncate:
    path: Path
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Sync:
    """Of a file; `named` when that makes its name durable too, which SQLite's own syncs do."""

    path: Path
    named: bool = False


@dataclass(frozen=True, slots=True)
class SyncDirectory:
    path: Path


@dataclass(frozen=True, slots=True)
class SyncAll:
    path: Path


@dataclass(frozen=True, slots=True)
class Rename:
    source: Path
    target: Path


@dataclass(frozen=True, slots=True)
class Link:
    source: Path
    target: Path


@dataclass(frozen=True, slots=True)
class Unlink:
    path: Path


@dataclass(frozen=True, slots=True)
class Mkdir:
    path: Path


Operation = Write | Truncate | Sync | SyncDirectory | SyncAll | Rename | Link | Unlink | Mkdir


@dataclass(slots=True)
class _Inode:
    synced: bytearray
    pending: list[Write | Truncate] = field(default_factory=list["Write | Truncate"])

    def content(self, chosen: Sequence[Write | Truncate]) -> bytearray:
        data = bytearray(self.synced)
        for each in chosen:
            _apply(data, each)
        return data

    def sync(self) -> None:
        self.synced = self.content(self.pending)
        self.pending = []


def _apply(data: bytearray, change: Write | Truncate) -> None:
    if isinstance(change, Truncate):
        del data[change.size_bytes :]
        data.extend(bytes(change.size_bytes - len(data)))
        return
    data.extend(bytes(max(0, change.offset - len(data))))
    data[change.offset : change.offset + len(change.data)] = change.data


class _Model:
    """Names and files as the process sees them, and as the disk has them."""

    def __init__(self, files: dict[Path, bytes], directories: set[Path]) -> None:
        self.names: dict[Path, _Inode] = {path: _Inode(bytearray(data)) for path, data in files.items()}
        self.directories = set(directories)
        self.synced_names = dict(self.names)
        self.synced_directories = set(directories)

    def _file(self, path: Path) -> _Inode:
        inode = self.names.get(path)
        if inode is None:
            inode = self.names[path] = _Inode(bytearray())
        return inode

    def perform(self, operation: Operation) -> None:
        match operation:
            case Write(path=path) | Truncate(path=path):
                self._file(path).pending.append(operation)
            case Sync(path=path, named=named):
                self._file(path).sync()
                if named:
                    self.synced_names[path] = self.names[path]
            case SyncDirectory(path=path):
                self._sync_names(lambda each: each.parent == path)
            case SyncAll():
                for inode in self.names.values():
                    inode.sync()
                self._sync_names(lambda each: True)
            case Rename(source=source, target=target):
                if source in self.names:
                    self.names[target] = self.names.pop(source)
            case Link(source=source, target=target):
                if source in self.names:
                    self.names[target] = self.names[source]
            case Unlink(path=path):
                self.names.pop(path, None)
            case Mkdir(path=path):
                self.directories.add(path)

    def _sync_names(self, chosen: Callable[[Path], bool]) -> None:
        self.synced_names = {
            **{path: inode for path, inode in self.synced_names.items() if not chosen(path)},
            **{path: inode for path, inode in self.names.items() if chosen(path)},
        }
        self.synced_directories |= {each for each in self.directories if chosen(each)}

    def leave(self, loss: Loss, chance: random.Random) -> tuple[dict[Path, bytes], set[Path]]:
        """Return files and directories as the next process finds them."""
        if loss in (Loss.NOTHING, Loss.TORN):
            kept = {path: bytes(inode.content(inode.pending)) for path, inode in self.names.items()}
            return kept, self.directories
        some = loss is Loss.SOMETHING
        files: dict[Path, bytes] = {}
        for path in sorted(self.names.keys() | self.synced_names.keys()):
            table = self.names if some and chance.random() < 0.5 else self.synced_names
            inode = table.get(path)
            if inode is not None:
                files[path] = bytes(inode.content(_choose(inode.pending, chance) if some else ()))
        directories = set(self.synced_directories)
        if some:
            kept = {each for each in sorted(self.directories) if chance.random() < 0.5}
            directories |= {each for each in kept if set(each.parents) <= directories | kept}
        return {path: data for path, data in files.items() if path.parent in directories}, directories


def _choose(pending: Sequence[Write | Truncate], chance: random.Random) -> list[Write | Truncate]:
    """Return some of the changes, and of some writes only some sectors."""
    chosen: list[Write | Truncate] = []
    for each in pending:
        fate = chance.random()
        if fate < 0.4:
            chosen.append(each)
        elif fate < 0.6 and isinstance(each, Write):
            chosen += [part for part in _cut_sectors(each) if chance.random() < 0.5]
    return chosen


def _cut_sectors(write: Write) -> list[Write]:
    parts: list[Write] = []
    position = 0
    while position < len(write.data):
        length = SECTOR_BYTES - (write.offset + position) % SECTOR_BYTES
        parts.append(Write(write.path, write.offset + position, write.data[position : position + length]))
        position += length
    return parts


class Recording:
    """The operations on what is below one directory, from the moment that it is begun."""

    def __init__(self, root: Path, leaves_out: Callable[[Operation], bool] | None = None) -> None:
        self._root = root.resolve()
        self._leaves_out = leaves_out
        self._files: dict[Path, bytes] = {}
        self._directories: set[Path] = set()
        self._on = False
        self.operations: list[Operation] = []

    def begin(self) -> None:
        """Take what is there as durable, and note every operation from now on."""
        self._directories.add(Path())
        for path in self._root.rglob("*"):
            relative = path.relative_to(self._root)
            if path.is_dir():
                self._directories.add(relative)
            elif not path.name.endswith("-shm"):  # SQLite makes it anew when nobody has the database open
                self._files[relative] = path.read_bytes()
        self._on = True

    def end(self) -> None:
        """Note nothing any more."""
        self._on = False

    def note(self, make: Callable[..., Operation], *arguments: object, paths: Sequence[str | Path]) -> None:
        """Note an operation on some paths, if it is on what is below the directory."""
        if not self._on:
            return
        named = [Path(each).parent.resolve() / Path(each).name for each in paths]
        if all(each.is_relative_to(self._root) for each in named):
            operation = make(*(each.relative_to(self._root) for each in named), *arguments)
            if self._leaves_out is None or not self._leaves_out(operation):
                self.operations.append(operation)

    def leave(self, stop: int, loss: Loss, chance: random.Random) -> "Remains":
        """Return what is left if only the first `stop` operations were done."""
        model = _Model(self._files, self._directories)
        for operation in self.operations[:stop]:
            model.perform(operation)
        if loss is Loss.TORN and stop < len(self.operations):
            torn = self.operations[stop]
            if isinstance(torn, Write):
                model.perform(Write(torn.path, torn.offset, torn.data[: len(torn.data) // 2]))
        return Remains(*model.leave(loss, chance))


class Remains:
    """The files and directories that are left."""

    def __init__(self, files: dict[Path, bytes], directories: set[Path]) -> None:
        self._files = files
        self._directories = frozenset(directories)

    @property
    def identity(self) -> object:
        """Equal for equal files and directories."""
        return self._directories, frozenset(self._files.items())

    def build(self, target: Path) -> None:
        """Make them in a new directory."""
        for directory in sorted(self._directories):
            (target / directory).mkdir()
        for path, data in self._files.items():
            (target / path).write_bytes(data)


class _RecordingDisk(durable.Disk):
    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def _path(self, fd: int) -> Path:
        return Path(f"/proc/self/fd/{fd}").readlink()

    def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
        data = b"".join(buffers)
        written = super().write(fd, buffers, offset)
        self._recording.note(Write, offset, data[:written], paths=[self._path(fd)])
        return written

    def truncate(self, fd: int, size_bytes: int) -> None:
        super().truncate(fd, size_bytes)
        self._recording.note(Truncate, size_bytes, paths=[self._path(fd)])

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        path = self._path(fd)
        self._recording.note(SyncDirectory if path.is_dir() else Sync, paths=[path])

    def fdatasync(self, fd: int) -> None:
        super().fdatasync(fd)
        self._recording.note(Sync, paths=[self._path(fd)])

    def syncfs(self, fd: int) -> None:
        super().syncfs(fd)
        self._recording.note(SyncAll, paths=[self._path(fd)])

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._recording.note(Rename, paths=[source, target])

    def link(self, source: Path, target: Path) -> None:
        super().link(source, target)
        self._recording.note(Link, paths=[source, target])

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        self._recording.note(Unlink, paths=[path])

    def mkdir(self, path: Path, mode: int) -> None:
        super().mkdir(path, mode)
        self._recording.note(Mkdir, paths=[path])


class _RecordingVFS(apsw.VFS):
    NAME = "recording"

    def __init__(self, recording: Recording, base: str) -> None:
        super().__init__(self.NAME, base, makedefault=True)
        self.recording = recording
        self.base = base

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _RecordingFile(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        super().xDelete(name, syncdir)
        self.recording.note(Unlink, paths=[name])


class _RecordingFile(apsw.VFSFile):
    def __init__(self, vfs: _RecordingVFS, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._recording = vfs.recording
        self._path = (name.filename() if isinstance(name, apsw.URIFilename) else name) or os.devnull
        super().__init__(vfs.base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._recording.note(Write, offset, bytes(data), paths=[self._path])

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._recording.note(Truncate, newsize, paths=[self._path])

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._recording.note(Sync, True, paths=[self._path])


@contextlib.contextmanager
def recorded(root: Path, leaves_out: Callable[[Operation], bool] | None = None) -> Generator[Recording]:
    """Give a recording of what is below a directory. Databases must be opened and closed inside the block.

    Args:
        root: the directory.
        leaves_out: says which operations are forgotten, to see whether a test notices.
    """
    recording = Recording(root, leaves_out)
    base = apsw.vfs_names()[0]
    vfs = _RecordingVFS(recording, base)
    try:
        with durable.replaced(_RecordingDisk(recording)):
            yield recording
    finally:
        apsw.set_default_vfs(base)
        vfs.unregister()

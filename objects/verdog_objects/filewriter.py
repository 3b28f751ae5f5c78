"""Entries of a tree written into a fresh directory: content first, modes of directories last."""

import os
import stat
from collections.abc import Mapping

from verdog_objects import durable, manifest
from verdog_objects.chunking import decode_chunks
from verdog_objects.directories import OPEN_DIRECTORY, Descent, split_path, translate_os_error
from verdog_objects.errors import Corrupt, NotFound, Unavailable, VerdogError
from verdog_objects.filereader import MODE_BITS
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid, format_oid
from verdog_objects.paths import escape_path, is_reserved
from verdog_objects.store import ObjectReader

Objects = Mapping[Oid, tuple[Kind, bytes]]

BLOCK_BYTES = 4096
_ZEROS = bytes(BLOCK_BYTES)
_READ_BYTES = 8 << 20
_SPECIAL_BITS = 0o7000
_PRIVILEGE_BITS = 0o6000
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_objects(reader: ObjectReader, wanted: Mapping[Oid, Kind]) -> Objects:
    """Return objects by id, in one call where the reader can. A missing one is left out."""
    get_many = getattr(reader, "get_many", None)
    if get_many is not None:
        return get_many(list(wanted))
    found: dict[Oid, tuple[Kind, bytes]] = {}
    for oid, kind in wanted.items():
        try:
            found[oid] = kind, reader.get(kind, oid)
        except NotFound:
            continue
    return found


class FileWriter:
    """Writes entries in key order into a directory that nobody else uses.

    Every parent is reached by descriptor, and must be a directory that was written before: an entry below a
    file or link, or below nothing, is refused.
    """

    def __init__(
        self, reader: ObjectReader, descent: Descent, created_mode: int, *, preserve_special: bool
    ) -> None:
        """Begin with an empty directory.

        Args:
            reader: where content is read from.
            descent: the directory.
            created_mode: the mode that a directory made with 0777 gets there.
            preserve_special: keep setuid and setgid.
        """
        self._reader = reader
        self._descent = descent
        self._granted = created_mode & 0o777
        self._mask = MODE_BITS if preserve_special else MODE_BITS & ~_PRIVILEGE_BITS
        self._above = [b""]
        self._late: list[tuple[bytes, int]] = []

    def write(self, path: bytes, entry: Entry, objects: Objects) -> None:
        """Write one entry; its content, or the list of its chunks, is among the objects.

        Raises:
            Corrupt: the entry cannot be part of a tree here, or its content is missing or of another length.
            Unavailable: the disk refused.
        """
        directory, name = split_path(path)
        above = self._above
        while above[-1] != directory:
            above.pop()
            if not above:
                raise Corrupt(f"{escape_path(path)}: recorded below what is no directory", paths=(path,))
        if is_reserved(path, is_directory=entry.kind is EntryKind.DIRECTORY):
            raise Corrupt(f"{escape_path(path)}: recorded where verdog keeps files of its own", paths=(path,))
        try:
            parent = self._descent.open(directory)
            if entry.kind is EntryKind.DIRECTORY:
                self._make_directory(parent, name, path, entry.mode & self._mask)
            elif entry.kind is EntryKind.SYMLINK:
                os.symlink(_get_target(path, entry, objects), name, dir_fd=parent)
            else:
                self._write_file(parent, path, entry, _get_content(path, entry, objects))
        except VerdogError:
            raise
        except OSError as error:
            raise translate_os_error(error, path) from error

    def finish(self) -> None:
        """Give the directories their modes, the innermost first."""
        for path, mode in reversed(self._late):
            directory, name = split_path(path)
            try:
                opened = os.open(name, OPEN_DIRECTORY, dir_fd=self._descent.open(directory))
                try:
                    _set_mode(opened, mode, path)
                finally:
                    os.close(opened)
            except Unavailable:
                raise
            except OSError as error:
                raise translate_os_error(error, path) from error

    def _make_directory(self, parent: int, name: bytes, path: bytes, mode: int) -> None:
        wanted = mode & 0o777 | 0o700
        os.mkdir(name, wanted, dir_fd=parent)
        if self._granted & 0o700 != 0o700:  # a umask that takes the owner's own rights
            os.chmod(name, 0o700, dir_fd=parent)
        if mode != wanted & self._granted:
            self._late.append((path, mode))
        self._above.append(path)

    def _write_file(self, parent: int, path: bytes, entry: Entry, content: bytes) -> None:
        mode = entry.mode & self._mask
        file = os.open(split_path(path)[1], _CREATE, mode & 0o777, dir_fd=parent)
        try:
            if manifest.object_kind(entry) is Kind.BLOB:
                write_sparse(file, content, 0, entry.size)
            else:
                self._write_chunks(file, path, entry, content)
            if mode != mode & self._granted:
                _set_mode(file, mode, path)
        finally:
            os.close(file)

    def _write_chunks(self, file: int, path: bytes, entry: Entry, chunk_list: bytes) -> None:
        chunks = decode_chunks(chunk_list, entry.size)
        zeros: set[tuple[Oid, int]] = set()  # chunks that leave a hole
        offset = 0
        begin = 0
        while begin < len(chunks):
            end = begin
            group_bytes = 0
            while end < len(chunks) and group_bytes < _READ_BYTES:
                group_bytes += 0 if chunks[end] in zeros else chunks[end][1]
                end += 1
            group = chunks[begin:end]
            try:
                wanted = {chunk[0]: Kind.CHUNK for chunk in group if chunk not in zeros}
                objects = read_objects(self._reader, wanted)
            except Corrupt as error:
                raise Corrupt(f"{escape_path(path)}: {error}", paths=(path,)) from error
            for chunk in group:
                oid, length = chunk
                if chunk not in zeros:
                    data = get_object(path, Kind.CHUNK, oid, length, objects)
                    if _is_zero(data):
                        zeros.add(chunk)
                    else:
                        write_sparse(file, data, offset, entry.size)
                offset += length
            begin = end
        if chunks and chunks[-1] in zeros:
            os.ftruncate(file, entry.size)


def _is_zero(data: bytes) -> bool:
    return data[0] == 0 and data[-1] == 0 and data.count(0) == len(data)


def get_object(path: bytes, kind: Kind, oid: Oid, size_bytes: int | None, objects: Objects) -> bytes:
    """Return an object that an entry needs.

    Raises:
        Corrupt: it is missing, of another kind or not as long as recorded.
    """
    found = objects.get(oid)
    if found is None:
        problem = "is missing"
    elif found[0] is not kind:
        problem = f"is a {found[0].name}, recorded as a {kind.name}"
    elif size_bytes is not None and len(found[1]) != size_bytes:
        problem = f"has {len(found[1])} bytes, recorded {size_bytes}"
    else:
        return found[1]
    raise Corrupt(f"{escape_path(path)}: object {format_oid(oid)} {problem}", paths=(path,))


def write_sparse(file: int, data: bytes, offset: int, end_of_file: int) -> None:
    """Write data at an offset, leaving out aligned blocks of zeros."""
    size_bytes = len(data)
    begin = 0  # of the run being gathered
    position = -offset % BLOCK_BYTES
    while position + BLOCK_BYTES <= size_bytes:
        if data[position] == 0 and data[position : position + BLOCK_BYTES] == _ZEROS:
            if begin < position:
                durable.write_all(file, [data[begin:position]], offset + begin)
            begin = position + BLOCK_BYTES
        position += BLOCK_BYTES
    if begin == 0:
        durable.write_all(file, [data], offset)
    elif begin < size_bytes:
        durable.write_all(file, [data[begin:]], offset + begin)
    elif offset + size_bytes == end_of_file:
        os.ftruncate(file, end_of_file)


def _get_content(path: bytes, entry: Entry, objects: Objects) -> bytes:
    kind = manifest.object_kind(entry)
    if kind is None or entry.kind is not EntryKind.FILE:
        raise Corrupt(f"{escape_path(path)}: recorded as a {entry.kind.name} among files", paths=(path,))
    return get_object(path, kind, entry.oid, entry.size if kind is Kind.BLOB else None, objects)


def _get_target(path: bytes, entry: Entry, objects: Objects) -> bytes:
    target = get_object(path, Kind.BLOB, entry.oid, entry.size, objects)
    if not target or b"\x00" in target:
        raise Corrupt(f"{escape_path(path)}: recorded with a target that no link has", paths=(path,))
    return target


def _set_mode(opened: int, mode: int, path: bytes) -> None:
    os.fchmod(opened, mode)
    if mode & _SPECIAL_BITS and stat.S_IMODE(os.fstat(opened).st_mode) != mode:
        raise Unavailable(f"{escape_path(path)}: the system refused mode {mode:04o}", paths=(path,))

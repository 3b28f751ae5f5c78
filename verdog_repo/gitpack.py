"""A pack: Git objects in one file that every Git reads, with the index that finds them.

libgit2 would want each object in memory, and would hold the interpreter while it compresses; here a file of
any size streams through one compressor. The layouts are Git's pack version 2 and index version 2.
"""

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from verdog_objects import durable
from verdog_objects.errors import Corrupt, Unavailable
from verdog_repo.commitbytes import compute_git_id

COMMIT: Final = 1
TREE: Final = 2
BLOB: Final = 3
_DELTA: Final = 7
"""An object as a delta against another one of the same pack, which is named by its id."""

KIND_NAMES: Final = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}
_LEVEL: Final = 1
_BUFFER_BYTES: Final = 1 << 20
_SYNC_BYTES: Final = 32 << 20
_ID_BYTES: Final = 20
_TEMPORARY_PACK: Final = "tmp_pack_verdog"
_TEMPORARY_INDEX: Final = "tmp_idx_verdog"
"""`git gc` removes what is called `tmp_*` here once it is old."""

_INDEX_HEAD: Final = b"\xfftOc" + (2).to_bytes(4, "big")
_MODE: Final = 0o444
_FULL_BYTES: Final = 256 << 20
_OFFSET_LIMIT: Final = 1 << 31
"""From here on an index would need offsets of 8 bytes; a pack is full long before."""


class _Place(NamedTuple):
    offset: int
    checksum: int


class PackWriter:
    """Collects objects in a temporary file; `publish` makes it a pack of a repository.

    Only one process may write packs of a repository at a time.
    """

    def __init__(self, packs: Path) -> None:
        """Begin a pack in the directory of a repository's packs."""
        self._packs = packs
        self._path = packs / _TEMPORARY_PACK
        self._fd = _create(self._path)
        self._places: dict[bytes, _Place] = {}
        self._buffer = bytearray()
        self._written = 0
        self._synced = 0
        self._append(b"PACK" + (2).to_bytes(4, "big") + bytes(4))

    @property
    def size_bytes(self) -> int:
        """The length of the pack so far."""
        return self._written + len(self._buffer)

    @property
    def full(self) -> bool:
        """Whether the pack should be published before the next object."""
        return self.size_bytes >= _FULL_BYTES

    def __len__(self) -> int:
        """Return how many objects the pack has."""
        return len(self._places)

    def __contains__(self, name: bytes) -> bool:
        """Return whether an object is in the pack."""
        return name in self._places

    def add(self, kind: int, payload: bytes) -> bytes:
        """Write an object, unless the pack has it, and return its id."""
        name = compute_git_id(KIND_NAMES[kind], payload)
        if name not in self._places:
            self._add(name, _encode_head(kind, len(payload)), zlib.compress(payload, _LEVEL))
        return name

    def add_delta(self, name: bytes, base: bytes, delta: bytes) -> None:
        """Write an object as what differs from another one that the pack has."""
        if base not in self._places:
            raise ValueError("the base of a delta is in the same pack")
        if name not in self._places:
            self._add(name, _encode_head(_DELTA, len(delta)) + base, zlib.compress(delta, _LEVEL))

    def add_stream(self, size_bytes: int, parts: Iterable[bytes]) -> bytes:
        """Write a blob of a known size from its parts, unless the pack has it, and return its id.

        Raises:
            Corrupt: the parts are not as long together.

        Cost: holds one part at a time.
        """
        start = self.size_bytes
        hashed = hashlib.sha1(b"blob %d\0" % size_bytes, usedforsecurity=False)
        head = _encode_head(BLOB, size_bytes)
        checksum = zlib.crc32(head)
        self._append(head)
        length = 0
        compressor = zlib.compressobj(_LEVEL)
        for part in parts:
            if not length and not _is_compressible(part):
                compressor = zlib.compressobj(0)
            length += len(part)
            hashed.update(part)
            data = compressor.compress(part)
            checksum = zlib.crc32(data, checksum)
            self._append(data)
        data = compressor.flush()
        self._append(data)
        if length != size_bytes:
            raise Corrupt(f"a file of {size_bytes} bytes has {length}")
        name = hashed.digest()
        if name in self._places:
            self.forget(start)
        else:
            self._note(name, start, zlib.crc32(data, checksum))
        return name

    def forget(self, size_bytes: int) -> None:
        """Drop what was written last, back to a length that the pack had."""
        while self._places:
            name, place = self._places.popitem()
            if place.offset < size_bytes:
                self._places[name] = place
                break
        if size_bytes >= self._written:
            del self._buffer[size_bytes - self._written :]
            return
        self._buffer.clear()
        self._written = size_bytes
        self._synced = min(self._synced, size_bytes)
        with durable.translated(self._path):
            durable.current_disk().truncate(self._fd, size_bytes)

    def publish(self) -> int:
        """Make the pack part of the repository, if it has objects, and return its length; then it is closed.

        Durability: all of it once the call returned; before, the repository has none of it.
        """
        if not self._places:
            self.close()
            return 0
        self._flush()
        with durable.translated(self._path):
            durable.write_all(self._fd, [len(self._places).to_bytes(4, "big")], 8)
            digest = self._hash_all()
            durable.write_all(self._fd, [digest], self._written)
            durable.sync_file(self._fd)
        index = self._packs / _TEMPORARY_INDEX
        _write_index(index, _encode_index(self._places, digest))
        size_bytes = self._written + len(digest)
        os.close(self._fd)
        self._fd = -1
        durable.rename(self._path, self._packs / f"pack-{digest.hex()}.pack")
        durable.rename(index, self._packs / f"pack-{digest.hex()}.idx")
        return size_bytes

    def close(self) -> None:
        """Drop what was not published. Safe to call twice."""
        if self._fd < 0:
            return
        os.close(self._fd)
        self._fd = -1
        with contextlib.suppress(OSError):
            durable.current_disk().unlink(self._path)

    def _add(self, name: bytes, head: bytes, data: bytes) -> None:
        self._note(name, self.size_bytes, zlib.crc32(data, zlib.crc32(head)))
        self._append(head)
        self._append(data)

    def _note(self, name: bytes, offset: int, checksum: int) -> None:
        if offset >= _OFFSET_LIMIT:
            raise ValueError("the pack is full")
        self._places[name] = _Place(offset, checksum)

    def _append(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) >= _BUFFER_BYTES:
            self._flush()

    def _flush(self) -> None:
        with durable.translated(self._path):
            durable.write_all(self._fd, [bytes(self._buffer)], self._written)
        self._written += len(self._buffer)
        self._buffer.clear()
        if self._written - self._synced >= _SYNC_BYTES:  # so that no other process waits for one long sync
            durable.sync_file(self._fd)
            self._synced = self._written

    def _hash_all(self) -> bytes:
        """Return the SHA-1 of the file, whose head was not known until now."""
        hashed = hashlib.sha1(usedforsecurity=False)
        offset = 0
        while offset < self._written:
            data = os.pread(self._fd, min(_BUFFER_BYTES, self._written - offset), offset)
            if not data:
                raise Unavailable(f"{self._path} became shorter while it was written")
            hashed.update(data)
            offset += len(data)
        return hashed.digest()


def recover_packs(packs: Path) -> None:
    """Finish or remove what a killed writer left in the directory of a repository's packs.

    Durability: once the call returned.
    """
    index = packs / _TEMPORARY_INDEX
    with contextlib.suppress(FileNotFoundError), durable.translated(None):
        digest = _read_whole_index(index)
        if digest is not None and (packs / f"pack-{digest.hex()}.pack").exists():
            durable.rename(index, packs / f"pack-{digest.hex()}.idx")
    for name in (_TEMPORARY_INDEX, _TEMPORARY_PACK):
        durable.unlink(packs / name, missing_ok=True)


def _read_whole_index(path: Path) -> bytes | None:
    """Return the checksum of the pack that a finished index belongs to, or None."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    sealed = hashlib.sha1(data[:-_ID_BYTES], usedforsecurity=False).digest()
    return data[-2 * _ID_BYTES : -_ID_BYTES] if sealed == data[-_ID_BYTES:] else None


def _write_index(path: Path, data: bytes) -> None:
    fd = _create(path)
    with durable.translated(path):
        try:
            durable.write_all(fd, [data], 0)
            durable.sync_file(fd)
        finally:
            os.close(fd)


def _is_compressible(beginning: bytes) -> bool:
    """Return whether a file gets smaller; one that is compressed already is only wrapped, which is faster."""
    return len(zlib.compress(beginning, _LEVEL)) < 0.95 * len(beginning)


def _create(path: Path) -> int:
    with durable.translated(path):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)


def _encode_index(places: dict[bytes, _Place], pack_digest: bytes) -> bytes:
    names = sorted(places)
    fanout: list[bytes] = []
    count = 0
    for first in range(256):
        while count < len(names) and names[count][0] == first:
            count += 1
        fanout.append(count.to_bytes(4, "big"))
    checksums = [places[name].checksum.to_bytes(4, "big") for name in names]
    offsets = [places[name].offset.to_bytes(4, "big") for name in names]
    body = b"".join([_INDEX_HEAD, *fanout, *names, *checksums, *offsets, pack_digest])
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _encode_head(kind: int, size_bytes: int) -> bytes:
    """Return kind and size as they stand before an object: 4 bits of the size, then 7 in each byte."""
    byte = kind << 4 | size_bytes & 0x0F
    size_bytes >>= 4
    head = bytearray()
    while size_bytes:
        head.append(byte | 0x80)
        byte = size_bytes & 0x7F
        size_bytes >>= 7
    head.append(byte)
    return bytes(head)

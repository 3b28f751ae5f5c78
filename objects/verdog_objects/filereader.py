"""A file's content: read into a writer only if it held still, compared by chunks with what was recorded."""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from verdog_objects.chunking import INLINE_LIMIT, MAX_BYTES, MAX_CHUNKS, Chunker, encode_chunks
from verdog_objects.directories import OPEN_FILE
from verdog_objects.holes import Holes
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.signatures import is_settled
from verdog_objects.store import ObjectWriter

READ_BYTES = 1 << 20
"""How much is read at a time: a block that is cut and hashed while it is in the processor's cache."""

AHEAD_FROM_BYTES = 8 << 20
"""A file of this size is read and cut in a thread of its own while another one hashes and stores."""

T = TypeVar("T")
_RETRY_PAUSES_S = (0.002, 0.01, 0.05, 0)
_TICK_NS = 20_000_000
MODE_BITS = 0o7777


class FileUnstable(Exception):
    """The file changed during each attempt to read it, or something else took its place."""


def store_file(
    writer: ObjectWriter, directory: int, name: bytes, clock: Callable[[], int]
) -> tuple[Entry, os.stat_result, int]:
    """Put a file's content and return its entry, its stat and when the reading began.

    What is recorded is content that the file really had at one moment, as far as writes through write(2) go:
    its size and times are compared before and after, and a file so fresh that another write might have left
    the same times is read twice. Stores through mmap can leave the times alone and go unseen.

    Args:
        writer: where the blob, or the chunks and their list, go.
        directory: a descriptor of the directory that holds it.
        name: its name there.
        clock: the time in nanoseconds.

    Raises:
        FileUnstable: it changed during each attempt, or is no regular file.
        OSError: it could not be opened or read.
    """
    for pause_s in _RETRY_PAUSES_S:
        stored = _attempt(writer, directory, name, clock)
        if stored is not None:
            return stored
        time.sleep(pause_s)
    raise FileUnstable("kept changing while it was read")


def store_link(
    writer: ObjectWriter, directory: int, name: bytes, clock: Callable[[], int]
) -> tuple[Entry, os.stat_result, int]:
    """Put a symbolic link's target and return what `store_file` returns for a file.

    Raises:
        FileUnstable: it is a link no longer.
        OSError: it could not be read.
    """
    read_ns = clock()
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        raise FileUnstable("was replaced by something else while it was read")
    target = os.readlink(name, dir_fd=directory)
    return Entry(EntryKind.SYMLINK, 0o777, len(target), writer.put(Kind.BLOB, target)), status, read_ns


def holds_chunks(file: int, chunks: Sequence[tuple[Oid, int]]) -> bool:
    """Return whether a file is exactly these chunks.

    Cost: reads and hashes what is no hole.
    """
    holes = Holes(file)
    zeros: dict[int, Oid] = {}
    position = 0
    for oid, length in chunks:
        if holes.end_of_hole(position) >= position + length:
            if length not in zeros:
                zeros[length] = compute_oid(Kind.CHUNK, bytes(length))
            found = zeros[length]
        else:
            found = compute_oid(Kind.CHUNK, read_exactly(file, length, position))
        if found != oid:
            return False
        position += length
    return not os.pread(file, 1, position)


def read_exactly(file: int, size_bytes: int, position: int = 0) -> bytes:
    """Return bytes of a file from a position on: fewer than asked for only at its end."""
    data = os.pread(file, size_bytes, position)
    if not data or len(data) == size_bytes:
        return data
    parts = [data]
    read_bytes = len(data)
    while read_bytes < size_bytes:
        data = os.pread(file, size_bytes - read_bytes, position + read_bytes)
        if not data:
            break
        parts.append(data)
        read_bytes += len(data)
    return b"".join(parts)


def _attempt(
    writer: ObjectWriter, directory: int, name: bytes, clock: Callable[[], int]
) -> tuple[Entry, os.stat_result, int] | None:
    file = os.open(name, OPEN_FILE, dir_fd=directory)
    try:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise FileUnstable("was replaced by something else while it was read")
        read_ns = clock()
        store = _store_small if before.st_size <= INLINE_LIMIT else _store_large
        oid = store(writer, file, before, read_ns)
        if oid is None:
            return None
        return Entry(EntryKind.FILE, before.st_mode & MODE_BITS, before.st_size, oid), before, read_ns
    finally:
        os.close(file)


def _store_small(writer: ObjectWriter, file: int, before: os.stat_result, read_ns: int) -> Oid | None:
    size_bytes = before.st_size
    data = read_exactly(file, size_bytes + 1)
    if len(data) != size_bytes:
        return None
    if not is_settled(before, read_ns) and os.pread(file, size_bytes + 1, 0) != data:
        return None
    return writer.put(Kind.BLOB, data) if _held_still(before, os.fstat(file)) else None


def _store_large(writer: ObjectWriter, file: int, before: os.stat_result, read_ns: int) -> Oid | None:
    coarse = before.st_ctime_ns % 1_000_000_000 == 0
    age_ns = read_ns - before.st_ctime_ns
    if not coarse and 0 <= age_ns < _TICK_NS:
        time.sleep((_TICK_NS - age_ns) / 1e9)  # from now on every write gets a later time
    size_bytes = before.st_size
    _check_count(size_bytes // MAX_BYTES)
    chunker = Chunker()
    chunks = _Chunks(writer)
    read_bytes = 0
    blocks = _cut_blocks(file, size_bytes, chunker)
    with contextlib.closing(_work_ahead(blocks) if size_bytes >= AHEAD_FROM_BYTES else blocks) as found:
        for block_bytes, complete in found:
            read_bytes += block_bytes
            chunks.put(complete)
    if read_bytes != size_bytes or not _held_still(before, os.fstat(file)):
        return None
    chunks.put(chunker.finish())
    if coarse and not is_settled(before, read_ns) and not holds_chunks(file, chunks.listed):
        return None
    return writer.put(Kind.CHUNKS, encode_chunks(chunks.listed))


class _Chunks:
    """The chunks of a file that were put, in order."""

    def __init__(self, writer: ObjectWriter) -> None:
        self.listed: list[tuple[Oid, int]] = []
        self._writer = writer

    def put(self, complete: Sequence[bytes]) -> None:
        """Put the next ones. One that is the same object as the one before is not hashed again."""
        _check_count(len(self.listed) + len(complete))
        before: bytes | None = None
        for each in complete:
            if each is before:
                self.listed.append(self.listed[-1])
            else:
                self.listed.append((self._writer.put(Kind.CHUNK, each), len(each)))
                before = each


def _check_count(chunks: int) -> None:
    if chunks > MAX_CHUNKS:
        raise OSError(errno.EFBIG, f"it is too large: a file has at most {MAX_CHUNKS:,} chunks")


def _cut_blocks(file: int, size_bytes: int, chunker: Chunker) -> Generator[tuple[int, list[bytes]]]:
    """Yield the length of each block of a file with the chunks that it completes; stop beyond the size."""
    holes = Holes(file)
    position = 0
    while position <= size_bytes:
        hole_bytes = holes.end_of_hole(position) - position
        if hole_bytes >= READ_BYTES:
            position += hole_bytes
            yield hole_bytes, chunker.feed_zeros(hole_bytes)
            continue
        data = os.pread(file, READ_BYTES, position)
        if not data:
            return
        position += len(data)
        yield len(data), chunker.feed(data)


def _work_ahead(items: Generator[T]) -> Generator[T]:
    """Yield what a generator does, while another thread already makes the next item.

    Reading, cutting, hashing and writing all let other threads run. When this generator is closed, so is the
    thread.
    """
    from concurrent.futures import ThreadPoolExecutor  # loads the logging module, which few commands need

    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(next, items, None)
        while (item := ahead.result()) is not None:
            ahead = pool.submit(next, items, None)
            yield item


def _held_still(before: os.stat_result, after: os.stat_result) -> bool:
    return (
        before.st_ctime_ns == after.st_ctime_ns
        and before.st_mtime_ns == after.st_mtime_ns
        and before.st_size == after.st_size
    )

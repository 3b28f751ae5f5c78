"""Content-defined chunks: where a large file is cut, and the list of its chunks.

Cuts are those of FastCDC with a fixed gear table, so that equal content is cut equally wherever it lies. The
parameters are frozen by format 1.

Source: Xia et al., "The Design of Fast Content-Defined Chunking for Data Deduplication Based Storage
Systems", IEEE TPDS 31(9), 2020.
"""

from collections.abc import Sequence

from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.oid import OID_BYTES, Oid
from verdog_objects.varint import MAX_VARINT, append_varint, read_varint

INLINE_LIMIT = 64 * 1024
"""The largest file that is one blob. A longer one is a list of chunks."""

AVERAGE_BYTES = 64 * 1024
MIN_BYTES = AVERAGE_BYTES // 4
"""Every chunk is at least this long, but for the last one of a file."""
MAX_BYTES = AVERAGE_BYTES * 4
"""No chunk is longer."""

MAX_CHUNKS = 1 << 23
"""A file has at most so many: about 600 GiB of ordinary content, or 2 TiB of zeros."""


class Chunker:
    """Cuts a stream of bytes into chunks; the cuts do not depend on how the stream was fed.

    Holds less than `MAX_BYTES` between calls. Used by one thread.
    """

    def __init__(self) -> None:
        from pyfastcdc import FastCDC  # half of what importing a manifest would take

        self._cutter = FastCDC(
            AVERAGE_BYTES, min_size=MIN_BYTES, max_size=MAX_BYTES, normalized_chunking=1, seed=0
        )
        self._parts: list[bytes] = []
        self._held_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes of the stream and return the chunks that are complete.

        Cost: besides the chunks themselves, at most twice `MAX_BYTES` are copied: feed many bytes at once.
        """
        if self._held_bytes + len(data) < MAX_BYTES:
            if data:
                self._hold(data)
            return []
        held_bytes = self._held_bytes
        seam = b"".join((*self._parts, data[:MAX_BYTES]))
        chunks: list[bytes] = []
        end = self._cut(seam, MAX_BYTES, chunks)
        rest = memoryview(seam)[end:]
        if len(data) > MAX_BYTES:  # then what was held is in chunks by now
            rest = memoryview(data)[end - held_bytes :]
            rest = rest[self._cut(rest, MAX_BYTES, chunks) :]
        self._drop()
        if rest:
            self._hold(bytes(rest))
        return chunks

    def feed_zeros(self, count: int) -> list[bytes]:
        """Take so many zeros as the next bytes of the stream, and return the chunks that are complete.

        Cost: as for 512 KiB, however many they are; the chunks in between are one and the same object.
        """
        ahead = min(count, 2 * MAX_BYTES)
        chunks = self.feed(bytes(ahead))
        if ahead == count:
            return chunks
        held_bytes = self._held_bytes + count - ahead  # nothing but zeros is held now
        zeros = bytes(next(iter(self._cutter.cut_buf(bytes(MAX_BYTES)))).length)
        complete = (held_bytes - MAX_BYTES) // len(zeros) + 1 if held_bytes >= MAX_BYTES else 0
        self._drop()
        self._hold(bytes(held_bytes - complete * len(zeros)))
        return chunks + [zeros] * complete

    def finish(self) -> list[bytes]:
        """Return the last chunks and be ready for another stream."""
        chunks: list[bytes] = []
        self._cut(b"".join(self._parts), 1, chunks)
        self._drop()
        return chunks

    def _hold(self, data: bytes) -> None:
        self._parts.append(data)
        self._held_bytes += len(data)

    def _drop(self) -> None:
        self._parts = []
        self._held_bytes = 0

    def _cut(self, block: bytes | memoryview, reach: int, chunks: list[bytes]) -> int:
        """Cut while `reach` bytes follow, and return the end of the last cut.

        A cut depends on the `MAX_BYTES` after the one before alone.
        """
        start = 0
        if len(block) >= reach:
            for chunk in self._cutter.cut_buf(block):
                end = start + chunk.length
                chunks.append(bytes(block[start:end]))
                start = end
                if start + reach > len(block):
                    break
        return start


def encode_chunks(chunks: Sequence[tuple[Oid, int]]) -> bytes:
    """Return the payload of a `Kind.CHUNKS` object: how many, their lengths, their ids.

    Raises:
        InvalidInput: a length that no chunk has.
    """
    out = bytearray()
    append_varint(out, len(chunks))
    for oid, length in chunks:
        if not 0 < length <= MAX_BYTES or len(oid) != OID_BYTES:
            raise InvalidInput(f"no chunk has {length} bytes")
        append_varint(out, length)
    for oid, _ in chunks:
        out += oid
    return bytes(out)


def decode_chunks(payload: bytes, size_bytes: int | None = None) -> list[tuple[Oid, int]]:
    """Return the chunks of a file, in order, with their lengths.

    Args:
        payload: the `Kind.CHUNKS` object.
        size_bytes: the file's size, if known; the lengths must add up to it.

    Raises:
        Corrupt: the bytes are not what `encode_chunks` writes for a file of this size.
    """
    count, position = read_varint(payload, 0)
    if count * (OID_BYTES + 1) > len(payload):
        raise Corrupt(f"a list of {count} chunks does not fit in {len(payload)} bytes")
    lengths: list[int] = []
    for _ in range(count):
        length, position = read_varint(payload, position)
        if not 0 < length <= MAX_BYTES:
            raise Corrupt(f"a chunk of {length} bytes")
        lengths.append(length)
    if position + count * OID_BYTES != len(payload):
        raise Corrupt(f"a list of {count} chunks is {len(payload)} bytes long")
    total = sum(lengths)
    if total > MAX_VARINT or (size_bytes is not None and total != size_bytes):
        raise Corrupt(f"the chunks hold {total} bytes, the file {size_bytes}")
    chunks: list[tuple[Oid, int]] = []
    before = (Oid(b""), 0)
    for start, length in zip(range(position, len(payload), OID_BYTES), lengths, strict=True):
        oid = payload[start : start + OID_BYTES]
        if oid != before[0] or length != before[1]:  # a run of one chunk takes the room of one
            before = (Oid(oid), length)
        chunks.append(before)
    return chunks

"""Bounded compression: what is written says its size, what is read is held to it."""

import threading

import zstandard

from verdog_objects.errors import Corrupt

STORED = 0
"""The codec of bytes kept as they are."""
ZSTD = 1
"""The codec of one Zstandard frame that says its content size."""

_LEVEL = 1
_PROBE_BYTES = 4096
_PROBE_FROM = 4 * _PROBE_BYTES  # a shorter payload costs little more to compress than to probe
_SMALLEST = 32  # a frame's own 9 bytes and more are never won back below this
_MAX_BLOCK_BYTES = 128 * 1024  # what the 4 bytes of the shortest block can stand for


class _Contexts(threading.local):
    """A compressor and a decompressor for each thread: making one costs more than a small payload does."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(
            level=_LEVEL, write_checksum=False, write_content_size=True
        )
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


def compress(payload: bytes) -> tuple[int, bytes]:
    """Return a codec and the bytes to keep, never longer than the payload.

    A long payload is probed first: if 4 KiB from its middle hardly shrink, it is kept as it is.
    """
    size = len(payload)
    if size < _SMALLEST:
        return STORED, payload
    compressor = _contexts.compressor
    if size >= _PROBE_FROM:
        middle = (size - _PROBE_BYTES) // 2
        probe = payload[middle : middle + _PROBE_BYTES]
        if len(compressor.compress(probe)) > _PROBE_BYTES * 31 // 32:
            return STORED, payload
    data = compressor.compress(payload)
    return (ZSTD, data) if len(data) < size else (STORED, payload)


def decompress(codec: int, data: bytes, size_bytes: int) -> bytes:
    """Return the payload of a known size. Its hash is still to be checked by the caller.

    Nothing is allocated on the word of the data alone: the size that a frame claims must be the recorded
    one, and within what so many bytes can stand for.

    Raises:
        Corrupt: an unknown codec, another size, a truncated or damaged frame, or bytes after it.
    """
    if codec == STORED:
        if len(data) != size_bytes:
            raise Corrupt(f"{len(data)} stored bytes where {size_bytes} were recorded")
        return data
    if codec != ZSTD:
        raise Corrupt(f"unknown compression codec {codec}")
    try:
        frame = zstandard.get_frame_parameters(data)
        if frame.content_size != size_bytes or size_bytes > (len(data) // 4 + 1) * _MAX_BLOCK_BYTES:
            raise Corrupt(f"a compressed frame does not hold the {size_bytes} bytes recorded")
        if frame.dict_id:
            raise Corrupt("a compressed frame wants a dictionary")
        payload = _contexts.decompressor.decompress(data, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError, ValueError) as error:
        raise Corrupt(f"a compressed frame is damaged: {error}") from error
    if len(payload) != size_bytes:
        raise Corrupt(f"{len(payload)} bytes where {size_bytes} were recorded")
    return payload

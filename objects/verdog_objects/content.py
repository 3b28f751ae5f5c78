"""The content of one recorded file, read from a store piece by piece."""

from collections.abc import Iterator

from verdog_objects.chunking import decode_chunks
from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.manifest import object_kind
from verdog_objects.nodes import Entry
from verdog_objects.oid import Kind, Oid, format_oid
from verdog_objects.paths import escape_path
from verdog_objects.store import ObjectReader


def iter_content(reader: ObjectReader, path: bytes, entry: Entry) -> Iterator[bytes]:
    """Yield the bytes of a file in order, or the target of a symbolic link.

    Args:
        reader: where the file was recorded.
        path: its path, for messages.
        entry: its entry.

    Raises:
        Corrupt: an object is missing or is not what was recorded. What was yielded before is right.

    Cost: holds one chunk at a time.
    """
    kind = object_kind(entry)
    if kind is None:
        return
    whole = _get(reader, path, kind, entry.oid)
    if kind is Kind.CHUNKS:
        for oid, size_bytes in decode_chunks(whole, entry.size):
            yield _check(path, oid, _get(reader, path, Kind.CHUNK, oid), size_bytes)
    else:
        yield _check(path, entry.oid, whole, entry.size)


def _get(reader: ObjectReader, path: bytes, kind: Kind, oid: Oid) -> bytes:
    try:
        return reader.get(kind, oid)
    except NotFound as error:
        raise Corrupt(f"{escape_path(path)}: object {format_oid(oid)} is missing", paths=(path,)) from error
    except Corrupt as error:
        raise Corrupt(f"{escape_path(path)}: {error}", paths=(path,)) from error


def _check(path: bytes, oid: Oid, data: bytes, size_bytes: int) -> bytes:
    if len(data) != size_bytes:
        raise Corrupt(
            f"{escape_path(path)}: object {format_oid(oid)} has {len(data)} bytes, recorded {size_bytes}",
            paths=(path,),
        )
    return data

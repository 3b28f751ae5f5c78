"""The manifest: a sorted map from keys to entries, named by its root's hash.

It records all files and directories of a run's output (keys from `path_key`) or all values of its state
(keys are plain UTF-8 addresses). It is a prolly tree: equal maps have equal roots however they came to be,
a change writes O(log N) nodes, and equal parts of two manifests are the same nodes.
"""

from collections.abc import Iterable, Iterator, Mapping

from verdog_objects.chunking import INLINE_LIMIT
from verdog_objects.cursor import Cursor, limit_of, read_child, read_root
from verdog_objects.errors import Corrupt, InvalidInput, NotFound
from verdog_objects.nodecache import CachedReader, CachedWriter, NodeCache, write_node
from verdog_objects.nodes import EMPTY_OID, MAX_KEY_BYTES, Entry, EntryKind, Node, Totals, make_leaf
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid
from verdog_objects.paths import escape_path
from verdog_objects.store import ObjectReader, ObjectWriter
from verdog_objects.treeedit import build_tree, edit_tree

__all__ = [
    "EMPTY_OID",
    "CachedReader",
    "CachedWriter",
    "Entry",
    "EntryKind",
    "NodeCache",
    "Totals",
    "build",
    "check",
    "empty",
    "iterate",
    "iterate_under",
    "key_path",
    "list_directory",
    "lookup",
    "object_kind",
    "path_key",
    "reachable",
    "totals",
    "update",
]

_IMPROPER = frozenset((b"", b".", b".."))
_AFTER_SUBTREE = b"\x01"  # a directory's key and this: the first key that cannot be below it


def path_key(path: bytes) -> bytes:
    """Return the key of a relative path: `/` becomes 0x00, so that what is below a directory follows it.

    Raises:
        InvalidInput: an empty path or part, `.`, `..`, a NUL byte, a leading or trailing `/`, or more than
            `MAX_KEY_BYTES`.
    """
    if b"\x00" in path or len(path) > MAX_KEY_BYTES or not _IMPROPER.isdisjoint(path.split(b"/")):
        raise InvalidInput(f"'{escape_path(path[:200])}' is no path in a checkpoint", paths=[path])
    return path.replace(b"/", b"\x00")


def key_path(key: bytes) -> bytes:
    """Return the path of a key.

    Raises:
        Corrupt: no path has this key.
    """
    path = key.replace(b"\x00", b"/")
    if b"/" in key or not _IMPROPER.isdisjoint(key.split(b"\x00")):
        raise Corrupt(
            f"'{escape_path(path[:200])}' is recorded as a path, and no path is like that", paths=[path]
        )
    return path


def object_kind(entry: Entry) -> Kind | None:
    """Return the kind of the object that an entry's id names, or None for a directory, which has none."""
    match entry.kind:
        case EntryKind.FILE:
            return Kind.BLOB if entry.size <= INLINE_LIMIT else Kind.CHUNKS
        case EntryKind.SYMLINK:
            return Kind.BLOB
        case EntryKind.VALUE:
            return Kind.VALUE
        case EntryKind.DIRECTORY:
            return None


def empty(writer: ObjectWriter) -> Oid:
    """Write the manifest that holds nothing and return its root."""
    return write_node(writer, *make_leaf((), ()))


def build(writer: ObjectWriter, sorted_items: Iterable[tuple[bytes, Entry]]) -> Oid:
    """Write a manifest and return its root.

    Args:
        writer: where nodes go.
        sorted_items: keys and entries; the keys rise strictly.

    Raises:
        InvalidInput: the keys do not rise, or a manifest cannot hold a key or an entry.

    Cost: O(N).
    """
    return build_tree(writer, sorted_items)


def update(writer: ObjectWriter, root: Oid, changes: Mapping[bytes, Entry | None]) -> Oid:
    """Write the manifest that differs from another by some entries and return its root.

    The root is the one that `build` gives for the resulting map. Removing a key that is not there changes
    nothing.

    Args:
        writer: where nodes are and go.
        root: the manifest before.
        changes: keys with their new entries, None to remove.

    Raises:
        NotFound: a node is not stored.
        Corrupt: a node is damaged or does not fit below its parent.
        InvalidInput: a manifest cannot hold a key or an entry.

    Cost: O(changes * log N) nodes read and written.
    """
    return edit_tree(writer, root, sorted(changes.items()))


def lookup(reader: ObjectReader, root: Oid, key: bytes) -> Entry | None:
    """Return a key's entry, or None when it has none.

    Raises:
        NotFound: a node is not stored.
        Corrupt: a node is damaged or does not fit below its parent.

    Cost: O(log N) nodes read.
    """
    cursor = Cursor(reader, root)
    cursor.seek(key)
    if cursor.at_end or cursor.key != key:
        return None
    return cursor.entry


def iterate(
    reader: ObjectReader, root: Oid, *, start: bytes = b"", stop: bytes | None = None
) -> Iterator[tuple[bytes, Entry]]:
    """Yield the keys from `start` up to, not including, `stop`, in order, with their entries.

    Raises:
        NotFound: a node is not stored.
        Corrupt: a node is damaged or does not fit below its parent.

    Cost: O(log N) nodes to begin with; holds one node for each level.
    """
    cursor = Cursor(reader, root)
    cursor.seek(start)
    while not cursor.at_end:
        key = cursor.key
        if stop is not None and key >= stop:
            return
        yield key, cursor.entry
        cursor.advance()
        cursor.descend()


def iterate_under(reader: ObjectReader, root: Oid, directory_key: bytes) -> Iterator[tuple[bytes, Entry]]:
    """Yield everything below a directory, without the directory; `b""` is the whole manifest."""
    if not directory_key:
        return iterate(reader, root)
    return iterate(reader, root, start=directory_key + b"\x00", stop=directory_key + _AFTER_SUBTREE)


def list_directory(
    reader: ObjectReader, root: Oid, directory_key: bytes = b""
) -> Iterator[tuple[bytes, Entry]]:
    """Yield the direct children of a directory with their whole keys; `b""` is the top.

    Cost: O(children * log N) nodes: what is below a child is skipped.
    """
    prefix = directory_key + b"\x00" if directory_key else b""
    stop = directory_key + _AFTER_SUBTREE if directory_key else None
    cursor = Cursor(reader, root)
    cursor.seek(prefix)
    while not cursor.at_end:
        key = cursor.key
        if stop is not None and key >= stop:
            return
        below = key.find(b"\x00", len(prefix))
        if below < 0:
            yield key, cursor.entry
            cursor.advance()
            cursor.descend()
        else:
            cursor.seek(key[:below] + _AFTER_SUBTREE)


def totals(reader: ObjectReader, root: Oid) -> Totals:
    """Return what a manifest holds, by its root alone.

    A root that claims what its nodes do not hold is found when they are read.

    Cost: one node read.
    """
    return read_root(reader, root).totals


def reachable(reader: ObjectReader, root: Oid, seen: set[Oid] | None = None) -> Iterator[tuple[Kind, Oid]]:
    """Yield the ids that a manifest needs: its nodes and the objects of its entries, not the chunks of lists.

    Args:
        reader: where nodes are.
        root: the manifest.
        seen: ids that are left out, with all below them. What is yielded is added.

    Raises:
        NotFound: a node is not stored.
        Corrupt: a node is damaged or does not fit below its parent.

    Cost: the nodes that were not seen.
    """
    found: set[Oid] = set() if seen is None else seen
    if root in found:
        return
    yield from _reach(reader, read_root(reader, root), None, found)
    found.add(root)
    yield Kind.NODE, root


def _reach(
    reader: ObjectReader, node: Node, limit: bytes | None, found: set[Oid]
) -> Iterator[tuple[Kind, Oid]]:
    """Yield what is below a node; recursion goes no deeper than `MAX_LEVEL`, since levels fall."""
    for entry in node.entries:
        kind = object_kind(entry)
        if kind is not None and entry.oid not in found:
            found.add(entry.oid)
            yield kind, entry.oid
    for index, link in enumerate(node.links):
        if link.oid not in found:
            child = read_child(reader, node, index, limit)
            yield from _reach(reader, child, limit_of(node, index, limit), found)
            found.add(link.oid)
            yield Kind.NODE, link.oid


def check(reader: ObjectReader, root: Oid) -> Totals:
    """Read every node and return what the manifest holds.

    Raises:
        NotFound: a node is not stored.
        Corrupt: a node is damaged or does not fit below its parent, or the nodes are cut where this format
            does not.

    Cost: O(N).
    """
    if build_tree(_Hasher(), iterate(reader, root)) != root:
        raise Corrupt("a manifest is cut into other nodes than this format cuts it into")
    return totals(reader, root)


class _Hasher:
    """An `ObjectWriter` that computes ids and keeps nothing."""

    def get(self, kind: Kind, oid: Oid) -> bytes:
        raise NotFound(f"no {kind.name} {format_oid(oid)}")

    def put(self, kind: Kind, payload: bytes) -> Oid:
        return compute_oid(kind, payload)

"""A position in a manifest that moves forward and checks every step down."""

from bisect import bisect_left, bisect_right

from verdog_objects.errors import Corrupt
from verdog_objects.nodecache import read_node
from verdog_objects.nodes import Entry, Link, Node
from verdog_objects.oid import Oid
from verdog_objects.store import ObjectReader


def read_root(reader: ObjectReader, root: Oid) -> Node:
    """Return a manifest's root node.

    Raises:
        Corrupt: it has a single child, so that a lower node would be the root.
    """
    node = read_node(reader, root)
    if node.level and len(node.keys) < 2:
        raise Corrupt("the root of a manifest has a single child")
    return node


def read_child(reader: ObjectReader, parent: Node, index: int, limit: bytes | None) -> Node:
    """Return a node's child, checked against all that the parent says of it.

    Args:
        reader: where nodes are.
        parent: a node above the leaves.
        index: which child.
        limit: the exclusive upper bound of the parent's keys, or None.

    Raises:
        NotFound: the child is not stored.
        Corrupt: it does not fit: level, first key, last key, or totals.
    """
    oid, totals = parent.links[index]
    child = read_node(reader, oid)
    if child.level != parent.level - 1:
        raise Corrupt(f"a node of level {child.level} below one of level {parent.level}")
    if not child.keys or child.keys[0] != parent.keys[index]:
        raise Corrupt("a node does not begin with the key that it is linked under")
    limit = limit_of(parent, index, limit)
    if limit is not None and child.keys[-1] >= limit:
        raise Corrupt("a node's keys reach into those of the next node")
    if child.totals != totals:
        raise Corrupt("a node does not hold what it is linked with")
    return child


def limit_of(node: Node, index: int, limit: bytes | None) -> bytes | None:
    """Return the exclusive upper bound of the keys below a node's item."""
    return node.keys[index + 1] if index + 1 < len(node.keys) else limit


class Cursor:
    """A position in a manifest: at one item of one node, or past the end.

    It begins at the root's first item. `expand` goes down into a link, `advance` past the item, `seek` to
    the first entry at or after a key. Never moves back. Holds one node for each level.

    Raises:
        NotFound: a node is not stored (from every method that moves).
        Corrupt: a node is damaged or does not fit below its parent.
    """

    __slots__ = ("_above", "_reader", "index", "limit", "node")

    def __init__(self, reader: ObjectReader, root: Oid) -> None:
        self._reader = reader
        self._above: list[tuple[Node, int, bytes | None]] = []
        self.node = read_root(reader, root)
        self.index = 0
        self.limit: bytes | None = None

    @property
    def at_end(self) -> bool:
        """Whether the cursor is past the last item."""
        return self.index >= len(self.node.keys)

    @property
    def key(self) -> bytes:
        """The item's key: an entry's own, or the first one below a link."""
        return self.node.keys[self.index]

    @property
    def entry(self) -> Entry:
        """The entry here; only at level 0."""
        return self.node.entries[self.index]

    @property
    def link(self) -> Link:
        """The link here; only above level 0."""
        return self.node.links[self.index]

    def expand(self) -> None:
        """Go from a link to the first item of its node."""
        child = read_child(self._reader, self.node, self.index, self.limit)
        limit = limit_of(self.node, self.index, self.limit)
        self._above.append((self.node, self.index, self.limit))
        self.node, self.index, self.limit = child, 0, limit

    def advance(self) -> None:
        """Go past the item, up as far as needed to find another one."""
        self.index += 1
        while self.index >= len(self.node.keys) and self._above:
            self.node, self.index, self.limit = self._above.pop()
            self.index += 1

    def seek(self, key: bytes) -> None:
        """Go forward to the first entry at or after a key; stay if it is not ahead."""
        while self.limit is not None and self.limit <= key:
            self.node, self.index, self.limit = self._above.pop()
        while self.node.level and not self.at_end:
            self.index = max(self.index, bisect_right(self.node.keys, key) - 1)
            self.expand()
        self.index = max(self.index, bisect_left(self.node.keys, key))
        if self.at_end and self._above:
            self.index -= 1
            self.advance()
            self.descend()

    def descend(self) -> None:
        """Go down to level 0."""
        while self.node.level and not self.at_end:
            self.expand()

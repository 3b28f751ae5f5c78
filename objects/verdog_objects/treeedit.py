"""New manifests from sorted items, or from an old manifest with a few changes.

Where nodes end depends on the keys of a level and on nothing else, so that one map has one tree, whatever
the order in which it came to be: a node ends before every boundary key (`is_boundary`), and before the key
with which it would grow too heavy (`exceeds`), counted from where it begins.

Source: the prolly trees of Noms and Dolt; here the cut looks at keys alone, and an edit replaces only nodes
that change and their ancestors.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar, cast

from verdog_objects.cursor import limit_of, read_child, read_root
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.nodecache import CachedWriter, NodeCache, read_node, write_node
from verdog_objects.nodes import (
    Entry,
    Item,
    Link,
    Node,
    exceeds,
    is_boundary,
    make_inner,
    make_leaf,
    weigh,
)
from verdog_objects.oid import Oid
from verdog_objects.store import ObjectReader, ObjectWriter

T = TypeVar("T", Entry, Link)
LinkChange: TypeAlias = tuple[bytes, Link | None]
Change: TypeAlias = tuple[bytes, Entry | None] | LinkChange
"""A key of some level, with its new item or None when it is removed."""


class _Place(NamedTuple):
    """A node of the old manifest, its id, and the exclusive upper bound of its keys."""

    node: Node
    oid: Oid
    limit: bytes | None


def build_tree(writer: ObjectWriter, items: Iterable[tuple[bytes, Entry]]) -> Oid:
    """Write the manifest of items whose keys rise strictly; return its root.

    Raises:
        InvalidInput: the keys do not rise, or a manifest cannot hold a key or an entry.

    Cost: O(N); holds one node of leaves at a time and the links of one level.
    """
    cutter = _Cutter(writer, 0)
    previous = b""
    for key, entry in items:
        if key <= previous:
            raise InvalidInput("the keys of a manifest must rise and not be empty", paths=[key])
        cutter.add(key, entry, is_boundary(0, key))
        previous = key
    return _build_upwards(writer, 0, cutter.finish())[1]


def edit_tree(writer: ObjectWriter, root: Oid, changes: Sequence[tuple[bytes, Entry | None]]) -> Oid:
    """Write the manifest that differs from another by changes in key order; return its root.

    Raises:
        NotFound: a node of the old manifest is not stored.
        Corrupt: one is damaged or does not fit below its parent.
        InvalidInput: a manifest cannot hold a key or an entry.

    Cost: O(changes * log N) nodes read and written.
    """
    if not isinstance(writer, CachedWriter):
        writer = NodeCache().writer(writer)
    top = read_root(writer, root)
    if not changes:
        return root
    if not top.level:
        return build_tree(writer, _merge(top.keys, top.entries, changes))
    root_place = _Place(top, root, None)
    pending = _LevelEdit(writer, root_place, 0, changes).run()
    for level in range(1, top.level):
        pending = _LevelEdit(writer, root_place, level, pending).run()
    if not pending:
        return root
    links = _merge(top.keys, top.links, pending)
    return _lower_root(writer, *_build_upwards(writer, top.level - 1, links))


def _merge(
    keys: Sequence[bytes], items: Sequence[T], changes: Iterable[tuple[bytes, T | None]]
) -> list[tuple[bytes, T]]:
    """Return the items of a whole level with changes applied."""
    merged: dict[bytes, T] = dict(zip(keys, items, strict=True))
    for key, item in changes:
        if item is None:
            merged.pop(key, None)
        else:
            merged[key] = item
    return sorted(merged.items())


class _Cutter:
    """Collects the items of one level in order and writes a node whenever one ends."""

    def __init__(self, writer: ObjectWriter, level: int) -> None:
        self._writer = writer
        self._level = level
        self._weight = 0
        self._keys: list[bytes] = []
        self._items: list[Item] = []
        self._links: list[tuple[bytes, Link]] = []

    def begins(self, key: bytes) -> bool:
        """Return whether a node begins at this key, boundary or not: the current one is empty or full."""
        return not self._keys or exceeds(self._weight + weigh(key))

    def add(self, key: bytes, item: Item, boundary: bool) -> None:
        """Take the next item; `boundary` says whether its key is one."""
        weight = weigh(key)
        if self._keys and (boundary or exceeds(self._weight + weight)):
            self._end()
        self._keys.append(key)
        self._items.append(item)
        self._weight += weight

    def add_inner(self, keys: Sequence[bytes], items: Sequence[Item]) -> None:
        """Take the next items, whose keys are known to be no boundaries."""
        weight = self._weight + weigh(*keys)
        if exceeds(weight):
            for key, item in zip(keys, items, strict=True):
                self.add(key, item, boundary=False)
        else:
            self._keys += keys
            self._items += items
            self._weight = weight

    def finish(self) -> list[tuple[bytes, Link]]:
        """Write the last node and return the links to all of them, under their first keys."""
        if self._keys:
            self._end()
        return self._links

    def _end(self) -> None:
        if self._level:
            node, payload = make_inner(self._level, self._keys, cast("list[Link]", self._items))
        else:
            node, payload = make_leaf(self._keys, cast("list[Entry]", self._items))
        self._links.append((self._keys[0], Link(write_node(self._writer, node, payload), node.totals)))
        self._keys, self._items, self._weight = [], [], 0


def _build_upwards(writer: ObjectWriter, level: int, links: Sequence[tuple[bytes, Link]]) -> tuple[int, Oid]:
    """Link the nodes of a whole level until one node is left; return its level and id."""
    while len(links) > 1:
        level += 1
        cutter = _Cutter(writer, level)
        for key, link in links:
            cutter.add(key, link, is_boundary(level, key))
        links = cutter.finish()
    if links:
        return level, links[0][1].oid
    return 0, write_node(writer, *make_leaf((), ()))


def _lower_root(reader: ObjectReader, level: int, oid: Oid) -> Oid:
    """Return the lowest node that holds everything."""
    while level:
        node = read_node(reader, oid)
        if node.level != level:
            raise Corrupt(f"a node of level {node.level} where level {level} was linked")
        if len(node.keys) > 1:
            break
        level, oid = level - 1, node.links[0].oid
    return oid


class _LevelEdit:
    """The changes of one level, applied to the nodes they touch; gives the changes of the level above.

    A node whose first key is removed joins the node before it. A node that ended only because it was heavy
    is cut again from the change on, until a cut falls where one was.
    """

    def __init__(self, writer: ObjectWriter, root: _Place, level: int, changes: Sequence[Change]) -> None:
        self._writer = writer
        self._root = root
        self._level = level
        self._changes = changes
        self._next = 0

    def run(self) -> list[LinkChange]:
        """Write the new nodes and return which links the level above loses and gains, in key order."""
        above: list[LinkChange] = []
        while self._next < len(self._changes):
            key, item = self._changes[self._next]
            place = self._find(key, bisect_right)
            start = place.node.keys[0]
            if item is None and key == start:
                place = self._find(start, bisect_left)
            above += self._edit_from(place)
        return above

    def _find(self, key: bytes, side: Callable[[Sequence[bytes], bytes], int]) -> _Place:
        """Return the node here that a key falls into; with `bisect_left` the one before, if it begins one."""
        node, oid, limit = self._root.node, self._root.oid, None
        while node.level > self._level:
            index = max(0, side(node.keys, key) - 1)
            oid = node.links[index].oid
            node, limit = read_child(self._writer, node, index, limit), limit_of(node, index, limit)
        return _Place(node, oid, limit)

    def _edit_from(self, place: _Place) -> list[LinkChange]:
        """Rewrite the nodes from one that a change touches up to where the old nodes go on."""
        cutter = _Cutter(self._writer, self._level)
        old: dict[bytes, Oid] = {}
        while True:
            old[place.node.keys[0]] = place.oid
            self._feed(cutter, place)
            if place.limit is None or self._goes_on_at(cutter, place.limit):
                break
            place = self._find(place.limit, bisect_right)
        new = dict(cutter.finish())
        above: list[LinkChange] = [(key, None) for key in old if key not in new]
        above += [(key, link) for key, link in new.items() if old.get(key) != link.oid]
        above.sort(key=_key_of)
        return above

    def _feed(self, cutter: _Cutter, place: _Place) -> None:
        """Hand a node's items to the cutter, with the changes that fall into the node."""
        node, limit = place.node, place.limit
        keys = node.keys
        items = node.links or node.entries
        at = 0
        while self._next < len(self._changes):
            key, item = self._changes[self._next]
            if limit is not None and key >= limit:
                break
            self._next += 1
            end = bisect_left(keys, key, at)
            self._keep(cutter, keys, items, at, end)
            at = end + (end < len(keys) and keys[end] == key)
            if item is not None:
                cutter.add(key, item, is_boundary(self._level, key))
        self._keep(cutter, keys, items, at, len(keys))

    def _keep(
        self, cutter: _Cutter, keys: Sequence[bytes], items: Sequence[Item], start: int, end: int
    ) -> None:
        """Hand old items to the cutter. Only the first of a node can be a boundary key."""
        if start == 0 and end:
            cutter.add(keys[0], items[0], is_boundary(self._level, keys[0]))
            start = 1
        if start < end:
            cutter.add_inner(keys[start:end], items[start:end])

    def _goes_on_at(self, cutter: _Cutter, start: bytes) -> bool:
        """Return whether the old node that begins at `start` still begins there."""
        if self._next < len(self._changes) and self._changes[self._next] == (start, None):
            return False
        return cutter.begins(start) or is_boundary(self._level, start)


def _key_of(change: LinkChange) -> bytes:
    return change[0]

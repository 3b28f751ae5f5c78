"""What two manifests differ in, found by walking only the nodes that differ."""

from collections.abc import Iterator
from typing import NamedTuple

from verdog_objects.cursor import Cursor
from verdog_objects.nodes import Entry
from verdog_objects.oid import Oid
from verdog_objects.store import ObjectReader


class Change(NamedTuple):
    """One key that two manifests differ in: added when `before` is None, removed when `after` is."""

    key: bytes
    before: Entry | None
    after: Entry | None


def diff(reader: ObjectReader, before: Oid, after: Oid) -> Iterator[Change]:
    """Yield the differences of two manifests in key order.

    Raises:
        NotFound: a node is not stored.
        Corrupt: a node is damaged or does not fit below its parent.

    Cost: O(changes * log N) nodes read.
    """
    if before == after:
        return
    left, right = Cursor(reader, before), Cursor(reader, after)
    while not (left.at_end or right.at_end):
        if left.key == right.key:
            yield from _step_both(left, right)
        elif left.key < right.key:
            yield from _step_one(left, removed=True)
        else:
            yield from _step_one(right, removed=False)
    while not left.at_end:
        yield from _step_one(left, removed=True)
    while not right.at_end:
        yield from _step_one(right, removed=False)


def _step_both(left: Cursor, right: Cursor) -> Iterator[Change]:
    """Move on from one key in both: past what is equal, down into what differs."""
    if left.node.level > right.node.level:
        left.expand()
    elif left.node.level < right.node.level:
        right.expand()
    elif left.node.level == 0:
        if left.entry != right.entry:
            yield Change(left.key, left.entry, right.entry)
        left.advance()
        right.advance()
    elif left.link.oid == right.link.oid:
        left.advance()
        right.advance()
    else:
        left.expand()
        right.expand()


def _step_one(cursor: Cursor, *, removed: bool) -> Iterator[Change]:
    """Move on in the manifest that is behind: what it has here, the other one lacks."""
    if cursor.node.level:
        cursor.expand()
        return
    yield Change(cursor.key, cursor.entry if removed else None, None if removed else cursor.entry)
    cursor.advance()

"""The manifest against a dictionary, with nodes so small that few entries make many levels.

Once most nodes end at boundaries, once most of them end because they are full.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.objects.counting import CountingObjects
from tests.objects.test_nodes import ENTRIES
from verdog_objects import manifest, nodes
from verdog_objects.errors import Corrupt, NotFound, VerdogError
from verdog_objects.manifest import Entry, NodeCache
from verdog_objects.oid import Kind, Oid
from verdog_objects.treediff import diff

_NUMBERED = st.integers(0, 400).map(lambda number: b"%03d" % number)
_PATHS = st.lists(st.sampled_from([b"a", b"b", b"a\1", b"a-", b"ab", b"\xff"]), min_size=1, max_size=3).map(
    b"\0".join
)
_LONG = st.builds(lambda key, length: key + b"k" * length, _NUMBERED, st.sampled_from([0, 50, 110]))
_KEYS = st.one_of(_NUMBERED, _PATHS, _LONG)
_MAPS = st.dictionaries(_KEYS, ENTRIES, max_size=60)


@pytest.fixture(scope="module", autouse=True, params=["boundaries", "forced cuts"])
def small_nodes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a node begin at every third key, or after about five keys and at every twentieth."""
    target, weight = (3, 65_000) if request.param == "boundaries" else (20, 420)
    with patch.object(nodes, "_THRESHOLD", 2**32 // target), patch.object(nodes, "_MAX_WEIGHT", weight):
        yield


class Change(NamedTuple):
    """Some entries put, and some of the keys that are there removed: the n-th of every so many."""

    put: dict[bytes, Entry]
    first: int
    step: int


_CHANGES = st.builds(
    Change,
    st.dictionaries(_KEYS, ENTRIES, max_size=12),
    st.integers(0, 20),
    st.sampled_from([1, 2, 5, 10**6]),
)


def apply_change(items: dict[bytes, Entry], change: Change) -> dict[bytes, Entry | None]:
    """Return the changes that a `Change` means for this map."""
    removed: dict[bytes, Entry | None] = dict.fromkeys(sorted(items)[change.first :: change.step])
    return removed | change.put


def without_none(items: dict[bytes, Entry | None]) -> dict[bytes, Entry]:
    return {key: entry for key, entry in items.items() if entry is not None}


@given(_MAPS, st.lists(_CHANGES, max_size=5))
def test_any_updates_give_the_root_of_the_final_map(items: dict[bytes, Entry], changes: list[Change]) -> None:
    objects = CountingObjects()
    root = manifest.build(objects, sorted(items.items()))
    for change in changes:
        edits = apply_change(items, change)
        root = manifest.update(objects, root, edits)
        items = without_none({**items, **edits})
        assert root == manifest.build(objects, sorted(items.items()))
    assert list(manifest.iterate(objects, root)) == sorted(items.items())
    assert manifest.check(objects, root).entries == len(items)


@given(_MAPS)
def test_adding_one_by_one_in_any_order_gives_the_same_root(items: dict[bytes, Entry]) -> None:
    objects = CountingObjects()
    writer = NodeCache().writer(objects)
    root = manifest.empty(writer)
    for key, entry in items.items():
        root = manifest.update(writer, root, {key: entry})
    assert root == manifest.build(objects, sorted(items.items()))


@given(_MAPS, _CHANGES, _MAPS)
def test_a_diff_is_that_of_the_dictionaries(
    before: dict[bytes, Entry], change: Change, unrelated: dict[bytes, Entry]
) -> None:
    objects = CountingObjects()
    root = manifest.build(objects, sorted(before.items()))
    edited = without_none({**before, **apply_change(before, change)})
    for after in (edited, unrelated):
        other = manifest.build(objects, sorted(after.items()))
        expected = [
            (key, before.get(key), after.get(key))
            for key in sorted({*before, *after})
            if before.get(key) != after.get(key)
        ]
        assert list(diff(objects, root, other)) == expected


@given(_MAPS, _KEYS, _KEYS)
def test_reading_is_that_of_the_dictionary(items: dict[bytes, Entry], start: bytes, stop: bytes) -> None:
    objects = CountingObjects()
    root = manifest.build(objects, sorted(items.items()))
    ordered = sorted(items.items())
    found = manifest.iterate(objects, root, start=start, stop=stop)
    assert list(found) == [(key, entry) for key, entry in ordered if start <= key < stop]
    for key in {start, stop, *items}:
        assert manifest.lookup(objects, root, key) == items.get(key)


@given(_MAPS, _PATHS)
def test_listing_is_that_of_the_dictionary(items: dict[bytes, Entry], directory: bytes) -> None:
    objects = CountingObjects()
    root = manifest.build(objects, sorted(items.items()))
    ordered = sorted(items.items())
    for name in (b"", directory):
        prefix = name + b"\0" if name else b""
        below = [(key, entry) for key, entry in ordered if key.startswith(prefix)]
        assert list(manifest.iterate_under(objects, root, name)) == below
        assert list(manifest.list_directory(objects, root, name)) == [
            (key, entry) for key, entry in below if b"\0" not in key[len(prefix) :]
        ]


@given(_MAPS, st.data())
def test_a_damaged_node_is_corrupt_or_leaves_everything_in_order(
    items: dict[bytes, Entry], data: st.DataObject
) -> None:
    objects = CountingObjects()
    root = manifest.build(objects, sorted(items.items()))
    other = manifest.update(objects, root, {b"200": None, b"zz": ENTRIES_ZZ})
    stored = sorted(oid for kind, oid in manifest.reachable(objects, root) if kind is Kind.NODE)
    damaged = data.draw(st.sampled_from(stored))
    payload = bytearray(objects.payloads[damaged])
    for _ in range(data.draw(st.integers(1, 2))):
        payload[data.draw(st.integers(0, len(payload) - 1))] ^= data.draw(st.integers(1, 255))
    objects.payloads[damaged] = bytes(payload)
    for check in (check_iterate, check_reachable, check_update, check_diff):
        try:
            check(objects, root, other)
        except VerdogError as error:
            assert isinstance(error, Corrupt | NotFound)


ENTRIES_ZZ = Entry(manifest.EntryKind.DIRECTORY, 0o700, 0, manifest.EMPTY_OID)


def check_rising(keys: list[bytes]) -> None:
    assert all(before < after for before, after in pairwise(keys))


def check_iterate(objects: CountingObjects, root: Oid, other: Oid) -> None:
    check_rising([key for key, _ in manifest.iterate(objects, root)])


def check_reachable(objects: CountingObjects, root: Oid, other: Oid) -> None:
    assert len(list(manifest.reachable(objects, root))) <= 10_000


def check_update(objects: CountingObjects, root: Oid, other: Oid) -> None:
    edited = manifest.update(objects, root, {b"100": ENTRIES_ZZ, b"300": None, b"b": None})
    check_rising([key for key, _ in manifest.iterate(objects, edited)])


def check_diff(objects: CountingObjects, root: Oid, other: Oid) -> None:
    check_rising([change.key for change in diff(objects, root, other)])

import random
from collections.abc import Callable

import pytest

from tests.objects.counting import DIRECTORY, CountingObjects, make_file, make_tree
from verdog_objects import manifest
from verdog_objects.errors import Corrupt, InvalidInput, NotFound
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind, NodeCache, Totals, key_path, path_key
from verdog_objects.nodes import Link, decode_node, make_inner, make_leaf
from verdog_objects.oid import Kind, Oid, compute_oid


@pytest.fixture
def objects() -> CountingObjects:
    return CountingObjects()


def build(objects: CountingObjects, items: dict[bytes, Entry]) -> Oid:
    return manifest.build(objects, sorted(items.items()))


@pytest.mark.parametrize("path", [b"a", b"a/b", b".a", b"a./..b/...", b"\xff\xfe", b"a\nb/ c", b"\x01/\x02"])
def test_a_path_has_a_key_and_back(path: bytes) -> None:
    assert key_path(path_key(path)) == path


@pytest.mark.parametrize(
    "path",
    [b"", b"/", b"/a", b"a/", b"a//b", b".", b"..", b"a/../b", b"a/.", b"./a", b"a\0b", b"a/" * 9000 + b"a"],
)
def test_what_is_no_relative_path_is_refused(path: bytes) -> None:
    with pytest.raises(InvalidInput):
        path_key(path)


@pytest.mark.parametrize("key", [b"", b"\0a", b"a\0", b"a\0\0b", b".", b"a\0..", b"a/b", b"../a"])
def test_a_stored_key_that_is_no_path_is_corrupt(key: bytes) -> None:
    with pytest.raises(Corrupt):
        key_path(key)


def test_what_is_below_a_directory_follows_it() -> None:
    paths = [b"a-b", b"a", b"a.txt", b"a/z", b"a/b/c", b"a/b", b"ab"]
    ordered = [key_path(key) for key in sorted(map(path_key, paths))]
    assert ordered == [b"a", b"a/b", b"a/b/c", b"a/z", b"a-b", b"a.txt", b"ab"]


def test_the_kind_of_an_entrys_object_follows_from_kind_and_size() -> None:
    oid = compute_oid(Kind.BLOB, b"x")
    assert manifest.object_kind(Entry(EntryKind.FILE, 0o644, 65_536, oid)) is Kind.BLOB
    assert manifest.object_kind(Entry(EntryKind.FILE, 0o644, 65_537, oid)) is Kind.CHUNKS
    assert manifest.object_kind(Entry(EntryKind.SYMLINK, 0o777, 3, oid)) is Kind.BLOB
    assert manifest.object_kind(Entry(EntryKind.VALUE, 0, 3, oid)) is Kind.VALUE
    assert manifest.object_kind(DIRECTORY) is None


def test_the_empty_manifest_holds_nothing(objects: CountingObjects) -> None:
    root = manifest.empty(objects)
    assert root == manifest.build(objects, [])
    assert list(manifest.iterate(objects, root)) == []
    assert list(manifest.list_directory(objects, root)) == []
    assert manifest.lookup(objects, root, b"a") is None
    assert manifest.totals(objects, root) == Totals(0, 0, 0)
    assert list(manifest.reachable(objects, root)) == [(Kind.NODE, root)]
    assert manifest.check(objects, root) == Totals(0, 0, 0)


def test_removing_everything_gives_the_empty_manifest(objects: CountingObjects) -> None:
    items = make_tree(300)
    root = manifest.update(objects, build(objects, items), dict.fromkeys(items))
    assert root == manifest.empty(objects)


def test_totals_are_those_of_the_entries(objects: CountingObjects) -> None:
    items = make_tree(500) | {b"link": Entry(EntryKind.SYMLINK, 0o777, 7, EMPTY_OID)}
    root = build(objects, items)
    size = sum(entry.size for entry in items.values())
    assert manifest.totals(objects, root) == Totals(1_003, 500, size)
    objects.reset()
    manifest.totals(objects, root)
    assert objects.reads == 1


def test_keys_out_of_order_are_refused(objects: CountingObjects) -> None:
    for keys in ([b"b", b"a"], [b"a", b"a"], [b""]):
        with pytest.raises(InvalidInput):
            manifest.build(objects, [(key, DIRECTORY) for key in keys])
    with pytest.raises(InvalidInput):
        manifest.update(objects, manifest.empty(objects), {b"": DIRECTORY})
    with pytest.raises(InvalidInput):
        manifest.update(objects, build(objects, make_tree(50)), {b"": DIRECTORY})


def test_a_key_beyond_the_limit_is_refused(objects: CountingObjects) -> None:
    with pytest.raises(InvalidInput):
        manifest.update(objects, build(objects, make_tree(50)), {b"k" * 16_385: DIRECTORY})


def test_an_update_that_changes_nothing_writes_nothing(objects: CountingObjects) -> None:
    items = make_tree(500)
    root = build(objects, items)
    objects.reset()
    same = dict(list(items.items())[::50])
    assert manifest.update(objects, root, {}) == root
    assert manifest.update(objects, root, {**same, b"absent": None, b"work\0": None}) == root
    assert objects.writes == 0


def test_listing_gives_direct_children_and_skips_what_is_below(objects: CountingObjects) -> None:
    items = make_tree(2_000)
    root = build(objects, items)
    objects.reset()
    assert [key for key, _ in manifest.list_directory(objects, root)] == [b"tick", b"work"]
    assert objects.reads < 25
    children = [key for key, _ in manifest.list_directory(objects, root, b"work")]
    assert children == [b"work\0%06d" % number for number in range(0, 2_000, 2)]
    assert [key for key, _ in manifest.list_directory(objects, root, b"tick\x00000003")] == [
        b"tick\x00000003\0out.bin"
    ]
    assert list(manifest.list_directory(objects, root, b"nothing")) == []
    assert list(manifest.list_directory(objects, root, b"tick\x00000003\0out.bin")) == []


def test_iterating_under_a_directory_leaves_neighbours_out(objects: CountingObjects) -> None:
    names = [b"a", b"a\0x", b"a\0x\0y", b"a\1", b"a-", b"ab"]
    root = build(objects, dict.fromkeys(names, DIRECTORY))
    assert [key for key, _ in manifest.iterate_under(objects, root, b"a")] == [b"a\0x", b"a\0x\0y"]
    assert [key for key, _ in manifest.list_directory(objects, root, b"a")] == [b"a\0x"]
    assert [key for key, _ in manifest.list_directory(objects, root)] == [b"a", b"a\1", b"a-", b"ab"]
    assert [key for key, _ in manifest.iterate_under(objects, root, b"")] == sorted(names)


def test_everything_reachable_is_listed_once_and_nodes_after_what_is_below(objects: CountingObjects) -> None:
    items = make_tree(400)
    root = build(objects, items)
    found = list(manifest.reachable(objects, root))
    assert len(set(found)) == len(found)
    nodes = [oid for kind, oid in found if kind is Kind.NODE]
    assert set(nodes) == set(objects.payloads)
    assert found[-1] == (Kind.NODE, root)
    blobs = {oid for kind, oid in found if kind is Kind.BLOB}
    assert blobs == {entry.oid for entry in items.values() if entry.kind is EntryKind.FILE}
    position = {oid: index for index, oid in enumerate(nodes)}
    for oid in nodes:
        assert all(position[link.oid] < position[oid] for link in decode_node(objects.payloads[oid]).links)


def test_what_was_seen_is_not_walked_again(objects: CountingObjects) -> None:
    items = make_tree(2_000)
    before = build(objects, items)
    after = manifest.update(objects, before, {b"work\0new": make_file(b"new")})
    seen: set[Oid] = set()
    for _ in manifest.reachable(objects, before, seen):
        pass
    objects.reset()
    found = list(manifest.reachable(objects, after, seen))
    assert (Kind.BLOB, make_file(b"new").oid) in found
    assert len(found) == objects.reads + 1
    assert objects.reads < 12
    assert list(manifest.reachable(objects, after, seen)) == []


def test_a_commit_on_thirty_thousand_entries_touches_a_bounded_number_of_nodes(
    objects: CountingObjects,
) -> None:
    root = build(objects, make_tree(15_000))
    worst_reads = worst_writes = 0
    for number in range(15_000, 15_060, 2):
        changes: dict[bytes, Entry | None] = {}
        for name in (b"work", b"tick"):
            directory = b"%s\x00%06d" % (name, number)
            changes |= {directory: DIRECTORY, directory + b"\0out.bin": make_file(b"%d" % number)}
        objects.reset()
        root = manifest.update(objects, root, changes)
        worst_reads = max(worst_reads, objects.reads)
        worst_writes = max(worst_writes, objects.writes)
    assert worst_reads <= 20
    assert worst_writes <= 24
    assert manifest.totals(objects, root).entries == 30_002 + 120


def test_a_change_in_the_middle_touches_a_bounded_number_of_nodes(objects: CountingObjects) -> None:
    items = make_tree(15_000)
    root = build(objects, items)
    picked = random.Random(3).sample(sorted(items), 40)
    for key in picked:
        for entry in (make_file(b"other"), None):
            objects.reset()
            manifest.update(objects, root, {key: entry})
            assert objects.reads <= 24
            assert objects.writes <= 16


def test_a_loop_of_commits_through_a_cache_reads_nothing_again(objects: CountingObjects) -> None:
    writer = NodeCache().writer(objects)
    root = manifest.build(writer, sorted(make_tree(1_000).items()))
    objects.reset()
    for number in range(50):
        root = manifest.update(writer, root, {b"work\x00%06d" % number: make_file(b"%d" % number)})
    assert objects.reads == 0


def test_a_cache_holds_no_more_than_its_capacity(objects: CountingObjects) -> None:
    root = build(objects, make_tree(2_000))
    small, large = NodeCache(2_000), NodeCache()
    for cache in (small, large):
        reader = cache.reader(objects)
        for _ in range(2):
            objects.reset()
            assert sum(1 for _ in manifest.iterate(reader, root)) == 4_002
        held = [oid for oid in objects.payloads if cache.find(oid) is not None]
        if cache is large:
            assert objects.reads == 0
        else:
            assert sum(len(objects.payloads[oid]) for oid in held) <= 2_000
            assert objects.reads > 0


def test_a_cached_writer_writes_what_a_plain_one_does(objects: CountingObjects) -> None:
    items = sorted(make_tree(100).items())
    other = CountingObjects()
    root = manifest.build(NodeCache().writer(objects), items)
    assert manifest.build(other, items) == root
    assert other.payloads == objects.payloads


def test_a_missing_node_is_not_found(objects: CountingObjects) -> None:
    root = build(objects, make_tree(300))
    lost = decode_node(objects.payloads[root]).links[-1].oid
    del objects.payloads[lost]
    for read in READS:
        with pytest.raises(NotFound):
            read(objects, root)


READS: list[Callable[[CountingObjects, Oid], object]] = [
    lambda objects, root: list(manifest.iterate(objects, root)),
    lambda objects, root: list(manifest.reachable(objects, root)),
    lambda objects, root: manifest.lookup(objects, root, b"\xff"),
    lambda objects, root: list(manifest.list_directory(objects, root)),
    lambda objects, root: manifest.update(objects, root, {b"\xff": DIRECTORY}),
    manifest.check,
]


def link(
    objects: CountingObjects,
    level: int,
    *children: bytes,
    last_key: bytes | None = None,
    last_totals: Totals | None = None,
) -> bytes:
    """Return the payload of a node above others; of the last one it may claim another first key or totals."""
    nodes = [decode_node(child) for child in children]
    keys = [node.keys[0] if node.keys else b"\xff" for node in nodes]
    links = [
        Link(objects.put(Kind.NODE, child), node.totals) for child, node in zip(children, nodes, strict=True)
    ]
    if last_key is not None:
        keys[-1] = last_key
    if last_totals is not None:
        links[-1] = Link(links[-1].oid, last_totals)
    return make_inner(level, keys, links)[1]


def leaf(*keys: bytes) -> bytes:
    return make_leaf(keys, [DIRECTORY] * len(keys))[1]


BAD_TREES: dict[str, Callable[[CountingObjects], bytes]] = {
    "keys that reach into the next node": lambda o: link(o, 1, leaf(b"a", b"c"), leaf(b"b", b"\xff")),
    "keys that reach into the next but one": lambda o: link(
        o, 2, link(o, 1, leaf(b"a"), leaf(b"x")), link(o, 1, leaf(b"d"), leaf(b"\xff"))
    ),
    "another first key than the link's": lambda o: link(o, 1, leaf(b"a"), leaf(b"d", b"\xff"), last_key=b"c"),
    "too few entries": lambda o: link(o, 1, leaf(b"a"), leaf(b"c"), last_totals=Totals(2, 0, 0)),
    "too many entries": lambda o: link(o, 1, leaf(b"a"), leaf(b"c", b"d"), last_totals=Totals(1, 0, 0)),
    "other sizes": lambda o: link(o, 1, leaf(b"a"), leaf(b"c"), last_totals=Totals(1, 0, 9)),
    "files where there are none": lambda o: link(o, 1, leaf(b"a"), leaf(b"c"), last_totals=Totals(1, 1, 0)),
    "a level left out": lambda o: link(o, 2, link(o, 1, leaf(b"a"), leaf(b"b")), leaf(b"c")),
    "a level too high": lambda o: link(o, 1, leaf(b"a"), link(o, 1, leaf(b"c"), leaf(b"d"))),
    "an empty leaf below": lambda o: link(o, 1, leaf(b"a"), leaf(), last_totals=Totals(1, 0, 0)),
    "a root with a single child": lambda o: link(o, 1, leaf(b"a", b"b")),
    "bytes that are no node": lambda o: make_inner(
        1, [b"a", b"b"], [Link(o.put(Kind.NODE, each), Totals(1, 0, 0)) for each in (leaf(b"a"), b"no node")]
    )[1],
}


@pytest.mark.parametrize("what", BAD_TREES)
def test_a_tree_whose_nodes_do_not_fit_is_corrupt(objects: CountingObjects, what: str) -> None:
    root = objects.put(Kind.NODE, BAD_TREES[what](objects))
    for read in (READS[0], READS[1], READS[5]):
        with pytest.raises(Corrupt):
            read(objects, root)


@pytest.mark.parametrize("what", BAD_TREES)
def test_seeking_to_a_node_that_does_not_fit_is_corrupt(objects: CountingObjects, what: str) -> None:
    root = objects.put(Kind.NODE, BAD_TREES[what](objects))
    key = {"keys that reach into the next node": b"a", "an empty leaf below": b"\xff"}.get(what, b"c")
    with pytest.raises(Corrupt):
        manifest.lookup(objects, root, key)
    with pytest.raises(Corrupt):
        manifest.update(objects, root, {key: make_file(b"new")})


def test_nodes_cut_elsewhere_read_in_order_but_fail_the_check(objects: CountingObjects) -> None:
    items = make_tree(6)
    keys = sorted(items)
    parts = [keys[:2], keys[2:3], keys[3:]]
    payload = link(objects, 1, *[make_leaf(part, [items[key] for key in part])[1] for part in parts])
    root = objects.put(Kind.NODE, payload)
    assert [key for key, _ in manifest.iterate(objects, root)] == keys
    with pytest.raises(Corrupt):
        manifest.check(objects, root)


def test_a_value_edit_moves_no_boundary(objects: CountingObjects) -> None:
    items = make_tree(500)
    before = build(objects, items)
    after = build(objects, dict.fromkeys(items, DIRECTORY))

    def cuts(root: Oid) -> list[tuple[int, tuple[bytes, ...]]]:
        node = decode_node(objects.payloads[root])
        return [(node.level, node.keys), *[cut for link in node.links for cut in cuts(link.oid)]]

    assert cuts(before) == cuts(after)


def test_long_keys_force_cuts_below_the_limit_of_a_node(objects: CountingObjects) -> None:
    items = {b"%04d" % number + b"k" * 4_000: DIRECTORY for number in range(400)}
    root = build(objects, items)
    assert max(map(len, objects.payloads.values())) <= 65_536
    assert dict(manifest.iterate(objects, root)) == items
    edited = manifest.update(objects, root, {b"0200" + b"k" * 4_000: None, b"0100x": DIRECTORY})
    del items[b"0200" + b"k" * 4_000]
    assert edited == build(objects, items | {b"0100x": DIRECTORY})


def test_shrinking_key_by_key_writes_nothing_that_nothing_refers_to(objects: CountingObjects) -> None:
    items = make_tree(12)
    root = build(objects, items)
    for key in list(items):
        before = set(objects.payloads)
        root = manifest.update(objects, root, {key: None})
        needed = {oid for _, oid in manifest.reachable(objects, root)}
        assert set(objects.payloads) - before <= needed

import pytest

from tests.objects.counting import DIRECTORY, CountingObjects, make_file, make_tree
from tests.objects.test_manifest import BAD_TREES
from verdog_objects import manifest
from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.oid import Kind, Oid
from verdog_objects.treediff import Change, diff


@pytest.fixture
def objects() -> CountingObjects:
    return CountingObjects()


def test_changes_come_in_key_order_with_both_sides(objects: CountingObjects) -> None:
    items = make_tree(300)
    before = manifest.build(objects, sorted(items.items()))
    key = b"work\x00000100\0out.bin"
    after = manifest.update(
        objects, before, {key: make_file(b"other"), b"work\x00000200": None, b"a": DIRECTORY}
    )
    assert list(diff(objects, before, after)) == [
        Change(b"a", None, DIRECTORY),
        Change(key, items[key], make_file(b"other")),
        Change(b"work\x00000200", DIRECTORY, None),
    ]


def test_everything_was_added_to_the_empty_manifest(objects: CountingObjects) -> None:
    items = sorted(make_tree(100).items())
    empty, full = manifest.empty(objects), manifest.build(objects, items)
    assert list(diff(objects, empty, full)) == [Change(key, None, entry) for key, entry in items]
    assert list(diff(objects, full, empty)) == [Change(key, entry, None) for key, entry in items]


def test_equal_manifests_are_not_read(objects: CountingObjects) -> None:
    root = manifest.build(objects, sorted(make_tree(100).items()))
    objects.reset()
    assert list(diff(objects, root, root)) == []
    assert objects.reads == 0


def test_three_changes_among_ten_thousand_read_few_nodes(objects: CountingObjects) -> None:
    before = manifest.build(objects, sorted(make_tree(5_000).items()))
    after = manifest.update(
        objects,
        before,
        {
            b"tick\x00000101\0out.bin": make_file(b"new"),
            b"tick\x00002002": None,
            b"work\x00004567": DIRECTORY,
        },
    )
    objects.reset()
    assert len(list(diff(objects, before, after))) <= 3
    assert objects.reads < 60


def test_an_appended_visit_reads_few_nodes(objects: CountingObjects) -> None:
    root = manifest.build(objects, sorted(make_tree(15_000).items()))
    for number in range(15_000, 15_030):
        key = b"work\x00%06d" % number
        after = manifest.update(objects, root, {key: DIRECTORY, key + b"\0out": make_file(b"x")})
        objects.reset()
        assert [change.key for change in diff(objects, root, after)] == [key, key + b"\0out"]
        assert objects.reads < 40
        root = after


@pytest.mark.parametrize("what", BAD_TREES)
def test_a_tree_whose_nodes_do_not_fit_is_corrupt(objects: CountingObjects, what: str) -> None:
    good = manifest.build(objects, [(b"a", DIRECTORY), (b"zz", DIRECTORY)])
    bad = objects.put(Kind.NODE, BAD_TREES[what](objects))
    for before, after in ((good, bad), (bad, good)):
        with pytest.raises(Corrupt):
            list(diff(objects, before, after))


def test_a_missing_root_is_not_found(objects: CountingObjects) -> None:
    root = manifest.empty(objects)
    with pytest.raises(NotFound):
        list(diff(objects, root, Oid(bytes(32))))

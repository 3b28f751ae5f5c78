"""Entries that cannot be where they are, found in a whole tree and in what a tree does not share."""

import pytest

from tests.objects.counting import DIRECTORY, CountingObjects, make_file, make_tree
from verdog_objects import manifest
from verdog_objects.manifest import Entry, EntryKind, NodeCache
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectWriter
from verdog_objects.treecheck import TreeCheck

NO_PATH = "is recorded as a path, and no path is like that"
NO_PLACE = "is recorded below what is no directory"
RESERVED = "is recorded where verdog keeps files of its own"


@pytest.fixture
def writer() -> ObjectWriter:
    return MemoryStore([]).writer()


def file(writer: ObjectWriter, content: bytes = b"x") -> Entry:
    return Entry(EntryKind.FILE, 0o644, len(content), writer.put(Kind.BLOB, content))


def link(writer: ObjectWriter, target: bytes) -> Entry:
    return Entry(EntryKind.SYMLINK, 0o777, len(target), writer.put(Kind.BLOB, target))


def build(writer: ObjectWriter, entries: dict[bytes, Entry]) -> Oid:
    return manifest.build(writer, sorted(entries.items()))


def found(check: TreeCheck, root: Oid, before: Oid | None = None) -> list[tuple[bytes, str]]:
    return [(each.path, each.reason) for each in check.check(root, before)]


def test_a_tree_as_captures_make_it_has_nothing_misplaced(writer: ObjectWriter) -> None:
    entries = {
        b"a": DIRECTORY,
        b"a\0b": DIRECTORY,
        b"a\0b\0c": file(writer),
        b"a\0.verdog": file(writer),
        b"a\0l": link(writer, b"/"),
        b"a-b": file(writer),
    }
    assert found(TreeCheck(writer), build(writer, entries)) == []


@pytest.mark.parametrize("key", [b"..", b".", b"\0a", b"a\0", b"/etc/x", b"../a"])
def test_what_is_no_path_is_named(writer: ObjectWriter, key: bytes) -> None:
    root = build(writer, {b"a": DIRECTORY, b"..": DIRECTORY, key: file(writer)})
    assert (key.replace(b"\0", b"/"), NO_PATH) in found(TreeCheck(writer), root)


def test_what_is_below_no_directory_is_named(writer: ObjectWriter) -> None:
    root = build(
        writer,
        {
            b"f": file(writer),
            b"f\0below": file(writer),
            b"l": link(writer, b"/"),
            b"l\0below": DIRECTORY,
            b"l\0below\0x": file(writer),
            b"none\0x": file(writer),
        },
    )
    assert found(TreeCheck(writer), root) == [
        (b"f/below", NO_PLACE),
        (b"l/below", NO_PLACE),
        (b"none/x", NO_PLACE),
    ]


def test_values_empty_links_and_directories_of_our_own_are_named(writer: ObjectWriter) -> None:
    root = build(
        writer,
        {
            b".verdog": file(writer),
            b"d": DIRECTORY,
            b"d\0.verdog": DIRECTORY,
            b"l": link(writer, b""),
            b"v": Entry(EntryKind.VALUE, 0, 1, writer.put(Kind.VALUE, b"x")),
        },
    )
    assert found(TreeCheck(writer), root) == [
        (b".verdog", RESERVED),
        (b"d/.verdog", RESERVED),
        (b"l", "is recorded with a target that no link has"),
        (b"v", "is recorded as a value among files"),
    ]


def test_a_target_that_no_link_has_is_named_if_targets_are_read(writer: ObjectWriter) -> None:
    root = build(writer, {b"l": link(writer, b"a\0b"), b"m": link(writer, b"a")})
    assert found(TreeCheck(writer), root) == []
    assert found(TreeCheck(writer, read_targets=True), root) == [
        (b"l", "is recorded with a target that no link has")
    ]


def test_a_tree_that_follows_another_is_judged_as_if_it_stood_alone(writer: ObjectWriter) -> None:
    """Each step breaks or mends something that the step itself does not mention."""
    below = {b"d\0f": file(writer), b"d\0s": DIRECTORY, b"d\0s\0g": file(writer)}
    steps: list[dict[bytes, Entry | None]] = [
        {b"d": DIRECTORY, **below},
        {b"d": link(writer, b"/")},
        {b"other": file(writer)},
        {b"d": None},
        {b"d\0s": None},
        {b"d": DIRECTORY},
        {b"d\0s": DIRECTORY},
        {b"d\0f": None, b"..": DIRECTORY},
        {b"..": None},
    ]
    check, before, seen = TreeCheck(writer), None, []
    for step in steps:
        root = manifest.update(writer, before or manifest.empty(writer), step)
        following = found(check, root, before)
        assert following == found(TreeCheck(writer), root)
        seen.append([path for path, _ in following])
        before = root
    assert seen == [
        [],
        [b"d/f", b"d/s"],
        [b"d/f", b"d/s"],
        [b"d/f", b"d/s"],
        [b"d/f", b"d/s/g"],
        [b"d/s/g"],
        [],
        [b".."],
        [],
    ]


def test_only_what_changed_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NodeCache, "find", lambda self, oid: None)
    objects = CountingObjects()
    first = manifest.build(objects, sorted(make_tree(5_000).items()))
    check = TreeCheck(objects)
    assert found(check, first) == []
    root = manifest.update(objects, first, {b"work\x00002500\0new": make_file(b"new")})
    objects.reset()
    assert found(check, root, first) == []
    assert objects.reads < 40
    assert found(check, root, None) == []
    assert objects.reads < 40

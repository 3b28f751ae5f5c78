# Names are bytes here, which pathlib does not take.
# ruff: noqa: PTH101, PTH102, PTH118, PTH123, PTH208, PTH211
import errno
import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.objects.trees import UnsyncedDisk, build, capture_all, record, snapshot, unprivileged
from verdog_objects import durable, filewriter, manifest
from verdog_objects.checkout import materialise, staged_rebased
from verdog_objects.chunking import decode_chunks, encode_chunks
from verdog_objects.errors import Corrupt, InvalidInput, NotFound, Unavailable
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind, Totals
from verdog_objects.memory import MemoryStore, MemoryWriter
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.sqlite import create_store, open_store
from verdog_objects.staging import remove_tree
from verdog_objects.store import ObjectReader, ObjectWriter
from verdog_objects.verify import verify_tree


@pytest.fixture(autouse=True, scope="module")
def unsynced() -> Iterator[None]:
    with durable.replaced(UnsyncedDisk()):
        yield


def write(path: Path, data: bytes = b"x", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    write(source / "a/b/f", b"one")
    write(source / "a/b/g", b"two", 0o755)
    write(source / "a/c/large", os.urandom(500_000))
    write(source / "a-b", b"three")
    (source / "link").symlink_to("a/b/f")
    return source


@pytest.fixture
def writer() -> MemoryWriter:
    return MemoryStore([]).writer()


def make_file(writer: ObjectWriter, data: bytes, mode: int = 0o644) -> Entry:
    return Entry(EntryKind.FILE, mode, len(data), writer.put(Kind.BLOB, data))


def record_on_disk(source: Path, directory: Path) -> Oid:
    store = create_store(directory, [])
    try:
        with store.writer() as writer:
            captured = capture_all(writer, source)
            root = build(writer, captured.entries)
            store.apply(writer)
        return root
    finally:
        store.close()


def assert_refused(
    reader: ObjectReader, root: Oid, destination: Path, error: type[Exception], match: str
) -> None:
    before = snapshot(destination.parent)
    with pytest.raises(error, match=match):
        materialise(reader, root, destination, preserve_special=False)
    assert snapshot(destination.parent) == before


def test_a_whole_tree_is_written_and_counted(source: Path, tmp_path: Path) -> None:
    reader, root = record(source)
    totals = materialise(reader, root, tmp_path / "x/y", preserve_special=False)
    assert snapshot(tmp_path / "x/y") == snapshot(source)
    assert totals == Totals(8, 4, 500_011 + len("a/b/f"))


def test_an_empty_tree_is_an_empty_directory(tmp_path: Path, writer: MemoryWriter) -> None:
    totals = materialise(writer, manifest.empty(writer), tmp_path / "d", preserve_special=False)
    assert totals == Totals(0, 0, 0)
    assert snapshot(tmp_path / "d") == {}


NAMES = st.sampled_from([b"a", b"a-", b"a.b", b"A", b"\x01", b"\xff", b" ", b"..a"])
LEAVES = st.one_of(
    st.tuples(st.just("file"), st.sampled_from([0o400, 0o644, 0o755]), st.binary(max_size=40)),
    st.tuples(st.just("link"), st.just(0), st.sampled_from([b"a", b"../a", b"/", b"\xfe"])),
    st.tuples(st.just("directory"), st.sampled_from([0o555, 0o700, 0o1777]), st.just(b"")),
)


@settings(max_examples=20)
@given(tree=st.dictionaries(st.lists(NAMES, min_size=1, max_size=4).map(tuple), LEAVES, max_size=12))
def test_any_tree_survives(tree: dict[tuple[bytes, ...], tuple[str, int, bytes]]) -> None:
    with unprivileged() as directory:
        source = os.fsencode(directory / "source")
        os.mkdir(source)
        modes: dict[tuple[bytes, ...], int] = {(): 0o755}
        for names, (kind, mode, content) in sorted(tree.items()):
            if any(names[:end] in tree and names[:end] not in modes for end in range(len(names))):
                continue  # below a file or link
            for end in range(1, len(names)):
                if names[:end] not in modes:
                    modes[names[:end]] = 0o750
                    os.mkdir(os.path.join(source, *names[:end]))
            path = os.path.join(source, *names)
            if kind == "link":
                os.symlink(content, path)
            elif kind == "directory":
                modes[names] = mode
                os.mkdir(path)
            else:
                with open(path, "xb") as file:
                    file.write(content)
                os.chmod(path, mode)
        for names, mode in reversed(modes.items()):
            os.chmod(os.path.join(source, *names), mode)
        reader, root = record(directory / "source")
        materialise(reader, root, directory / "d", preserve_special=False)
        assert snapshot(directory / "d") == snapshot(directory / "source")
        assert verify_tree(reader, root, directory / "d") == []


def test_chosen_paths_come_with_the_directories_above_them(source: Path, tmp_path: Path) -> None:
    (source / "a").chmod(0o710)
    reader, root = record(source)
    destination = tmp_path / "d"
    totals = materialise(
        reader, root, destination, preserve_special=False, only=[b"a/c/", b"a/b/g", b"a/c/large", b"link"]
    )
    expected = {b"a", b"a/b", b"a/b/g", b"a/c", b"a/c/large", b"link"}
    assert snapshot(destination) == {
        path: what for path, what in snapshot(source).items() if path in expected
    }
    assert totals.entries == 6
    assert totals.files == 2


def test_a_chosen_path_that_is_not_there_is_named(source: Path, tmp_path: Path) -> None:
    reader, root = record(source)
    for path in (b"a/nope\n", b"a/b/f/g"):
        with pytest.raises(NotFound) as caught:
            materialise(reader, root, tmp_path / "d", preserve_special=False, only=[b"a", path])
        assert caught.value.paths == (path,)
        assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInput):
        materialise(reader, root, tmp_path / "d", preserve_special=False, only=[b"../x"])
    assert not (tmp_path / "d").exists()


def test_a_tree_over_the_bound_is_refused_before_anything_is_written(source: Path, tmp_path: Path) -> None:
    reader, root = record(source)
    with pytest.raises(InvalidInput, match="500016 bytes"):
        materialise(reader, root, tmp_path / "d", preserve_special=False, max_bytes=500_015)
    with pytest.raises(InvalidInput, match="6 bytes"):
        materialise(reader, root, tmp_path / "d", preserve_special=False, max_bytes=5, only=[b"a/b"])
    assert os.listdir(tmp_path) == ["source"]
    materialise(reader, root, tmp_path / "d", preserve_special=False, max_bytes=500_016)


def test_setuid_and_setgid_are_dropped_unless_they_are_kept(tmp_path: Path) -> None:
    write(tmp_path / "source/f", mode=0o6755)
    (tmp_path / "source/d").mkdir()
    (tmp_path / "source/d").chmod(0o3775)
    reader, root = record(tmp_path / "source")
    materialise(reader, root, tmp_path / "plain", preserve_special=False)
    materialise(reader, root, tmp_path / "kept", preserve_special=True)
    assert stat.S_IMODE((tmp_path / "plain/f").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "plain/d").stat().st_mode) == 0o1775
    assert stat.S_IMODE((tmp_path / "kept/f").stat().st_mode) == 0o6755
    assert stat.S_IMODE((tmp_path / "kept/d").stat().st_mode) == 0o3775


def test_a_directory_that_passes_on_its_group_does_not_show(source: Path, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    parent.chmod(0o2755)
    reader, root = record(source)
    materialise(reader, root, parent / "d", preserve_special=False)
    assert snapshot(parent / "d") == snapshot(source)


def test_holes_stay_holes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    with (source / "f").open("wb") as file:
        file.seek(5 << 20)
        file.write(b"end")
        file.truncate(9 << 20)
    reader, root = record(source)
    materialise(reader, root, tmp_path / "d", preserve_special=False)
    assert (tmp_path / "d/f").read_bytes() == (source / "f").read_bytes()
    assert (tmp_path / "d/f").stat().st_blocks * 512 < 1 << 20


def test_a_missing_blob_is_named_with_its_path(tmp_path: Path, writer: MemoryWriter) -> None:
    lost = compute_oid(Kind.BLOB, b"lost")
    root = build(writer, {b"f": make_file(writer, b"x"), b"g\n": Entry(EntryKind.FILE, 0o644, 4, lost)})
    assert_refused(writer, root, tmp_path / "d", Corrupt, rf"^g\\n: object {lost.hex()} is missing")


def test_a_missing_chunk_is_named_with_its_path(tmp_path: Path, writer: MemoryWriter) -> None:
    lost = compute_oid(Kind.CHUNK, b"lost")
    held = bytes(70_000)
    chunks = writer.put(Kind.CHUNKS, encode_chunks([(writer.put(Kind.CHUNK, held), len(held)), (lost, 4)]))
    root = build(writer, {b"f": Entry(EntryKind.FILE, 0o644, len(held) + 4, chunks)})
    assert_refused(writer, root, tmp_path / "d", Corrupt, f"f: object {lost.hex()} is missing")


def test_a_missing_node_is_damage(tmp_path: Path, writer: MemoryWriter) -> None:
    root = build(writer, {b"f%d" % index: make_file(writer, b"x") for index in range(200)})
    store = MemoryStore([])
    (top,) = store.put_many([(Kind.NODE, writer.get(Kind.NODE, root))])
    assert top == root
    assert_refused(store, root, tmp_path / "d", Corrupt, "damaged")


def test_content_of_another_length_than_recorded_is_refused(tmp_path: Path, writer: MemoryWriter) -> None:
    entry = make_file(writer, b"four")._replace(size=5)
    assert_refused(writer, build(writer, {b"f": entry}), tmp_path / "d", Corrupt, "has 4 bytes, recorded 5")
    piece = writer.put(Kind.CHUNK, bytes(70_000))
    for length, size_bytes in ((70_001, 70_001), (70_000, 70_001)):
        chunks = writer.put(Kind.CHUNKS, encode_chunks([(piece, length)]))
        entry = Entry(EntryKind.FILE, 0o644, size_bytes, chunks)
        assert_refused(writer, build(writer, {b"f": entry}), tmp_path / "d", Corrupt, "bytes")


def test_an_object_of_another_kind_is_refused(tmp_path: Path, writer: MemoryWriter) -> None:
    entry = Entry(EntryKind.FILE, 0o644, 4, writer.put(Kind.VALUE, b"four"))
    with pytest.raises(Corrupt):
        materialise(writer, build(writer, {b"f": entry}), tmp_path / "d", preserve_special=False)
    store = MemoryStore([])
    with store.writer() as staged:
        root = build(staged, {b"f": entry._replace(oid=staged.put(Kind.VALUE, b"four"))})
        store.apply(staged)
    assert_refused(store, root, tmp_path / "d", Corrupt, "is a VALUE, recorded as a BLOB")


def test_a_link_with_no_possible_target_is_refused(tmp_path: Path, writer: MemoryWriter) -> None:
    for target in (b"", b"a\0b"):
        entry = Entry(EntryKind.SYMLINK, 0o777, len(target), writer.put(Kind.BLOB, target))
        assert_refused(writer, build(writer, {b"l": entry}), tmp_path / "d", Corrupt, "target")


def test_a_value_among_files_is_refused(tmp_path: Path, writer: MemoryWriter) -> None:
    entry = Entry(EntryKind.VALUE, 0, 4, writer.put(Kind.VALUE, b"four"))
    assert_refused(writer, build(writer, {b"v": entry}), tmp_path / "d", Corrupt, "recorded as a VALUE")


def test_a_name_too_long_for_the_disk_is_named(tmp_path: Path, writer: MemoryWriter) -> None:
    root = build(writer, {b"n" * 300: make_file(writer, b"x")})
    assert_refused(writer, root, tmp_path / "d", Unavailable, "nnn: File name too long")


class FullDisk(UnsyncedDisk):
    """Has no room for one content."""

    def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
        if bytes(buffers[0]) == b"two":
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(fd, buffers, offset)


def test_a_full_disk_names_the_path_and_leaves_nothing(source: Path, tmp_path: Path) -> None:
    reader, root = record(source)
    with durable.replaced(FullDisk()), pytest.raises(Unavailable, match="a/b/g: No space left") as caught:
        materialise(reader, root, tmp_path / "d", preserve_special=False)
    assert caught.value.paths == (b"a/b/g",)
    assert os.listdir(tmp_path) == ["source"]


@pytest.mark.root
def test_a_disk_that_is_really_full_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for index in range(40):
        write(source / f"{index}", os.urandom(50_000))
    reader, root = record(source)
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], check=True)
    try:
        with pytest.raises(Unavailable, match="No space left"):
            materialise(reader, root, small / "d", preserve_special=False)
        assert os.listdir(small) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_mode_that_the_system_refuses_is_an_error_not_a_silent_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "source/f", mode=0o2755)
    reader, root = record(tmp_path / "source")
    original = os.fchmod
    monkeypatch.setattr(filewriter.os, "fchmod", lambda file, mode: original(file, mode & ~0o2000))
    with pytest.raises(Unavailable, match="f: the system refused mode 2755"):
        materialise(reader, root, tmp_path / "d", preserve_special=True)
    assert os.listdir(tmp_path) == ["source"]


def test_objects_are_read_in_batches_where_the_reader_can(source: Path, tmp_path: Path) -> None:
    writer, root = record(source)
    store = MemoryStore([])
    staged = store.writer()
    for kind, oid in manifest.reachable(writer, root):
        staged.put(kind, writer.get(kind, oid))
        if kind is Kind.CHUNKS:
            for chunk, _ in decode_chunks(writer.get(kind, oid)):
                staged.put(Kind.CHUNK, writer.get(Kind.CHUNK, chunk))
    store.apply(staged)
    materialise(store, root, tmp_path / "d", preserve_special=False)
    assert snapshot(tmp_path / "d") == snapshot(source)


def test_a_tree_comes_back_from_a_store_on_disk(source: Path, tmp_path: Path) -> None:
    root = record_on_disk(source, tmp_path / "store")
    store = open_store(tmp_path / "store", [])
    try:
        materialise(store, root, tmp_path / "d", preserve_special=False)
        assert verify_tree(store, root, tmp_path / "d") == []
    finally:
        store.close()
    assert snapshot(tmp_path / "d") == snapshot(source)


@pytest.mark.parametrize("name", ["a/b/f", "a/c/large"])
def test_a_damaged_object_is_named_with_its_path_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    source = tmp_path / "source"
    write(source / name, os.urandom(200_000 if "large" in name else 20_000))
    root = record_on_disk(source, tmp_path / "store")
    for pack in (tmp_path / "store/packs").iterdir():
        data = bytearray(pack.read_bytes())
        data[len(data) // 2] ^= 1
        pack.write_bytes(data)
    store = open_store(tmp_path / "store", [])
    try:
        for match in (rf"^{name}: object .* is damaged", rf"^{name}: object .* is (missing|damaged)"):
            with pytest.raises(Corrupt, match=match) as caught:
                materialise(store, root, tmp_path / "d", preserve_special=False)
            assert caught.value.paths == (name.encode(),)
    finally:
        store.close()
    assert sorted(os.listdir(tmp_path)) == ["source", "store"]


def test_links_into_the_old_place_point_into_the_new_one(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    old = os.fsencode(source)
    targets = {
        b"in": old + b"/a/b",
        b"at": old,
        b"beside": old + b"-2/x",
        b"out": b"/etc/passwd",
        b"rel": b"../x",
    }
    for name, target in targets.items():
        os.symlink(target, os.path.join(old, name))
    writer, root = record(source)
    with staged_rebased(
        writer, root, tmp_path / "fork", old_prefix=old + b"/", new_prefix=b"/new/place"
    ) as rebased:
        assert not (tmp_path / "fork").exists()
        rebased.publish()
    found = {path: target for path, (_, target) in snapshot(tmp_path / "fork").items()}
    assert found == {**targets, b"in": b"/new/place/a/b", b"at": b"/new/place"}
    assert sorted(rebased.changed) == [b"at", b"in"]
    assert rebased.totals.entries == 5
    changes = {manifest.path_key(path): entry for path, entry in rebased.changed.items()}
    new_root = manifest.update(writer, root, changes)
    assert verify_tree(writer, new_root, tmp_path / "fork") == []


def test_links_are_rebased_only_between_absolute_places(tmp_path: Path, writer: MemoryWriter) -> None:
    for old, new in ((b"a", b"/b"), (b"/a", b"b"), (b"/", b"/b"), (b"/a", b"")):
        staged = staged_rebased(
            writer, manifest.empty(writer), tmp_path / "d", old_prefix=old, new_prefix=new
        )
        with pytest.raises(InvalidInput), staged:
            pass


def test_a_staged_tree_that_is_not_published_is_removed(tmp_path: Path, writer: MemoryWriter) -> None:
    root = build(writer, {b"f": Entry(EntryKind.FILE, 0o644, 1, writer.put(Kind.BLOB, b"x"))})
    with (
        pytest.raises(KeyError),
        staged_rebased(writer, root, tmp_path / "d", old_prefix=b"/a", new_prefix=b"/b"),
    ):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_directories_deeper_than_any_path_can_be(tmp_path: Path, writer: MemoryWriter) -> None:
    entries = {
        b"/".join([b"directory"] * depth): Entry(EntryKind.DIRECTORY, 0o555, 0, EMPTY_OID)
        for depth in range(1, 450)
    }
    root = build(writer, entries)
    materialise(writer, root, tmp_path / "d", preserve_special=False)
    assert verify_tree(writer, root, tmp_path / "d") == []
    remove_tree(tmp_path / "d")

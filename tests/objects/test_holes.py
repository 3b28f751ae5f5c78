"""Files with holes: stored as the zeros that they read as, without reading them, and with holes again."""

import errno
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.objects.trees import build, capture_all, record
from verdog_objects import filereader
from verdog_objects.capture import Captured, ProblemCode
from verdog_objects.checkout import materialise
from verdog_objects.chunking import decode_chunks, encode_chunks
from verdog_objects.errors import Corrupt
from verdog_objects.holes import Holes
from verdog_objects.memory import MemoryStore
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind
from verdog_objects.verify import verify_tree

BLOCK = 4096
GIB = 1 << 30


def write_extents(path: Path, size_bytes: int, extents: dict[int, bytes]) -> Path:
    """Write a file of a size that has data at some offsets only."""
    with path.open("wb") as file:
        for offset, data in extents.items():
            file.seek(offset)
            file.write(data)
        file.truncate(size_bytes)
    return path


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """A directory with a file of 8 GiB, a little of which is data."""
    (tmp_path / "source").mkdir()
    extents = {0: os.urandom(100_000), 3 * GIB + 123: b"middle", 8 * GIB - 3: b"end"}
    write_extents(tmp_path / "source" / "f", 8 * GIB, extents)
    return tmp_path / "source"


class ReadBytes:
    """Counts what is read of files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.total = 0
        original = os.pread

        def pread(file: int, count: int, position: int) -> bytes:
            data = original(file, count, position)
            self.total += len(data)
            return data

        monkeypatch.setattr(os, "pread", pread)


def test_holes_are_not_read(sparse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = ReadBytes(monkeypatch)
    reader, root = record(sparse)
    assert read.total < 16 << 20
    assert list(verify_tree(reader, root, sparse)) == []
    assert read.total < 32 << 20


def test_holes_are_holes_again(sparse: Path, tmp_path: Path) -> None:
    reader, root = record(sparse)
    materialise(reader, root, tmp_path / "out", preserve_special=True)
    written = (tmp_path / "out" / "f").stat()
    assert written.st_size == 8 * GIB
    assert written.st_blocks * 512 < 4 << 20
    assert list(verify_tree(reader, root, tmp_path / "out")) == []


@pytest.mark.parametrize("offset", [0, GIB + 7, 3 * GIB + 124, 8 * GIB - 1])
def test_one_byte_in_a_hole_or_beside_it_is_a_difference(sparse: Path, offset: int) -> None:
    reader, root = record(sparse)
    with (sparse / "f").open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 1]))
    assert [each.path for each in verify_tree(reader, root, sparse)] == [b"f"]


_PIECES = st.lists(
    st.tuples(st.booleans(), st.sampled_from([1, 100, BLOCK, 70_000, 262_144, 1 << 20, 1_500_000])),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15)
@given(_PIECES)
def test_a_file_is_stored_the_same_with_holes_and_without(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[bool, int]]
) -> None:
    root = tmp_path_factory.mktemp("pieces")
    ends = [0]
    for _, count in pieces:
        ends.append(ends[-1] + count)
    extents = {
        begin: os.urandom(end - begin)
        for (begin, end), (is_data, _) in zip(pairwise(ends), pieces, strict=True)
        if is_data
    }
    write_extents(root / "holes", ends[-1], extents)
    (root / "dense").write_bytes((root / "holes").read_bytes())
    entries = captured_of(root).entries
    assert entries[b"holes"].oid == entries[b"dense"].oid


def captured_of(directory: Path) -> Captured:
    return capture_all(MemoryStore([]).writer(), directory)


def test_a_file_system_that_does_not_tell_its_holes_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_extents(tmp_path / "f", 3 << 20, {1 << 20: b"data"})
    told = captured_of(tmp_path).entries

    def refuse(file: int, position: int, how: int) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "lseek", refuse)
    assert captured_of(tmp_path).entries == told


def test_what_is_written_into_a_hole_while_the_file_is_read_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_extents(tmp_path / "f", 8 << 20, {0: b"begin"})
    original, left = Holes.end_of_hole, [1]

    def end_of_hole(holes: Holes, position: int) -> int:
        found = original(holes, position)
        if left[0] and found > position:
            left[0] -= 1
            with file.open("r+b") as opened:
                opened.seek(4 << 20)
                opened.write(b"late")
        return found

    monkeypatch.setattr(filereader.Holes, "end_of_hole", end_of_hole)
    writer = MemoryStore([]).writer()
    entry = capture_all(writer, tmp_path).entries[b"f"]
    chunks = decode_chunks(writer.get(Kind.CHUNKS, entry.oid), entry.size)
    assert b"late" in b"".join(writer.get(Kind.CHUNK, oid) for oid, _ in chunks)


def test_a_file_of_more_chunks_than_a_list_may_have_is_named_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_extents(tmp_path / "f", 3 << 40, {0: b"begin"})
    read = ReadBytes(monkeypatch)
    captured = captured_of(tmp_path)
    (problem,) = captured.problems
    assert (problem.path, problem.code) == (b"f", ProblemCode.UNREADABLE)
    assert "too large" in problem.reason
    assert read.total == 0


def test_a_list_of_one_chunk_over_and_over_that_is_not_as_long_as_it_says_is_refused(tmp_path: Path) -> None:
    writer = MemoryStore([]).writer()
    chunk = writer.put(Kind.CHUNK, bytes(100_000))
    lying = writer.put(Kind.CHUNKS, encode_chunks([(chunk, 100_000), (chunk, 50_000)]))
    root = build(writer, {b"f": Entry(EntryKind.FILE, 0o644, 150_000, lying)})
    with pytest.raises(Corrupt, match="has 100000 bytes, recorded 50000"):
        materialise(writer, root, tmp_path / "out", preserve_special=True)

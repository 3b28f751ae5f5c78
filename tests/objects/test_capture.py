import errno
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.objects.trees import capture_all, exclude_nothing, exclude_verdog, unprivileged
from verdog_objects import filereader
from verdog_objects.capture import ProblemCode, capture_directories, capture_tree
from verdog_objects.chunking import INLINE_LIMIT, decode_chunks
from verdog_objects.errors import InvalidInput, NotFound, Unavailable
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.memory import MemoryStore, MemoryWriter
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.signatures import Signatures
from verdog_objects.staging import remove_tree
from verdog_objects.sweep import sweep


@pytest.fixture
def writer() -> Iterator[MemoryWriter]:
    with MemoryStore([]).writer() as writer:
        yield writer


def write(path: Path, data: bytes = b"x", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_a_small_file_is_one_blob(tmp_path: Path, writer: MemoryWriter) -> None:
    write(tmp_path / "f", b"hello", 0o640)
    captured = capture_all(writer, tmp_path)
    assert captured.entries == {b"f": Entry(EntryKind.FILE, 0o640, 5, compute_oid(Kind.BLOB, b"hello"))}
    assert writer.get(Kind.BLOB, captured.entries[b"f"].oid) == b"hello"
    assert (captured.files, captured.size_bytes) == (1, 5)


@pytest.mark.parametrize("size_bytes", [0, 1, INLINE_LIMIT - 1, INLINE_LIMIT])
def test_up_to_the_limit_a_file_is_a_blob(tmp_path: Path, writer: MemoryWriter, size_bytes: int) -> None:
    write(tmp_path / "f", bytes(size_bytes))
    entry = capture_all(writer, tmp_path).entries[b"f"]
    assert writer.get(Kind.BLOB, entry.oid) == bytes(size_bytes)


def test_a_larger_file_is_a_list_of_chunks_that_add_up(tmp_path: Path, writer: MemoryWriter) -> None:
    data = os.urandom(3_000_000)
    write(tmp_path / "f", data)
    entry = capture_all(writer, tmp_path).entries[b"f"]
    chunks = decode_chunks(writer.get(Kind.CHUNKS, entry.oid), entry.size)
    assert b"".join(writer.get(Kind.CHUNK, oid) for oid, _ in chunks) == data
    assert len(chunks) > 1


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even small large files are read ahead of being stored."""
    monkeypatch.setattr(filereader, "AHEAD_FROM_BYTES", 1)
    monkeypatch.setattr(filereader, "READ_BYTES", 100_000)


def test_reading_ahead_finds_the_same_chunks(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "f", os.urandom(3_000_000))
    behind = capture_all(writer, tmp_path).entries[b"f"]
    monkeypatch.setattr(filereader, "AHEAD_FROM_BYTES", 1)
    assert capture_all(writer, tmp_path).entries[b"f"] == behind


@pytest.mark.usefixtures("ahead")
def test_a_read_that_fails_ahead_is_a_problem_of_the_file(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "f", os.urandom(1_000_000))
    original, left = os.pread, [3]

    def read(opened: int, count: int, position: int) -> bytes:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EIO, "Input/output error")
        return original(opened, count, position)

    monkeypatch.setattr(os, "pread", read)
    captured = capture_all(writer, tmp_path)
    assert [(each.path, each.code) for each in captured.problems] == [(b"f", ProblemCode.UNREADABLE)]


@pytest.mark.usefixtures("ahead")
def test_a_store_that_refuses_leaves_no_thread_behind(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "f", os.urandom(1_000_000))

    def put(kind: Kind, payload: bytes) -> Oid:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(writer, "put", put)
    before = threading.active_count()
    with pytest.raises(Unavailable):
        capture_all(writer, tmp_path)
    assert threading.active_count() == before


def test_a_visit_brings_its_directory_and_those_above_and_nothing_beside(
    tmp_path: Path, writer: MemoryWriter
) -> None:
    write(tmp_path / "nodes/work/000001/f")
    write(tmp_path / "nodes/work/000002/deep/g")
    write(tmp_path / "nodes/other/000001/f")
    captured = capture_tree(writer, tmp_path, [b"nodes/work/000002"], excluded=exclude_nothing)
    assert sorted(captured.entries) == [
        b"nodes",
        b"nodes/work",
        b"nodes/work/000002",
        b"nodes/work/000002/deep",
        b"nodes/work/000002/deep/g",
    ]
    assert captured.entries[b"nodes"] == Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)


def test_directories_that_are_recorded_are_not_given_again(tmp_path: Path, writer: MemoryWriter) -> None:
    write(tmp_path / "nodes/work/000001/f")
    write(tmp_path / "nodes/work/000002/f")
    memory = Signatures()
    capture_tree(writer, tmp_path, [b"nodes/work/000001"], excluded=exclude_nothing, memory=memory)
    captured = capture_tree(writer, tmp_path, [b"nodes/work/000002"], excluded=exclude_nothing, memory=memory)
    assert sorted(captured.entries) == [b"nodes/work/000002", b"nodes/work/000002/f"]
    assert captured.reread == ()


def test_what_is_settled_and_unchanged_is_skipped(tmp_path: Path, writer: MemoryWriter) -> None:
    file = write(tmp_path / "child/f")
    memory = Signatures(clock=lambda: file.stat().st_ctime_ns + 10**10)
    capture_all(writer, tmp_path, memory)
    write(tmp_path / "child/g", b"new")
    assert sorted(capture_all(writer, tmp_path, memory).entries) == [b"child/g"]


def test_what_changed_since_it_was_recorded_is_read_again_and_named(
    tmp_path: Path, writer: MemoryWriter
) -> None:
    file = write(tmp_path / "f", b"before")
    memory = Signatures(clock=lambda: file.stat().st_ctime_ns + 10**10)
    capture_all(writer, tmp_path, memory)
    write(file, b"after!")
    captured = capture_all(writer, tmp_path, memory)
    assert captured.reread == (b"f",)
    assert captured.entries[b"f"].oid == compute_oid(Kind.BLOB, b"after!")


def test_what_was_recorded_and_is_gone_is_named(tmp_path: Path, writer: MemoryWriter) -> None:
    write(tmp_path / "d/e/f")
    write(tmp_path / "d/g")
    write(tmp_path / "d/h")
    memory = Signatures()
    capture_all(writer, tmp_path, memory)
    (tmp_path / "d/e/f").unlink()
    (tmp_path / "d/e").rmdir()
    (tmp_path / "d/h").unlink()
    assert sorted(capture_all(writer, tmp_path, memory).missing) == [b"d/e", b"d/e/f", b"d/h"]


def test_a_directory_that_became_a_file_leaves_what_was_below_it_missing(
    tmp_path: Path, writer: MemoryWriter
) -> None:
    write(tmp_path / "d/e/f")
    memory = Signatures()
    capture_all(writer, tmp_path, memory)
    (tmp_path / "d/e/f").unlink()
    (tmp_path / "d/e").rmdir()
    write(tmp_path / "d/e", b"now a file")
    captured = capture_all(writer, tmp_path, memory)
    assert captured.missing == (b"d/e/f",)
    assert captured.reread == (b"d/e",)
    assert captured.entries[b"d/e"].kind is EntryKind.FILE


def test_a_change_that_a_capture_read_is_still_found_by_the_next_sweep(
    tmp_path: Path, writer: MemoryWriter
) -> None:
    file = write(tmp_path / "d/f", b"before")
    memory = Signatures(clock=lambda: file.stat().st_ctime_ns + 10**10)
    recorded = capture_all(writer, tmp_path, memory).entries
    write(file, b"after!")
    file.parent.chmod(0o700)
    capture_all(writer, tmp_path, memory)
    swept = sweep(writer, tmp_path, memory, recorded.get, excluded=exclude_nothing)
    assert [each.path for each in swept.changed] == [b"d", b"d/f"]


@pytest.mark.parametrize("path", [b"..", b"a/../b", b"/etc", b"a//b", b"a/", b"."])
def test_a_path_that_leads_out_of_the_output_is_refused(
    tmp_path: Path, writer: MemoryWriter, path: bytes
) -> None:
    with pytest.raises(InvalidInput):
        capture_tree(writer, tmp_path, [path], excluded=exclude_nothing)


def test_a_visit_directory_that_is_gone_adds_nothing(tmp_path: Path, writer: MemoryWriter) -> None:
    (tmp_path / "nodes").mkdir()
    captured = capture_tree(writer, tmp_path, [b"nodes/work/000001", b"gone"], excluded=exclude_nothing)
    assert sorted(captured.entries) == [b"nodes"]
    assert captured.problems == ()


def test_a_link_in_place_of_a_parent_is_recorded_and_not_followed(
    tmp_path: Path, writer: MemoryWriter
) -> None:
    write(tmp_path / "outside/work/secret")
    (tmp_path / "output").mkdir()
    (tmp_path / "output/nodes").symlink_to(tmp_path / "outside")
    captured = capture_tree(writer, tmp_path / "output", [b"nodes/work"], excluded=exclude_nothing)
    assert {path: entry.kind for path, entry in captured.entries.items()} == {b"nodes": EntryKind.SYMLINK}
    assert [(each.path, each.code) for each in captured.problems] == [(b"nodes", ProblemCode.BLOCKED)]


def test_what_the_caller_excludes_is_not_even_opened(tmp_path: Path, writer: MemoryWriter) -> None:
    write(tmp_path / ".verdog/lock")
    write(tmp_path / "sub/.verdog/lock")
    write(tmp_path / "sub/f")
    os.mkfifo(tmp_path / ".verdog/fifo")
    captured = capture_tree(writer, tmp_path, [b""], excluded=exclude_verdog)
    assert sorted(captured.entries) == [b"sub", b"sub/f"]
    assert captured.problems == ()


def test_directories_alone_come_with_those_above(tmp_path: Path, writer: MemoryWriter) -> None:
    write(tmp_path / "a/b/f")
    memory = Signatures()
    captured = capture_directories(writer, tmp_path, [b"a/b"], memory=memory)
    assert sorted(captured.entries) == [b"a", b"a/b"]
    (tmp_path / "a/c").mkdir()
    captured = capture_directories(writer, tmp_path, [b"a/b", b"a/c"], memory=memory)
    assert sorted(captured.entries) == [b"a/c"]


def test_a_file_its_user_cannot_read_is_named() -> None:
    with unprivileged() as output, MemoryStore([]).writer() as writer:
        write(output / "f", mode=0)
        write(output / "d/g").parent.chmod(0)
        write(output / "ok")
        captured = capture_all(writer, output)
        assert sorted(captured.entries) == [b"d", b"ok"]
        assert {each.path: each.code for each in captured.problems} == {
            b"f": ProblemCode.UNREADABLE,
            b"d": ProblemCode.UNREADABLE,
        }
        assert all("ermission" in each.reason for each in captured.problems)


def test_a_path_too_long_for_a_manifest_is_named(tmp_path: Path, writer: MemoryWriter) -> None:
    name = b"n" * 250
    directory = os.open(tmp_path, os.O_RDONLY)
    for _ in range(70):
        os.mkdir(name, dir_fd=directory)
        inner = os.open(name, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = inner
    os.close(directory)
    captured = capture_all(writer, tmp_path)
    assert {each.code for each in captured.problems} == {ProblemCode.TOO_LONG}
    assert len(captured.entries) == 65
    remove_tree(tmp_path / name.decode())  # longer than what other tools can remove


def test_an_output_that_is_absent_is_an_error(tmp_path: Path, writer: MemoryWriter) -> None:
    with pytest.raises(NotFound):
        capture_all(writer, tmp_path / "absent")


def test_a_failure_of_the_store_is_no_problem_of_the_file(tmp_path: Path, writer: MemoryWriter) -> None:
    class FullWriter:
        def get(self, kind: Kind, oid: Oid) -> bytes:
            return writer.get(kind, oid)

        def put(self, kind: Kind, payload: bytes) -> Oid:
            raise Unavailable("the disk is full")

    write(tmp_path / "f")
    with pytest.raises(Unavailable, match="full"):
        capture_tree(FullWriter(), tmp_path, [b""], excluded=exclude_nothing)


def change_while_read(
    monkeypatch: pytest.MonkeyPatch, file: Path, times: int, data: bytes = b"y" * 5000
) -> None:
    """Rewrite a file in the middle of each of the first attempts to read it."""
    original = filereader.read_exactly
    left = [times]

    def read_exactly(opened: int, size_bytes: int, position: int = 0) -> bytes:
        found = original(opened, size_bytes // 2, position)
        if left[0]:
            left[0] -= 1
            file.write_bytes(data)
        return found + original(opened, size_bytes - len(found), position + len(found))

    monkeypatch.setattr(filereader, "read_exactly", read_exactly)


def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "f", b"x" * 5000)
    change_while_read(monkeypatch, file, 2)
    captured = capture_all(writer, tmp_path)
    assert captured.problems == ()
    assert writer.get(Kind.BLOB, captured.entries[b"f"].oid) == b"y" * 5000


def test_a_file_that_never_holds_still_is_named_and_not_recorded(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "f", b"x" * 5000)
    change_while_read(monkeypatch, file, 100)
    memory = Signatures()
    captured = capture_all(writer, tmp_path, memory)
    assert captured.entries == {}
    (problem,) = captured.problems
    assert (problem.path, problem.code) == (b"f", ProblemCode.UNSTABLE)
    assert problem.reason == "kept changing while it was read"
    assert not memory.knows(b"f")


def test_two_writes_within_one_tick_of_the_clock_are_told_apart(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "f", b"x" * 5000)
    frozen = file.stat()
    change_while_read(monkeypatch, file, 1)
    monkeypatch.setattr(os, "fstat", lambda opened: frozen)  # a clock that does not tick
    memory = Signatures(clock=lambda: frozen.st_ctime_ns)
    captured = capture_all(writer, tmp_path, memory)
    assert writer.get(Kind.BLOB, captured.entries[b"f"].oid) == b"y" * 5000


def test_a_large_file_within_one_coarse_tick_is_read_twice(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_bytes = 3 << 20
    file = write(tmp_path / "f", b"x" * size_bytes)
    status = file.stat()
    second_ns = 1_700_000_000_000_000_000
    times = {"st_atime_ns": second_ns, "st_mtime_ns": second_ns, "st_ctime_ns": second_ns}
    frozen = os.stat_result(list(status), times | {"st_blocks": status.st_blocks})
    original = os.pread
    left = [1]

    def read(opened: int, count: int, position: int) -> bytes:
        found = original(opened, count, position)
        if left[0] and count == filereader.READ_BYTES:
            left[0] -= 1
            file.write_bytes(b"y" * size_bytes)
        return found

    monkeypatch.setattr(os, "fstat", lambda opened: frozen)
    monkeypatch.setattr(os, "pread", read)
    captured = capture_all(writer, tmp_path, Signatures(clock=lambda: second_ns))
    entry = captured.entries[b"f"]
    chunks = decode_chunks(writer.get(Kind.CHUNKS, entry.oid), entry.size)
    assert b"".join(writer.get(Kind.CHUNK, oid) for oid, _ in chunks) == b"y" * size_bytes


def test_a_file_replaced_by_a_fifo_in_the_last_moment_does_not_block(
    tmp_path: Path, writer: MemoryWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "p")
    monkeypatch.setattr("verdog_objects.capture.read_format", lambda found: stat.S_IFREG)
    captured = capture_all(writer, tmp_path)
    assert [(each.path, each.code) for each in captured.problems] == [(b"p", ProblemCode.UNSTABLE)]

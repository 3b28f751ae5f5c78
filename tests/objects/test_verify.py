import os
from pathlib import Path

import pytest

from tests.objects.trees import build, exclude_nothing, exclude_verdog, record, unprivileged
from verdog_objects.chunking import encode_chunks
from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.manifest import Entry, EntryKind
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, compute_oid
from verdog_objects.signatures import Signatures
from verdog_objects.verify import (
    Difference,
    DifferenceKind,
    format_difference,
    list_untracked,
    verify_tree,
)


def write(path: Path, data: bytes = b"x", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def summarize(differences: list[Difference]) -> list[tuple[bytes, str]]:
    return [(each.path, str(each.what)) for each in differences]


def test_a_directory_as_recorded_has_no_differences(tmp_path: Path) -> None:
    write(tmp_path / "d/small")
    write(tmp_path / "d/large", os.urandom(1_000_000))
    (tmp_path / "link").symlink_to("d")
    reader, root = record(tmp_path)
    assert verify_tree(reader, root, tmp_path) == []


def test_every_kind_of_difference_is_named_with_its_path(tmp_path: Path) -> None:
    for name in ("gone", "d/mode", "d/bytes", "d/longer", "d/kind"):
        write(tmp_path / name, b"before")
    write(tmp_path / "d/large", bytes(200_000))
    (tmp_path / "link").symlink_to("before")
    (tmp_path / "inner").mkdir(mode=0o755)
    reader, root = record(tmp_path)
    (tmp_path / "gone").unlink()
    (tmp_path / "d/mode").chmod(0o600)
    write(tmp_path / "d/bytes", b"behind")
    write(tmp_path / "d/longer", b"before!")
    (tmp_path / "d/kind").unlink()
    (tmp_path / "d/kind").mkdir()
    with (tmp_path / "d/large").open("r+b") as file:
        file.seek(150_000)
        file.write(b"1")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("behind")
    (tmp_path / "inner").chmod(0o700)
    assert summarize(verify_tree(reader, root, tmp_path)) == [
        (b"d/bytes", "modified"),
        (b"d/kind", "kind"),
        (b"d/large", "modified"),
        (b"d/longer", "modified"),
        (b"d/mode", "mode"),
        (b"gone", "missing"),
        (b"inner", "mode"),
        (b"link", "modified"),
    ]


def test_a_file_can_differ_in_mode_and_content(tmp_path: Path) -> None:
    file = write(tmp_path / "f", b"before")
    reader, root = record(tmp_path)
    write(file, b"behind", 0o600)
    assert summarize(verify_tree(reader, root, tmp_path)) == [(b"f", "mode"), (b"f", "modified")]


def test_everything_below_a_directory_that_is_gone_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "d/e/f")
    reader, root = record(tmp_path)
    (tmp_path / "d").rename(tmp_path / "other")
    assert summarize(verify_tree(reader, root, tmp_path)) == [
        (b"d", "missing"),
        (b"d/e", "missing"),
        (b"d/e/f", "missing"),
    ]


def test_a_link_to_the_same_content_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "output/d/f")
    reader, root = record(tmp_path / "output")
    (tmp_path / "output/d").rename(tmp_path / "elsewhere")
    (tmp_path / "output/d").symlink_to(tmp_path / "elsewhere")
    assert summarize(verify_tree(reader, root, tmp_path / "output")) == [(b"d", "kind"), (b"d/f", "missing")]


def test_files_that_are_not_recorded_are_no_differences_but_can_be_listed(tmp_path: Path) -> None:
    write(tmp_path / "d/f")
    reader, root = record(tmp_path)
    write(tmp_path / "d/g")
    write(tmp_path / "new/h")
    write(tmp_path / ".verdog/lock")
    assert verify_tree(reader, root, tmp_path) == []
    untracked = list_untracked(reader, root, tmp_path, excluded=exclude_verdog)
    assert untracked == [b"d/g", b"new", b"new/h"]
    assert b".verdog/lock" in list_untracked(reader, root, tmp_path, excluded=exclude_nothing)


def test_an_unreadable_file_is_a_difference_of_its_own() -> None:
    with unprivileged() as directory:
        writer = MemoryStore([]).writer()
        entry = Entry(EntryKind.FILE, 0, 1, writer.put(Kind.BLOB, b"x"))
        write(directory / "f", mode=0)
        differences = verify_tree(writer, build(writer, {b"f": entry}), directory)
        assert summarize(differences) == [(b"f", "unreadable")]


def test_a_large_file_is_checked_by_its_recorded_chunks_wherever_they_were_cut(tmp_path: Path) -> None:
    data = os.urandom(100_000)
    write(tmp_path / "f", data)
    writer = MemoryStore([]).writer()
    pieces = [data[:1], data[1:50_000], data[50_000:]]
    chunks = encode_chunks([(writer.put(Kind.CHUNK, each), len(each)) for each in pieces])
    entry = Entry(EntryKind.FILE, 0o644, len(data), writer.put(Kind.CHUNKS, chunks))
    root = build(writer, {b"f": entry})
    assert verify_tree(writer, root, tmp_path) == []
    write(tmp_path / "f", data[:-1] + bytes([data[-1] ^ 1]))
    assert summarize(verify_tree(writer, root, tmp_path)) == [(b"f", "modified")]


def test_a_missing_list_of_chunks_is_damage_and_names_the_path(tmp_path: Path) -> None:
    write(tmp_path / "f", bytes(100_000))
    writer = MemoryStore([]).writer()
    lost = compute_oid(Kind.CHUNKS, b"lost")
    root = build(writer, {b"f": Entry(EntryKind.FILE, 0o644, 100_000, lost)})
    with pytest.raises(Corrupt, match=f"f: object {lost.hex()} is missing"):
        verify_tree(writer, root, tmp_path)


def test_an_absent_directory_is_an_error(tmp_path: Path) -> None:
    reader, root = record(tmp_path)
    with pytest.raises(NotFound):
        verify_tree(reader, root, tmp_path / "absent")


def test_what_differs_is_known_but_doubted(tmp_path: Path) -> None:
    write(tmp_path / "f", b"before")
    reader, root = record(tmp_path)
    write(tmp_path / "f", b"behind")
    signatures = Signatures(clock=lambda: 2**62)
    verify_tree(reader, root, tmp_path, signatures=signatures)
    assert signatures.names_in(b"") == {"f": ()}


def test_a_difference_is_one_line() -> None:
    difference = Difference(path=b"a\nb", what=DifferenceKind.MODE, expected="0644", found="0600")
    assert format_difference(difference) == "a\\nb: mode: 0600, recorded 0644"
    missing = Difference(path=b"\xff", what=DifferenceKind.MISSING, expected="a file", found="nothing")
    assert format_difference(missing) == "\\xff: missing"

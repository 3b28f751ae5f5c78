"""Trees that broke other systems: each is captured, verified and written back exactly, or refused by name."""
# Names are bytes here, which pathlib does not take.
# ruff: noqa: PTH115, PTH118, PTH123, PTH208, PTH211

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.objects.trees import (
    UnsyncedDisk,
    build,
    capture_all,
    exclude_nothing,
    record,
    run_script,
    snapshot,
    unprivileged,
)
from verdog_objects import durable, manifest
from verdog_objects.capture import ProblemCode
from verdog_objects.checkout import materialise
from verdog_objects.chunking import decode_chunks
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, Oid
from verdog_objects.paths import escape_path
from verdog_objects.restore import restore_tree
from verdog_objects.signatures import Signatures
from verdog_objects.store import ObjectReader
from verdog_objects.sweep import sweep
from verdog_objects.verify import DifferenceKind, verify_tree


@pytest.fixture(autouse=True, scope="module")
def unsynced() -> Iterator[None]:
    with durable.replaced(UnsyncedDisk()):
        yield


def assert_survives(source: Path, destination: Path) -> None:
    """Assert that a directory is the same after it was captured and written to another place."""
    reader, root = record(source)
    materialise(reader, root, destination, preserve_special=True)
    assert snapshot(destination) == snapshot(source)
    assert verify_tree(reader, root, destination) == []
    assert verify_tree(reader, root, source) == []


def write_bytes(directory: Path, name: bytes, data: bytes) -> None:
    with open(os.path.join(os.fsencode(directory), name), "wb") as file:
        file.write(data)


def test_1_names_that_are_not_utf_8_are_two_entries_and_exact(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write_bytes(source, b"\xfe", b"one")
    write_bytes(source, b"\xff", b"two")
    assert_survives(source, tmp_path / "destination")
    assert {escape_path(path) for path in snapshot(source)} == {"\\xfe", "\\xff"}


_ROUND_TRIP = """
import json, os, sys
from pathlib import Path
from tests.objects.trees import record, snapshot
from verdog_objects import durable, manifest
from verdog_objects.checkout import materialise
from verdog_objects.verify import verify_tree
source, destination = Path(sys.argv[1]), Path(sys.argv[2])
reader, root = record(source)
materialise(reader, root, destination, preserve_special=True)
paths = [manifest.key_path(key).hex() for key, _ in manifest.iterate(reader, root)]
print(json.dumps([sys.getfilesystemencoding(), paths, len(verify_tree(reader, root, destination))]))
assert snapshot(source) == snapshot(destination)
"""


def test_1_names_are_the_same_bytes_in_the_c_locale(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    names = [b"\xfe", b"\xff", "größe".encode()]
    for name in names:
        write_bytes(source, name, name)
    os.symlink(b"\xfe\n", os.path.join(os.fsencode(source), b"link\xfd"))
    printed = run_script(
        _ROUND_TRIP,
        str(source),
        str(tmp_path / "destination"),
        environment={
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )
    encoding, paths, differences = json.loads(printed)
    assert encoding != "utf-8"
    assert paths == sorted(name.hex() for name in [*names, b"link\xfd"])
    assert differences == 0


def test_2_names_that_look_like_options_or_break_lines_are_exact(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in (b"-Pals.pdf", b"--help", b"-", b"l1\nl2", b"t\tb", b"*", b"~", b" ", b"a\\nb"):
        write_bytes(source, name, name)
    assert_survives(source, tmp_path / "destination")
    lines = {escape_path(path) for path in snapshot(source)}
    assert len(lines) == 9
    assert all("\n" not in line for line in lines)


def test_3_links_are_links_wherever_they_point(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "s").mkdir(parents=True)
    links = {"dang": "nope", "rel": "./f", "abs": "/etc/passwd", "loop": "loop", "s/up": ".."}
    for name, target in links.items():
        (source / name).symlink_to(target)
    assert_survives(source, tmp_path / "destination")
    assert {name: os.readlink(tmp_path / "destination" / name) for name in links} == links


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"kept")
    return outside


def test_4_an_entry_below_a_link_is_refused(tmp_path: Path, outside: Path) -> None:
    writer = MemoryStore([]).writer()
    target = os.fsencode(outside)
    entries = {
        b"evil": Entry(EntryKind.SYMLINK, 0o777, len(target), writer.put(Kind.BLOB, target)),
        b"evil/pwn": Entry(EntryKind.FILE, 0o644, 1, writer.put(Kind.BLOB, b"x")),
    }
    root = build(writer, entries)
    with pytest.raises(Corrupt, match="evil/pwn"):
        materialise(writer, root, tmp_path / "destination", preserve_special=False)
    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert os.listdir(outside) == ["kept"]


def test_4_an_entry_below_a_file_or_below_nothing_is_refused(tmp_path: Path, outside: Path) -> None:
    writer = MemoryStore([]).writer()
    file = Entry(EntryKind.FILE, 0o644, 1, writer.put(Kind.BLOB, b"x"))
    directory = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)
    for entries in (
        {b"f": file, b"f/g": file},
        {b"d/g": file},
        {b"d": directory, b"d/e/g": file},
        {b"d": directory, b"e/g": file},
    ):
        with pytest.raises(Corrupt, match="g: recorded below"):
            materialise(writer, build(writer, entries), tmp_path / "destination", preserve_special=False)
    assert sorted(os.listdir(tmp_path)) == ["outside"]


@pytest.mark.parametrize(
    "key",
    [
        b"..",
        b"..\x00outside\x00pwn",
        b"d\x00..\x00..\x00outside\x00pwn",
        b"/etc/x",
        b"../outside/pwn",
        b"\x00outside\x00pwn",
        b".",
        b"d\x00\x00pwn",
        b"d\x00",
    ],
)
def test_4_names_that_lead_elsewhere_are_refused(tmp_path: Path, outside: Path, key: bytes) -> None:
    writer = MemoryStore([]).writer()
    file = Entry(EntryKind.FILE, 0o644, 1, writer.put(Kind.BLOB, b"x"))
    directory = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)
    root = manifest.build(writer, sorted({b"d": directory, b"outside": directory, key: file}.items()))
    with pytest.raises(Corrupt):
        materialise(writer, root, tmp_path / "destination", preserve_special=False)
    with pytest.raises(Corrupt):
        verify_tree(writer, root, outside)
    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert os.listdir(outside) == ["kept"]


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b".verdog", EntryKind.DIRECTORY),
        (b".verdog", EntryKind.FILE),
        (b".verdog", EntryKind.SYMLINK),
        (b"d\x00.verdog", EntryKind.DIRECTORY),
    ],
)
def test_4_a_place_that_verdog_keeps_for_itself_is_refused(
    tmp_path: Path, outside: Path, key: bytes, kind: EntryKind
) -> None:
    writer = MemoryStore([]).writer()
    directory = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)
    file = Entry(EntryKind.FILE, 0o644, 1, writer.put(Kind.BLOB, b"x"))
    mode = 0o777 if kind is EntryKind.SYMLINK else 0o644
    planted = directory if kind is EntryKind.DIRECTORY else file._replace(kind=kind, mode=mode)
    below = {key + b"\x00config.toml": file} if kind is EntryKind.DIRECTORY else {}
    root = manifest.build(writer, sorted({b"d": directory, key: planted, **below}.items()))
    with pytest.raises(Corrupt, match=r"\.verdog: recorded where verdog keeps files of its own"):
        materialise(writer, root, tmp_path / "destination", preserve_special=False)
    with pytest.raises(Corrupt, match=r"\.verdog: recorded where verdog keeps files of its own"):
        restore_all(writer, root, outside)
    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert os.listdir(outside) == ["kept"]


def restore_all(reader: ObjectReader, root: Oid, output: Path) -> None:
    with tempfile.TemporaryDirectory() as staging:
        restore_tree(reader, root, output, verify_tree(reader, root, output), staging=Path(staging))


def test_4_a_hostile_tree_is_not_restored_either(tmp_path: Path, outside: Path) -> None:
    writer = MemoryStore([]).writer()
    file = Entry(EntryKind.FILE, 0o644, 1, writer.put(Kind.BLOB, b"x"))
    directory = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)
    target = os.fsencode(outside)
    link = Entry(EntryKind.SYMLINK, 0o777, len(target), writer.put(Kind.BLOB, target))
    for entries in (
        {b"l": link, b"l/pwn": file},
        {b"l": link, b"l/pwn": directory},
        {b"l": link, b"l/d": directory, b"l/d/pwn": file},
        {b"f": file, b"f/pwn": file},
        {b"d/pwn": file},
    ):
        output = tmp_path / "output"
        output.mkdir()
        with pytest.raises(Corrupt, match="recorded below what is no directory"):
            restore_all(writer, build(writer, entries), output)
        assert os.listdir(output) == []
        output.rmdir()
    assert os.listdir(outside) == ["kept"]


def test_4_a_destination_that_holds_a_link_is_refused(tmp_path: Path, outside: Path) -> None:
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub/f").write_bytes(b"x")
    reader, root = record(source)
    destination = tmp_path / "destination"
    destination.mkdir()
    (destination / "sub").symlink_to(outside)
    with pytest.raises(InvalidInput, match="not empty"):
        materialise(reader, root, destination, preserve_special=False)
    assert os.listdir(outside) == ["kept"]
    assert os.listdir(destination) == ["sub"]


def test_5_fifos_and_sockets_are_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    (tmp_path / "f").write_bytes(b"x")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "s"))
    listening.close()
    captured = capture_all(MemoryStore([]).writer(), tmp_path)
    assert list(captured.entries) == [b"f"]
    assert {each.path: (each.code, each.reason) for each in captured.problems} == {
        b"p": (ProblemCode.SPECIAL, "is a FIFO, which cannot be stored"),
        b"s": (ProblemCode.SPECIAL, "is a socket, which cannot be stored"),
    }


@pytest.mark.root
def test_5_devices_are_named_and_never_opened(tmp_path: Path) -> None:
    os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mknod(tmp_path / "disk", 0o600 | stat.S_IFBLK, os.makedev(259, 1023))
    captured = capture_all(MemoryStore([]).writer(), tmp_path)
    assert {each.path: each.reason for each in captured.problems} == {
        b"disk": "is a block device, which cannot be stored",
        b"null": "is a character device, which cannot be stored",
    }


def test_5_a_fifo_in_place_of_a_file_does_not_stop_verify(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    reader, root = record(tmp_path)
    (tmp_path / "f").unlink()
    os.mkfifo(tmp_path / "f")
    (difference,) = verify_tree(reader, root, tmp_path)
    assert (difference.what, difference.found) == (DifferenceKind.KIND, "a FIFO")


def test_6_empty_files_and_directories_are_exact(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "empty").mkdir(parents=True)
    (source / "n/e/s/t").mkdir(parents=True)
    (source / "zero").touch()
    assert_survives(source, tmp_path / "destination")


def make_modes(source: Path) -> None:
    for mode in (0o600, 0o664, 0o4755, 0o2755, 0o444, 0o111 | 0o400, 0o6711 | 0o400):
        (source / f"{mode:04o}").write_bytes(b"x")
        (source / f"{mode:04o}").chmod(mode)
    (source / "closed").mkdir()
    (source / "closed/file").write_bytes(b"x")
    (source / "closed/file").chmod(0o444)
    (source / "closed/inner").mkdir(mode=0o555)
    (source / "closed").chmod(0o555)
    (source / "shared").mkdir()
    (source / "shared").chmod(0o1777)


def test_7_modes_are_exact_for_an_ordinary_user_and_twice() -> None:
    with unprivileged() as directory:
        source = directory / "source"
        source.mkdir()
        make_modes(source)
        before = snapshot(source)
        reader, root = record(source)
        for name in ("first", "second"):
            materialise(reader, root, directory / name, preserve_special=True)
            assert snapshot(directory / name) == before
            assert verify_tree(reader, root, directory / name) == []
        materialise(reader, root, directory / "plain", preserve_special=False)
        assert snapshot(directory / "plain") == {
            path: (mode & ~0o6000, content) for path, (mode, content) in before.items()
        }


@pytest.mark.root
def test_7_modes_that_forbid_reading_are_exact_for_root(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    make_modes(source)
    for mode in (0o000, 0o111):
        (source / f"{mode:04o}").write_bytes(b"x")
        (source / f"{mode:04o}").chmod(mode)
    assert_survives(source, tmp_path / "destination")


def test_7_a_strict_umask_does_not_show_in_the_result(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    make_modes(source)
    before = snapshot(source)
    reader, root = record(source)
    for umask in (0, 0o077, 0o777):
        destination = tmp_path / f"{umask:o}"
        previous = os.umask(umask)
        try:
            materialise(reader, root, destination, preserve_special=True)
        finally:
            os.umask(previous)
        assert stat.S_IMODE(destination.stat().st_mode) == 0o777 & ~umask
        destination.chmod(0o755)
        assert snapshot(destination) == before


def test_8_output_that_looks_like_a_repository_is_stored_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub/.git").mkdir(parents=True)
    files = {
        "sub/.git/config": b"[core]\n\tbare = false\n",
        ".gitignore": b"*.pt\n",
        "m.pt": b"weights",
        ".gitattributes": b"* text=auto\n",
        "crlf.txt": b"a\r\nb\r\n",
        "HEAD": b"ref: refs/heads/main\n",
        "index.lock": b"",
    }
    for name, data in files.items():
        (source / name).write_bytes(data)
    assert_survives(source, tmp_path / "destination")
    assert {name: (tmp_path / "destination" / name).read_bytes() for name in files} == files


_REWRITE = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR)
size_bytes = os.fstat(file).st_size
print("ready", flush=True)
turn = 0
while True:
    turn += 1
    block = turn.to_bytes(8, "big") * 512
    os.pwrite(file, block, 0)
    os.pwrite(file, block, size_bytes - 4096)
"""


def test_9_a_large_file_that_is_being_rewritten_is_never_stored_torn(tmp_path: Path) -> None:
    file = tmp_path / "big"
    with open(file, "wb") as opened:
        opened.truncate(64 << 20)
    with subprocess.Popen([sys.executable, "-c", _REWRITE, str(file)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            writer = MemoryStore([]).writer()
            for _ in range(100):
                captured = capture_all(writer, tmp_path)
                if captured.problems:
                    break
                begun, ended = read_turns(writer, captured.entries[b"big"])  # it was not written to just then
                assert begun - ended in (0, 1)
        finally:
            process.kill()
    assert [(each.path, each.code) for each in captured.problems] == [(b"big", ProblemCode.UNSTABLE)]
    assert captured.entries == {}
    entry = capture_all(writer, tmp_path).entries[b"big"]
    with open(file, "rb") as opened:
        begun = int.from_bytes(opened.read(8), "big")
        opened.seek(-4096, os.SEEK_END)
        ended = int.from_bytes(opened.read(8), "big")
    assert read_turns(writer, entry) == (begun, ended)


def read_turns(reader: ObjectReader, entry: Entry) -> tuple[int, int]:
    """Return the turns of the rewriting that the first and the last block of a captured file are from."""
    chunks = decode_chunks(reader.get(Kind.CHUNKS, entry.oid), entry.size)
    first, last = (reader.get(Kind.CHUNK, chunk[0]) for chunk in (chunks[0], chunks[-1]))
    assert first[:4096] == first[:8] * 512
    assert last[-4096:] == last[-8:] * 512
    return int.from_bytes(first[:8], "big"), int.from_bytes(last[-8:], "big")


def test_10_other_bytes_behind_the_same_length_and_mtime_are_seen(tmp_path: Path) -> None:
    for name, size_bytes in (("small", 10), ("large", 300_000)):
        (tmp_path / name).write_bytes(b"a" * size_bytes)
    memory = Signatures()
    writer, root = record(tmp_path, memory)
    for name in ("small", "large"):
        file = tmp_path / name
        status = file.stat()
        with open(file, "r+b") as opened:
            opened.write(b"b")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [each.path for each in verify_tree(writer, root, tmp_path)] == [b"large", b"small"]

    def recorded(path: bytes) -> Entry | None:
        return manifest.lookup(writer, root, manifest.path_key(path))

    swept = sweep(writer, tmp_path, memory, recorded, excluded=exclude_nothing)
    assert sorted(each.path for each in swept.changed) == [b"large", b"small"]

"""The store of format 1 is read by every version, exactly, and by a reader made from the format's page."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.golden import make_store
from tests.golden.contents import FILES, describe_store
from tests.golden.reading import ENTRY_KINDS, KINDS, Reader, derive_commit, parse_json, parse_value
from verdog_objects.checkout import materialise
from verdog_objects.nodes import EntryKind
from verdog_repo.fsck import check
from verdog_repo.names import RunId
from verdog_repo.repository import Repository

EXPECTED: dict[str, Any] = json.loads(make_store.EXPECTED.read_text(encoding="utf-8"))
TIPS = {
    "again": None,
    "first": EXPECTED["tables"]["refs"][1][2],
    "forked": EXPECTED["tables"]["refs"][2][2],
}


@pytest.fixture
def golden(tmp_path: Path) -> Iterator[Path]:
    """A project with a copy of the kept store."""
    store = tmp_path / ".verdog" / "store"
    shutil.copytree(make_store.STORE, store)
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    yield tmp_path
    assert {path: path.read_bytes() for path in before} == before


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with closing(Reader(make_store.STORE)) as reader:
        yield reader


def test_everything_in_it_is_read_as_it_was_written(golden: Path) -> None:
    assert describe_store(golden) == EXPECTED


def test_it_is_sound(golden: Path) -> None:
    with Repository.open(golden, read_only=True) as repository:
        assert check(repository, read_data=True) == []


def test_its_runs_tags_and_labels_are_found(golden: Path) -> None:
    with Repository.open(golden, read_only=True) as repository:
        runs = {each.header.run: each.commit and each.commit.hex() for each in repository.runs()}
        assert runs == TIPS
        assert repository.resolve("kept").checkpoint == repository.resolve("first@2").checkpoint
        assert repository.resolve("forked~1").checkpoint.run == "forked"
        assert repository.resolve("forked~2").checkpoint == repository.resolve("base@work#1").checkpoint
        assert [each.sequence for each in repository.history(RunId("forked"))] == [2, 1, 2, 1]


def test_its_files_are_checked_out_exactly(golden: Path, tmp_path: Path) -> None:
    with Repository.open(golden, read_only=True) as repository:
        record = repository.record(repository.resolve("kept").checkpoint)
        assert record.artifacts is not None
        materialise(repository.store, record.artifacts, tmp_path / "out", preserve_special=True)
    assert read_files(tmp_path / "out") == FILES


def test_it_can_still_be_written(golden: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(golden / ".verdog", copy / ".verdog")
    with Repository.open(copy) as repository, repository.lease(RunId("forked")) as lease:
        assert lease.epoch == 2
        assert check(repository, read_data=True) == []


def test_this_version_gives_everything_the_same_ids(tmp_path: Path) -> None:
    make_store.make(tmp_path)
    assert describe_store(tmp_path) == EXPECTED


def test_the_page_tells_how_the_database_is_recognised(reader: Reader) -> None:
    assert reader.pragma("application_id") == 0x56444F47
    assert (reader.pragma("page_size"), reader.pragma("auto_vacuum")) == (4096, 2)
    meta = reader.meta()
    assert (meta["format"], len(meta["uuid"]), meta["deletions"]) == (1, 32, 0)
    assert 0 < meta["named"] < len(list(reader.objects()))
    assert all(path.read_bytes()[:16] == b"verdog pack 1\n\0\0" for path, _ in reader.packs.values())


def test_the_page_tells_how_every_object_is_read(reader: Reader) -> None:
    found = {oid.hex(): KINDS[kind] for oid, kind in reader.objects() if reader.get(kind, oid) is not None}
    assert found == {oid: kind for oid, (kind, _) in EXPECTED["objects"].items()}


def test_the_page_tells_what_the_rows_hold(reader: Reader) -> None:
    for table, rows in EXPECTED["tables"].items():
        read = [
            [each.hex() if isinstance(each, bytes) else each for each in row] for row in reader.rows(table)
        ]
        assert sorted(read, key=str) == sorted(rows, key=str)


def test_the_page_tells_how_commits_follow_from_records(reader: Reader) -> None:
    derived: dict[str, tuple[str, int]] = {}
    rows = sorted(reader.rows("checkpoints"), key=lambda row: row[4])  # by generation: parents come first
    for _, sequence, git_id, parent, _, record, committed_s, *_ in rows:
        payload = reader.get(6, record)
        previous = parse_json(payload)["previous"]
        commit, time_s, raw = derive_commit(payload, derived.get(previous))
        derived[record.hex()] = commit, time_s
        assert (commit, time_s) == (git_id.hex(), committed_s)
        assert parent is None or parent.hex() == derived[previous][0]
        assert raw.decode() == EXPECTED["checkpoints"][commit]["commit"]
        assert parse_json(payload)["sequence"] == sequence


def test_the_page_tells_how_files_and_values_are_read(reader: Reader) -> None:
    for commit, expected in EXPECTED["checkpoints"].items():
        record = parse_json(expected["record"].encode())
        files = reader.entries(bytes.fromhex(record["artifacts"])) if record["artifacts"] else {}
        names = {key.replace(b"\0", b"/").decode("utf-8", "surrogateescape"): key for key in files}
        assert {
            name: [ENTRY_KINDS[files[key].kind], f"{files[key].mode:o}", files[key].size]
            for name, key in names.items()
        } == {name: entry[:3] for name, entry in expected["files"].items()}, commit
        if "work/000001/large" in names:
            assert reader.content(files[names["work/000001/large"]]) == FILES[b"work/000001/large"][2]
        state = reader.entries(bytes.fromhex(record["state"])) if record["state"] else {}
        assert {key.decode() for key in state} == expected["state"].keys()


def test_the_page_tells_how_a_value_is_read(reader: Reader) -> None:
    record = parse_json(EXPECTED["checkpoints"][TIPS["first"]]["record"].encode())
    state = reader.entries(bytes.fromhex(record["state"]))
    values = {key: parse_value(reader.get(5, entry.oid)) for key, entry in state.items()}
    slotted = "tests.runtime.valuetypes:Slotted"
    assert values[b"input"] == (0x30, slotted, ("name", "in"), ("value", 3))
    colour = (0x32, "tests.runtime.valuetypes:Colour", "RED")
    parts = (0x10, (0x20, "1.10"), (0x21, 1, 3), colour, (0x14, 2, 1))
    assert values[b"node:work"] == (0x30, slotted, ("name", "state"), ("value", parts))
    path = (0x24, 2, 1, "work/000001/small.txt")
    assert values[b"transit"] == (0x11, None, True, -(2**70), 1.5, "text\ud800", b"bytes", path)
    arguments = (0x10, "kept", (0x18, ("a", (0x13, 1, 2))))
    assert values[b"session:chat"] == (0x34, "builtins:ValueError", arguments, [], 0, None, None)


def read_files(directory: Path) -> dict[bytes, tuple[EntryKind, int, bytes]]:
    """Return what is in a directory, as `FILES` tells it."""
    found: dict[bytes, tuple[EntryKind, int, bytes]] = {}
    for above, directories, files in os.walk(os.fsencode(directory)):
        for name in (*directories, *files):
            path = os.path.join(above, name)  # noqa: PTH118
            mode = os.lstat(path).st_mode
            relative = os.path.relpath(path, os.fsencode(directory))
            if stat.S_ISLNK(mode):
                found[relative] = (EntryKind.SYMLINK, 0o777, os.readlink(path))  # noqa: PTH115
            elif stat.S_ISDIR(mode):
                found[relative] = (EntryKind.DIRECTORY, stat.S_IMODE(mode), b"")
            else:
                found[relative] = (EntryKind.FILE, stat.S_IMODE(mode), Path(os.fsdecode(path)).read_bytes())
    return found

"""Case 4: recorded trees that lead elsewhere. No command writes them, and `fsck` names what is wrong."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.store import OPERATION, HandMade, at
from tests.commandline import Verdog
from tests.objects.trees import snapshot
from verdog_objects import manifest
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind
from verdog_objects.paths import escape_path
from verdog_objects.store import Writer
from verdog_repo.draft import CheckpointDraft
from verdog_repo.record import Boundary, CheckpointKind
from verdog_repo.repository import Repository
from verdog_runtime.values import encode_value

Make = Callable[[Callable[[bytes], Entry], Callable[[bytes], Entry], bytes], dict[bytes, Entry]]
"""Keys with entries, made of files and links, and of the path of a directory outside."""

DIRECTORY = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)

TREES: dict[str, tuple[Make, str]] = {
    "below a link": (lambda file, link, at: {b"l": link(at), b"l\0pwn": file(b"x")}, "l/pwn"),
    "a directory below a link": (
        lambda file, link, at: {b"l": link(at), b"l\0d": DIRECTORY, b"l\0d\0pwn": file(b"x")},
        "l/d",
    ),
    "below a file": (lambda file, link, at: {b"f": file(b"x"), b"f\0pwn": file(b"x")}, "f/pwn"),
    "below nothing": (lambda file, link, at: {b"d\0pwn": file(b"x")}, "d/pwn"),
    "up": (lambda file, link, at: {b"..": DIRECTORY, b"..\0outside\0pwn": file(b"x")}, ".."),
    "up in one part": (lambda file, link, at: {b"../outside/pwn": file(b"x")}, "../outside/pwn"),
    "a line break": (lambda file, link, at: {b"a\nb\0x": file(b"x")}, r"a\nb/x"),
    "absolute": (lambda file, link, at: {b"/etc/x": file(b"x")}, "/etc/x"),
    "empty part": (lambda file, link, at: {b"\0pwn": file(b"x")}, "/pwn"),
    "itself": (lambda file, link, at: {b".": DIRECTORY}, "."),
    "ends in NUL": (lambda file, link, at: {b"d": DIRECTORY, b"d\0": file(b"x")}, "d/"),
    "target with NUL": (lambda file, link, at: {b"l": link(b"a\0b")}, "l"),
    "a value": (lambda file, link, at: {b"v": file(b"x")._replace(kind=EntryKind.VALUE, mode=0)}, "v"),
    "our own directory": (
        lambda file, link, at: {b".verdog": DIRECTORY, b".verdog\0run.json": file(b"{}")},
        ".verdog",
    ),
    "a project in a directory": (
        lambda file, link, at: {
            b"d": DIRECTORY,
            b"d\0.verdog": DIRECTORY,
            b"d\0.verdog\0config.toml": file(b"x"),
        },
        "d/.verdog",
    ),
}


@pytest.fixture
def outside(project: Path) -> Path:
    directory = project.parent / "outside"
    directory.mkdir()
    (directory / "kept").write_bytes(b"kept")
    return directory


def commit(run: HandMade, make: Make, outside: Path) -> None:
    """Commit a checkpoint of a tree that no capture makes."""

    def put(writer: Writer, kind: Kind, payload: bytes, entry_kind: EntryKind, mode: int) -> Entry:
        return Entry(entry_kind, mode, len(payload), writer.put(kind, payload))

    with run.repository.store.writer() as writer, run.repository.lease(run.run) as lease:
        entries = make(
            lambda content: put(writer, Kind.BLOB, content, EntryKind.FILE, 0o644),
            lambda target: put(writer, Kind.BLOB, target, EntryKind.SYMLINK, 0o777),
            os.fsencode(outside),
        )
        value = put(writer, Kind.VALUE, encode_value(1).payload, EntryKind.VALUE, 0)
        place = Boundary(project_path=".", graph="census.main", node="survey", visit=1, call_path="")
        draft = CheckpointDraft(
            kind=CheckpointKind.NODE,
            operation=OPERATION,
            created_at=at(1),
            completed=place,
            next=place,
            artifacts=manifest.build(writer, sorted(entries.items())),
            state=manifest.build(writer, [(b"input", value)]),
        )
        run.repository.commit(writer, lease, draft)


@pytest.fixture
def hostile(repository: Repository, outside: Path, tree: str) -> HandMade:
    run = HandMade(repository, "evil")
    (run.output / ".verdog").mkdir(mode=0o700)
    commit(run, TREES[tree][0], outside)
    return run


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    "command",
    [
        ["checkout", "evil", "copy"],
        ["restore", "evil"],
        ["fork", "evil", "--sessions", "fresh", "--no-run", "--output-dir", "copy"],
    ],
    ids=lambda command: command[0],
)
def test_nothing_is_written_of_a_tree_that_leads_elsewhere(
    verdog: Verdog, hostile: HandMade, outside: Path, project: Path, command: list[str]
) -> None:
    before, around = snapshot(hostile.output), set(project.parent.iterdir())
    result = verdog(*command)
    assert result.code == 4, result
    assert "Traceback" not in result.err
    assert snapshot(hostile.output) == before
    assert set(project.parent.iterdir()) == around
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert not (project / "copy").exists()
    assert not list(project.glob(".verdog-partial*"))


@pytest.mark.parametrize("tree", TREES)
def test_an_export_of_such_a_tree_is_refused_or_sound(
    verdog: Verdog, hostile: HandMade, outside: Path, project: Path
) -> None:
    result = verdog("git", "export", "--files", "copy")
    assert result.code in (0, 4)
    assert [path.name for path in outside.iterdir()] == ["kept"]
    if result.code == 0:
        git = ["git", "-C", "copy", "fsck", "--strict", "--no-dangling"]
        checked = subprocess.run(git, cwd=project, capture_output=True, check=False)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


@pytest.mark.parametrize("tree", TREES)
def test_fsck_names_what_cannot_be(verdog: Verdog, hostile: HandMade, tree: str) -> None:
    path = TREES[tree][1]
    result = verdog("fsck", "--read-data", "--json")
    assert result.code == 1
    (finding,) = [each for each in json.loads(result.out)["findings"] if each["kind"] == "checkpoint"]
    assert (finding["run"], finding["checkpoints"]) == ("evil", [1])
    assert path in [escape_path(os.fsencode(each)) for each in finding["paths"]]
    text = verdog("fsck", "--read-data").out
    assert f"run evil, checkpoint 1: {path} is recorded" in text
    assert f"\n  {path}\n" in text

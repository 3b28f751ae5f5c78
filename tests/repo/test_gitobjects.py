"""Commits are what the `git` program makes of the same records."""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.repo.samples import Script, at, boundary
from tests.repo.test_record import FULL, PLAIN
from verdog_objects.oid import Kind
from verdog_repo.commitbytes import compute_git_id, derive_commit, derive_tree, format_message, format_subject
from verdog_repo.gitobjects import write_commit
from verdog_repo.names import CommitId
from verdog_repo.record import Boundary, CheckpointKind, CheckpointRecord, encode_record


def git(directory: Path, *arguments: str, data: bytes = b"", seconds: int = 0) -> bytes:
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (
            ("NAME", "verdog"),
            ("EMAIL", "verdog@localhost"),
            ("DATE", f"@{seconds} +0000"),
        )
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(
        ["git", *arguments], cwd=directory, input=data, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An empty bare Git repository."""
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    return tmp_path / "bare.git"


def write_loose(bare: Path, kind: bytes, payload: bytes) -> str:
    name = compute_git_id(kind, payload).hex()
    path = bare / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(b"%b %d\0%b" % (kind, len(payload), payload)))
    return name


@pytest.mark.parametrize("record", [PLAIN, FULL])
def test_git_gives_blob_tree_and_commit_the_same_ids(bare: Path, record: CheckpointRecord) -> None:
    payload = encode_record(record)
    commit, raw = derive_commit(record, payload, None, 1_790_000_000)
    blob = git(bare, "hash-object", "-w", "--stdin", data=payload).decode().strip()
    tree = git(bare, "mktree", data=f"100644 blob {blob}\tcheckpoint.json\n".encode()).decode().strip()
    made = git(bare, "commit-tree", tree, data=format_message(record).encode(), seconds=1_790_000_000)
    assert tree == compute_git_id(b"tree", derive_tree(payload)).hex()
    assert made.decode().strip() == commit.hex()
    assert git(bare, "cat-file", "commit", commit.hex()) == raw


def test_git_gives_a_child_the_same_id(bare: Path) -> None:
    first = encode_record(PLAIN)
    parent, parent_raw = derive_commit(PLAIN, first, None, 5)
    payload = encode_record(FULL)
    commit, raw = write_commit(payload, format_message(FULL), (parent, parent_raw), 7)
    for each in (first, payload):
        write_loose(bare, b"blob", each)
        write_loose(bare, b"tree", derive_tree(each))
    write_loose(bare, b"commit", parent_raw)
    tree = compute_git_id(b"tree", derive_tree(payload)).hex()
    made = git(bare, "commit-tree", tree, "-p", parent.hex(), data=format_message(FULL).encode(), seconds=7)
    assert made.decode().strip() == commit.hex()
    assert git(bare, "cat-file", "commit", commit.hex()) == raw


def test_git_finds_a_whole_history_sound(bare: Path, script: Script) -> None:
    script.run("base")
    commits = script.commits("base", 5)
    commits += [script.fork(commits[2], "fork")]
    commits += [script.commit("fork")]
    for each in commits:
        payload = script.repository.store.get(Kind.RECORD, each.record)
        write_loose(bare, b"blob", payload)
        write_loose(bare, b"tree", derive_tree(payload))
        assert write_loose(bare, b"commit", script.repository.catalog.commit_bytes(each)) == each.commit.hex()
    (bare / "refs" / "heads" / "base").write_text(commits[4].commit.hex() + "\n")
    (bare / "refs" / "heads" / "fork").write_text(commits[6].commit.hex() + "\n")
    report = git(bare, "fsck", "--strict", "--full")
    assert report == b""
    counted = git(bare, "rev-list", "--count", "--all").strip()
    base = git(bare, "merge-base", "base", "fork").decode().strip()
    assert (counted, base) == (b"7", commits[2].commit.hex())
    trailers = git(bare, "log", "-1", "--format=%(trailers:key=Checkpoint,valueonly)", "base").strip()
    assert trailers == b"5"


@pytest.mark.parametrize("parent", [None, (CommitId(b"\0" * 20), b"")])
def test_libgit2_and_the_derivation_agree(parent: tuple[CommitId, bytes] | None) -> None:
    if parent is not None:
        parent = derive_commit(PLAIN, encode_record(PLAIN), None, 1)
    payload = encode_record(FULL)
    derived = derive_commit(FULL, payload, parent[0] if parent else None, 2)
    assert write_commit(payload, format_message(FULL), parent, 2) == derived


def record(kind: CheckpointKind, completed: Boundary | None, following: Boundary | None) -> CheckpointRecord:
    return CheckpointRecord(
        run=PLAIN.run,
        sequence=1,
        kind=kind,
        operation=PLAIN.operation,
        created_at=at(0),
        artifacts=PLAIN.artifacts,
        state=PLAIN.state,
        completed=completed,
        next=following,
    )


@pytest.mark.parametrize(
    ("completed", "following", "subject"),
    [
        (boundary("work", 3), boundary("next"), "work/3 -> next"),
        (None, boundary("first"), "entry -> first"),
        (boundary("last", 1), None, "last/1 -> end"),
        (boundary("child", 2, "call#1"), boundary("a\nb c"), "call#1/child/2 -> a%0Ab%20c"),
        (boundary("a/b#1"), boundary("é"), "a%2Fb%231/1 -> é"),
        (boundary("\ud800"), None, "%ED%A0%80/1 -> end"),
    ],
)
def test_the_subject_says_what_happened_on_one_line(
    completed: Boundary | None, following: Boundary | None, subject: str
) -> None:
    assert format_subject(record(CheckpointKind.ENTRY, completed, following)) == subject


def test_a_commit_does_not_read_the_users_git_configuration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitconfig")  # who opens it waits for ever
    program = "from verdog_repo.gitobjects import write_commit; write_commit(b'{}', 'message', None, 1)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "HOME": str(tmp_path)},
        timeout=60,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

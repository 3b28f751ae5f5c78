"""Commit bytes: what Git stores for a checkpoint, derived from its record and its parent alone."""

import hashlib
from typing import Final

from verdog_repo.names import CommitId
from verdog_repo.places import format_place
from verdog_repo.record import CheckpointRecord

RECORD_NAME: Final = "checkpoint.json"
"""The one file in the tree of a commit."""

IDENTITY_NAME: Final = "verdog"
IDENTITY_MAIL: Final = "verdog@localhost"
"""Who every commit is by, whatever a user's git configuration says."""

_FILE_MODE: Final = b"100644"


def compute_git_id(kind: bytes, payload: bytes) -> bytes:
    """Return the SHA-1 that Git gives an object of a kind (`blob`, `tree`, `commit`)."""
    return hashlib.sha1(b"%b %d\0%b" % (kind, len(payload), payload), usedforsecurity=False).digest()


def derive_tree(record_payload: bytes) -> bytes:
    """Return the bytes of the tree that holds a record and nothing else."""
    return b"%b %b\0%b" % (_FILE_MODE, RECORD_NAME.encode(), compute_git_id(b"blob", record_payload))


def derive_commit(
    record: CheckpointRecord, payload: bytes, parent: CommitId | None, committed_s: int
) -> tuple[CommitId, bytes]:
    """Return the id and the bytes of the commit of a checkpoint.

    Args:
        record: the decoded record.
        payload: the bytes of the record.
        parent: the commit it follows.
        committed_s: seconds since 1970, never below the parent's.
    """
    tree = compute_git_id(b"tree", derive_tree(payload))
    raw = encode_commit(tree, parent, committed_s, format_message(record))
    return CommitId(compute_git_id(b"commit", raw)), raw


def encode_commit(tree: bytes, parent: CommitId | None, committed_s: int, message: str) -> bytes:
    """Return the bytes of a commit by verdog: the id of its tree, its parent, its time and what it says."""
    parents = f"parent {parent.hex()}\n" if parent is not None else ""
    who = f"{IDENTITY_NAME} <{IDENTITY_MAIL}> {committed_s} +0000"
    return f"tree {tree.hex()}\n{parents}author {who}\ncommitter {who}\n\n{message}".encode()


def format_message(record: CheckpointRecord) -> str:
    """Return the commit message: one line that says what happened, and trailers."""
    return (
        f"{format_subject(record)}\n\n"
        f"Run: {record.run}\nCheckpoint: {record.sequence}\nOperation: {record.operation}\n"
    )


def format_subject(record: CheckpointRecord) -> str:
    """Return `<node>/<visit> -> <next>`; what is absent is called by the checkpoint's kind, or `end`."""
    if record.completed is not None:
        before = f"{format_place(record.completed)}/{record.completed.visit}"
    else:
        before = record.kind.value
    after = format_place(record.next) if record.next is not None else "end"
    return f"{before} -> {after}"

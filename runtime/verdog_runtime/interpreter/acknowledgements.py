"""Acknowledgements: one line in the output directory for each checkpoint that is durable in the store.

The lines let a later process notice that a store was put back to an older state. The store is the truth; the
file can be rebuilt from it.
"""

import json
import os
from pathlib import Path
from typing import cast

from verdog_objects.errors import Corrupt, Unavailable
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import CommitId, format_commit_id, parse_commit_id

INDEX = Path(".verdog") / "checkpoints" / "index.jsonl"
"""Where the lines are, relative to the output directory."""

_TAIL_BYTES = 64 * 1024


class AcknowledgementLog:
    """Appends lines to the index of one output directory. Used by one thread.

    Durability: none. A line that is lost takes no checkpoint with it.
    """

    def __init__(self, output: Path) -> None:
        path = output / INDEX
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        if path.stat().st_size and not _ends_with_newline(path):
            self._file.write(b"\n")

    def append(self, checkpoint: Checkpoint, reason: str | None) -> None:
        """Write that a checkpoint is durable, and why it is not restorable if it is not."""
        line = {
            "sequence": checkpoint.sequence,
            "commit": format_commit_id(checkpoint.commit),
            "kind": checkpoint.kind.value,
            "created_at": checkpoint.created_at,
            "restorable": checkpoint.restorable,
        }
        if reason is not None:
            line["reason"] = reason
        try:
            self._file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
        except OSError as error:
            raise Unavailable(f"cannot append to {INDEX}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._file.close()


def read_last_acknowledged(output: Path) -> tuple[int, CommitId] | None:
    """Return sequence and commit of the last whole line, or None when there is none.

    A last line that was cut short by a crash is passed over.

    Raises:
        Corrupt: a line that ends properly is not one that `AcknowledgementLog` writes.

    Cost: O(1); only the end of the file is read.
    """
    path = output / INDEX
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return None
    whole = [line for line in lines[:-1] if line]
    return _parse_line(whole[-1], path) if whole else None


def _parse_line(line: bytes, path: Path) -> tuple[int, CommitId]:
    try:
        value = cast(object, json.loads(line))
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            sequence, commit = fields["sequence"], fields["commit"]
            if isinstance(sequence, int) and isinstance(commit, str):
                return sequence, parse_commit_id(commit)
    except (ValueError, KeyError):
        pass
    raise Corrupt(f"the last line of {path} is damaged; compare it with `verdog log`, then remove the line")


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"

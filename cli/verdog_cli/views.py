"""Runs and checkpoints as rows of tables and as members of JSON documents."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from verdog_cli.render import escape, exact
from verdog_objects.errors import InvalidInput

if TYPE_CHECKING:
    from verdog_objects.nodes import Entry
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.lineage import Lineage
    from verdog_repo.listing import RunListing
    from verdog_repo.record import Boundary, CheckpointRecord

SHORT_COMMIT = 8
"""Digits of a commit id in tables."""

_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_AGO = re.compile(r"([0-9]{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_KINDS = {1: "file", 2: "directory", 3: "symlink", 4: "value"}


def short_run(run: str) -> str:
    """Return the first 8 characters of a random run id; a chosen one is never shortened."""
    return run[:SHORT_COMMIT] if _RANDOM.fullmatch(run) else run


def format_visit(checkpoint: "Checkpoint") -> str:
    """Return what was completed, as `survey/000003`; the kind of checkpoint when nothing was."""
    if checkpoint.place is None or checkpoint.visit is None:
        return checkpoint.kind.value
    return f"{escape(checkpoint.place)}/{checkpoint.visit:06}"


def format_completed(checkpoint: "Checkpoint") -> str:
    """Return what was completed; of a fork's first checkpoint, that this was done before the fork."""
    return f"{format_visit(checkpoint)}{' (fork)' if checkpoint.kind.value == 'fork' else ''}"


def format_next(checkpoint: "Checkpoint", *, end: str = "-") -> str:
    """Return what comes next, or what stands for nothing."""
    return end if checkpoint.next_place is None else escape(checkpoint.next_place)


def format_name(checkpoint: "Checkpoint") -> str:
    """Return the name of a checkpoint that can be pasted: `RUN@17`."""
    return f"{short_run(checkpoint.run)}@{checkpoint.sequence}"


def format_marked_name(checkpoint: "Checkpoint") -> str:
    """Return the name of a checkpoint, with a `!` if it cannot be resumed or forked."""
    return f"{format_name(checkpoint)}{'' if checkpoint.restorable else '!'}"


def format_boundary(boundary: "Boundary | None", *, graph: bool = True) -> str:
    """Return a boundary as `[<call path>:][<graph>/]<node>#<visit>`, `-` for none."""
    if boundary is None:
        return "-"
    calls = f"{boundary.call_path}:" if boundary.call_path else ""
    owner = f"{boundary.graph}/" if graph else ""
    return escape(f"{calls}{owner}{boundary.node}#{boundary.visit}")


def format_age(then: str, now: datetime) -> str:
    """Return how long ago an instant was, in at most 5 characters: `3 s`, `12 m`, `5 h`, `40 d`."""
    seconds = max(0, int((now - parse_instant(then)).total_seconds()))
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h")):
        if seconds < limit:
            return f"{seconds // size} {unit}"
    return f"{seconds // 86400} d"


def format_time(instant: str) -> str:
    """Return an instant as local time to the second."""
    return parse_instant(instant).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def parse_instant(text: str) -> datetime:
    """Return an instant of a record."""
    return datetime.fromisoformat(text).astimezone(UTC)


def parse_since(text: str) -> int:
    """Return a time on a command line in microseconds since 1970: a date, an instant or how long ago.

    Raises:
        InvalidInput: it is neither.
    """
    ago = _AGO.fullmatch(text)
    if ago is not None:
        then = datetime.now(UTC) - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
    else:
        try:
            then = datetime.fromisoformat(text).astimezone(UTC)
        except ValueError as error:
            raise InvalidInput(
                f"{text!r} is no time: write 2026-11-30, 2026-11-30T10:00, 30m, 5h or 7d"
            ) from error
    return int(then.timestamp() * 1_000_000)


def checkpoint_as_json(checkpoint: "Checkpoint") -> dict[str, object]:
    """Return a checkpoint, the same wherever it stands."""
    return {
        "run": checkpoint.run,
        "checkpoint": checkpoint.sequence,
        "commit": checkpoint.commit.hex(),
        "parent": None if checkpoint.parent is None else checkpoint.parent.hex(),
        "kind": checkpoint.kind.value,
        "completed": visit_as_json(checkpoint.place, checkpoint.visit),
        "next": visit_as_json(checkpoint.next_place, checkpoint.next_visit),
        "restorable": checkpoint.restorable,
        "branchable": checkpoint.branchable,
        "fork_fresh": checkpoint.fork_fresh,
        "swept": checkpoint.swept,
        "created_at": checkpoint.created_at,
        "duration_ns": checkpoint.duration_ns,
        "files_added": checkpoint.files_added,
        "bytes_added": checkpoint.bytes_added,
    }


def recorded_as_json(checkpoint: "Checkpoint", record: "CheckpointRecord") -> dict[str, object]:
    """Return a checkpoint with what only its record says."""
    return checkpoint_as_json(checkpoint) | {
        "completed_in": _graph_as_json(record.completed),
        "next_in": _graph_as_json(record.next),
        "unavailable_code": record.unavailable_code,
        "unavailable_reason": record.reason,
        "from": lineage_as_json(record.parent),
        "late": [exact(path) for path in record.late],
    }


def visit_as_json(place: str | None, visit: int | None) -> dict[str, object] | None:
    """Return a visit: the place of its node, as a revision names it, the node's id, and its number."""
    from verdog_repo.places import parse_place

    if place is None:
        return None
    return {"place": place, "node": parse_place(place)[1], "visit": visit}


def _graph_as_json(boundary: "Boundary | None") -> dict[str, object] | None:
    """Return which graph the node of a boundary belongs to."""
    if boundary is None:
        return None
    return {
        "project_path": boundary.project_path,
        "graph": boundary.graph,
        "call_path": boundary.call_path,
    }


def lineage_as_json(lineage: "Lineage | None") -> dict[str, object] | None:
    """Return where a run came from."""
    if lineage is None:
        return None
    return {
        "run": lineage.run,
        "operation": lineage.operation.value,
        "checkpoint": lineage.checkpoint,
        "arguments": lineage.arguments.value,
    }


def run_as_json(listing: "RunListing", project: Path, *, brief: bool = False) -> dict[str, object]:
    """Return a run as one member of a list; `project` is the directory that it belongs to."""
    from verdog_repo.filenames import locate_directory

    header = listing.header
    document: dict[str, object] = {
        "run": header.run,
        "workflow": header.workflow,
        "definition_id": header.definition_id,
        "status": listing.status.value,
        "active": listing.active,
        "started_at": header.started_at,
        "updated_at": header.updated_at,
        "output_dir": exact(os.fsencode(locate_directory(project, header.output_dir))),
        "present": listing.present,
        "checkpointing": header.checkpointing,
        "arguments": list(header.arguments),
        "parent": lineage_as_json(header.parent),
    }
    if not brief:
        document |= {
            "checkpoint": listing.sequence,
            "commit": None if listing.commit is None else listing.commit.hex(),
            "restorable": listing.restorable,
            "branchable": listing.branchable,
            "fork_fresh": listing.fork_fresh,
            "result": header.result_text,
            "error": None
            if header.error is None
            else {"type": header.error.type, "message": header.error.message},
        }
    return document


def entry_as_json(path: bytes, entry: "Entry") -> dict[str, object]:
    """Return a file of a checkpoint; its path is byte-exact."""
    return {
        "path": exact(path),
        "kind": _KINDS[int(entry.kind)],
        "mode": f"{entry.mode:04o}",
        "size_bytes": entry.size,
        "oid": entry.oid.hex(),
    }


def change_as_json(
    status: str,
    before: "tuple[bytes | None, Entry | None]",
    after: "tuple[bytes | None, Entry | None]",
    similarity: int | None = None,
) -> dict[str, object]:
    """Return a changed file: what happened to it, and its path and entry on both sides."""
    sides = [None if entry is None else entry_as_json(path or b"", entry) for path, entry in (before, after)]
    path = before[0] if after[1] is None else after[0]
    return {
        "status": status,
        "path": exact(path or b""),
        "similarity": similarity,
        "before": sides[0],
        "after": sides[1],
    }


def format_mode(entry: "Entry") -> str:
    """Return an entry's kind and permissions as `ls -l` writes them."""
    letters = ["-dl"[int(entry.kind) - 1]]
    for shift, special, letter in ((6, 0o4000, "s"), (3, 0o2000, "s"), (0, 0o1000, "t")):
        bits = entry.mode >> shift & 0o7
        letters += ["r" if bits & 4 else "-", "w" if bits & 2 else "-"]
        execute = bool(bits & 1)
        if entry.mode & special:
            letters.append(letter if execute else letter.upper())
        else:
            letters.append("x" if execute else "-")
    return "".join(letters)

"""Acknowledged checkpoints: the lines of a run's `index.jsonl`, and what the store owes to the last."""

import heapq
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from verdog_objects.errors import Corrupt, InvalidInput, VerdogError
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.filenames import parse_filename
from verdog_repo.names import CommitId, RunId, format_commit_id, parse_commit_id
from verdog_repo.refs import RUN_PREFIX, iter_refs

INDEX: Final = Path(".verdog") / "checkpoints" / "index.jsonl"
"""Where the lines are, relative to the output directory."""

LOOKED_AT: Final = 50
"""How many runs a look at all of them takes: an older store lacks the end of what was new."""

_LINE_BYTES = 1024
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

TAIL_BYTES: Final = 64 * 1024
"""The end of the file that holds the last whole line, whatever a power cut left behind it."""

_ENCODER = json.JSONEncoder(separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """One line: the checkpoint that was the run's latest when it was written."""

    run: str
    sequence: int
    commit: CommitId


def format_line(checkpoint: Checkpoint) -> bytes:
    """Return the line to append once a checkpoint is durable, or is the latest again after an undo."""
    value = {
        "commit": format_commit_id(checkpoint.commit),
        "created_at": checkpoint.created_at,
        "kind": checkpoint.kind.value,
        "run": checkpoint.run,
        "sequence": checkpoint.sequence,
    }
    return _ENCODER.encode(value).encode() + b"\n"


def parse_last_line(data: bytes) -> Acknowledged | None:
    """Return what the last whole line of a file, or of its end, acknowledges; None when there is none.

    Lines are appended without syncing, after the checkpoint is durable. So a torn last line, or zeros that a
    power cut left, are passed over.
    """
    whole, _, _ = data.rpartition(b"\n")
    for line in reversed(whole.split(b"\n")):
        found = _parse(line)
        if found is not None:
            return found
    return None


def check_acknowledged(catalog: Catalog, run: RunId, last: Acknowledged | bytes | None) -> None:
    """Refuse a store that lost a checkpoint it had acknowledged.

    Args:
        catalog: the store.
        run: the run.
        last: the last line of its `index.jsonl` (or the file's last bytes), or None when it has none.

    Raises:
        Corrupt: the run's ref is behind that line, or on another history.
    """
    if isinstance(last, bytes):
        last = parse_last_line(last)
    if last is None:
        return
    if last.run != run:
        raise Corrupt(f"index.jsonl speaks of run {last.run}, not of run {run}")
    tip = catalog.tip(run)
    if tip is None or tip.sequence < last.sequence:
        has = f"ends at checkpoint {tip.sequence}" if tip is not None else "has no checkpoint"
        raise Corrupt(f"run {run} {has}, but checkpoint {last.sequence} had been acknowledged")
    found = catalog.index.own_ancestor(tip, catalog.runs.number(run), last.sequence)
    if found.commit != last.commit:
        raise Corrupt(
            f"run {run}: checkpoint {last.sequence} is commit {format_commit_id(found.commit)}, "
            f"but {format_commit_id(last.commit)} had been acknowledged"
        )


def find_losses(catalog: Catalog, project: Path, runs: Iterable[RunId] | None = None) -> Iterator[str]:
    """Yield a sentence for each run that the store has an older state of than the run's own directory.

    This is a look, no check: a directory that is gone or cannot be read says nothing.

    Args:
        catalog: the store.
        project: what output directories are relative to.
        runs: those that are looked at; the `LOOKED_AT` newest when None.

    Cost: for each of these one read of its ref and of the end of one file.
    """
    table = catalog.runs
    if runs is None:
        tips = {ref.run_number: (ref.sequence, ref.commit) for ref in iter_refs(catalog.store, RUN_PREFIX)}
        every = (row for page in table.pages() for row in page)
        rows = heapq.nlargest(LOOKED_AT, every, key=lambda row: row.number)
    else:
        tips, rows = {}, map(table.get, dict.fromkeys(runs))
    for row in rows:
        last = _read_last_line(os.path.join(project, parse_filename(row.output_dir)))  # noqa: PTH118
        if last is None or last.run != row.run or (last.sequence, last.commit) == tips.get(row.number):
            continue
        try:
            check_acknowledged(catalog, row.run, last)
        except Corrupt as error:
            yield str(error)
        except VerdogError:
            continue


def _read_last_line(output: str) -> Acknowledged | None:
    """Return the last line of an output directory's index, or None when there is none to be read."""
    try:
        file = os.open(f"{output}/{INDEX}", _LOOK)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        for count in (_LINE_BYTES, TAIL_BYTES):
            begin = max(0, status.st_size - count)
            last = parse_last_line(os.pread(file, count, begin))
            if last is not None or begin == 0:
                return last
        return None
    except OSError:
        return None
    finally:
        os.close(file)


def _parse(line: bytes) -> Acknowledged | None:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, object]", value)
    run, sequence, commit = fields.get("run"), fields.get("sequence"), fields.get("commit")
    if not isinstance(run, str) or type(sequence) is not int or sequence < 1 or not isinstance(commit, str):
        return None
    try:
        return Acknowledged(run=run, sequence=sequence, commit=parse_commit_id(commit))
    except InvalidInput:
        return None

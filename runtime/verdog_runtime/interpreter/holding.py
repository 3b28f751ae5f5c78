"""Holding an output directory: the lock in it, and whose directory it is."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from verdog_objects import locking
from verdog_objects.errors import Busy, InvalidInput
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.layout import CONTROL_DIRECTORY, require_control_directory
from verdog_runtime.runfiles import LOCK, read_run_id
from verdog_runtime.runrecord import RUN_MANIFEST
from verdog_runtime.storeerrors import RunActive, RunStoreError


@contextmanager
def hold_output(output: Path, what: str) -> Generator[None]:
    """Hold the lock in an output directory's control directory, which exists.

    Args:
        output: the directory.
        what: what cannot be done as long as somebody else holds it, for the message.

    Raises:
        RunActive: another process holds it.
        RunStoreError: it is no regular file (`run.lock_invalid`).
    """
    try:
        lock = locking.acquire(output / CONTROL_DIRECTORY / LOCK)
    except InvalidInput as error:
        raise RunStoreError(str(error), code="run.lock_invalid") from error
    except Busy as error:
        raise RunActive(f"{what}: {error}", owner=error.owner, since_ns=error.since_ns) from error
    with lock:
        yield


def is_claimed(output: Path) -> bool:
    """Return whether an output directory has a control directory, in which it can be locked."""
    return (output / CONTROL_DIRECTORY).is_dir()


def require_unused(output: Path) -> None:
    """Refuse an output directory in which another run was begun since it was found vacant. It is locked.

    Raises:
        InvalidInput: somebody wrote there.
    """
    with os.scandir(output) as entries:
        used = any(entry.name != CONTROL_DIRECTORY for entry in entries)
    if used or os.path.lexists(output / CONTROL_DIRECTORY / RUN_MANIFEST):
        raise InvalidInput(f"the output directory {output} is not empty any more: another run began there")


def require_own_output(repository: Repository, run: RunId, output: Path) -> None:
    """Refuse to touch what is at the place of a run's output directory if it is not that.

    Raises:
        RunStoreError: something else than a directory is there (`run.output_missing`), its control directory
            is a link (`run.control_invalid`), or the record there is of another run (`run.output_mismatch`).
    """
    there = next(place for place in (output, *output.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise RunStoreError(
            f"{there} is in the way of the output directory of run {run}: it is no directory; once it is "
            f"removed, `verdog resume {run}` writes the recorded files again",
            code="run.output_missing",
        )
    require_control_directory(output)
    other = find_other_run(repository, run, output)
    if other is not None:
        raise RunStoreError(
            f"{output} holds the record of run {other} now, not of run {run}; "
            "fork a checkpoint, or restart the run, to have it in another directory",
            code="run.output_mismatch",
        )


def find_other_run(repository: Repository, run: RunId, output: Path) -> RunId | None:
    """Return the run that took the place of a removed output directory, or None when none did."""
    named = read_run_id(output)
    return named if named not in (None, run) and repository.has_run(named) else None

"""The output directories of recorded runs, compared with their checkpoints and put back."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verdog_objects.errors import NotFound, VerdogError
from verdog_objects.manifest import lookup, path_key
from verdog_objects.oid import Oid
from verdog_objects.paths import escape_path
from verdog_objects.restore import discard_staged
from verdog_objects.verify import Difference, list_untracked, verify_tree
from verdog_repo.acknowledged import check_acknowledged, find_losses
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.fsck import Finding
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.acknowledgements import read_acknowledged
from verdog_runtime.interpreter.bringing import put_back
from verdog_runtime.interpreter.holding import find_other_run, require_own_output
from verdog_runtime.interpreter.openbooks import claim_output
from verdog_runtime.interpreter.resume import locate_output, take_lease
from verdog_runtime.layout import CONTROL_DIRECTORY, exclude_control_files
from verdog_runtime.mirror import mirror_run
from verdog_runtime.runfacts import read_facts
from verdog_runtime.runfiles import read_run_id
from verdog_runtime.runrecord import write_run_record
from verdog_runtime.storeerrors import RunStoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStatus:
    """An output directory against a checkpoint.

    Attributes:
        present: the directory is there. If it is not, nothing else is said.
        untracked: files and links that the checkpoint does not have.
        lost: how far the store is behind the directory, if it was put back to an older state.
    """

    present: bool
    lost: str | None = None
    differences: tuple[Difference, ...] = ()
    untracked: tuple[bytes, ...] = ()


def compare_output(repository: Repository, checkpoint: Checkpoint) -> OutputStatus:
    """Compare a run's directory with what a checkpoint of it recorded. Every recorded file is read.

    A directory in which another run writes now is not present.

    Raises:
        NotFound: the checkpoint's files were not recorded.
    """
    root = _recorded_files(repository, checkpoint)
    output = locate_output(repository, repository.header(checkpoint.run))
    if not output.is_dir() or find_other_run(repository, checkpoint.run, output) is not None:
        return OutputStatus(present=False)
    return OutputStatus(
        present=True,
        lost=next(find_losses(repository.catalog, repository.project, [checkpoint.run]), None),
        differences=tuple(verify_tree(repository.store, root, output)),
        untracked=tuple(
            path
            for path in list_untracked(repository.store, root, output, excluded=exclude_control_files(output))
            if not _is_directory(output, path)
        ),
    )


def _is_directory(output: Path, path: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(os.fsencode(output) + b"/" + path).st_mode)
    except FileNotFoundError:
        return True


def restore_files(repository: Repository, source: Checkpoint, paths: Sequence[bytes]) -> tuple[bytes, ...]:
    """Put a checkpoint's recorded files back into its run's directory, under the run's lease.

    Args:
        repository: the run's.
        source: the checkpoint.
        paths: files and directories to put back; everything when empty.

    Returns:
        The paths that were put back, because they were missing or differed.

    Raises:
        RunActive: the run is being executed.
        NotFound: the checkpoint's files were not recorded, or it has no such path.
        RunStoreError: the place of the directory was taken by something else, or by another run.
        InvalidInput: something that is not recorded is in the way.
        Corrupt: the store lost a checkpoint of the run that it had acknowledged.

    Durability: all of it once the call returned.
    """
    root = _recorded_files(repository, source)
    wanted = [path.rstrip(b"/") for path in paths]
    for path in wanted:
        if lookup(repository.store, root, path_key(path)) is None:
            raise NotFound(
                f"checkpoint {source.sequence} of run {source.run} has no {escape_path(path)}", paths=(path,)
            )
    with take_lease(repository, source.run):
        header = repository.header(source.run)
        output = locate_output(repository, header)
        require_own_output(repository, source.run, output)
        check_acknowledged(repository.catalog, source.run, read_acknowledged(output))
        output.mkdir(parents=True, exist_ok=True)
        differences = verify_tree(repository.store, root, output)
        if wanted:
            differences = [each for each in differences if _is_among(each.path, wanted)]
        restored: tuple[bytes, ...] = ()
        if differences:
            restored = put_back(repository.store, root, output, differences)
        else:
            discard_staged(output / CONTROL_DIRECTORY)
        if read_run_id(output) is None:
            claim_output(output)
            write_run_record(output, header, repository.project, read_facts(repository, header))
            mirror_run(repository, source.run, output)
        return restored


def find_lost_checkpoints(repository: Repository) -> list[Finding]:
    """Return the runs whose directory holds the acknowledgement of a checkpoint that the store does not have.

    Such a store was put back to an older state, or a part of it was. Damage to the list of runs is left to
    `fsck.check`.

    Cost: reads the end of one file of each run whose directory is there.
    """
    findings: list[Finding] = []
    try:
        listings = repository.runs()
    except VerdogError:
        return findings
    for listing in listings:
        run = listing.header.run
        try:
            output = locate_output(repository, listing.header)
            if find_other_run(repository, run, output) is not None:
                continue
            check_acknowledged(repository.catalog, run, read_acknowledged(output))
        except (VerdogError, RunStoreError) as error:
            findings.append(Finding(kind="ref", run=run, message=str(error)))
    return findings


def _is_among(path: bytes, wanted: Sequence[bytes]) -> bool:
    """Return whether a path is wanted, lies below one that is, or is a directory above one."""
    return any(
        path == each or path.startswith(each + b"/") or each.startswith(path + b"/") for each in wanted
    )


def _recorded_files(repository: Repository, checkpoint: Checkpoint) -> Oid:
    root = repository.record(checkpoint).artifacts
    if root is None:
        raise NotFound(
            f"the files of checkpoint {checkpoint.sequence} of run {checkpoint.run} were not recorded"
        )
    return root

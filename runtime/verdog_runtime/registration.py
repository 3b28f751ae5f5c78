"""Registration: the registry of a project brought in line with its store and its directories."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from verdog_objects.errors import NotFound
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.clock import read_instant
from verdog_runtime.interpreter.openbooks import new_operation
from verdog_runtime.interpreter.prepare import format_output_dir
from verdog_runtime.interpreter.resume import locate_output, take_lease
from verdog_runtime.mirror import list_directories, mirror_run
from verdog_runtime.registry import align_registry
from verdog_runtime.runfacts import read_facts
from verdog_runtime.runfiles import read_run_id
from verdog_runtime.runrecord import write_run_record
from verdog_runtime.storeerrors import RunStoreError


def prune_registry(repository: Repository) -> tuple[Path, ...]:
    """Remove from the registry every directory that is not there, and return them in order.

    Directories of the store's runs that are there and not in it, because the project was moved or a
    directory was written again, are added. A damaged registry is written anew from the store. The store is
    not changed: its runs stay, and `verdog resume` writes a missing directory again.

    Durability: once the call returned.
    """
    return align_registry(repository.project, partial(list_directories, repository))


def register_directory(repository: Repository, directory: Path, command: tuple[str, ...] = ()) -> RunId:
    """Tell the store that a run's output directory is somewhere else now, and return the run.

    Args:
        repository: the store of the project that the directory is to belong to.
        directory: an output directory that was moved, with its `.verdog/run.json`.
        command: the command line, for the operation log.

    Raises:
        NotFound: it is no output directory, or the store does not have its run.
        RunActive: the run is being executed.
        RunStoreError: the run still has its files at another place (`run.output_mismatch`).

    Durability: header and copies are durable when the call returned.
    """
    output = Path(os.path.realpath(directory))
    run = read_run_id(output)
    if run is None:
        raise NotFound(f"{output} is not the output of a run: it has no .verdog/run.json that names one")
    if not repository.has_run(run):
        raise NotFound(f"the store of {repository.project} has no run {run}, which {output} belongs to")
    with take_lease(repository, run) as lease:
        header = repository.header(run)
        before = locate_output(repository, header)
        if Path(os.path.realpath(before)) != output:
            if read_run_id(before) == run:
                raise RunStoreError(
                    f"run {run} is still at {before}; move that away first, or fork the run to have it twice",
                    code="run.output_mismatch",
                )
            now = read_instant()
            header = replace(header, output_dir=format_output_dir(output, repository.project), updated_at=now)
            operation = new_operation("register", now, command)
            repository.update_header(run, lease, header, operation=operation)
        write_run_record(output, header, repository.project, read_facts(repository, header))
    mirror_run(repository, run, output, before=before)
    return run

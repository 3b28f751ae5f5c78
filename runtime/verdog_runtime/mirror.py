"""The mirror: the registry follows the store, and is never in the way of a run."""

import logging
from functools import partial
from pathlib import Path

from verdog_objects.errors import VerdogError
from verdog_repo.filenames import locate_directory
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.registry import REGISTRY, register_run, unregister_runs
from verdog_runtime.runfiles import read_run_id
from verdog_runtime.storeerrors import RunStoreError

_LOG = logging.getLogger("verdog.run")


def mirror_run(repository: Repository, run: RunId, output: Path, *, before: Path | None = None) -> None:
    """Write into the registry where a run's directory is. What is in the way of that is logged.

    A damaged registry is put aside and written anew from the store.

    Args:
        repository: the run's.
        run: the run.
        output: its directory, absolute.
        before: where that was until now.

    Durability: once the call returned, unless it was logged.
    """
    rebuild = partial(list_directories, repository)
    try:
        if before is not None and before != output:
            unregister_runs(repository.project, frozenset({before}), rebuild=rebuild)
        register_run(repository.project, run, output, rebuild=rebuild)
    except (VerdogError, RunStoreError) as error:
        _LOG.warning("%s does not say where run %s is: %s", REGISTRY, run, error)


def list_directories(repository: Repository) -> dict[str, str]:
    """Return the runs of a store by their absolute output directories, of those that are there.

    Where several runs had one directory, one after the other, the record in it says whose it is now.
    """
    found: dict[str, str] = {}
    for each in reversed(repository.runs()):
        output = locate_directory(repository.project, each.header.output_dir).absolute()
        if each.present and read_run_id(output) in (None, each.header.run):
            found[str(output)] = each.header.run
    return found

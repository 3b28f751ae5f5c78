"""Finding a run by its output directory, and a checkpoint of it by its number."""

import os
from pathlib import Path

from verdog_objects.errors import NotFound
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.resume import locate_output
from verdog_runtime.refusals import CheckpointNotFound, told_as_run_errors
from verdog_runtime.runfiles import read_run_id
from verdog_runtime.storeerrors import RunStoreError


@told_as_run_errors()
def find_run(project_root: Path, output_dir: Path) -> RunId:
    """Return the run of a project whose output directory this is, even if the directory itself is gone.

    Raises:
        RunStoreError: the project has no such run (`run.output_missing`), or the directory is not where its
            run says it is (`run.output_mismatch`).
    """
    output = Path(os.path.realpath(output_dir))
    try:
        with Repository.open(project_root) as repository:
            named = read_run_id(output)
            if named is not None and repository.has_run(named):
                expected = Path(os.path.realpath(locate_output(repository, repository.header(named))))
                if expected != output:
                    raise RunStoreError(
                        f"{output} holds the record of run {named}, whose output directory is {expected}",
                        code="run.output_mismatch",
                    )
                return named
            found = [
                each
                for each in repository.runs()
                if Path(os.path.realpath(locate_output(repository, each.header))) == output
            ]
            if found:
                # A run that could not begin, because another one was faster there, has no checkpoint.
                return next((each for each in found if each.commit is not None), found[0]).header.run
    except NotFound as error:
        raise RunStoreError(
            f"{output} is not the output of a run: {error}", code="run.output_missing"
        ) from error
    raise RunStoreError(
        f"the store of {project_root} has no run whose output directory is {output}",
        code="run.output_missing",
    )


@told_as_run_errors()
def find_fork_point(project_root: Path, output_dir: Path, sequence: int) -> Checkpoint:
    """Return a checkpoint of the run of an output directory. Raises as `find_run` and `find_checkpoint`."""
    run = find_run(project_root, output_dir)
    with Repository.open(project_root) as repository:
        return find_checkpoint(repository, run, sequence)


def find_checkpoint(repository: Repository, run: RunId, sequence: int) -> Checkpoint:
    """Return a run's own checkpoint by its number.

    Raises:
        CheckpointNotFound: the run has none of it.
        TypeError: this is no number.
    """
    if type(sequence) is not int:
        raise TypeError(f"a checkpoint is chosen by its number, not by {sequence!r}")
    try:
        return repository.checkpoint_at(run, sequence)
    except NotFound as error:
        raise CheckpointNotFound(str(error)) from error

"""Forking: a new run goes on from a checkpoint of another one, in a directory of its own."""

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from verdog_objects.checkout import staged_rebased
from verdog_objects.errors import InvalidInput, Unavailable, VerdogError
from verdog_objects.manifest import path_key, update
from verdog_objects.oid import Oid
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.fork import Rebased, check_forkable
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import CommitId, RunId
from verdog_repo.operations import OperationDraft
from verdog_repo.record import CheckpointRecord
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.interpreter.acknowledgements import AcknowledgementLog
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.compatibility import require_same_environment
from verdog_runtime.interpreter.holding import hold_output
from verdog_runtime.interpreter.openbooks import (
    Continuation,
    Opening,
    claim_output,
    new_operation,
)
from verdog_runtime.interpreter.policies import SessionPolicy
from verdog_runtime.interpreter.prepare import format_output_dir, prepare_plan, require_vacant
from verdog_runtime.interpreter.restoring import restore_state_tree
from verdog_runtime.interpreter.resume import (
    decode_for,
    go_on,
    locate_output,
    name_entry,
    require_same_workflow,
    take_lease,
    workflow_file,
)
from verdog_runtime.interpreter.rollback import warn_of_loss
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.interpreter.storebooks import describe_error
from verdog_runtime.mirror import mirror_run
from verdog_runtime.refusals import DestinationInvalid, told_as_run_errors
from verdog_runtime.runfacts import read_facts
from verdog_runtime.runrecord import write_run_record


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequest:
    """What a caller asks of a fork.

    Attributes:
        source: the checkpoint that is forked.
        run: the new run's id.
        output_dir: absent or empty, not above or below the source's.
        sessions: whether agents' conversations are branched or begun anew.
        command: the command line, for the operation log.
        allow_changed_code: execute it although code or environment changed, and record that.
    """

    source: CommitId
    run: RunId
    output_dir: Path
    sessions: SessionPolicy
    command: tuple[str, ...] = ()
    allow_changed_code: bool = False


@told_as_run_errors()
def fork_run(settings: Settings, definition: AnyWorkflow, request: ForkRequest) -> Finish | Fail:
    """Fork a checkpoint and execute the new run. Raises as `Dispatcher.fork`, but returns a failure."""
    plan = prepare_plan(definition, settings.project_root)
    with Repository.open(settings.project_root) as repository:
        forking = examine_fork(repository, request)
        moved = require_same_workflow(forking.header, definition, allow=request.allow_changed_code)
        forking = replace(forking, header=name_entry(forking.header, definition))
        changed = require_same_environment(
            repository.store,
            forking.record.environments,
            repository.project,
            workflow_file(repository, forking.header),
            allow=request.allow_changed_code,
        )
        decoding = decode_for(repository, forking.output)
        assert forking.record.state is not None
        restored = restore_state_tree(repository.store, forking.record.state, plan, definition, decoding)
        operation = new_operation("fork", settings.now(), request.command)
        checkpoint = make_fork(repository, forking, request, operation, (*moved, *changed))
        with (
            take_lease(repository, request.run) as lease,
            hold_output(forking.output, f"run {request.run} is active"),
        ):
            header = replace(
                repository.header(request.run), status=RunStatus.RUNNING, updated_at=settings.now()
            )
            repository.update_header(request.run, lease, header)
            opening = Opening(
                repository=repository,
                lease=lease,
                header=header,
                output=forking.output,
                operation=operation.id,
            )
            artifacts = repository.record(checkpoint).artifacts
            continuation = Continuation(registry=restored.registry, artifacts=artifacts)
            return go_on(settings, opening, continuation, restored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forking:
    """A fork that nothing speaks against.

    Attributes:
        header: the source run's.
        record: the fork point's.
        source_output: the source's output directory, which need not exist.
        output: the new directory.
    """

    point: Checkpoint
    header: RunHeader
    record: CheckpointRecord
    artifacts: Oid
    source_output: Path
    output: Path


def examine_fork(repository: Repository, request: ForkRequest) -> Forking:
    """Refuse what can be refused before a fork writes anything.

    Raises:
        NotRestorable: the checkpoint cannot be forked this way; the error says why.
        DestinationInvalid: the new directory overlaps the source's, is a file or not empty.
    """
    point = repository.checkpoint(request.source)
    header = repository.header(point.run)
    record = repository.checked_record(point)
    warn_of_loss(repository, point.run)
    check_forkable(point, record, clear_sessions=request.sessions is SessionPolicy.FRESH)
    source_output = locate_output(repository, header)
    real = Path(os.path.realpath(source_output))
    output = _require_destination(request.output_dir, real, repository.project)
    assert record.artifacts is not None
    return Forking(
        point=point,
        header=header,
        record=record,
        artifacts=record.artifacts,
        source_output=real,
        output=output,
    )


def _require_destination(output_dir: Path, source: Path, project: Path) -> Path:
    wanted = Path(os.path.realpath(output_dir))
    if wanted.is_relative_to(source) or source.is_relative_to(wanted):
        raise DestinationInvalid(f"the fork's directory {wanted} overlaps the source's, {source}")
    try:
        return require_vacant(output_dir, project)
    except InvalidInput as error:
        if wanted.is_dir():
            raise DestinationInvalid(str(error), code="checkpoint.artifact_destination_not_empty") from error
        raise DestinationInvalid(str(error)) from error


def make_fork(
    repository: Repository,
    forking: Forking,
    request: ForkRequest,
    operation: OperationDraft,
    changed_code: tuple[str, ...] = (),
) -> Checkpoint:
    """Write a fork's files, then its first checkpoint, and return that. No code of the workflow runs.

    The new run is interrupted until it is resumed.

    Durability: the files under another name, then header, commit and ref in one step, then the name of the
        directory. Without that name, resuming the run writes the directory.
    """
    header = replace(
        forking.header,
        run=request.run,
        status=RunStatus.INTERRUPTED,
        started_at=operation.at,
        updated_at=operation.at,
        output_dir=format_output_dir(forking.output, repository.project),
        result=None,
        result_text=None,
        error=None,
        changed_code=changed_code,
        parent=Lineage(
            run=forking.point.run,
            operation=LineageKind.FORK,
            checkpoint=forking.point.sequence,
            arguments=ArgumentsKind.CHECKPOINT,
        ),
    )
    checkpoint = _commit_fork(repository, forking, request, header, operation)
    claim_output(forking.output)
    log = AcknowledgementLog(forking.output)
    log.append(checkpoint)
    log.close()
    write_run_record(forking.output, header, repository.project, read_facts(repository, header))
    mirror_run(repository, header.run, forking.output)
    return checkpoint


def _commit_fork(
    repository: Repository,
    forking: Forking,
    request: ForkRequest,
    header: RunHeader,
    operation: OperationDraft,
) -> Checkpoint:
    with repository.store.writer() as writer, ExitStack() as stack:
        try:
            staged = stack.enter_context(
                staged_rebased(
                    writer,
                    forking.artifacts,
                    forking.output,
                    old_prefix=os.fsencode(forking.source_output),
                    new_prefix=os.fsencode(forking.output),
                )
            )
        except (Unavailable, InvalidInput):
            # Another fork may have been faster.
            _require_destination(forking.output, forking.source_output, repository.project)
            raise
        changes = {path_key(path): entry for path, entry in staged.changed.items()}
        artifacts = update(writer, forking.artifacts, changes) if changes else forking.artifacts
        checkpoint = repository.fork(
            request.source,
            header,
            clear_sessions=request.sessions is SessionPolicy.FRESH,
            operation=operation,
            rebased=Rebased(writer, artifacts),
        )
        try:
            staged.publish()
        except VerdogError as error:
            failed = replace(header, status=RunStatus.FAILED, error=describe_error(error))
            repository.update_header(request.run, None, failed)
            _require_destination(forking.output, forking.source_output, repository.project)
            raise
        return checkpoint

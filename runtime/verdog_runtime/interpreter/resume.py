"""Resuming: the same run goes on from its latest checkpoint."""

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from verdog_objects.errors import Busy, NotRestorable
from verdog_objects.oid import Oid
from verdog_objects.signatures import Signatures
from verdog_repo.acknowledged import check_acknowledged
from verdog_repo.filenames import locate_directory, parse_filename
from verdog_repo.lease import Lease
from verdog_repo.names import RunId
from verdog_repo.record import CheckpointRecord
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus, SourceFile
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.interpreter.acknowledgements import read_acknowledged
from verdog_runtime.interpreter.bringing import bring_artifacts, lost_power
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.compatibility import require_same_environment
from verdog_runtime.interpreter.holding import hold_output, is_claimed, require_own_output
from verdog_runtime.interpreter.machine import resume
from verdog_runtime.interpreter.mainmodule import name_main_module
from verdog_runtime.interpreter.openbooks import (
    Continuation,
    Opening,
    new_operation,
    open_books,
)
from verdog_runtime.interpreter.prepare import prepare_plan
from verdog_runtime.interpreter.recorder import FAILURE_PORT
from verdog_runtime.interpreter.restoring import Decoding, Restored, restore_state_tree
from verdog_runtime.interpreter.running import execute
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.refusals import (
    AlreadySucceeded,
    NothingToResume,
    WorkflowMismatch,
    told_as_run_errors,
)
from verdog_runtime.storeerrors import RunActive
from verdog_runtime.values import Anchors


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRequest:
    """What a caller asks of a resumption.

    Attributes:
        allow_changed_code: go on although code or environment changed, and record that.
        restore: put recorded files back where they differ, instead of refusing to go on.
        command: the command line, for the operation log.
    """

    allow_changed_code: bool = False
    restore: bool = False
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingPoint:
    """Where a run goes on.

    Attributes:
        record: of the checkpoint whose state is taken.
        resumed_from: that checkpoint's number, if it is not the run's latest.
    """

    record: CheckpointRecord
    resumed_from: int | None
    artifacts: Oid
    state: Oid


@told_as_run_errors()
def resume_run(
    settings: Settings, definition: AnyWorkflow, run: RunId, request: ResumeRequest
) -> Finish | Fail:
    """Resume a run of the settings' project. Raises as `Dispatcher.resume`, but returns a failure."""
    plan = prepare_plan(definition, settings.project_root)
    with (
        Repository.open(settings.project_root) as repository,
        take_lease(repository, run) as lease,
        ExitStack() as held,
    ):
        header = _read_unfinished(repository, run)
        moved = require_same_workflow(header, definition, allow=request.allow_changed_code)
        output = locate_output(repository, header)
        require_own_output(repository, run, output)
        hold = partial(hold_output, output, f"run {run} is active")
        claimed = is_claimed(output)
        if claimed:
            held.enter_context(hold())
        point = choose_starting_point(repository, run)
        check_acknowledged(repository.catalog, run, read_acknowledged(output))
        changed = require_same_environment(
            repository.store,
            point.record.environments,
            repository.project,
            workflow_file(repository, header),
            allow=request.allow_changed_code,
        )
        decoding = decode_for(repository, output)
        restored = restore_state_tree(repository.store, point.state, plan, definition, decoding)
        signatures = _bring_files(settings, repository, lease, point, output, request)
        if not claimed:
            held.enter_context(hold())
        header = replace(
            name_entry(header, definition), changed_code=(*header.changed_code, *moved, *changed)
        )
        opening = _reopen(settings, repository, lease, header, request)
        continuation = Continuation(
            registry=restored.registry,
            artifacts=point.artifacts,
            signatures=signatures,
            resumed_from=point.resumed_from,
        )
        return go_on(settings, opening, continuation, restored)


def _read_unfinished(repository: Repository, run: RunId) -> RunHeader:
    header = repository.header(run)
    if header.status is RunStatus.SUCCEEDED:
        raise AlreadySucceeded(f"run {run} has succeeded; fork one of its checkpoints, or restart it")
    return header


def _reopen(
    settings: Settings, repository: Repository, lease: Lease, header: RunHeader, request: ResumeRequest
) -> Opening:
    """Write that the run goes on."""
    operation = new_operation("resume", settings.now(), request.command)
    header = replace(header, status=RunStatus.RUNNING, updated_at=operation.at, error=None)
    repository.update_header(header.run, lease, header, operation=operation)
    output = locate_output(repository, header)
    return Opening(repository=repository, lease=lease, header=header, output=output, operation=operation.id)


def _bring_files(
    settings: Settings,
    repository: Repository,
    lease: Lease,
    point: StartingPoint,
    output: Path,
    request: ResumeRequest,
) -> Signatures:
    """Return what is known of the recorded files, once each of them is as it was recorded."""
    signatures = Signatures()
    restored = bring_artifacts(
        repository.store,
        point.artifacts,
        output,
        signatures,
        restore=request.restore or lost_power(lease),
    )
    if restored:
        settings.observer.files_restored(restored)
    return signatures


def go_on(
    settings: Settings, opening: Opening, continuation: Continuation, restored: Restored
) -> Finish | Fail:
    """Execute a run from a restored state to its end. Its lease and its directory's lock are held."""
    remaining = restored.remaining if settings.granted is None else settings.granted
    begin = resume(restored.frame, remaining=remaining)
    with open_books(settings, opening, continuation) as books:
        return execute(
            begin,
            run=opening.header.run,
            output=opening.output,
            settings=settings,
            books=books,
        )


@contextmanager
def take_lease(repository: Repository, run: RunId) -> Generator[Lease]:
    """Hold a run's lease inside the block.

    Raises:
        RunActive: another process holds it.
    """
    try:
        lease = repository.lease(run)
    except Busy as error:
        raise RunActive(str(error), owner=error.owner, since_ns=error.since_ns) from error
    with lease:
        yield lease


def require_same_workflow(header: RunHeader, definition: AnyWorkflow, *, allow: bool) -> tuple[str, ...]:
    """Return what differs between a run's workflow and a definition of it, if that is allowed.

    Raises:
        WorkflowMismatch: the definition has another id; or its entry is another graph or in another module,
            which is changed code, and not allowed.
    """
    recorded = (header.workflow_id, header.definition_id, header.module)
    given = (definition.id, definition.entry.definition_id, definition.entry.definition_module)
    if recorded == given:
        return ()
    was, now = _describe_workflow(*recorded), _describe_workflow(*given)
    if allow and header.workflow_id == definition.id:
        return (f"the definition changed from {was} to {now}",)
    raise WorkflowMismatch(f"run {header.run} executes {was}, not {now}")


def name_entry(header: RunHeader, definition: AnyWorkflow) -> RunHeader:
    """Return a header that names the entry of a definition."""
    entry = definition.entry
    return replace(header, definition_id=entry.definition_id, module=entry.definition_module)


def _describe_workflow(workflow: str, definition: str, module: str) -> str:
    return f"workflow {workflow} (graph {definition} of module {module})"


def choose_starting_point(repository: Repository, run: RunId) -> StartingPoint:
    """Return the latest checkpoint, or the one that it continued if the run ended at its failure port.

    Raises:
        NothingToResume: the run has no checkpoint to go on from.
        NotRestorable: the checkpoint cannot be restored; the error says why.
    """
    tip = repository.tip(run)
    if tip is None:
        again = f"`verdog restart {run} --sessions fresh` begins it again"
        raise NothingToResume(f"run {run} has no checkpoint yet; {again}")
    here, record = tip, repository.checked_record(tip)
    while record.unavailable_code == FAILURE_PORT:
        # What a resumption recorded may itself be a failure, and then says which checkpoint it came from.
        before = record.resumed_from or here.sequence - 1
        if before == 0:
            raise NothingToResume(
                f"run {run} went to its failure port at once; "
                f"`verdog restart {run} --sessions fresh` begins it again",
                code=FAILURE_PORT,
            )
        here = repository.checkpoint_at(run, before)
        record = repository.checked_record(here)
    if not record.restorable or record.artifacts is None or record.state is None:
        raise NotRestorable(
            f"checkpoint {here.sequence} of run {run} cannot be restored: {record.reason}",
            code=record.unavailable_code,
        )
    return StartingPoint(
        record=record,
        resumed_from=here.sequence if here is not tip else None,
        artifacts=record.artifacts,
        state=record.state,
    )


def locate_output(repository: Repository, header: RunHeader) -> Path:
    """Return a run's output directory on this machine."""
    return locate_directory(repository.project, header.output_dir)


def workflow_file(repository: Repository, header: RunHeader) -> Path | None:
    """Return the file of a one-file workflow."""
    source = header.source
    return repository.project / parse_filename(source.path) if isinstance(source, SourceFile) else None


def decode_for(repository: Repository, output: Path) -> Decoding:
    """Return how values of a run of this repository are decoded for an output directory."""
    return Decoding(
        anchors=Anchors(output=os.path.realpath(output), project=os.path.realpath(repository.project)),
        main_module=name_main_module(),
        trusted=True,
    )

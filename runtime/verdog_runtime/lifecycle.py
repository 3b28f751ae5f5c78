"""The lifecycle of recorded runs, for a command line: run, resume, restart and fork, each one call."""

import os
import secrets
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verdog_objects.errors import InvalidInput, NotFound, VerdogError
from verdog_objects.oid import Kind
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.filenames import parse_filename
from verdog_repo.lineage import ArgumentsKind
from verdog_repo.names import RunId, parse_run_id
from verdog_repo.repository import Repository
from verdog_repo.runs import RunError, RunHeader, RunStatus
from verdog_repo.transaction import require_unused
from verdog_runtime.cancellation import CancellationToken, ExecutionCancelled
from verdog_runtime.interpreter.begin import RunRequest, begin_run
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.forking import ForkRequest, examine_fork, fork_run, make_fork
from verdog_runtime.interpreter.notes import format_message
from verdog_runtime.interpreter.observer import CountingObserver, Observer
from verdog_runtime.interpreter.openbooks import new_operation
from verdog_runtime.interpreter.policies import CheckpointPolicy, SessionPolicy
from verdog_runtime.interpreter.recorder import FAILURE_PORT
from verdog_runtime.interpreter.restart import RestartRequest, restart_run
from verdog_runtime.interpreter.resume import ResumeRequest, locate_output, resume_run
from verdog_runtime.interpreter.settings import TRANSITION_LIMIT, Settings
from verdog_runtime.interpreter.storebooks import describe_error
from verdog_runtime.sources import LoadedWorkflow, configure_workflow, load_workflow, reload_workflow
from verdog_runtime.storeerrors import OutputLost, RunStoreError
from verdog_runtime.values import decode_neutral
from verdog_runtime.values.document import Document, describe_neutral


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How an execution ended.

    Attributes:
        status: `succeeded`, `failed` or `interrupted`.
        result: the output as JSON for programs; None unless the run succeeded.
        result_text: the output for people.
        checkpoints: how many this execution wrote.
        not_restorable: how many of those can be neither resumed nor forked.
        resumable: there is a checkpoint to go on from, if the run has not succeeded.
    """

    run: RunId
    output_dir: Path
    status: str
    result: Document
    result_text: str | None
    error: RunError | None
    checkpoints: int
    not_restorable: int
    resumable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How an execution is conducted.

    Attributes:
        observer: is told of visits and checkpoints.
        command: the command line, for the operation log.
        cancellation: stops the execution.
        transitions: how many transitions the run may make from here on; None for the usual limit of a new
            run, or for what is left to one that goes on.
        run_id: the id of a run that is made from another one; a new UUID when None.
    """

    observer: Observer
    command: tuple[str, ...] = ()
    cancellation: CancellationToken | None = None
    transitions: int | None = None
    run_id: str | None = None


def run_workflow(
    loaded: LoadedWorkflow,
    arguments: Sequence[str],
    conduct: Conduct,
    *,
    output_dir: Path | None = None,
    checkpointing: str = "auto",
    run_id: str | None = None,
) -> RunOutcome:
    """Run a workflow as a recorded run.

    Args:
        loaded: the workflow.
        arguments: its own command-line arguments.
        conduct: who watches, and who may stop it.
        output_dir: absent or empty; a new directory below the project's `.verdog/runs` when None.
        checkpointing: `off`, `auto` or `required`.
        run_id: a new UUID when None.

    Raises:
        SystemExit: the arguments do not fit (2), or ask for help (0).
        VerdogError: nothing was written, and why.
    """
    run = parse_run_id(str(uuid.uuid4()) if run_id is None else run_id)
    configured = configure_workflow(loaded, arguments)
    request = RunRequest(
        output_dir=output_dir or choose_output(loaded.project_root, loaded.local_id),
        run_id=run,
        params=configured.params,
        runtime_options=configured.runtime_options,
        checkpointing=CheckpointPolicy(checkpointing),
        arguments=tuple(arguments),
        recorded=True,
        source=loaded.source,
        workflow=loaded.local_id,
        command=conduct.command,
    )
    execution = _Execution(loaded.project_root, run, conduct)
    with execution:
        execution.end(begin_run(execution.settings, configured.definition, configured.input, request))
    return execution.report()


def resume_recorded(
    repository: Repository,
    run: RunId,
    conduct: Conduct,
    *,
    workflow: str | None = None,
    allow_changed_code: bool = False,
    restore: bool = False,
) -> RunOutcome:
    """Resume a run.

    Args:
        repository: the run's.
        run: the run.
        conduct: who watches, and who may stop it.
        workflow: where the workflow is, for a run that was started from Python.
        allow_changed_code: go on although code or environment changed.
        restore: put recorded files back where they differ, instead of refusing to go on.

    Raises:
        RunStoreError: it cannot be resumed, and why.
        VerdogError: so too.
    """
    header = repository.header(run)
    loaded = load_recorded(repository, header, workflow)
    configured = configure_workflow(loaded, header.arguments)
    request = ResumeRequest(allow_changed_code=allow_changed_code, restore=restore, command=conduct.command)
    execution = _Execution(repository.project, run, conduct)
    with execution:
        execution.end(resume_run(execution.settings, configured.definition, run, request))
    return execution.report()


def restart_recorded(
    repository: Repository,
    source: RunId,
    conduct: Conduct,
    *,
    sessions: str,
    arguments: Sequence[str] | None = None,
    source_checkpoint: int | None = None,
    workflow: str | None = None,
    output_dir: Path | None = None,
) -> RunOutcome:
    """Begin a run again as a new one, with the recorded arguments unless others are given.

    Raises:
        RunStoreError: it cannot be restarted, and why.
        VerdogError: so too.
    """
    header = repository.header(source)
    loaded = load_recorded(repository, header, workflow)
    used = header.arguments if arguments is None else tuple(arguments)
    configured = configure_workflow(loaded, used)
    run = _choose_id(repository, conduct)
    restart = RestartRequest(
        source=source,
        sessions=SessionPolicy(sessions),
        source_checkpoint=source_checkpoint,
        arguments_kind=ArgumentsKind.REUSED if arguments is None else ArgumentsKind.OVERRIDDEN,
    )
    request = RunRequest(
        output_dir=output_dir or choose_output(repository.project, header.workflow),
        run_id=run,
        params=configured.params,
        runtime_options=configured.runtime_options,
        arguments=tuple(used),
        command=conduct.command,
    )
    execution = _Execution(repository.project, run, conduct)
    with execution:
        execution.end(
            restart_run(execution.settings, configured.definition, configured.input, restart, request)
        )
    return execution.report()


def fork_recorded(
    repository: Repository,
    source: Checkpoint,
    conduct: Conduct,
    *,
    sessions: str,
    workflow: str | None = None,
    output_dir: Path | None = None,
    allow_changed_code: bool = False,
) -> RunOutcome:
    """Fork a checkpoint and execute the new run.

    Raises:
        RunStoreError: it cannot be forked, and why.
        VerdogError: so too.
    """
    header = repository.header(source.run)
    loaded = load_recorded(repository, header, workflow)
    configured = configure_workflow(loaded, header.arguments)
    request = _fork_request(repository, source, header, conduct, sessions=sessions, output_dir=output_dir)
    request = replace(request, allow_changed_code=allow_changed_code)
    execution = _Execution(repository.project, request.run, conduct)
    with execution:
        execution.end(fork_run(execution.settings, configured.definition, request))
    return execution.report()


def fork_only(
    repository: Repository,
    source: Checkpoint,
    conduct: Conduct,
    *,
    sessions: str,
    output_dir: Path | None = None,
) -> RunOutcome:
    """Fork a checkpoint without executing anything; no code of the workflow is imported."""
    header = repository.header(source.run)
    request = _fork_request(repository, source, header, conduct, sessions=sessions, output_dir=output_dir)
    settings = Settings(project_root=repository.project)
    operation = new_operation("fork", settings.now(), request.command)
    make_fork(repository, examine_fork(repository, request), request, operation)
    return describe_run(repository, request.run, checkpoints=1, not_restorable=0)


def load_recorded(repository: Repository, header: RunHeader, workflow: str | None) -> LoadedWorkflow:
    """Return the workflow of a recorded run.

    Raises:
        InvalidInput: the run was started from Python, and `workflow` does not say where the workflow is.
    """
    if workflow is not None:
        loaded = load_workflow(workflow, cwd=Path.cwd(), project=repository.project)
        return replace(loaded, project_root=repository.project)
    if header.source is None:
        raise InvalidInput(
            f"run {header.run} was started from Python code; say where its workflow is: "
            "--workflow FILE[:NAME]"
        )
    return reload_workflow(header.source, repository.project)


def choose_output(project_root: Path, workflow: str) -> Path:
    """Return a new directory for a run below the project's `.verdog/runs`."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return project_root / ".verdog" / "runs" / parse_filename(workflow) / f"{stamp}-{secrets.token_hex(4)}"


def describe_run(repository: Repository, run: RunId, *, checkpoints: int, not_restorable: int) -> RunOutcome:
    """Return how a run stands, as its header says."""
    header, tip = repository.header(run), repository.tip(run)
    resumable = tip is not None and (
        tip.restorable or repository.record(tip).unavailable_code == FAILURE_PORT
    )
    result = None
    if header.result is not None:
        result = describe_neutral(decode_neutral(repository.store.get(Kind.VALUE, header.result)))
    return RunOutcome(
        run=run,
        output_dir=locate_output(repository, header),
        status=header.status.value,
        result=result,
        result_text=header.result_text,
        error=header.error,
        checkpoints=checkpoints,
        not_restorable=not_restorable,
        resumable=resumable,
    )


_STOPS = (KeyboardInterrupt, ExecutionCancelled)


class _Execution:
    """The settings of one execution; what it raises becomes what a command can tell.

    Once a visit began, cancellation and Ctrl+C end the block quietly: the record says `interrupted`. So does
    what else is no `Exception`, such as `sys.exit` in a step: the record says `failed`, and its code is none
    of a command's. A refusal of the definition or its arguments before that becomes `InvalidInput`.
    """

    def __init__(self, project_root: Path, run: RunId, conduct: Conduct) -> None:
        self._run = run
        self._counter = CountingObserver(conduct.observer)
        self.settings = Settings(
            project_root=Path(os.path.realpath(project_root)),
            cancellation=conduct.cancellation or CancellationToken(),
            observer=self._counter,
            transition_limit=conduct.transitions or TRANSITION_LIMIT,
            granted=conduct.transitions,
        )
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is not None and not isinstance(error, Exception):
            self._error = error
            if not self._counter.begun and not isinstance(error, _STOPS):
                told = f"{type(error).__qualname__}: {format_message(error)}"
                raise InvalidInput(f"the workflow cannot be loaded: {told}") from error
            return self._counter.begun
        if isinstance(error, ValueError | TypeError | LookupError) and not isinstance(
            error, VerdogError | RunStoreError
        ):
            raise InvalidInput(f"{error}{_format_notes(error)}") from error
        return False

    def end(self, outcome: Finish | Fail) -> None:
        """Note how the execution ended."""
        self._error = outcome.error if isinstance(outcome, Fail) else None

    def report(self) -> RunOutcome:
        """Return how the run ended, also if a full disk kept its record from saying so.

        Raises:
            VerdogError: the store cannot be read any more; what the run ended with, if that was its fault.
        """
        error, counter = self._error, self._counter
        try:
            with Repository.open(self.settings.project_root, read_only=True) as repository:
                outcome = describe_run(
                    repository,
                    self._run,
                    checkpoints=counter.checkpoints,
                    not_restorable=counter.not_restorable,
                )
        except VerdogError as worse:
            if isinstance(error, VerdogError | RunStoreError):
                raise error from None
            if isinstance(worse, NotFound):
                where = f"the project {self.settings.project_root}"
                why = f"; the run ended with {type(error).__name__}: {format_message(error)}" if error else ""
                raise OutputLost(f"{where} was moved or removed while the run was going on{why}") from error
            raise worse from None
        if error is None or outcome.status != RunStatus.RUNNING:
            return outcome
        if isinstance(error, _STOPS):
            return replace(outcome, status=RunStatus.INTERRUPTED.value)
        return replace(outcome, status=RunStatus.FAILED.value, error=describe_error(error))


def _fork_request(
    repository: Repository,
    source: Checkpoint,
    header: RunHeader,
    conduct: Conduct,
    *,
    sessions: str,
    output_dir: Path | None,
) -> ForkRequest:
    return ForkRequest(
        source=source.commit,
        run=_choose_id(repository, conduct),
        output_dir=output_dir or choose_output(repository.project, header.workflow),
        sessions=SessionPolicy(sessions),
        command=conduct.command,
    )


def _choose_id(repository: Repository, conduct: Conduct) -> RunId:
    """Return the id of a new run; refuse one that is taken before anything is written."""
    if conduct.run_id is None:
        return parse_run_id(str(uuid.uuid4()))
    run = parse_run_id(conduct.run_id)
    require_unused(repository.catalog, run)
    return run


def _format_notes(error: BaseException) -> str:
    notes = getattr(error, "__notes__", ())
    return f" ({'; '.join(notes)})" if notes else ""

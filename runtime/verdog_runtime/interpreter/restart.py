"""Restarting: a new run begins where another one began, and remembers it as its parent."""

from dataclasses import dataclass, replace

from verdog_objects.errors import NotRestorable
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.interpreter.begin import RunRequest, begin_run
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.finding import find_checkpoint
from verdog_runtime.interpreter.policies import CheckpointPolicy, SessionPolicy
from verdog_runtime.interpreter.rollback import warn_of_loss
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.refusals import WorkflowMismatch, told_as_run_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRequest:
    """What a caller asks of a restart.

    Attributes:
        source: the run that is begun again.
        source_checkpoint: whose conversations are branched; the newest that can be when None. Ignored when
            conversations begin anew.
        arguments_kind: whether the arguments are the source's own.
    """

    source: RunId
    sessions: SessionPolicy
    source_checkpoint: int | None
    arguments_kind: ArgumentsKind


@told_as_run_errors()
def restart_run(
    settings: Settings, definition: AnyWorkflow, input: object, restart: RestartRequest, request: RunRequest
) -> Finish | Fail:
    """Begin a run again as a new one. Raises as `Dispatcher.restart`, but returns a failure.

    Args:
        settings: the dispatcher's.
        definition: the workflow, of which code may have changed.
        input: the new run's.
        restart: where it comes from.
        request: the new run, whose checkpoint policy and group are the source's.
    """
    with Repository.open(settings.project_root) as repository:
        header = repository.header(restart.source)
        _require_same_id(header, definition)
        anchor = _choose_anchor(repository, restart)
        warn_of_loss(repository, restart.source)
    parent = Lineage(
        run=restart.source,
        operation=LineageKind.RESTART,
        checkpoint=anchor.sequence if anchor is not None else None,
        arguments=restart.arguments_kind,
    )
    new = replace(
        request,
        checkpointing=CheckpointPolicy(header.checkpointing),
        recorded=True,
        source=header.source,
        workflow=header.workflow,
        parent=parent,
    )
    return begin_run(settings, definition, input, new)


def _require_same_id(header: RunHeader, definition: AnyWorkflow) -> None:
    """Refuse another workflow. The same one may enter another graph by now: nothing of the old one goes on.

    Raises:
        WorkflowMismatch: the definition has another id than the run's.
    """
    if header.workflow_id != definition.id:
        raise WorkflowMismatch(
            f"run {header.run} executes workflow {header.workflow_id}, so it cannot be restarted as "
            f"workflow {definition.id}"
        )


def _choose_anchor(repository: Repository, restart: RestartRequest) -> Checkpoint | None:
    """Return the checkpoint whose conversations go on, or None when they begin anew.

    Raises:
        CheckpointNotFound: the one that was asked for does not exist.
        NotRestorable: no checkpoint, or not the one that was asked for, can be branched.
    """
    if restart.sessions is SessionPolicy.FRESH:
        return None
    if restart.source_checkpoint is not None:
        chosen = find_checkpoint(repository, restart.source, restart.source_checkpoint)
        if chosen.branchable:
            return chosen
        raise NotRestorable(
            f"the conversations of checkpoint {chosen.sequence} of run {restart.source} cannot be branched",
            code="checkpoint.session_branch_unavailable",
        )
    here = repository.tip(restart.source)
    while here is not None and not here.branchable:
        here = repository.checkpoint_at(restart.source, here.sequence - 1) if here.sequence > 1 else None
    if here is None:
        raise NotRestorable(
            f"run {restart.source} has no checkpoint whose conversations can be branched; "
            "restart it with fresh ones",
            code="checkpoint.session_branch_unavailable",
        )
    return here

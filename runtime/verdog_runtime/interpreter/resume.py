"""Resuming: the same run goes on from its latest checkpoint."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verdog_objects.checkout import materialise
from verdog_objects.errors import Busy
from verdog_objects.signatures import Signatures
from verdog_objects.verify import verify_tree
from verdog_repo.acknowledged import check_acknowledged
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.lease import Lease
from verdog_repo.names import RunId
from verdog_repo.record import CheckpointRecord
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.environment import require_same_environment
from verdog_runtime.interpreter.acknowledgements import read_last_acknowledged
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.machine import resume
from verdog_runtime.interpreter.mainmodule import name_main_module
from verdog_runtime.interpreter.openbooks import (
    Continuation,
    claim_output,
    format_owner,
    new_operation,
    open_books,
)
from verdog_runtime.interpreter.prepare import prepare_plan
from verdog_runtime.interpreter.recorder import FAILURE_PORT
from verdog_runtime.interpreter.restoring import Decoding, Restored, restore_state_tree
from verdog_runtime.interpreter.running import execute
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.refusals import AlreadySucceeded, NothingToResume, RunActive, WorkflowMismatch
from verdog_runtime.runs import IntegrityError
from verdog_runtime.values import Anchors


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRequest:
    """What a caller asks of a resumption.

    Attributes:
        allow_changed_code: go on although code or environment changed, and record that.
        trusted: allow stored values that may run code when they are decoded.
        command: the command line, for the operation log.
    """

    allow_changed_code: bool = False
    trusted: bool = False
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingPoint:
    """Where a run goes on: the checkpoint whose state is taken, and what it says."""

    checkpoint: Checkpoint
    record: CheckpointRecord
    resumed_from: int | None


def resume_run(
    settings: Settings, definition: AnyWorkflow, run: RunId, request: ResumeRequest
) -> Finish | Fail:
    """Resume a run of the settings' project. Raises as `Dispatcher.resume`, but returns a failure."""
    plan = prepare_plan(definition, settings.project_root)
    with Repository.open(settings.project_root) as repository, take_lease(repository, run) as lease:
        header = repository.header(run)
        require_same_workflow(header, definition)
        if header.status is RunStatus.SUCCEEDED:
            raise AlreadySucceeded(f"run {run} has succeeded; fork one of its checkpoints, or restart it")
        point = choose_starting_point(repository, run)
        output = repository.project / header.output_dir
        check_acknowledged(repository, run, read_last_acknowledged(output))
        changed = require_same_environment(
            repository.store, point.record.environments, repository.project, allow=request.allow_changed_code
        )
        signatures = _require_artifacts(repository, point.record, output)
        decoding = Decoding(
            anchors=Anchors(output=os.path.realpath(output), project=os.path.realpath(repository.project)),
            main_module=name_main_module(),
            trusted=True,
        )
        assert point.record.state is not None
        restored = restore_state_tree(repository.store, point.record.state, plan, definition, decoding)
        return _go_on(settings, repository, lease, header, output, point, restored, signatures, changed, request)

"""The dispatcher: picks a starting state and enters the loop."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from typing_extensions import TypeVar

from verdog_repo.lineage import ArgumentsKind
from verdog_repo.names import parse_run_id
from verdog_runtime.cancellation import CancellationToken
from verdog_runtime.declarations.graph import EdgeDefinition, FeatureNodeDefinition, WorkflowDefinition
from verdog_runtime.declarations.ids import RunId
from verdog_runtime.declarations.operations import ParameterAddress
from verdog_runtime.declarations.results import Success
from verdog_runtime.declarations.state import WorkflowState
from verdog_runtime.interpreter.begin import RunRequest, begin_run
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.events import (
    EdgeExecution,
    ExecutionEvent,
    ExecutionHandler,
    ExecutionStatus,
    NodeExecution,
)
from verdog_runtime.interpreter.finding import find_fork_point, find_run
from verdog_runtime.interpreter.forking import ForkRequest, fork_run
from verdog_runtime.interpreter.policies import CheckpointPolicy, SessionPolicy
from verdog_runtime.interpreter.restart import RestartRequest, restart_run
from verdog_runtime.interpreter.resume import ResumeRequest, resume_run
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.interpreter.state import initial_workflow_state

__all__ = [
    "Dispatcher",
    "Edge",
    "EdgeExecution",
    "ExecutionEvent",
    "ExecutionHandler",
    "ExecutionStatus",
    "FeatureNode",
    "NodeExecution",
    "initial_workflow_state",
]

Edge = EdgeDefinition
FeatureNode = FeatureNodeDefinition

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ParamsT = TypeVar("ParamsT")
ScopeT = TypeVar("ScopeT")

_NO_PARAMS: Mapping[ParameterAddress, object] = MappingProxyType({})


class Dispatcher:
    """Runs, resumes, restarts and forks workflows, one after another, on the calling thread."""

    def __init__(
        self,
        *,
        execution_handler: ExecutionHandler | None = None,
        transition_limit: int = 10_000,
        cancellation: CancellationToken | None = None,
        project_root: Path | str | None = None,
    ) -> None:
        """Make a dispatcher.

        Args:
            execution_handler: called with each event on the executing thread. What it raises is logged.
            transition_limit: how many transitions one run may make, over all its graphs and resumptions.
            cancellation: a token shared with whoever may stop the run; a new one when None.
            project_root: the project whose store keeps the runs; the current directory when None.

        Raises:
            ValueError: the limit is no positive integer.
            TypeError: the handler or the token is none.
        """
        _require_settings(transition_limit, execution_handler, cancellation)
        self._settings = Settings(
            project_root=Path.cwd() if project_root is None else Path(project_root).resolve(),
            transition_limit=transition_limit,
            cancellation=CancellationToken() if cancellation is None else cancellation,
            handler=execution_handler,
        )

    def run(
        self,
        definition: WorkflowDefinition[InputT, OutputT, ParamsT, ScopeT],
        input: InputT,
        /,
        *,
        output_dir: Path,
        params: Mapping[ParameterAddress, object] = _NO_PARAMS,
        run_id: RunId | None = None,
        runtime_options: object = None,
        checkpointing: CheckpointPolicy = CheckpointPolicy.OFF,
        workflow_arguments: Sequence[str] = (),
    ) -> Success[OutputT, WorkflowState[ScopeT]]:
        """Run a workflow from its enter port.

        Args:
            definition: the workflow.
            input: the value that leaves the enter port.
            output_dir: absent or empty; it is created.
            params: values for addresses that the workflow declares; the others get their type's default.
            run_id: a new UUID when None.
            runtime_options: shown in the run's report; visits do not see it.
            checkpointing: OFF keeps nothing that could be resumed.
            workflow_arguments: recorded with the run, for a restart.

        Raises:
            ValueError, TypeError: something given cannot be used; nothing was written.
            Exception: what a visit raised, with notes that say where.
            ExecutionCancelled: the token was cancelled; the run is interrupted.

        Durability: with AUTO or REQUIRED, each transition is durable before the next visit begins.
        """
        request = RunRequest(
            output_dir=output_dir,
            run_id=run_id,
            params=params,
            runtime_options=runtime_options,
            checkpointing=CheckpointPolicy(checkpointing),
            arguments=_require_texts(workflow_arguments),
        )
        outcome = begin_run(self._settings, definition, input, request)
        if isinstance(outcome, Fail):
            raise outcome.error
        return cast("Success[OutputT, WorkflowState[ScopeT]]", _succeed(outcome))

    def resume(
        self,
        definition: WorkflowDefinition[InputT, OutputT, ParamsT, ScopeT],
        /,
        *,
        output_dir: Path,
        retry_incomplete: bool = False,
        allow_changed_code: bool = False,
    ) -> Success[OutputT, WorkflowState[ScopeT]]:
        """Go on with the run of an output directory from its latest checkpoint.

        A run that ended at its failure port goes on from the checkpoint before that.

        Args:
            definition: the run's workflow.
            output_dir: the run's directory; written anew from the store if it is gone.
            retry_incomplete: repeat an agent invocation whose outcome is unknown; no graph can have one yet.
            allow_changed_code: go on although code or environment changed, and record that.

        Raises:
            RunActive: another process executes the run.
            IntegrityError: recorded files are missing, changed or have other permissions; each is named.
            Incompatible: code or environment changed; each file is named.
            ValueError: it succeeded, is damaged, or has no checkpoint or none that this can go on from.
            Exception: as `run`.
        """
        del retry_incomplete
        run = find_run(self._settings.project_root, output_dir)
        request = ResumeRequest(allow_changed_code=allow_changed_code)
        outcome = resume_run(self._settings, definition, run, request)
        if isinstance(outcome, Fail):
            raise outcome.error
        return cast("Success[OutputT, WorkflowState[ScopeT]]", _succeed(outcome))

    def restart(
        self,
        definition: WorkflowDefinition[InputT, OutputT, ParamsT, ScopeT],
        input: InputT,
        /,
        *,
        source_output_dir: Path,
        output_dir: Path,
        sessions: SessionPolicy,
        source_checkpoint: int | None = None,
        params: Mapping[ParameterAddress, object] = _NO_PARAMS,
        runtime_options: object = None,
        workflow_arguments: Sequence[str] = (),
        arguments_mode: Literal["reused", "overridden"] = "reused",
    ) -> Success[OutputT, WorkflowState[ScopeT]]:
        """Begin a run again as a new one, with the checkpoint policy of the source.

        Args:
            definition: the run's workflow; its code may have changed.
            input: the value that leaves the enter port.
            source_output_dir: the directory of the run that is begun again.
            output_dir: absent or empty; it is created.
            sessions: whether agents' conversations are branched or begun anew.
            source_checkpoint: whose conversations are branched; None means the newest that can be.
            params: values for addresses that the workflow declares.
            runtime_options: shown in the run's report.
            workflow_arguments: recorded with the new run.
            arguments_mode: whether the arguments are the source's own.

        Raises:
            ValueError: there is no such run, nothing to branch, or what `run` refuses.
            Exception: as `run`.
        """
        if arguments_mode not in ("reused", "overridden"):
            raise ValueError(f"arguments_mode must be 'reused' or 'overridden', not {arguments_mode!r}")
        restart = RestartRequest(
            source=find_run(self._settings.project_root, source_output_dir),
            sessions=SessionPolicy(sessions),
            source_checkpoint=source_checkpoint,
            arguments_kind=ArgumentsKind(arguments_mode),
        )
        request = RunRequest(
            output_dir=output_dir,
            params=params,
            runtime_options=runtime_options,
            arguments=_require_texts(workflow_arguments),
        )
        outcome = restart_run(self._settings, definition, input, restart, request)
        if isinstance(outcome, Fail):
            raise outcome.error
        return cast("Success[OutputT, WorkflowState[ScopeT]]", _succeed(outcome))

    def fork(
        self,
        definition: WorkflowDefinition[InputT, OutputT, ParamsT, ScopeT],
        /,
        *,
        source_output_dir: Path,
        checkpoint: int,
        output_dir: Path,
        sessions: SessionPolicy,
        allow_changed_code: bool = False,
    ) -> Success[OutputT, WorkflowState[ScopeT]]:
        """Go on from a checkpoint as a new run. The source does not change; its files are not needed.

        Args:
            definition: the run's workflow.
            source_output_dir: the directory of the run that is forked.
            checkpoint: the number of one of its checkpoints.
            output_dir: absent or empty; neither above nor below the source's.
            sessions: whether agents' conversations are branched or begun anew.
            allow_changed_code: as for `resume`.

        Raises:
            ValueError: there is no such run or checkpoint, it cannot be restored, or code changed.
            Exception: as `run`.
        """
        point = find_fork_point(self._settings.project_root, source_output_dir, checkpoint)
        request = ForkRequest(
            source=point.commit,
            run=parse_run_id(str(uuid.uuid4())),
            output_dir=output_dir,
            sessions=SessionPolicy(sessions),
            allow_changed_code=allow_changed_code,
        )
        outcome = fork_run(self._settings, definition, request)
        if isinstance(outcome, Fail):
            raise outcome.error
        return cast("Success[OutputT, WorkflowState[ScopeT]]", _succeed(outcome))


def _require_settings(limit: object, handler: object, cancellation: object) -> None:
    if type(limit) is not int or limit <= 0:
        raise ValueError(f"the transition limit must be a positive integer, not {limit!r}")
    if handler is not None and not callable(handler):
        raise TypeError(f"the execution handler must be callable, not {handler!r}")
    if not isinstance(cancellation, CancellationToken | None):
        raise TypeError(f"the cancellation must be a CancellationToken, not {cancellation!r}")


def _require_texts(arguments: Iterable[object]) -> tuple[str, ...]:
    """Return workflow arguments as they are recorded: a run with others could not be read again."""
    words = () if isinstance(arguments, str | bytes | Mapping) else tuple(arguments)
    texts = tuple(each for each in words if isinstance(each, str))
    if len(texts) < len(words) or (arguments and not words):
        raise TypeError(f"the workflow's arguments must be a sequence of texts, not {arguments!r}")
    return texts


def _succeed(outcome: Finish) -> Success[object, WorkflowState[object]]:
    """Return a run's result. Each method raises a failure itself: that is one frame less in its traceback."""
    return Success(output=outcome.value, state=outcome.state)

"""The dispatcher: picks a starting state and enters the loop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from typing_extensions import TypeVar

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
from verdog_runtime.interpreter.policies import CheckpointPolicy, SessionPolicy
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
            ValueError: the limit is not positive.
        """
        if transition_limit <= 0:
            raise ValueError(f"the transition limit must be positive, not {transition_limit}")
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
            ValueError: the definition, the parameters, the run id or the output directory cannot be used;
                nothing was written.
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
            arguments=tuple(workflow_arguments),
        )
        outcome = begin_run(self._settings, definition, input, request)
        return cast("Success[OutputT, WorkflowState[ScopeT]]", _succeed(outcome))


def _succeed(outcome: Finish | Fail) -> Success[object, WorkflowState[object]]:
    """Return a run's result, or raise the very exception that failed it."""
    if isinstance(outcome, Fail):
        raise outcome.error
    return Success(output=outcome.value, state=outcome.state)

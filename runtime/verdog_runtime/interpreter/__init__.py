"""The interpreter: validates, executes, resumes, restarts and forks workflows."""

import importlib
from typing import TYPE_CHECKING

from verdog_runtime.cancellation import CancellationToken, ExecutionCancelled
from verdog_runtime.declarations.graph import FeatureValue
from verdog_runtime.declarations.results import RemoteWorkflowError
from verdog_runtime.interpreter.events import (
    EdgeExecution,
    ExecutionEvent,
    ExecutionHandler,
    ExecutionStatus,
    NodeExecution,
)
from verdog_runtime.interpreter.features import (
    EffectAnalysis,
    analyze_effects,
    effects_satisfied,
    evaluate_conditions,
    validate_feature_value,
)
from verdog_runtime.interpreter.policies import CheckpointPolicy, SessionPolicy
from verdog_runtime.interpreter.state import initial_workflow_state
from verdog_runtime.interpreter.validation import validate_graph

if TYPE_CHECKING:
    from verdog_runtime.interpreter.execution import Dispatcher

__all__ = [
    "CancellationToken",
    "CheckpointPolicy",
    "Dispatcher",
    "EdgeExecution",
    "EffectAnalysis",
    "ExecutionCancelled",
    "ExecutionEvent",
    "ExecutionHandler",
    "ExecutionStatus",
    "FeatureValue",
    "NodeExecution",
    "RemoteWorkflowError",
    "SessionPolicy",
    "analyze_effects",
    "effects_satisfied",
    "evaluate_conditions",
    "initial_workflow_state",
    "validate_feature_value",
    "validate_graph",
]


def __getattr__(name: str) -> object:
    # The Dispatcher brings the store with it; who only validates a graph or parses arguments need not wait.
    if name in ("Dispatcher", "execution"):
        execution = importlib.import_module("verdog_runtime.interpreter.execution")
        return execution if name == "execution" else execution.Dispatcher
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

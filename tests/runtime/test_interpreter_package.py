import subprocess
import sys

import pytest

import verdog_runtime.interpreter as interpreter
from verdog_runtime.interpreter import CheckpointPolicy, ExecutionStatus, NodeExecution, SessionPolicy

NAMES = [
    "CancellationToken",
    "CheckpointPolicy",
    "Dispatcher",
    "EdgeExecution",
    "ExecutionCancelled",
    "ExecutionEvent",
    "ExecutionHandler",
    "EffectAnalysis",
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


def test_the_package_offers_exactly_its_names() -> None:
    assert sorted(interpreter.__all__) == sorted(NAMES)
    assert all(hasattr(interpreter, name) for name in NAMES)
    with pytest.raises(AttributeError, match="Nothing"):
        interpreter.Nothing  # noqa: B018


def test_importing_the_package_is_enough_to_reach_its_public_modules() -> None:
    code = (
        "import verdog_runtime.interpreter as interpreter\n"
        "for name in ('execution', 'features', 'policies', 'validation'):\n"
        "    assert getattr(interpreter, name).__name__ == f'verdog_runtime.interpreter.{name}'\n"
        "assert interpreter.execution.Dispatcher is interpreter.Dispatcher\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)


def test_policies_and_states_have_their_values() -> None:
    assert [policy.value for policy in CheckpointPolicy] == ["off", "auto", "required"]
    assert [policy.value for policy in SessionPolicy] == ["branch", "fresh"]
    assert [status.value for status in ExecutionStatus] == [
        *("pending", "running", "waiting", "succeeded", "failed")
    ]
    with pytest.raises(ValueError, match="never"):
        CheckpointPolicy("never")


def test_an_event_is_a_mutable_record_with_slots() -> None:
    event = NodeExecution(run_id="r", graph_id="g", node_id="n", status=ExecutionStatus.RUNNING, state=None)
    event.status = ExecutionStatus.FAILED
    assert (event.remote, event.project_path) == (False, ".")
    assert not hasattr(event, "__dict__")


def test_validating_a_graph_does_not_load_the_store() -> None:
    code = (
        "import sys, verdog_runtime.interpreter, verdog_runtime.cli\n"
        "heavy = {'apsw', 'pygit2', 'cloudpickle', 'tyro', 'verdog_objects', 'verdog_repo'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)

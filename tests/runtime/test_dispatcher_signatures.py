"""The public calls of the dispatcher: names, order, kinds and defaults of what they take."""

import inspect
from inspect import Parameter
from typing import Any

from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher

REQUIRED = Parameter.empty


def given(function: Any) -> list[str]:
    """Return what is passed by position, without self."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is Parameter.POSITIONAL_ONLY][1:]


def named(function: Any) -> dict[str, Any]:
    """Return what is passed by name, with its default."""
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is Parameter.KEYWORD_ONLY}


def test_a_dispatcher_takes_four_settings() -> None:
    assert named(Dispatcher) == {
        "execution_handler": None,
        "transition_limit": 10_000,
        "cancellation": None,
        "project_root": None,
    }


def test_run_records_nothing_unless_it_is_asked_to() -> None:
    assert given(Dispatcher.run) == ["definition", "input"]
    assert named(Dispatcher.run) == {
        "output_dir": REQUIRED,
        "params": {},
        "run_id": None,
        "runtime_options": None,
        "checkpointing": CheckpointPolicy.OFF,
        "workflow_arguments": (),
    }


def test_resume_takes_neither_input_nor_parameters_nor_arguments() -> None:
    assert given(Dispatcher.resume) == ["definition"]
    assert named(Dispatcher.resume) == {
        "output_dir": REQUIRED,
        "retry_incomplete": False,
        "allow_changed_code": False,
    }


def test_restart_takes_all_of_them_anew() -> None:
    assert given(Dispatcher.restart) == ["definition", "input"]
    assert named(Dispatcher.restart) == {
        "source_output_dir": REQUIRED,
        "output_dir": REQUIRED,
        "sessions": REQUIRED,
        "source_checkpoint": None,
        "params": {},
        "runtime_options": None,
        "workflow_arguments": (),
        "arguments_mode": "reused",
    }


def test_fork_takes_neither_input_nor_parameters_nor_arguments() -> None:
    assert given(Dispatcher.fork) == ["definition"]
    assert named(Dispatcher.fork) == {
        "source_output_dir": REQUIRED,
        "checkpoint": REQUIRED,
        "output_dir": REQUIRED,
        "sessions": REQUIRED,
        "allow_changed_code": False,
    }

"""Generated projects, as they are: their own tests, and the commands in their directory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.generated import MAIN, write_generated_project
from tests.commandline import Verdog
from tests.processes import Starter


@pytest.fixture
def generated(project: Path) -> Path:
    write_generated_project(project)
    return project


@pytest.fixture
def verdog(generated: Path, processes: Starter) -> Verdog:
    """Runs a command in a process of its own, which alone imports the project."""
    return processes.run


def completed(verdog: Verdog, run: str) -> list[str]:
    listed: Any = json.loads(verdog("checkpoints", run, "--json").out)
    return [f"{each['completed']['node']}/{each['completed']['visit']}" for each in listed["checkpoints"]]


def test_the_tests_of_a_generated_project_pass(generated: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=generated, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_generated_workflow_is_the_one_that_runs_when_none_is_named(verdog: Verdog) -> None:
    given = ("--input.value", "1", "--params.main.step", "2", "--runtime.quiet")
    assert verdog("run", "--run-id", "first", "--", *given).code == 0
    assert completed(verdog, "first") == [
        *("enter/1", "set_counter/1", "decrement/1", "update_counter/1", "decrement/2")
    ]


def test_a_generated_workflow_lists_its_arguments(verdog: Verdog) -> None:
    shown = verdog("run", "main", "--", "--help").out
    for flag in ("--input.value INT", "--params.main.step INT", "--runtime.quiet, --runtime.no-quiet"):
        assert flag in shown


def test_a_generated_project_is_resumed_and_forked_by_other_processes(
    verdog: Verdog, generated: Path
) -> None:
    (generated / "stop").touch()
    assert verdog("run", "main", "--run-id", "first", "--", "--input.value", "1").code == 1
    (generated / "stop").unlink()
    assert verdog("resume", "first").code == 0
    assert completed(verdog, "first") == [
        *("enter/1", "set_counter/1", "decrement/2", "update_counter/1", "decrement/3")
    ]
    assert verdog("fork", "first@4", "--sessions", "fresh").code == 0


def test_changed_code_of_a_generated_project_is_named(verdog: Verdog, generated: Path) -> None:
    assert verdog("run", "main", "--run-id", "first", "--", "--input.value", "1").code == 0
    changed = f"{MAIN}/nodes/decrement/visit/update_counter__decrement/impl.py"
    (generated / changed).write_text((generated / changed).read_text() + "# changed\n")
    refused = verdog("fork", "first@2", "--sessions", "fresh")
    assert refused.code == 1
    assert changed in refused.err

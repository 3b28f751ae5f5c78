"""Generated projects, as they are: their own tests, and the commands in their directory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.generated import MAIN, write_generated_project


@pytest.fixture
def generated(project: Path) -> Path:
    write_generated_project(project)
    return project


def verdog(project: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, which alone imports the project."""
    command = [sys.executable, "-c", "import sys; from verdog_cli.main import main; sys.exit(main())", *words]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done


def completed(project: Path, run: str) -> list[str]:
    listed: Any = json.loads(verdog(project, "checkpoints", run, "--json").stdout)
    return [f"{each['completed']['node']}/{each['completed']['visit']}" for each in listed["checkpoints"]]


def test_the_tests_of_a_generated_project_pass(generated: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=generated, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_generated_workflow_is_the_one_that_runs_when_none_is_named(generated: Path) -> None:
    given = ("--input.value", "1", "--params.main.step", "2", "--runtime.quiet")
    verdog(generated, "run", "--run-id", "first", "--", *given)
    assert completed(generated, "first") == [
        *("enter/1", "set_counter/1", "decrement/1", "update_counter/1", "decrement/2")
    ]


def test_a_generated_workflow_lists_its_arguments(generated: Path) -> None:
    shown = verdog(generated, "run", "main", "--", "--help").stdout
    for flag in ("--input.value INT", "--params.main.step INT", "--runtime.quiet, --runtime.no-quiet"):
        assert flag in shown


def test_a_generated_project_is_resumed_and_forked_by_other_processes(generated: Path) -> None:
    (generated / "stop").touch()
    verdog(generated, "run", "main", "--run-id", "first", "--", "--input.value", "1", code=1)
    (generated / "stop").unlink()
    verdog(generated, "resume", "first")
    assert completed(generated, "first") == [
        *("enter/1", "set_counter/1", "decrement/2", "update_counter/1", "decrement/3")
    ]
    verdog(generated, "fork", "first@4", "--sessions", "fresh")


def test_changed_code_of_a_generated_project_is_named(generated: Path) -> None:
    verdog(generated, "run", "main", "--run-id", "first", "--", "--input.value", "1")
    changed = f"{MAIN}/nodes/decrement/visit/update_counter__decrement/impl.py"
    (generated / changed).write_text((generated / changed).read_text() + "# changed\n")
    refused = verdog(generated, "fork", "first@2", "--sessions", "fresh", code=1)
    assert changed in refused.stderr

"""Commands that look, write files back or make a fork without executing it run nothing of the workflow."""

from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog

TRAP = """
from pathlib import Path
Path(__file__).with_name("sprung").touch()
raise RuntimeError("this file was executed")
"""

COMMANDS = [
    ["runs"],
    ["runs", "--json"],
    ["log", "first"],
    ["log", "--graph", "--all"],
    ["show", "first"],
    ["show", "first@2", "--json"],
    ["checkpoints", "first"],
    ["ls", "-R", "first"],
    ["cat", "first:work/000001/n.txt"],
    ["diff", "first@2", "first@5"],
    ["status", "first"],
    ["checkout", "first", "copy"],
    ["restore", "first"],
    ["fork", "first@3", "--sessions", "fresh", "--no-run", "--output-dir", "forked"],
    ["tag", "before", "first@2"],
    ["label", "first", "baseline"],
    ["git", "export", "--files", "export.git"],
    ["fsck", "--read-data"],
    ["doctor"],
    ["runs", "prune"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_of_the_workflow_is_executed(verdog: Verdog, project: Path, command: list[str]) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first").code == 1
    (project / "flow.py").write_text(TRAP)
    result = verdog(*command)
    assert result.code == 0, result
    assert not (project / "sprung").exists()


def test_the_trap_springs_when_a_run_goes_on(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first").code == 1
    (project / "flow.py").write_text(TRAP)
    assert verdog("resume", "first").code != 0
    assert (project / "sprung").exists()

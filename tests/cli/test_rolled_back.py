"""A store that was put back to an older state: what it has lost is said, and nothing is built on it."""

import shutil
from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog


@pytest.fixture
def older(verdog: Verdog, project: Path) -> Path:
    """A run whose last three checkpoints the store does not have any more."""
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 1
    assert verdog("run", "flow.py", "--run-id", "second", "--output-dir", "other").code == 1
    shutil.copytree(project / ".verdog/store", project / "kept")
    (project / "mended").touch()
    assert verdog("resume", "first").code == 0
    shutil.rmtree(project / ".verdog/store")
    (project / "kept").rename(project / ".verdog/store")
    return project


LOST = "run first ends at checkpoint 6, but checkpoint 9 had been acknowledged"


def test_fsck_names_the_run_that_lost_checkpoints(verdog: Verdog, older: Path) -> None:
    result = verdog("fsck")
    assert result.code == 1
    assert result.out.splitlines() == [f"ref: {LOST}", "1 finding"]


@pytest.mark.parametrize("command", [["resume", "first"], ["restore", "first"]])
def test_nothing_is_written_on_top_of_it(verdog: Verdog, older: Path, command: list[str]) -> None:
    (older / "out/work/000001/n.txt").write_text("mine")
    result = verdog(*command)
    assert result.code == 4
    assert LOST in result.err
    assert (older / "out/work/000001/n.txt").read_text() == "mine"


def test_the_other_runs_are_as_they_were(verdog: Verdog, older: Path) -> None:
    assert verdog("resume", "second").code == 0
    assert verdog("restore", "second").code == 0

"""Where runs write, and that version control is kept away from it."""

import re
from pathlib import Path

from tests.cli.store import HandMade
from tests.cli.workflows import countdown
from tests.commandline import Verdog
from verdog_repo.repository import Repository


def test_a_run_writes_below_its_workflow_into_a_directory_named_by_its_start(
    verdog: Verdog, project: Path
) -> None:
    (project / "flow.py").write_text(countdown())
    assert verdog("run", "flow.py").code == 0
    (output,) = (project / ".verdog/runs/countdown").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{8}", output.name)
    assert (project / ".verdog/.gitignore").read_text() == "*\n"


def test_a_listing_says_whether_conversations_can_go_on(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "good").checkpoint()
    HandMade(repository, "poor").checkpoint(reason="input is a lock")
    rows = {line.split()[0]: line.split()[3] for line in verdog("runs").out.splitlines()}
    assert rows["RUN"] == "SESSIONS"
    assert rows["good"] == "branch"
    assert rows["poor"] != "branch"

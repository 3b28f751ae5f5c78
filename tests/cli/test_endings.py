"""What is said of runs that ended badly, and of a store that cannot be opened."""

import json
from pathlib import Path

from tests.cli.workflows import FAILS_ONCE, HOLDS_A_LOCK, countdown
from tests.commandline import Verdog


def test_a_step_that_exits_is_a_failed_run_and_its_code_is_not_ours(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown("import sys\nsys.exit(0)"))
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 1
    assert "failed: 2 checkpoints" in result.out
    assert "error: SystemExit: 0" in result.err


def test_a_visit_that_was_stopped_is_not_called_failed(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown("raise KeyboardInterrupt"))
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 130
    assert "cancelled" in result.out
    assert "failed" not in result.out


def test_a_run_that_cannot_be_resumed_is_not_recommended_to_be(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(HOLDS_A_LOCK)
    result = verdog("run", "flow.py", "--run-id", "first", "--checkpointing", "required")
    assert result.code == 1
    assert "verdog resume" not in result.err
    assert "hint: `verdog restart first --sessions fresh` begins again" in result.err
    assert verdog("resume", "first").code == 1


def test_the_latest_checkpoint_says_how_its_run_failed(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    verdog("run", "flow.py", "--run-id", "first")
    lines = verdog("show", "first").out.splitlines()
    assert "run failed RuntimeError: not mended yet" in lines
    assert "usable     resume, fork" in lines
    lines = verdog("show", "first@2").out.splitlines()
    assert "usable     fork" in lines
    assert not any(line.startswith("run failed") for line in lines)


def test_a_store_that_cannot_be_opened_is_a_finding(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown())
    verdog("run", "flow.py")
    (project / ".verdog/store/store.db").write_bytes(b"no database at all")
    result = verdog("fsck", "--json")
    assert result.code == 1
    assert [each["kind"] for each in json.loads(result.out)["findings"]] == ["store"]
    assert verdog("runs").code == 4


def test_what_a_resumption_added_is_told_from_what_a_run_has(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert "failed: 6 checkpoints" in verdog("run", "flow.py", "--run-id", "first").out
    (project / "mended").touch()
    assert "succeeded: 3 more checkpoints" in verdog("resume", "first").out
    assert "succeeded: 1 more checkpoint\n" in verdog("fork", "first@8", "--sessions", "fresh").out

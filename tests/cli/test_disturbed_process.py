"""Steps that change the process they run in, and errors that are no `Exception`."""

from pathlib import Path
from unittest.mock import patch

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog
from verdog_objects.errors import Unavailable
from verdog_repo.repository import Repository


@pytest.mark.parametrize(
    "body",
    [
        "import os; os.chdir('/')",
        "import os, tempfile; gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone)",
        "import sys; sys.stdout = None",
        "import io, sys; sys.stdout = sys.stderr = io.StringIO()",
        "import sys; sys.stdout = sys.stderr = None",
    ],
)
def test_what_is_said_at_the_end_does_not_depend_on_what_a_step_did_to_the_process(
    verdog: Verdog, project: Path, body: str
) -> None:
    (project / "flow.py").write_text(countdown(body))
    result = verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out")
    assert result.code == 0, result.err
    assert "succeeded: 9 checkpoints" in result.out
    assert "  output  out\n" in result.out


@pytest.mark.parametrize(
    "raised", ["Stop('now')", "GeneratorExit('now')", "BaseExceptionGroup('now', [Stop()])"]
)
def test_an_error_that_is_no_exception_is_a_failed_run_and_no_fault_of_ours(
    verdog: Verdog, project: Path, raised: str
) -> None:
    body = f"class Stop(BaseException): pass\nif not Path('mended').exists(): raise {raised}"
    (project / "flow.py").write_text(countdown(body))
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 1
    assert "failed: 2 checkpoints" in result.out
    assert "now" in result.err
    assert "fault in verdog" not in result.err
    (project / "mended").touch()
    assert verdog("resume", "first").code == 0


def test_a_store_that_a_step_removes_fails_the_run_at_its_next_checkpoint(
    verdog: Verdog, project: Path
) -> None:
    (project / "flow.py").write_text(
        countdown("import shutil\nif state.taken == 1: shutil.rmtree('.verdog/store')")
    )
    result = verdog("run", "flow.py", "--output-dir", "out")
    assert result.code == 4
    assert "store.db was removed or replaced while it was in use" in result.err
    assert not (project / "out/tick/000002").exists()


def test_a_huge_message_is_told_in_few_lines(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown("raise ValueError('x' * 5_000_000)"))
    result = verdog("run", "flow.py")
    assert result.code == 1
    assert len(result.err) < 15_000


@pytest.mark.parametrize(
    ("raised", "status", "code"),
    [
        ("ValueError('boom')", "failed", 1),
        ("SystemExit('boom')", "failed", 1),
        ("KeyboardInterrupt", "interrupted", 130),
    ],
)
def test_the_end_of_a_run_is_told_although_it_cannot_be_recorded(
    verdog: Verdog, project: Path, monkeypatch: pytest.MonkeyPatch, raised: str, status: str, code: int
) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(Repository, "update_header", refuse)
    (project / "flow.py").write_text(countdown(f"raise {raised}"))
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == code
    assert f"{status}: 2 checkpoints" in result.out
    assert ("boom" in result.err) == (status == "failed")


def test_a_resumption_that_is_stopped_before_it_began_says_nothing_of_the_life_before(
    verdog: Verdog, project: Path
) -> None:
    (project / "flow.py").write_text(countdown("raise ValueError('boom')"))
    assert verdog("run", "flow.py", "--run-id", "first").code == 1
    with patch("verdog_runtime.lifecycle.resume_run", side_effect=KeyboardInterrupt):
        result = verdog("resume", "first")
    assert (result.code, result.out) == (130, "")
    assert "boom" not in result.err


@pytest.mark.parametrize("told", ["visit_started", "visit_finished", "checkpoint_written"])
def test_a_display_that_fails_does_not_fail_the_run(
    verdog: Verdog, project: Path, caplog: pytest.LogCaptureFixture, told: str
) -> None:
    (project / "flow.py").write_text(countdown())
    with patch(f"verdog_cli.progress.LineProgress.{told}", side_effect=ZeroDivisionError("display")):
        result = verdog("run", "flow.py")
    assert result.code == 0
    assert "succeeded: 9 checkpoints" in result.out
    assert [each.message for each in caplog.records] == [
        "progress is not shown any more: ZeroDivisionError: display"
    ]


def test_a_step_without_standard_output_is_no_failure_on_a_terminal_of_unknown_width(
    verdog: Verdog, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    (project / "flow.py").write_text(countdown("import sys; sys.stdout = None"))
    assert verdog("run", "flow.py").code == 0
    assert caplog.records == []

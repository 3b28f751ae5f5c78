from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import ESCAPES, pipe, show
from tests.cli.workflows import HOLDS_A_LOCK, countdown
from verdog_cli.progress import LineProgress, LiveProgress, SilentProgress, show_progress
from verdog_runtime.interpreter.observer import CheckpointNotice

Make = Callable[..., CheckpointNotice]


def notice(sequence: int, reason: str | None = None) -> CheckpointNotice:
    return CheckpointNotice(sequence=sequence, commit="0" * 40, restorable=reason is None, reason=reason)


def test_a_visit_is_one_line_with_its_checkpoint_and_duration(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    progress.visit_started("survey/000002")
    progress.visit_finished("survey/000002", "succeeded", 1.24)
    progress.checkpoint_written(notice(7))
    assert capsys.readouterr().out.split() == ["7", "survey/000002", "1.24", "s"]


def test_a_visit_without_a_checkpoint_is_printed_when_the_next_one_begins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = LineProgress()
    progress.visit_finished("failure/000001", "failed", 0.5)
    assert capsys.readouterr().out == ""
    progress.finish()
    assert capsys.readouterr().out.split() == ["failure/000001", "500", "ms", "failed"]


def test_a_line_fits_80_columns_and_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    progress.visit_finished("x" * 300 + "\n/000001", "cancelled", 1.0)
    progress.finish()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert len(lines[0]) <= 80


@pytest.mark.parametrize("kind", [SilentProgress, LineProgress])
def test_only_the_first_checkpoint_that_cannot_be_restored_is_a_warning(
    kind: type[SilentProgress], capsys: pytest.CaptureFixture[str]
) -> None:
    progress = kind()
    progress.checkpoint_written(notice(1))
    progress.checkpoint_written(notice(2, "input.items[3] is a lock"))
    progress.checkpoint_written(notice(3, "input.items[3] is a lock"))
    errors = capsys.readouterr().err
    assert errors.count("warning: ") == 1
    assert "checkpoint 2 " in errors
    assert "input.items[3] is a lock" in errors


def test_a_closed_pipe_does_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise BrokenPipeError

    silenced: list[bool] = []
    monkeypatch.setattr("click.echo", broken)
    monkeypatch.setattr("verdog_cli.progress.silence_stdout", lambda: silenced.append(True))
    progress = LineProgress()
    progress.visit_finished("a/000001", "succeeded", 0.1)
    progress.checkpoint_written(notice(1, "reason"))
    assert silenced


def test_a_terminal_shows_the_visit_that_is_going_on() -> None:
    from io import StringIO

    from rich.console import Console

    screen = StringIO()
    progress = LiveProgress(Console(file=screen, force_terminal=True, width=80))
    progress.visit_started("survey/000001")
    progress.visit_finished("survey/000001", "succeeded", 0.1)
    progress.checkpoint_written(notice(3))
    progress.finish()
    assert screen.getvalue().count("survey/000001") >= 2


def test_a_pipe_gets_plain_lines() -> None:
    with show_progress(quiet=False) as progress:
        assert type(progress) is LineProgress
    with show_progress(quiet=True) as progress:
        assert type(progress) is SilentProgress


def test_a_narrow_terminal_gets_narrow_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    progress = LineProgress()
    progress.visit_finished("a-node-with-a-long-name/000001", "succeeded", 0.1)
    progress.checkpoint_written(notice(12))
    [line] = capsys.readouterr().out.splitlines()
    assert len(line) <= 40
    assert line.endswith("100 ms")


def test_a_warning_begins_on_a_line_of_its_own_on_a_terminal(project: Path) -> None:
    (project / "flow.py").write_text(HOLDS_A_LOCK)
    text = show("run", "flow.py", cwd=project).text
    before = text[: text.index("warning:")].rpartition("\n")[2]
    assert not ESCAPES.sub("", before.rpartition("\x1b[2K")[2]).strip()


def test_nothing_is_left_of_the_progress_of_an_export(project: Path) -> None:
    (project / "flow.py").write_text(countdown())
    pipe("run", "flow.py", cwd=project)
    shown = show("git", "export", "history.git", cwd=project)
    assert shown.code == 0
    assert not [line for line in shown.lines if line.strip() and " of " in line]

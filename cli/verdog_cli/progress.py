"""What a person sees while a run is going on: a line for each visit."""

import contextlib
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import click

from verdog_cli.render import escape, format_duration, plural, shorten, silence_stdout, terminal_width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from verdog_runtime.interpreter.observer import CheckpointNotice


class Progress(Protocol):
    """Told about a run as it happens, on the thread that executes it. Never raises."""

    def visit_started(self, path: str) -> None:
        """A visit begins; its path is relative to the output directory, as `survey/000002`."""
        ...

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """A visit ended: `succeeded`, `failed` or `cancelled`."""
        ...

    def checkpoint_written(self, notice: "CheckpointNotice") -> None:
        """The last finished visit was committed."""
        ...

    def files_restored(self, paths: tuple[bytes, ...]) -> None:
        """Recorded files that differed were put back before the run went on."""
        ...


@dataclass(slots=True)
class _Visit:
    path: str
    status: str
    duration_s: float


class SilentProgress:
    """Says nothing but one line on standard error at the first checkpoint that cannot be restored."""

    def __init__(self) -> None:
        self._warned = False

    def visit_started(self, path: str) -> None:
        """Say nothing."""

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """Say nothing."""

    def files_restored(self, paths: tuple[bytes, ...]) -> None:
        """Name them on standard error."""
        with contextlib.suppress(OSError):
            click.echo(f"{plural(len(paths), 'path')} put back as recorded:", err=True)
            for path in paths:
                click.echo(f"  {escape(path)}", err=True)

    def checkpoint_written(self, notice: "CheckpointNotice") -> None:
        """Warn once."""
        if notice.restorable or self._warned:
            return
        self._warned = True
        reason = escape(notice.reason or "no reason recorded")
        with contextlib.suppress(OSError):
            click.echo(
                f"warning: checkpoint {notice.sequence} cannot be resumed or forked: {reason}", err=True
            )


class LineProgress(SilentProgress):
    """Prints a plain line for each visit, with the number of its checkpoint and its duration."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self._title = title
        self._finished: _Visit | None = None

    def visit_started(self, path: str) -> None:
        """Print what is still to be said about the visit before; the title before the first."""
        if self._title:
            self._print(self._title)
            self._title = ""
        self._flush("")

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """Remember the visit until its checkpoint is known."""
        self._flush("")
        self._finished = _Visit(path, status, duration_s)

    def checkpoint_written(self, notice: "CheckpointNotice") -> None:
        """Print the line of the visit."""
        self._flush(str(notice.sequence) if notice.restorable else f"{notice.sequence}!")
        super().checkpoint_written(notice)

    def finish(self) -> None:
        """Print what is still to be said."""
        self._flush("")

    def _flush(self, number: str) -> None:
        visit, self._finished = self._finished, None
        if visit is not None:
            duration = format_duration(round(visit.duration_s * 1e9))
            status = "" if visit.status == "succeeded" else f"  {visit.status}"
            self._print(f"{number:>6}  {_fit(visit.path)}  {duration:>7}{status}")
        elif number:
            self._print(f"{number:>6}")

    def _print(self, line: str) -> None:
        try:
            with contextlib.suppress(ValueError):
                click.echo(line)
        except BrokenPipeError:
            silence_stdout()  # the run goes on, and what its steps print must not fail either
        except OSError:
            pass


class LiveProgress(LineProgress):
    """The same lines on a terminal, and below them the visit that is going on now, with a clock."""

    def __init__(self, console: "Console", title: str = "") -> None:
        super().__init__(title)
        self._console = console
        self._live: Live | None = None
        self._path = ""
        self._since_s = 0.0

    def visit_started(self, path: str) -> None:
        """Show the visit below the lines."""
        super().visit_started(path)
        self._path = _fit(path)
        self._since_s = time.monotonic()
        if self._live is None:
            from rich.live import Live

            self._live = Live(
                console=self._console, get_renderable=self._render, refresh_per_second=8, transient=True
            )
            self._live.start()

    def finish(self) -> None:
        """Remove the live line."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        super().finish()

    def _render(self) -> "Text":
        from rich.text import Text

        elapsed = format_duration(round((time.monotonic() - self._since_s) * 1e9))
        return Text(f"{'':6}  {self._path}  {elapsed:>7}", style="dim")

    def _print(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _fit(path: str) -> str:
    """Return a visit's path as wide as its column, which leaves room for a number and a duration."""
    width = max(16, min(52, terminal_width() - 18))
    return f"{shorten(escape(path), width):<{width}}"


@contextlib.contextmanager
def show_progress(title: str = "", *, quiet: bool) -> Generator[Progress]:
    """Yield the progress that fits standard output: live on a terminal, lines in a pipe, none when quiet."""
    if quiet:
        yield SilentProgress()
        return
    if sys.stdout.isatty():
        from rich.console import Console

        lines: LineProgress = LiveProgress(Console(), title)
    else:
        lines = LineProgress(title)
    try:
        yield lines
    finally:
        lines.finish()

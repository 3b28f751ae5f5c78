"""What a person sees while a run is going on: a line for each visit."""

import contextlib
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import click

from verdog_cli.cells import pad, shorten
from verdog_cli.messages import tell
from verdog_cli.palette import BAD, PLAIN, Style, is_coloured, paint
from verdog_cli.render import escape, format_duration, harmless, plural, silence_stdout, terminal_width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from verdog_runtime.interpreter.observer import CheckpointNotice


_WIDE = 56
"""A terminal of this width has room for everything."""

_LEAST = 12
"""A path gets so much room before a duration does."""


class Progress(Protocol):
    """Told about a run as it happens, on the thread that executes it. Never raises."""

    def run_started(self, run: str) -> None:
        """A run is listed and about to execute; whoever is told knows what to resume."""
        ...

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
    """Says on standard error which run it is, and when the first checkpoint cannot be restored."""

    def __init__(self) -> None:
        self._warned = False

    def run_started(self, run: str) -> None:
        """Name it on standard error."""
        with contextlib.suppress(OSError):
            click.echo(f"run {run}", err=True)

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
        self._clear()
        reason = harmless(notice.reason or "no reason recorded")
        with contextlib.suppress(OSError):
            tell(f"warning: checkpoint {notice.sequence} cannot be resumed or forked: {reason}")

    def _clear(self) -> None:
        """Leave the line that the cursor is in, before something is written past this object."""


class LineProgress(SilentProgress):
    """Prints a plain line for each visit, with the number of its checkpoint and its duration."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self._title = title
        self._finished: _Visit | None = None

    def run_started(self, run: str) -> None:
        """Print its id and the title."""
        self._print(f"run {run}")
        if self._title:
            self._print(self._title)

    def visit_started(self, path: str) -> None:
        """Print what is still to be said about the visit before."""
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
            good = visit.status == "succeeded"
            line = _format_visit(number, visit.path, visit.duration_s, "" if good else visit.status)
            self._print(line, PLAIN if good else BAD)
        elif number:
            self._print(f"{number:>6}")

    def _print(self, line: str, style: Style = PLAIN) -> None:
        try:
            with contextlib.suppress(ValueError):
                click.echo(paint(line, style))
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
        self._path = path
        self._since_s = time.monotonic()
        if self._live is None:
            from rich.live import Live

            self._live = Live(
                console=self._console, get_renderable=self._render, refresh_per_second=8, transient=True
            )
            self._live.start()

    def finish(self) -> None:
        """Remove the live line."""
        self._clear()
        super().finish()

    def _clear(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render(self) -> "Text":
        from rich.text import Text

        line = _format_visit("", self._path, time.monotonic() - self._since_s)
        return Text(line, style="dim", no_wrap=True, overflow="crop")

    def _print(self, line: str, style: Style = PLAIN) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._console.print(line, style=style.colour, markup=False, highlight=False, soft_wrap=True)


def _format_visit(number: str, path: str, duration_s: float, status: str = "") -> str:
    """Return a visit as a line: the number of its checkpoint, its path, its duration, how it ended if badly.

    On a narrow terminal the columns are closer, and the last one is the status or the duration; the duration
    is left out if the path needs its room.
    """
    path, duration, width = escape(path), format_duration(round(duration_s * 1e9)), terminal_width()
    if width >= _WIDE:
        room = min(52, width - 28)
        line = f"{number:>6}  {pad(shorten(path, room), room)}  {duration:>7}"
        return f"{line}  {status}" if status else line
    last = f" {status or duration:>9}"
    if width - 6 - len(last) < _LEAST:
        last = f" {status}" if status else ""
    room = max(1, width - 6 - len(last))
    return f"{number:>5} {pad(shorten(path, room), room)}{last}".rstrip()


@contextlib.contextmanager
def show_progress(title: str = "", *, quiet: bool) -> Generator[Progress]:
    """Yield the progress that fits standard output: live on a terminal, lines in a pipe, none when quiet."""
    if quiet:
        yield SilentProgress()
        return
    if sys.stdout.isatty():
        from rich.console import Console

        lines: LineProgress = LiveProgress(Console(no_color=not is_coloured()), title)
    else:
        lines = LineProgress(title)
    try:
        yield lines
    finally:
        lines.finish()

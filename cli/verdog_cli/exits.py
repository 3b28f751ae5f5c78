"""Exit codes, and the two errors that are the command line's own."""

from pathlib import Path

import click

from verdog_objects.errors import NotFound

OK = 0
FAILED = 1
"""The run failed, or cannot be resumed or forked as asked; or a finding."""
USAGE = 2
"""Usage, not found, invalid input, a format too new, missing trust."""
INCOMPLETE = 3
CORRUPT = 4
BUSY = 5
"""Somebody else holds the lock, or the ref moved."""
UNAVAILABLE = 6
"""A remote, or the disk, refuses to work now."""
CANCELLED = 130


class RunEnded(Exception):
    """A run that was told about already, and ended with this exit code."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class Usage(click.UsageError):
    """A command line that cannot be carried out, with a hint of its own."""

    def __init__(self, message: str, *, hint: str | None = None, ctx: click.Context | None = None) -> None:
        super().__init__(message, ctx)
        self.hint = hint


class NothingRecorded(NotFound):
    """A project without a store."""

    def __init__(self, project: Path) -> None:
        super().__init__(f"nothing was ever run in {project}")
        self.hint = "`verdog run FILE.py` starts a run here, `verdog -C DIR ...` looks elsewhere"

"""What every command is given: the project, the repository, and how to print."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.exits import NothingRecorded
from verdog_cli.render import escape

if TYPE_CHECKING:
    from verdog_repo.repository import Repository

JSON, JSONL = "--json", "--jsonl"

_PASTED = re.compile(r"(^|`)verdog (?!-C |[\w ]*--help)")
"""The beginning of a command in a hint: it begins the hint, or stands in backticks."""


@dataclass(slots=True, kw_only=True)
class Context:
    """The choices made before a command's own options.

    Attributes:
        tail: the arguments after the first `--`; None when there was no `--`.
        traceback: print the traceback of an error, too.
        pager: long output on a terminal goes through a pager.
        colour: `always`, `never` or `auto`.
        directory: what `-C` said; None without it.
        start: the directory in which the person is; None if that is the current directory.
        run: the run that the command is about, once that is known.
        operation: the command, as `git export`.
        form: the option that chose another form of output than text for people, such as `--json`.
        run_id: what a new run is to be called; None lets verdog choose.
        transitions: how many the run may make from here on; None for what is usual.
        error_form: `--json` or `--jsonl` if an error is to be told that way as well; known before `form`.
    """

    tail: tuple[str, ...] | None = None
    traceback: bool = False
    pager: bool = True
    colour: str = "auto"
    directory: str | None = None
    start: Path | None = None
    run: str | None = None
    operation: str = ""
    form: str | None = None
    error_form: str | None = None
    run_id: str | None = None
    transitions: int | None = None

    def project(self) -> Path:
        """Return the root of the project that the current directory belongs to."""
        from verdog_repo.project import find_project

        return find_project(Path.cwd())

    def repository(self, *, read_only: bool = True) -> "Repository":
        """Open the project's repository; use it as a context manager.

        Raises:
            NothingRecorded: nothing was ever run in this project.
        """
        from verdog_repo.repository import Repository

        project = self.project()
        if not (project / ".verdog" / "store").exists():
            raise NothingRecorded(project)
        return Repository.open(project, read_only=read_only)

    def paste(self, text: str) -> str:
        """Return a hint whose commands can be pasted where the person is: with `-C` if it was given."""
        if self.directory is None:
            return text
        option = f"verdog -C {shlex.quote(self.directory)} "
        return _PASTED.sub(lambda found: found[1] + option, text)

    def display(self, path: Path) -> str:
        """Return a path as short as it can be pasted: relative to where the person is if it is below that."""
        here = Path.cwd()
        whole = here / path
        start = self.start or here
        return escape(str(whole.relative_to(start) if whole.is_relative_to(start) else whole))


pass_context = click.make_pass_decorator(Context)
"""Decorator: gives a command the `Context` as its first argument."""

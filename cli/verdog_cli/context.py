"""What every command is given: the project, the repository, and how to print."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.exits import NothingRecorded

if TYPE_CHECKING:
    from verdog_repo.repository import Repository


@dataclass(slots=True, kw_only=True)
class Context:
    """The choices made before a command's own options.

    Attributes:
        tail: the arguments after the first `--`; None when there was no `--`.
        traceback: print the traceback of an error, too.
        pager: long output on a terminal goes through a pager.
        json_operation: the name in the one JSON document on standard output; None unless JSON was asked for.
    """

    tail: tuple[str, ...] | None = None
    traceback: bool = False
    pager: bool = True
    json_operation: str | None = None

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


pass_context = click.make_pass_decorator(Context)
"""Decorator: gives a command the `Context` as its first argument."""

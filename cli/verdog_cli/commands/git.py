"""`verdog git`: the history for Git's own tools."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document
from verdog_cli.forms import json_option
from verdog_cli.group import CommandGroup
from verdog_cli.render import escape, exact, format_size, plural

if TYPE_CHECKING:
    from verdog_repo.export import Exported

_SHOWN = 10
"""How many left out paths are named; `--json` names all."""

_EVERY = 500


@click.group("git", cls=CommandGroup)
def command() -> None:
    """Use Git's own tools on the history of runs."""


@command.command(
    "export",
    epilog="""
    verdog git export history.git
    git -C history.git log --graph --all
    verdog git export --files files.git && git clone files.git
    """,
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--files", is_flag=True, help="Write the files of each checkpoint instead of its record.")
@json_option
@pass_context
def export(context: Context, directory: Path, files: bool) -> None:
    """Write the history of all runs into a bare Git repository.

    DIR is new or empty, or an earlier export: then only what is new is written. Each run is a branch, each
    tag a tag, and each label a symbolic branch. The commits are those that `verdog log` shows, and each holds
    its record, checkpoint.json. Nothing in the project is changed.

    With --files each commit holds the files of its checkpoint as they were, and its id is another one; the id
    that `verdog log` shows is in its message. What Git cannot hold is left out and listed: empty directories,
    and files and directories called .git or .gitmodules. Of permissions Git keeps only "executable".

    Whoever can read DIR can read the names of your nodes, and with --files all that your runs wrote.
    """
    from verdog_repo.export import export as export_history

    with context.repository() as repository:
        done = export_history(
            repository, directory, files=files, progress=_show if sys.stderr.isatty() else None
        )
    if context.form == JSON:
        emit_document(
            "git export", directory=exact(os.fsencode(directory.absolute())), files=files, **_as_json(done)
        )
    else:
        _print(done, context.display(directory.absolute()))


def _show(done: int, total: int) -> None:
    if done == total:
        click.echo("\r\x1b[K", err=True, nl=False)
    elif done % _EVERY == 0:
        click.echo(f"\r{done:,} of {plural(total, 'commit')}", err=True, nl=False)


def _print(done: "Exported", where: str) -> None:
    if done.commits:
        click.echo(
            f"{plural(done.commits, 'new commit')}, {plural(done.objects, 'object')}, "
            f"{format_size(done.size_bytes)}, in {where}"
        )
    else:
        click.echo(f"nothing new for {where}")
    names = (
        plural(done.branches, "branch", "branches"),
        plural(done.tags, "tag"),
        plural(done.labels, "label"),
    )
    click.echo(f"it has {', '.join(names)}")
    if done.unrecorded:
        click.echo(
            f"warning: the files of {plural(done.unrecorded, 'checkpoint')} were not recorded: "
            "these commits have those of their parent",
            err=True,
        )
    if done.left_out:
        click.echo(f"warning: git cannot hold {plural(len(done.left_out), 'path')}, left out:", err=True)
        for path, reason in sorted(done.left_out.items())[:_SHOWN]:
            click.echo(f"  {escape(path)}: {reason}", err=True)
        if len(done.left_out) > _SHOWN:
            click.echo(f"  and {len(done.left_out) - _SHOWN:,} more: see --json", err=True)


def _as_json(done: "Exported") -> dict[str, object]:
    return {
        "commits": done.commits,
        "objects": done.objects,
        "size_bytes": done.size_bytes,
        "branches": done.branches,
        "tags": done.tags,
        "labels": done.labels,
        "unrecorded": done.unrecorded,
        "left_out": [
            {"path": exact(path), "reason": reason} for path, reason in sorted(done.left_out.items())
        ],
    }

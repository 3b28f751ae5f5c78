"""`verdog restore`: recorded bytes and modes back into a run's directory."""

import os

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document
from verdog_cli.exits import Usage
from verdog_cli.forms import json_option
from verdog_cli.group import PathsCommand
from verdog_cli.render import escape, exact, plural
from verdog_cli.selection import select_checkpoint, select_run


@click.command(
    "restore",
    cls=PathsCommand,
    epilog="""
    verdog restore RUN
    verdog restore RUN -s RUN@17 -- report/000001
    """,
)
@click.argument("run", metavar="[RUN]", required=False)
@click.option("-s", "--source", metavar="REV", help="Take the files of this checkpoint, not the latest.")
@json_option
@pass_context
def command(context: Context, run: str | None, source: str | None) -> None:
    """Put recorded files back into a run's directory where they are missing or differ.

    Content, modes and links come from the store, each file in one step. Files that are not recorded stay.
    After -- only these files and directories are put back. A run that is being executed is refused.
    """
    from verdog_objects.errors import NotFound
    from verdog_runtime.outputs import restore_files

    with context.repository(read_only=False) as repository:
        context.run = chosen = select_run(repository, run)
        checkpoint = select_checkpoint(repository, source) if source else repository.tip(chosen)
        if checkpoint is None:
            raise NotFound(f"run {chosen} has no checkpoint to restore from")
        if checkpoint.run != chosen:
            raise Usage(f"{source} is a checkpoint of run {checkpoint.run}, not of {chosen}")
        restored = restore_files(repository, checkpoint, [os.fsencode(path) for path in context.tail or ()])
    if context.form == JSON:
        emit_document(
            "restore",
            run=chosen,
            checkpoint=checkpoint.sequence,
            restored=[exact(path) for path in restored],
        )
        return
    for path in restored:
        click.echo(escape(path))
    click.echo(f"{plural(len(restored), 'path')} put back as in {chosen}@{checkpoint.sequence}", err=True)

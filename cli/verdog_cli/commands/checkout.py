"""`verdog checkout`: the files of a checkpoint in a new directory."""

import os
from pathlib import Path

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.group import PathsCommand
from verdog_cli.losses import warn_of_losses
from verdog_cli.render import format_size, plural
from verdog_cli.selection import select_tree


@click.command(
    "checkout",
    cls=PathsCommand,
    epilog="""
    verdog checkout RUN@17 before
    verdog checkout RUN reports -- report/000001
    """,
)
@click.argument("revision", metavar="REV[:PATH]")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--preserve-special", is_flag=True, help="Keep setuid and setgid bits.")
@click.option(
    "--max-bytes", type=click.IntRange(min=0), metavar="N", help="Write nothing if it is more than N bytes."
)
@pass_context
def command(
    context: Context, revision: str, directory: Path, preserve_special: bool, max_bytes: int | None
) -> None:
    """Write the files of a checkpoint into a new or empty directory.

    Every byte is checked against its hash, and the directory appears only when it is whole. The run itself is
    never touched. After -- (or in REV:PATH) only these files and directories are written.
    """
    from verdog_objects.checkout import materialise

    with context.repository() as repository:
        tree = select_tree(repository, revision)
        warn_of_losses(repository, [tree.checkpoint.run])
        only = [os.fsencode(path).rstrip(b"/") for path in context.tail or ()]
        if tree.path:
            only.append(tree.path)
        totals = materialise(
            repository.store,
            tree.root,
            directory,
            preserve_special=preserve_special,
            max_bytes=max_bytes,
            only=only,
        )
    where = context.display(directory.absolute())
    click.echo(f"{plural(totals.files, 'file')}, {format_size(totals.size_bytes)}, in {where}")

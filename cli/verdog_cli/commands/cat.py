"""`verdog cat`: the bytes of a file in a checkpoint."""

import shlex
import sys

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.group import Command
from verdog_cli.render import escape
from verdog_cli.selection import select_tree
from verdog_objects.errors import InvalidInput, NotFound


@click.command(
    "cat",
    cls=Command,
    epilog="""
    verdog cat RUN:report/000001/report.txt
    verdog cat RUN@3:--help
    """,
)
@click.argument("revision", metavar="REV:PATH")
@pass_context
def command(context: Context, revision: str) -> None:
    """Write a file of a checkpoint to standard output, byte for byte.

    Of a symbolic link it writes the target's name.
    """
    from verdog_objects.content import iter_content
    from verdog_objects.nodes import EntryKind

    with context.repository() as repository:
        tree = select_tree(repository, revision)
        if tree.entry is None:
            raise InvalidInput(f"{escape(revision)} names no file: write REV:PATH")
        if tree.entry.kind is EntryKind.DIRECTORY:
            listing = f"`verdog ls {shlex.quote(revision)}`"
            raise NotFound(f"{escape(tree.path)} is a directory; {listing} lists it")
        for piece in iter_content(repository.store, tree.path, tree.entry):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()

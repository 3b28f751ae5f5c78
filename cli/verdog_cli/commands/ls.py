"""`verdog ls`: the files of a checkpoint."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, JSONL, Context, pass_context
from verdog_cli.documents import emit_document, emit_line
from verdog_cli.forms import exclude, form_option, jsonl_option
from verdog_cli.group import Command
from verdog_cli.paging import page
from verdog_cli.render import escape
from verdog_cli.selection import Tree, select_tree
from verdog_cli.tables import Column, format_table
from verdog_cli.views import checkpoint_as_json, entry_as_json, format_mode

if TYPE_CHECKING:
    from verdog_objects.nodes import Entry
    from verdog_objects.store import ObjectReader

_COLUMNS = (
    Column("MODE", leaves=2),
    Column("BYTES", right=True, leaves=3),
    Column("OID", leaves=1),
    Column("NAME", open=True),
)


@click.command(
    "ls",
    cls=Command,
    epilog="""
    verdog ls RUN
    verdog ls -l RUN@3:survey/000001
    verdog ls -R -z RUN | xargs -0 -n 1 echo
    """,
)
@click.argument("revision", metavar="REV[:PATH]")
@click.option("-l", "--long", is_flag=True, help="Show permissions, size and object id as well.")
@click.option("-R", "--recursive", is_flag=True, help="Everything below it, with paths from the top.")
@form_option("-z", help="End each path with a NUL and escape nothing.")
@form_option("--json", help="Print one JSON document; its paths are byte-exact.")
@jsonl_option
@pass_context
def command(context: Context, revision: str, long: bool, recursive: bool) -> None:
    """List the files of a checkpoint, as they were then.

    Each file is one line: control characters, backslashes and bytes that are not UTF-8 are escaped.
    Directories end with /, symbolic links with @.
    """
    from verdog_objects.nodes import EntryKind

    exclude(context, long=long and context.operation == "ls")
    with context.repository() as repository:
        tree = select_tree(repository, revision)
        found = _list(repository.store, tree, recursive=recursive)
        if context.form == JSON:
            emit_document(
                "ls",
                checkpoint=checkpoint_as_json(tree.checkpoint),
                entries=[entry_as_json(path, entry) for path, entry in found],
            )
        elif context.form == JSONL:
            for path, entry in found:
                emit_line("file", entry_as_json(path, entry))
        elif context.form == "-z":
            for path, _ in found:
                sys.stdout.buffer.write(path + b"\0")
        elif long:
            rows = [
                [format_mode(entry), f"{entry.size}", _format_oid(entry), escape(path)]
                for path, entry in found
            ]
            page(format_table(_COLUMNS, rows), pager=context.pager)
        else:
            marks = {EntryKind.DIRECTORY: "/", EntryKind.SYMLINK: "@"}
            page((escape(path) + marks.get(entry.kind, "") for path, entry in found), pager=context.pager)


def _format_oid(entry: "Entry") -> str:
    """Return the first digits of the id of what the entry holds; a directory holds nothing of its own."""
    from verdog_objects.nodes import EntryKind

    return "-" if entry.kind is EntryKind.DIRECTORY else entry.oid.hex()[:12]


def _list(reader: "ObjectReader", tree: Tree, *, recursive: bool) -> Iterator[tuple[bytes, "Entry"]]:
    from verdog_objects.manifest import iterate, iterate_under, key_path, list_directory, path_key
    from verdog_objects.nodes import EntryKind

    if tree.entry is not None and tree.entry.kind is not EntryKind.DIRECTORY:
        yield tree.path, tree.entry
        return
    key = path_key(tree.path) if tree.path else b""
    if not recursive:
        for found, entry in list_directory(reader, tree.root, key):
            yield key_path(found).rpartition(b"/")[2], entry
        return
    below = iterate_under(reader, tree.root, key) if key else iterate(reader, tree.root)
    for found, entry in below:
        yield key_path(found), entry

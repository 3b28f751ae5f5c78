"""`verdog log`: checkpoints, newest first."""

import os
import shlex
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, JSONL, Context, pass_context
from verdog_cli.documents import emit_document, emit_line
from verdog_cli.exits import Usage
from verdog_cli.forms import exclude, json_option, jsonl_option
from verdog_cli.graph import draw, format_lines
from verdog_cli.group import PathsCommand
from verdog_cli.losses import warn_of_losses
from verdog_cli.paging import page
from verdog_cli.palette import COMMIT, of_amount, of_name
from verdog_cli.render import escape, format_duration, format_size
from verdog_cli.selection import touches
from verdog_cli.tables import Column, format_table
from verdog_cli.views import (
    SHORT_COMMIT,
    checkpoint_as_json,
    format_completed,
    format_marked_name,
    format_next,
    parse_since,
)

if TYPE_CHECKING:
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.repository import Repository

_COLUMNS = (
    Column("CHECKPOINT", choose=of_name),
    Column("COMMIT", leaves=5, style=COMMIT),
    Column("COMPLETED", least=16),
    Column("NEXT", least=8, leaves=4),
    Column("TIME", right=True, leaves=3),
    Column("FILES", right=True, leaves=1, choose=of_amount),
    Column("BYTES", right=True, leaves=2, choose=of_amount),
)


@click.command(
    "log",
    cls=PathsCommand,
    epilog="""
    verdog log RUN -n 20
    verdog log RUN --node survey
    verdog log --graph --all
    verdog log RUN1..RUN2
    verdog log RUN -- report/000001/report.txt
    """,
)
@click.argument("revision", metavar="[REV]", required=False)
@click.option("--graph", is_flag=True, help="Draw lines from each checkpoint to the one it came from.")
@click.option("--all", "everything", is_flag=True, help="Of all runs.")
@click.option("--oneline", is_flag=True, help="Commit, name, visit and next only.")
@click.option("-n", "limit", type=click.IntRange(min=0), metavar="N", help="At most N checkpoints.")
@click.option("--node", metavar="NODE", help="Only after visits of this node (CALL#1/NODE inside a call).")
@click.option("--since", metavar="TIME", help="Only newer ones: 2026-11-30, 2026-11-30T10:00, 30m, 5h, 7d.")
@json_option
@jsonl_option
@pass_context
def command(
    context: Context,
    revision: str | None,
    graph: bool,
    everything: bool,
    oneline: bool,
    limit: int | None,
    node: str | None,
    since: str | None,
) -> None:
    """List checkpoints, newest first, across fork points.

    Without REV it lists all runs. A..B is what B has and A has not, A...B what only one of them has. After --
    only checkpoints that changed one of these paths.

    FILES and BYTES are what the checkpoint added. A ! behind its name: it cannot be resumed or forked. The
    first checkpoint of a fork is the one it was made from, once more, and says (fork).
    """
    exclude(context, graph=graph, oneline=oneline)
    if everything and revision is not None:
        raise Usage("--all is every run: leave the revision out")
    with context.repository() as repository:
        found = _walk(repository, revision)
        if since is not None:
            found = _newer(found, parse_since(since))
        if node is not None:
            found = _after_node(found, node)
        if context.tail:
            paths = [os.fsencode(path).rstrip(b"/") for path in context.tail]
            found = (each for each in found if touches(repository, each, paths))
        found = islice(found, None if limit is None else min(limit, sys.maxsize))
        if context.form == JSON:
            emit_document("log", checkpoints=[checkpoint_as_json(each) for each in found])
        elif context.form == JSONL:
            for each in found:
                emit_line("checkpoint", checkpoint_as_json(each))
        else:
            lines = draw(found) if graph else format_lines(found) if oneline else _format_rows(found)
            page(lines, pager=context.pager)


def _walk(repository: "Repository", text: str | None) -> Iterator["Checkpoint"]:
    """Return the checkpoints that were asked for, newest first."""
    from heapq import merge

    from verdog_repo.history import walk, walk_all, walk_range
    from verdog_repo.resolve import RevisionRange

    catalog = repository.catalog
    if text is None:
        warn_of_losses(repository)
        return walk_all(catalog)
    found = repository.resolve_range(text)
    ends = (found.left, found.right) if isinstance(found, RevisionRange) else (found,)
    warn_of_losses(repository, [each.run for each in ends])
    if not isinstance(found, RevisionRange):
        if found.path is not None:
            head, _, path = text.partition(":")
            raise Usage(f"{escape(text)} names a file", hint=f"verdog log {head} -- {shlex.quote(path)}")
        return walk(catalog, found.checkpoint)
    left, right = found.left.checkpoint, found.right.checkpoint
    forward = walk_range(catalog, left, right)
    if not found.symmetric:
        return forward
    backward = walk_range(catalog, right, left)
    return merge(forward, backward, key=lambda each: (-each.committed_s, -each.generation))


def _newer(found: Iterator["Checkpoint"], since_us: int) -> Iterator["Checkpoint"]:
    for each in found:
        if each.committed_s < since_us // 1_000_000:  # never below its parent's, so none of the rest is newer
            return
        if each.created_us >= since_us:
            yield each


def _after_node(found: Iterator["Checkpoint"], node: str) -> Iterator["Checkpoint"]:
    from verdog_repo.filenames import format_filename
    from verdog_repo.places import escape_node

    node = format_filename(node)
    place = node if "#" in node or "%" in node else escape_node(node)
    for each in found:
        if each.place is not None and (each.place == place or each.place.endswith(f"/{place}")):
            yield each


def _format_rows(found: Iterator["Checkpoint"]) -> Iterator[str]:
    rows = [
        [
            format_marked_name(each),
            each.commit.hex()[:SHORT_COMMIT],
            format_completed(each),
            format_next(each),
            format_duration(each.duration_ns),
            str(each.files_added),
            format_size(each.bytes_added),
        ]
        for each in found
    ]
    return format_table(_COLUMNS, rows) if rows else iter(())

"""`verdog log`: checkpoints, newest first."""

import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.exits import Usage
from verdog_cli.group import PathsCommand
from verdog_cli.render import (
    Column,
    emit_document,
    format_duration,
    format_size,
    format_table,
    page,
    terminal_width,
)
from verdog_cli.selection import touches
from verdog_cli.views import (
    SHORT_COMMIT,
    checkpoint_as_json,
    format_name,
    format_next,
    format_visit,
    parse_since,
)

if TYPE_CHECKING:
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.repository import Repository

_COLUMNS = (
    Column(title="CHECKPOINT", shrink=True),
    Column(title="COMMIT"),
    Column(title="COMPLETED", shrink=True),
    Column(title="NEXT", shrink=True),
    Column(title="TIME", right=True),
    Column(title="FILES", right=True),
    Column(title="BYTES", right=True),
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
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
    as_json: bool,
) -> None:
    """List checkpoints, newest first, across fork points.

    Without REV it lists all runs. A..B is what B has and A has not, A...B what only one of them has. After --
    only checkpoints that changed one of these paths.

    FILES and BYTES are what the checkpoint added. A ! behind its name: it cannot be resumed or forked.
    """
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
        found = islice(found, limit)
        if as_json:
            emit_document("log", checkpoints=[checkpoint_as_json(each) for each in found])
        elif graph:
            page(_draw(found), pager=context.pager)
        elif oneline:
            page((_format_line(each) for each in found), pager=context.pager)
        else:
            page(_format_rows(found), pager=context.pager)


def _walk(repository: "Repository", text: str | None) -> Iterator["Checkpoint"]:
    """Return the checkpoints that were asked for, newest first."""
    from heapq import merge

    from verdog_repo.history import walk, walk_all, walk_range
    from verdog_repo.resolve import RevisionRange

    catalog = repository.catalog
    if text is None:
        return walk_all(catalog)
    found = repository.resolve_range(text)
    if not isinstance(found, RevisionRange):
        if found.path is not None:
            raise Usage(f"{text} names a file", hint=f"verdog log {text.partition(':')[0]} -- PATH")
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
    from verdog_repo.filenames import format_filename
        if each.created_us >= since_us:
            yield each
    node = format_filename(node)


def _after_node(found: Iterator["Checkpoint"], node: str) -> Iterator["Checkpoint"]:
    from verdog_repo.places import escape_node

    place = node if "#" in node or "%" in node else escape_node(node)
    for each in found:
        if each.place is not None and (each.place == place or each.place.endswith(f"/{place}")):
            yield each


def _format_rows(found: Iterator["Checkpoint"]) -> Iterator[str]:
    rows = [
        [
            _name(each),
            each.commit.hex()[:SHORT_COMMIT],
            format_visit(each),
            format_next(each),
            format_duration(each.duration_ns),
            str(each.files_added),
            format_size(each.bytes_added),
        ]
        for each in found
    ]
    return format_table(_COLUMNS, rows) if rows else iter(())


def _name(checkpoint: "Checkpoint") -> str:
    return f"{format_name(checkpoint)}{'' if checkpoint.restorable else '!'}"


def _format_line(checkpoint: "Checkpoint") -> str:
    commit = checkpoint.commit.hex()[:SHORT_COMMIT]
    return f"{commit} {_name(checkpoint)} {format_visit(checkpoint)} -> {format_next(checkpoint, end='end')}"


def _draw(found: Iterator["Checkpoint"]) -> Iterator[str]:
    from verdog_repo.graph import draw_graph

    width = terminal_width()
    for row in draw_graph(found):
        yield from row.before
        yield f"{row.marks} {_format_line(row.checkpoint)}"[:width]

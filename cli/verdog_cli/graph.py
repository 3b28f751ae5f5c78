"""Checkpoints on one line each, with or without the graph of their lines of descent."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from verdog_cli.cells import measure, shorten
from verdog_cli.palette import BAD, COMMIT, LANES, NAME, paint
from verdog_cli.render import terminal_width
from verdog_cli.views import SHORT_COMMIT, format_completed, format_marked_name, format_next

if TYPE_CHECKING:
    from verdog_repo.checkpoint import Checkpoint

_LEAST = 8
"""A visit that gets less room than this is left out."""


def draw(checkpoints: Iterable["Checkpoint"]) -> Iterator[str]:
    """Yield a line for each checkpoint, and more where lines of descent come together."""
    from verdog_repo.graph import draw_graph

    width = terminal_width()
    for row in draw_graph(checkpoints):
        yield from map(_paint_marks, row.before)
        line = _format_line(row.checkpoint, width - len(row.marks) - 1)
        yield f"{_paint_marks(row.marks)} {line}"


def format_lines(checkpoints: Iterable["Checkpoint"]) -> Iterator[str]:
    """Yield a line for each checkpoint; whole lines if standard output is no terminal."""
    width = terminal_width() if sys.stdout.isatty() else sys.maxsize
    for each in checkpoints:
        yield _format_line(each, width)


def _format_line(checkpoint: "Checkpoint", width: int) -> str:
    """Return a checkpoint on one line.

    What does not fit is left out in this order: what comes next, a part of the visit, the visit, the commit.
    The name is always there.
    """
    commit, name = checkpoint.commit.hex()[:SHORT_COMMIT], format_marked_name(checkpoint)
    visit, following = format_completed(checkpoint), f" -> {format_next(checkpoint, end='end')}"
    head = paint(name, NAME if checkpoint.restorable else BAD)
    room = width - len(name)
    if room <= SHORT_COMMIT:
        return head
    head, room = f"{paint(commit, COMMIT)} {head}", room - SHORT_COMMIT - 1
    if measure(visit) + measure(following) < room:
        return f"{head} {visit}{following}"
    return f"{head} {shorten(visit, room - 1)}" if room > _LEAST or measure(visit) < room else head


def _paint_marks(marks: str) -> str:
    """Return the characters of a graph, each in the colour of its column."""
    return "".join(
        each if each == " " else paint(each, LANES[index // 2 % len(LANES)])
        for index, each in enumerate(marks)
    )

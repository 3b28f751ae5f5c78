"""Tables that fit the width of the terminal, whatever it is."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from verdog_cli.cells import measure, shorten
from verdog_cli.palette import PLAIN, TITLE, Style, is_coloured, paint
from verdog_cli.render import terminal_width

_GAP = 2
_OPEN_LEAST = 16
"""An open column gets at least so much room, and half of a terminal, before others leave for it."""

_FEW = 4
"""At most one row in so many has a name that stands on a line of its own."""

_WIDE = 40
"""Below this width the fields of a record are not aligned."""


class Column(NamedTuple):
    """A column of a table. The first one names the row.

    Attributes:
        right: numbers stand at the right.
        least: its cells may lose their middle, down to so many characters; 0 if they must stay whole.
        leaves: when even that is too wide, columns leave the table in this order; 0 if it stays.
        open: its cells may reach over the right edge; it is the last one.
        style: how its cells look.
        choose: tells that of each cell.
    """

    title: str
    right: bool = False
    least: int = 0
    leaves: int = 0
    open: bool = False
    style: Style = PLAIN
    choose: Callable[[str], Style] | None = None


class _Layout(NamedTuple):
    """The columns that are shown, by their index, and how wide each one is."""

    shown: list[int]
    widths: list[int]


def format_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, titles first, no wider than the terminal as far as that can be.

    What does not fit gives way in this order: cells that may lose their middle do; a few long names get a
    line of their own; columns leave; and at last each row becomes a record, a field below the other.
    """
    width = terminal_width()
    layout = _arrange(columns, rows, width)
    if layout is None:
        for row in rows:
            yield from _format_record(columns, row, width)
        return
    titles = [Column(each.title, each.right, style=TITLE) for each in columns]
    coloured = is_coloured()
    yield _format_row(titles, [each.title for each in columns], layout, coloured=coloured)
    for row in rows:
        if measure(row[0]) > layout.widths[0]:
            yield _paint(columns[0], row[0])
            row = ["", *row[1:]]
        yield _format_row(columns, row, layout, coloured=coloured)


def _arrange(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> _Layout | None:
    """Return the best layout that fits; None if there is none."""
    natural = [
        max(measure(column.title), *(measure(row[index]) for row in rows)) if rows else measure(column.title)
        for index, column in enumerate(columns)
    ]
    stages = [natural[0], *_find_usual_width(columns[0].title, [measure(row[0]) for row in rows], width)]
    for gone in sorted({0, *(each.leaves for each in columns)}):
        shown = [index for index, column in enumerate(columns) if not 0 < column.leaves <= gone]
        for first in stages:
            wanted = [first, *(natural[index] for index in shown[1:])]
            widths = _fit([columns[index] for index in shown], wanted, width)
            if widths is not None:
                return _Layout(shown, widths)
    return None


def _find_usual_width(title: str, names: Sequence[int], width: int) -> Iterator[int]:
    """Yield the width of the first column without those few names that take more than a third of a line."""
    limit = max(measure(title), width // 3)
    usual = [each for each in names if each <= limit]
    if 0 < (len(names) - len(usual)) * _FEW <= len(names):
        yield max(measure(title), *usual)


def _fit(columns: Sequence[Column], wanted: Sequence[int], width: int) -> list[int] | None:
    """Return the widths of columns that stand side by side; None if they cannot."""
    least = [_find_least(*pair, width) for pair in zip(columns, wanted, strict=True)]
    room = width - _GAP * (len(columns) - 1)
    if sum(least) > room:
        return None
    widths = [min(each, room) for each in wanted]
    while sum(widths) > room:
        able = (index for index, each in enumerate(widths) if each > least[index])
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _find_least(column: Column, wanted: int, width: int) -> int:
    if column.open:
        return min(wanted, max(_OPEN_LEAST, width // 2 if sys.stdout.isatty() else 0))
    return min(wanted, max(column.least, measure(column.title))) if column.least else wanted


def _format_row(columns: Sequence[Column], row: Sequence[str], layout: _Layout, *, coloured: bool) -> str:
    cells: list[str] = []
    for index, width in zip(*layout, strict=True):
        column, text = columns[index], row[index]
        size = measure(text)
        if size > width and not column.open:
            text = shorten(text, width)
            size = measure(text)
        spaces = " " * (width - size)
        painted = _paint(column, row[index], text) if coloured else text
        cells.append(spaces + painted if column.right else painted + spaces)
    return (" " * _GAP).join(cells).rstrip()


def _format_record(columns: Sequence[Column], row: Sequence[str], width: int) -> Iterator[str]:
    """Yield a row's name and, below that, its other cells with their titles."""
    yield _paint(columns[0], row[0])
    label = max((len(each.title) for each in columns[1:]), default=0) if width >= _WIDE else 0
    gap = " " * (_GAP if label else 1)
    for column, text in zip(columns[1:], row[1:], strict=True):
        if not text:
            continue
        head = f"  {column.title.lower():<{label}}{gap}"
        room = width - len(head)
        if measure(text) > room and (not column.least or room < column.least):
            yield head.rstrip()
            head, room = "    ", width - 4
        shown = shorten(text, max(room, 1)) if column.least else text
        yield f"{head}{_paint(column, text, shown)}"


def _paint(column: Column, cell: str, shown: str | None = None) -> str:
    style = column.style if column.choose is None else column.choose(cell)
    return paint(cell if shown is None else shown, style)

"""The graph column of a log: which line of descent each checkpoint is on, drawn with characters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import CommitId


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRow:
    """One checkpoint of a log with its graph.

    Attributes:
        before: lines to print above it, where lines of descent come together, or where one ends and another
            one, which has nothing to do with it, begins in the same column.
        marks: what stands before its text: `*` in its own column, `|` in the others.
        column: its own column, from 0.
        open_columns: which columns are drawn below it.
    """

    checkpoint: Checkpoint
    before: tuple[str, ...]
    marks: str
    column: int
    open_columns: tuple[int, ...]


def draw_graph(checkpoints: Iterable[Checkpoint]) -> Iterator[GraphRow]:
    """Yield a row for each checkpoint. They come newest first, a child always before its parent.

    Cost: each row takes time for the columns that are open.
    """
    lanes: list[CommitId | None] = []  # the commit that each column waits for
    ended = -1  # the column in which the row above has no parent
    for checkpoint in checkpoints:
        waiting = [number for number, commit in enumerate(lanes) if commit == checkpoint.commit]
        before: list[str] = []
        if not waiting:
            waiting = [lanes.index(None)] if None in lanes else [len(lanes)]
            if waiting[0] == ended:
                before.append(_draw(lanes, -1))
            lanes[waiting[0] : waiting[0] + 1] = [checkpoint.commit]
        own = waiting[0]
        for joining in reversed(waiting[1:]):
            before.append(_draw_join(lanes, own, joining))
            lanes[joining] = None
        marks = _draw(lanes, own)
        lanes[own] = checkpoint.parent
        ended = own if checkpoint.parent is None else -1
        while lanes and lanes[-1] is None:
            lanes.pop()
        yield GraphRow(
            checkpoint=checkpoint,
            before=tuple(before),
            marks=marks,
            column=own,
            open_columns=tuple(number for number, commit in enumerate(lanes) if commit is not None),
        )


def _draw(lanes: list[CommitId | None], own: int) -> str:
    cells = [
        "*" if number == own else "|" if commit is not None else " " for number, commit in enumerate(lanes)
    ]
    return " ".join(cells).rstrip()


def _draw_join(lanes: list[CommitId | None], own: int, joining: int) -> str:
    """Draw how column `joining` runs into column `own`, to its left: `|/`, or `|_|/` past others."""
    cells: list[str] = []
    for number, commit in enumerate(lanes):
        cells.append("|" if commit is not None and number != joining else " ")
        if own <= number < joining - 1:
            cells.append("_")
            if cells[-2] == " ":
                cells[-2] = "_"
        else:
            cells.append("/" if number == joining - 1 else " ")
    return "".join(cells).rstrip()

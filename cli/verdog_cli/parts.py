"""Changed parts of values and documents as lines of text."""

from collections.abc import Iterator

from verdog_cli.cells import measure, take
from verdog_cli.palette import ADDED, REMOVED, paint
from verdog_repo.parts import PartChange

_INDENT = "    "
_BEFORE_CHANGE = 12
"""So many characters are kept before the first one that differs, when a text is cut."""


def format_part(change: PartChange, width: int) -> Iterator[str]:
    """Yield a changed part: on one line where it fits, else with both texts below each other.

    Args:
        change: its path begins with what it is part of.
        width: how long a line may be. A text that is longer is cut around the first difference.
    """
    path = clean(change.path)
    before = None if change.before is None else clean(change.before)
    after = None if change.after is None else clean(change.after)
    if before is not None and after is not None:
        line = f"  {path}  {before} -> {after}"
        if measure(line) <= width:
            yield line
            return
        yield f"  {path}"
        room = width - len(_INDENT) - 2
        start = _find_difference(before, after) if max(measure(before), measure(after)) > room else 0
        yield mark("-", f"{_INDENT}- {cut(before, room, start)}")
        yield mark("+", f"{_INDENT}+ {cut(after, room, start)}")
    elif before is not None:
        yield from _format_one("-", path, before, width)
    elif after is not None:
        yield from _format_one("+", path, after, width)


def mark(sign: str, line: str) -> str:
    """Return a line in the colour of what was removed or added."""
    return paint(line, REMOVED if sign == "-" else ADDED)


def clean(text: str) -> str:
    """Return text on one line that does nothing to a terminal: what cannot be seen is escaped, save tabs."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each == "\t" else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def cut(text: str, width: int, start: int = 0) -> str:
    """Return what fits in so many cells of a text from some character on; an ellipsis stands for the rest."""
    if start:
        text = f"…{text[start:]}"
    return text if measure(text) <= width else f"{take(text, max(1, width - 1))}…"


def _format_one(sign: str, path: str, text: str, width: int) -> Iterator[str]:
    line = f"{sign} {path}  {text}"
    if measure(line) <= width:
        yield mark(sign, line)
        return
    yield mark(sign, f"{sign} {path}")
    yield mark(sign, f"{_INDENT}{sign} {cut(text, width - len(_INDENT) - 2)}")


def _find_difference(before: str, after: str) -> int:
    """Return where to begin, so that the first difference of two texts is seen."""
    common = next(
        (index for index, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )
    return common - _BEFORE_CHANGE if common > 2 * _BEFORE_CHANGE else 0

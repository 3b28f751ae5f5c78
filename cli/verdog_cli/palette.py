"""What colours mean here, and when there are any."""

import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

import click


class Style(NamedTuple):
    """How a text looks on a terminal."""

    colour: str | None = None
    bold: bool | None = None
    dim: bool | None = None


PLAIN: Final = Style()
COMMIT: Final = Style("yellow")
NAME: Final = Style("cyan")
TITLE: Final = Style(bold=True)
GOOD: Final = Style("green")
BAD: Final = Style("red")
DOUBTFUL: Final = Style("yellow")
ADDED: Final = Style("green")
REMOVED: Final = Style("red")
PLACE: Final = Style("cyan")
FAINT: Final = Style(dim=True)
ERROR: Final = Style("red", bold=True)

LANES: Final = tuple(map(Style, ("red", "green", "yellow", "blue", "magenta", "cyan")))
"""The lines of descent in a graph, in turn."""

STATUSES: Final[Mapping[str, Style]] = {
    "running": Style("blue"),
    "interrupted": DOUBTFUL,
    "failed": BAD,
    "succeeded": GOOD,
}

CHANGES: Final[Mapping[str, Style]] = {
    "A": ADDED,
    "D": REMOVED,
    "M": DOUBTFUL,
    "T": DOUBTFUL,
    "R": NAME,
}
"""What happened to a file, by its letter."""


def of_name(cell: str) -> Style:
    """Return the style of the name or number of a checkpoint; a `!` says that it cannot be resumed."""
    return BAD if cell.endswith("!") else NAME


def of_status(cell: str) -> Style:
    """Return the style of a run's status, whatever else is said of it behind a comma."""
    return STATUSES[cell.partition(",")[0]]


def of_answer(cell: str) -> Style:
    """Return the style of `yes` and `no`."""
    return GOOD if cell == "yes" else BAD


def of_amount(cell: str) -> Style:
    """Return the style of a number with or without its unit: nothing is faint."""
    return FAINT if cell in ("0", "0 B") else PLAIN


def wants_colours(choice: str, environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Return whether a stream gets colours.

    Args:
        choice: `always` or `never`, which decide, or `auto`.
        environment: `NO_COLOR` forbids them; then `CLICOLOR_FORCE` and `FORCE_COLOR` ask for them; then
            `TERM=dumb` and `CLICOLOR=0` forbid them.
        terminal: whether the stream is one.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "0") not in ("", "0") for name in ("CLICOLOR_FORCE", "FORCE_COLOR")):
        return True
    return terminal and environment.get("TERM", "dumb") != "dumb" and environment.get("CLICOLOR") != "0"


def paint(text: str, style: Style) -> str:
    """Return a text in a style if standard output gets colours, else as it is."""
    if not text or style == PLAIN or not is_coloured():
        return text
    return dye(text, style)


def dye(text: str, style: Style) -> str:
    """Return a text in a style."""
    return click.style(text, fg=style.colour, bold=style.bold, dim=style.dim)


def is_coloured() -> bool:
    """Return whether standard output gets colours: as the command line was understood, else on a terminal."""
    context = click.get_current_context(silent=True)
    if context is None or context.color is None:
        return sys.stdout is not None and sys.stdout.isatty()
    return context.color

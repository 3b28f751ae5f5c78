"""What is told on standard error: errors, warnings and hints, in lines that fit."""

import os
import re
import sys

import click

from verdog_cli.cells import measure, wrap
from verdog_cli.context import Context
from verdog_cli.palette import DOUBTFUL, ERROR, NAME, dye, wants_colours
from verdog_cli.render import terminal_width

_LABELS = {"error": ERROR, "warning": DOUBTFUL, "hint": NAME}
_LABEL = re.compile(rf"^({'|'.join(_LABELS)}):", re.MULTILINE)

_FIXED_SPACE = "\x00"
"""Stands for a space in a command while a hint is wrapped, so that no command is cut."""


def tell(text: str, context: Context | None = None) -> None:
    """Print lines on standard error; on a terminal the words `error:`, `warning:` and `hint:` are coloured.

    Args:
        text: the lines.
        context: how to print; that of the command that is being executed when None.
    """
    if context is None:
        parsed = click.get_current_context(silent=True)
        context = (parsed.find_object(Context) if parsed is not None else None) or Context()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if terminal:
        width = terminal_width(sys.stderr)
        text = "\n".join(line for each in text.split("\n") for line in _wrap_line(each, width))
    coloured = wants_colours(context.colour, os.environ, terminal=terminal)
    if coloured:
        text = _LABEL.sub(lambda found: dye(found[0], _LABELS[found[1]]), text)
    click.echo(text, err=True, color=coloured)


def _wrap_line(line: str, width: int) -> list[str]:
    """Return the sentence of an error or a warning as lines of a width; a hint has its lines already."""
    if measure(line) <= width or not line.startswith(("error:", "warning:")):
        return [line]
    return wrap_commands(line, width, "", "  ")


def tell_hint(hint: str, context: Context) -> None:
    """Print a hint on standard error, with commands that can be pasted where the person is."""
    tell(format_hint(context.paste(hint)), context)


def format_hint(hint: str) -> str:
    """Return a hint as lines that fit."""
    return "\n".join(wrap_hint(hint, min(80, terminal_width(sys.stderr)), "hint: ", "      "))


def wrap_hint(hint: str, width: int, first: str, others: str) -> list[str]:
    """Return a hint as lines of a width. One that is nothing but a command is one line."""
    if "`" not in hint and hint.startswith("verdog "):
        return [first + hint]
    return wrap_commands(hint, width, first, others)


def wrap_commands(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Return text as lines of a width. A command in backticks is not cut.

    Args:
        text: what is said.
        width: how long a line may be.
        first: what the first line begins with.
        others: what the others begin with.
    """
    whole = re.sub("`[^`]*`", lambda found: found[0].replace(" ", _FIXED_SPACE), text)
    return [line.replace(_FIXED_SPACE, " ") for line in wrap(whole, width, first, others)]

"""Long text for people: through a pager if standard output is a terminal."""

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePath

import click

from verdog_cli.cells import measure, wrap
from verdog_cli.palette import PLAIN, Style, is_coloured, paint
from verdog_cli.render import terminal_width

_WIDE = 40
"""On a terminal that is narrower, what does not fit behind a head stands below it."""


def page(lines: Iterable[str], *, pager: bool) -> None:
    """Print lines, through a pager when a person looks on and they would not fit."""
    command = _find_pager() if pager and sys.stdin.isatty() and sys.stdout.isatty() else None
    if command is None:
        for line in lines:
            click.echo(line)
        return
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        return
    os.environ.setdefault("LESS", "FRX")
    # Only click knows whether `less` is in a mode that shows colours; other pagers are expected to show them.
    unknown = is_coloured() and PurePath(command).name == "less"
    click.echo_via_pager(_end_lines(first, rest), color=None if unknown else is_coloured())


def wrap_for_person(text: str, head: str = "", style: Style = PLAIN, head_style: Style = PLAIN) -> str:
    """Return the head of a line and a text behind it, on several lines if a terminal needs that.

    Without a terminal it stays one line, for programs that look for it.
    """
    width = terminal_width()
    if not sys.stdout.isatty() or measure(head) + measure(text) <= width:
        return paint(head, head_style) + paint(text, style)
    longest = max(map(measure, text.split()), default=0)
    beside = width >= _WIDE and measure(head) + longest <= width
    indent = " " * (measure(head) if beside else 2 if head else 0)
    lines = [indent + paint(line, style) for line in wrap(text, width - len(indent))]
    if beside:
        return "\n".join([paint(head, head_style) + lines[0].removeprefix(indent), *lines[1:]])
    return "\n".join([paint(head.rstrip(), head_style), *lines] if head else lines)


def _end_lines(first: str, rest: Iterator[str]) -> Iterator[str]:
    """Yield lines that are ended; the last one is not, because click adds a line feed at the end."""
    return chain([first], (f"\n{line}" for line in rest))


def _find_pager() -> str | None:
    """Return the program that shows long text; None if there is none, or the terminal cannot do with one."""
    import shlex
    import shutil

    wanted = os.environ.get("PAGER", "")
    if not wanted and os.environ.get("TERM", "dumb") in ("dumb", "emacs"):
        return None
    try:
        words = shlex.split(wanted) or ["less"]
    except ValueError:  # a quotation that does not end
        return None
    return shutil.which(words[0])

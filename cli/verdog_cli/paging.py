"""Long text for people: through a pager if standard output is a terminal."""

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePath

import click

from verdog_cli.cells import measure
from verdog_cli.palette import is_coloured
from verdog_cli.render import terminal_width


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


def wrap_for_person(text: str, head: str, painted: str | None = None) -> str:
    """Return a text behind the head of its line, on several lines if a terminal needs that.

    Without a terminal it stays one line, for programs that look for it.

    Args:
        text: what is said.
        head: what stands before it.
        painted: the head in its colours.
    """
    line = f"{painted or head}{text}"
    width = terminal_width()
    if not sys.stdout.isatty() or len(head) + measure(text) <= width:
        return line
    indent = " " * min(len(head), width // 4)
    lines = textwrap.wrap(f"{head}{text}", width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join([lines[0].replace(head, painted or head, 1), *lines[1:]])


def _end_lines(first: str, rest: Iterator[str]) -> Iterator[str]:
    """Yield lines that are ended; the last one is not, because click adds a line feed at the end."""
    return chain([first], (f"\n{line}" for line in rest))


def _find_pager() -> str | None:
    import shlex
    import shutil

    words = shlex.split(os.environ.get("PAGER", "")) or ["less"]
    return shutil.which(words[0])

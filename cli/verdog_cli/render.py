"""Text and JSON from the same values."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click

from verdog_objects.paths import escape_path

SCHEMA_VERSION = 1
"""Of every JSON document that the command prints."""


def escape(text: str | bytes) -> str:
    r"""Return a name on one line: control characters, backslashes and bytes not in UTF-8 as `\n`, `\xfe`."""
    if isinstance(text, str):
        try:
            text = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            text = text.encode("utf-8", "surrogatepass")
    return escape_path(text)


def exact(path: bytes) -> str:
    r"""Return a path for JSON: a byte not in UTF-8 becomes a lone surrogate, `\udcfe`; nothing is lost."""
    return path.decode("utf-8", "surrogateescape")


def format_size(size_bytes: int) -> str:
    """Return a size in at most 8 characters: `999 B`, `1.2 KiB`."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    value = float(size_bytes)
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        value /= 1024
        if value < 99.95:
            return f"{value:.1f} {unit}"
        if value < 999.5:
            return f"{value:.0f} {unit}"
    return f"{value:.0f} PiB"


def format_duration(duration_ns: int) -> str:
    """Return a duration in at most 7 characters: `3 ms`, `1.24 s`, `2 m 05`, `3 h 20`."""
    milliseconds = duration_ns / 1e6
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms" if milliseconds >= 1 else f"{milliseconds:.1f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} m {rest:02}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02}"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def terminal_width() -> int:
    """Return how wide a line may be: what `COLUMNS` says, else the terminal's width, else 80."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):  # no terminal, a closed stream, or none at all
        return 80


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        right: numbers stand at the right.
        shrink: this column gives way, down to 8 characters, when the table is too wide: its middle goes.
    """

    title: str
    right: bool = False
    shrink: bool = False


def format_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, titles first, no wider than `terminal_width` if a column can give way."""
    widths = [
        max(len(column.title), *(len(row[index]) for row in rows)) if rows else len(column.title)
        for index, column in enumerate(columns)
    ]
    excess = sum(widths) + 2 * (len(columns) - 1) - terminal_width()
    for index in sorted(range(len(columns)), key=lambda each: -widths[each]):
        if excess > 0 and columns[index].shrink:
            cut = min(excess, max(0, widths[index] - max(8, len(columns[index].title))))
            widths[index] -= cut
            excess -= cut
    for row in ([column.title for column in columns], *rows):
        cells = [
            f"{shorten(cell, width):{'>' if column.right else '<'}{width}}"
            for column, cell, width in zip(columns, row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def shorten(text: str, width: int) -> str:
    """Return a text cut in its middle so that it is no longer than a width."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[:width]
    keep = width - 2
    return f"{text[: (keep + 1) // 2]}..{text[len(text) - keep // 2 :]}"


def page(lines: Iterable[str], *, pager: bool) -> None:
    """Print lines, through a pager when standard output is a terminal and they would not fit."""
    if not (pager and sys.stdout.isatty()):
        for line in lines:
            click.echo(line)
        return
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(f"{line}\n" for line in lines)


def silence_stdout() -> None:
    """Point standard output at nothing after its reader went away, so that no later flush fails again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def emit_document(operation: str, **fields: object) -> None:
    """Print the one JSON document of a command. It is ASCII, whatever the names in it."""
    import json

    document = {"schema_version": SCHEMA_VERSION, "operation": operation, **fields}
    click.echo(json.dumps(document, indent=2, ensure_ascii=True))

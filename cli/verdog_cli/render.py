"""Values as text: names, sizes, durations, counts."""

import os
import sys
from typing import TextIO

from verdog_objects.paths import escape_path


def escape(text: str | bytes) -> str:
    r"""Return a name on one line: control characters, backslashes and bytes not in UTF-8 as `\n`, `\xfe`."""
    if isinstance(text, str):
        try:
            text = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            text = text.encode("utf-8", "surrogatepass")
    return escape_path(text)


def harmless(text: str) -> str:
    """Return a sentence on one line: what does something to a terminal is escaped, and the names in it stay.

    Names in reasons and findings were escaped when the sentence was made.
    """
    return escape(text).replace("\\\\", "\\")


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


_WIDTH_DIGITS = 9
"""No terminal is that wide, and a number of thousands of digits is none that Python reads."""


def terminal_width(stream: TextIO | None = None) -> int:
    """Return how wide a line may be: what `COLUMNS` says, else the terminal's width, else 80.

    Args:
        stream: where the line goes; standard output when None.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and len(columns) <= _WIDTH_DIGITS and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size((stream or sys.stdout).fileno()).columns or 80
    except (OSError, ValueError, AttributeError):  # no terminal, a closed stream, or none at all
        return 80


def silence_stdout() -> None:
    """Point standard output at nothing after its reader went away, so that no later flush fails again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)

"""File names: a path of this system as the text that the store keeps, and back.

Stored paths are UTF-8, whatever the locale is. A byte that is none is a lone surrogate in both forms. In a
UTF-8 locale both are the same text; in the C locale, every byte outside ASCII is a surrogate to Python.
"""

import os
from pathlib import Path


def format_filename(path: str | Path) -> str:
    """Return a path of this system as text that means the same file in every locale."""
    text = str(path)
    if text.isascii():
        return text
    try:
        return os.fsencode(text).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a path of no file here
        return text


def parse_filename(text: str) -> str:
    """Return stored text as the path of the same file on this system."""
    if text.isascii():
        return text
    try:
        return os.fsdecode(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # a path of no file anywhere
        return text


def locate_directory(project: Path, output_dir: str) -> Path:
    """Return where an output directory is, as a run's header names it: below the project or absolute."""
    return Path(os.path.normpath(os.path.join(project, parse_filename(output_dir))))  # noqa: PTH118

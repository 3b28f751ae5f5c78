"""Notes on an author's exception, and its text. Its class may have been made to raise at either."""

import traceback
from contextlib import suppress


def add_note(error: BaseException, note: str) -> None:
    """Add a note, if the exception takes any: a class may have a `__notes__` of its own that is no list."""
    with suppress(Exception):
        error.add_note(note)


def format_message(error: BaseException) -> str:
    """Return `str(error)`, or what that raised."""
    try:
        return str(error)
    except BaseException as worse:
        return f"<{type(error).__qualname__} whose str raised {type(worse).__name__}>"


def format_traceback(error: BaseException) -> str:
    """Return the traceback with notes and causes, or the frames alone if those cannot be told."""
    try:
        return "".join(traceback.format_exception(error))
    except Exception as worse:
        lines = traceback.format_tb(error.__traceback__)
        lines.append(f"{type(error).__qualname__}: {format_message(error)}\n")
        lines.append(f"(notes and causes are left out: telling them raised {type(worse).__name__})\n")
        return "".join(lines)

"""Notes: what is added to an author's exception to say where it was raised."""

from contextlib import suppress


def add_note(error: BaseException, note: str) -> None:
    """Add a note, if the exception takes any: a class may have a `__notes__` of its own that is no list."""
    with suppress(Exception):
        error.add_note(note)

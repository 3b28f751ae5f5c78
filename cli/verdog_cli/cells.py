"""Text in the cells of a terminal: how many it takes; cut, padded or wrapped to a number of them."""

from itertools import dropwhile
from unicodedata import category, east_asian_width

_JAMO = range(0x1160, 0x1200)
"""The vowels and final consonants of Hangul: they are drawn into the syllable that they follow."""

_FILLER = "\x01"
"""Takes the second cell of a wide character while text is wrapped."""


def measure(text: str) -> int:
    """Return how many cells a text takes: two for each wide character, none for marks that combine.

    The text is printable; what is not has no width that could be known.
    """
    return len(text) if text.isascii() else sum(map(_measure_character, text))


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return a text with so many spaces, behind it or before it, that it takes a number of cells."""
    spaces = " " * (width - measure(text))
    return spaces + text if right else text + spaces


def shorten(text: str, width: int) -> str:
    """Return a text cut in its middle so that it takes no more than a number of cells."""
    if measure(text) <= width:
        return text
    if width <= 3:
        return take(text, width)
    keep = width - 2
    return f"{take(text, (keep + 1) // 2)}..{_take_end(text, keep // 2)}"


def take(text: str, width: int) -> str:
    """Return as much of the beginning of a text as fits in a number of cells."""
    if text.isascii():
        return text[:width]
    taken = 0
    for index, character in enumerate(text):
        taken += _measure_character(character)
        if taken > width:
            return text[:index]
    return text


def wrap(text: str, width: int, first: str = "", others: str = "", *, cut: bool = False) -> list[str]:
    """Return text as lines that take a number of cells, broken between words.

    Args:
        text: what is wrapped.
        width: how many cells a line may take.
        first: what the first line begins with.
        others: what the others begin with.
        cut: words that are longer than a line are cut; otherwise they reach over its end.
    """
    import textwrap

    if not text.isascii():
        text = "".join(each + _FILLER * (_measure_character(each) - 1) for each in text)
    lines = textwrap.wrap(
        text,
        max(width, 1),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=cut,
        break_on_hyphens=False,
    )
    return [line.replace(_FILLER, "") for line in lines]


def _take_end(text: str, width: int) -> str:
    if text.isascii():
        return text[len(text) - width :]
    kept = take(text[::-1], width)[::-1]
    return "".join(dropwhile(lambda character: not _measure_character(character), kept))


def _measure_character(character: str) -> int:
    if category(character) in ("Mn", "Me") or ord(character) in _JAMO:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1

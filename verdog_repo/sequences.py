"""Sequences: which elements of two lists stand for each other."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

MATCHED: Final = 256
"""When more elements than this are between the equal ends of two lists, they are paired by position."""


def pair_elements(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the positions of elements that differ: of both lists, or of one with None for the other.

    Lists of one length are paired by position. Swapped lists give swapped pairs.

    Args:
        before: something for each element of one list that is equal exactly for equal elements.
        after: the same for the other list.

    Cost: O(elements), and a quadratic search among at most `MATCHED`.
    """
    start = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        start += 1
    ends = 0
    while ends < min(len(before), len(after)) - start and before[-1 - ends] == after[-1 - ends]:
        ends += 1
    old, new = before[start : len(before) - ends], after[start : len(after) - ends]
    for first, last, other_first, other_last in _find_blocks(old, new):
        common = min(last - first, other_last - other_first)
        for offset in range(common):
            if old[first + offset] != new[other_first + offset]:
                yield start + first + offset, start + other_first + offset
        yield from ((start + index, None) for index in range(first + common, last))
        yield from ((None, start + index) for index in range(other_first + common, other_last))


def _find_blocks(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges that differ, in both lists: the same ones whichever list comes first."""
    if len(old) > len(new):
        yield from ((*block[2:], *block[:2]) for block in _find_blocks(new, old))
        return
    if len(old) == len(new) or not old or len(new) > MATCHED:
        yield 0, len(old), 0, len(new)
        return
    from difflib import SequenceMatcher

    for what, *block in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield block[0], block[1], block[2], block[3]

"""Comparing: which parts of two neutral values differ, by the path of fields that leads to each."""

import struct
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timezone
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from verdog_repo.sequences import pair_elements
from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchor
from verdog_runtime.values.neutral import Fields, Items, Moment, Neutral, Pairs, Raised, StoredPath
from verdog_runtime.values.show import format_neutral

_SETS: Final = (tags.SET, tags.FROZENSET)
_KEY_CHARS: Final = 40
_DOUBLE: Final = struct.Struct(">d")


class Absent:
    """Stands for a part that one of two values does not have."""


ABSENT: Final = Absent()


class Difference(NamedTuple):
    """One part that two values differ in.

    Attributes:
        path: the fields, indexes and keys that lead to it, as `.items[3].name`; empty for the whole value.
        before: the part in the first value, or `ABSENT`.
        after: the part in the second value, or `ABSENT`.
    """

    path: str
    before: Neutral | Absent
    after: Neutral | Absent


def compare_values(before: Neutral, after: Neutral, path: str = "") -> Iterator[Difference]:
    """Yield the smallest parts that two values differ in.

    What compares equal in Python but is stored differently differs: 1, True and 1.0, or 0.0 and -0.0.
    Elements of lists are paired so that one more or one less moves no others; members of sets are not paired.

    Cost: in proportion to the values, times the depth of what differs.
    """
    if identify(before) == identify(after):
        return
    found = False
    for difference in _compare_parts(before, after, path):
        found = True
        yield difference
    if not found:  # the keys of a dict in another order
        yield Difference(path, before, after)


def identify(value: Neutral) -> Hashable:
    """Return something that is equal, and hashes alike, exactly for values that are stored alike."""
    if isinstance(value, Items):
        return Items, value.tag, value.maxlen, tuple(map(identify, value.items))
    if isinstance(value, Pairs):
        return Pairs, value.tag, tuple((identify(key), identify(item)) for key, item in value.pairs)
    if isinstance(value, Fields):
        return Fields, value.tag, value.reference, _identify_named(value.fields)
    if isinstance(value, Raised):
        parts = tuple(map(identify, (value.args, value.cause, value.context)))
        return Raised, value.reference, value.suppress_context, parts, _identify_named(value.attributes)
    if isinstance(value, Moment):
        return Moment, repr(value.naive), identify(value.zone)
    return type(value), _identify_leaf(value)


def rebase_paths(value: Neutral, moved: Mapping[str, str]) -> Neutral:
    """Return a value whose paths below the output lead into other directories.

    Args:
        value: any value.
        moved: directories relative to the output, each with the one that it becomes. The longest one that a
            path is below decides.
    """
    if isinstance(value, StoredPath):
        return _rebase(value, moved)
    if isinstance(value, Items):
        return replace(value, items=tuple(rebase_paths(item, moved) for item in value.items))
    if isinstance(value, Pairs):
        return replace(
            value,
            pairs=tuple((rebase_paths(key, moved), rebase_paths(item, moved)) for key, item in value.pairs),
        )
    if isinstance(value, Fields):
        return replace(value, fields=_rebase_named(value.fields, moved))
    if isinstance(value, Raised):
        return replace(
            value, args=rebase_paths(value.args, moved), attributes=_rebase_named(value.attributes, moved)
        )
    return value


_Named = tuple[tuple[str, Neutral], ...]


def _identify_named(named: _Named) -> Hashable:
    return tuple((name, identify(part)) for name, part in named)


def _identify_leaf(value: Neutral) -> Hashable:
    if isinstance(value, float):
        return _DOUBLE.pack(value)
    if isinstance(value, complex):
        return _DOUBLE.pack(value.real), _DOUBLE.pack(value.imag)
    if isinstance(value, range):
        return value.start, value.stop, value.step
    if isinstance(value, UUID):
        return value.bytes, value.is_safe
    if isinstance(value, datetime | time | timezone | Decimal):
        return repr(value)  # unlike `==`, it tells apart folds, names of zones and trailing zeros
    return value


def _rebase_named(named: _Named, moved: Mapping[str, str]) -> _Named:
    return tuple((name, rebase_paths(part, moved)) for name, part in named)


def _rebase(path: StoredPath, moved: Mapping[str, str]) -> StoredPath:
    end = len(path.rest) if path.anchor is Anchor.OUTPUT else 0
    while end > 0:
        target = moved.get(path.rest[:end])
        if target is not None:
            return replace(path, rest=target + path.rest[end:])
        end = path.rest.rfind("/", 0, end)
    return path


def _compare_parts(before: Neutral, after: Neutral, path: str) -> Iterator[Difference]:
    if isinstance(before, Items) and isinstance(after, Items) and _shape(before) == _shape(after):
        compare = _compare_sets if before.tag in _SETS else _compare_sequences
        yield from compare(before.items, after.items, path)
    elif isinstance(before, Pairs) and isinstance(after, Pairs) and before.tag == after.tag:
        yield from _compare_pairs(before, after, path)
    elif isinstance(before, Fields) and isinstance(after, Fields) and _shape(before) == _shape(after):
        yield from _compare_named(before.fields, after.fields, path)
    elif isinstance(before, Raised) and isinstance(after, Raised) and before.reference == after.reference:
        yield from compare_values(before.args, after.args, f"{path}.args")
        yield from _compare_named(before.attributes, after.attributes, path)
        yield from compare_values(before.cause, after.cause, f"{path}.__cause__")
        yield from compare_values(before.context, after.context, f"{path}.__context__")
    else:
        yield Difference(path, before, after)


def _shape(value: Items | Fields) -> Hashable:
    return (value.tag, value.maxlen) if isinstance(value, Items) else (value.tag, value.reference)


def _compare_sequences(
    before: Sequence[Neutral], after: Sequence[Neutral], path: str
) -> Iterator[Difference]:
    for first, second in pair_elements(
        [identify(each) for each in before], [identify(each) for each in after]
    ):
        if first is not None and second is not None:
            yield from compare_values(before[first], after[second], f"{path}[{first}]")
        elif first is not None:
            yield Difference(f"{path}[{first}]", before[first], ABSENT)
        elif second is not None:
            yield Difference(f"{path}[{second}]", ABSENT, after[second])


def _compare_sets(before: Sequence[Neutral], after: Sequence[Neutral], path: str) -> Iterator[Difference]:
    old, new = ({identify(each): each for each in side} for side in (before, after))
    yield from (Difference(f"{path}{{}}", each, ABSENT) for key, each in old.items() if key not in new)
    yield from (Difference(f"{path}{{}}", ABSENT, each) for key, each in new.items() if key not in old)


def _compare_pairs(before: Pairs, after: Pairs, path: str) -> Iterator[Difference]:
    old, new = ({identify(key): (key, item) for key, item in side.pairs} for side in (before, after))
    for name, (key, item) in old.items():
        place = f"{path}[{format_neutral(key, limit_chars=_KEY_CHARS)}]"
        if name in new:
            yield from compare_values(item, new[name][1], place)
        else:
            yield Difference(place, item, ABSENT)
    for name, (key, item) in new.items():
        if name not in old:
            yield Difference(f"{path}[{format_neutral(key, limit_chars=_KEY_CHARS)}]", ABSENT, item)


def _compare_named(before: _Named, after: _Named, path: str) -> Iterator[Difference]:
    old, new = dict(before), dict(after)
    for name, part in old.items():
        if name in new:
            yield from compare_values(part, new[name], f"{path}.{name}")
        else:
            yield Difference(f"{path}.{name}", part, ABSENT)
    yield from (Difference(f"{path}.{name}", ABSENT, part) for name, part in new.items() if name not in old)

"""JSON compared key by key."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from verdog_repo.parts import PartChange
from verdog_repo.sequences import pair_elements

_SHOWN: Final = 2000
"""So many characters of a value are given as text."""

_DEEPEST: Final = 40
"""What lies deeper is compared as one text: each level costs another formatting of all below it."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it is written: 1.0 is not 1.00, and none is too long."""

    text: str


_Value: TypeAlias = "bool | str | _Number | dict[str, _Value] | list[_Value] | None"


def compare_json(before: bytes, after: bytes) -> list[PartChange] | None:
    """Return what differs between two JSON documents, in the order of the first one.

    Returns:
        None when one of them is not JSON in UTF-8 with each key once, or when they differ in layout alone.
    """
    try:
        return list(_compare("", _parse(before), _parse(after), 0)) or None
    except (ValueError, RecursionError):
        return None


def _parse(content: bytes) -> _Value:
    value: _Value = json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_make_object,
        parse_int=_Number,
        parse_float=_Number,
        parse_constant=_Number,
    )
    return value


def _make_object(pairs: Sequence[tuple[str, _Value]]) -> dict[str, _Value]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _compare(path: str, before: _Value, after: _Value, depth: int) -> Iterator[PartChange]:
    if isinstance(before, dict) and isinstance(after, dict) and depth < _DEEPEST:
        yield from _compare_objects(path, before, after, depth + 1)
    elif isinstance(before, list) and isinstance(after, list) and depth < _DEEPEST:
        old, new = [_format(each) for each in before], [_format(each) for each in after]
        for first, second in pair_elements(old, new):
            if first is not None and second is not None:
                yield from _compare(f"{path}[{first}]", before[first], after[second], depth + 1)
            elif first is not None:
                yield PartChange(f"{path}[{first}]", old[first][:_SHOWN], None)
            elif second is not None:
                yield PartChange(f"{path}[{second}]", None, new[second][:_SHOWN])
    elif type(before) is not type(after) or before != after:
        yield PartChange(path, _format(before)[:_SHOWN], _format(after)[:_SHOWN])


def _compare_objects(
    path: str, before: dict[str, _Value], after: dict[str, _Value], depth: int
) -> Iterator[PartChange]:
    for key, value in before.items():
        if key in after:
            yield from _compare(path + _format_key(key), value, after[key], depth)
        else:
            yield PartChange(path + _format_key(key), _format(value)[:_SHOWN], None)
    for key, value in after.items():
        if key not in before:
            yield PartChange(path + _format_key(key), None, _format(value)[:_SHOWN])


def _format_key(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"


def _format(value: _Value) -> str:
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_format(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_format, value)) + "]"
    return json.dumps(value, ensure_ascii=False)

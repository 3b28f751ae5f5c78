"""Cycles: which containers contain themselves."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import cast


def find_cycles(value: object) -> frozenset[int]:
    """Return the identities of containers such that every way round in a circle meets one of them.

    Cost: one step per distinct object below the value, without recursion.
    """
    closed: set[int] = set()
    open_: set[int] = {id(value)}
    found: set[int] = set()
    keep: list[object] = [value]
    stack: list[tuple[int, Iterator[object]]] = [(id(value), iter(_parts(value)))]
    while stack:
        identity, rest = stack[-1]
        for part in rest:
            if id(part) in open_:
                found.add(id(part))
            elif id(part) not in closed:
                below = _parts(part)
                if below:
                    keep.append(part)
                    open_.add(id(part))
                    stack.append((id(part), iter(below)))
                    break
        else:
            stack.pop()
            open_.discard(identity)
            closed.add(identity)
    return frozenset(found)


def _parts(value: object) -> list[object]:
    """Return the values that a value holds, as far as the format looks into it."""
    if isinstance(value, type):
        return []
    if isinstance(value, BaseException):
        return [value.args, *value.__dict__.values()]
    if isinstance(value, dict | MappingProxyType):
        pairs = list(cast("Mapping[object, object]", value).items())
        return [part for pair in pairs for part in pair]
    if isinstance(value, tuple | list | set | frozenset | deque):
        return list(cast("Collection[object]", value))
    if is_dataclass(value):
        return [getattr(value, field.name, None) for field in fields(value)]
    return []

"""Parameters: values as the rows that `config.md` shows."""

import dataclasses
from collections.abc import Iterator, Sized

Row = tuple[str, str]
"""The dotted name of a field, and its value as text."""

_REDACTED = "[redacted]"
_CYCLE = "[cycle]"
_UNAVAILABLE = "[unavailable]"
_SHOWN_ITEMS = 10_000
"""Text or a collection that is longer is only counted: a report is read by people."""


def list_rows(name: str, value: object) -> Iterator[Row]:
    """Yield a value as rows: each field of a dataclass, however deep, under its dotted name.

    A field that its class leaves out of its `repr` is not shown. Nothing that a value does when it is looked
    at is an error.
    """
    yield from _list(name, value, ())


def _list(name: str, value: object, above: tuple[object, ...]) -> Iterator[Row]:
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        yield name, _describe(value)
        return
    if any(each is value for each in above):
        yield name, _CYCLE
        return
    for field in dataclasses.fields(value):
        inner = f"{name}.{field.name}"
        if not field.repr:
            yield inner, _REDACTED
            continue
        try:
            found: object = getattr(value, field.name)
        except Exception:
            yield inner, _UNAVAILABLE
            continue
        yield from _list(inner, found, (*above, value))


def _describe(value: object) -> str:
    try:
        if isinstance(value, Sized) and len(value) > _SHOWN_ITEMS:
            return f"[{type(value).__qualname__} of {len(value):,}]"
        return str(value)
    except Exception:
        return f"[unprintable {type(value).__qualname__}]"

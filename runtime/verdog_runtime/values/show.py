"""Showing: neutral values as text that reads like Python, and the places of blobs in them."""

from collections.abc import Iterator

from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchor
from verdog_runtime.values.neutral import (
    Blob,
    Class,
    Fields,
    Items,
    Member,
    Moment,
    Neutral,
    Pairs,
    Raised,
    StoredPath,
    Zone,
)

_BRACKETS = {
    tags.TUPLE: ("(", ")"),
    tags.LIST: ("[", "]"),
    tags.SET: ("{", "}"),
    tags.FROZENSET: ("frozenset({", "})"),
    tags.DEQUE: ("deque([", "])"),
    tags.DICT: ("{", "}"),
    tags.ORDERED_DICT: ("OrderedDict({", "})"),
    tags.COUNTER: ("Counter({", "})"),
    tags.PROXY: ("mappingproxy({", "})"),
}
_EMPTY = {tags.SET: "set()", tags.FROZENSET: "frozenset()"}
_ANCHORS = {Anchor.OUTPUT: "<output>", Anchor.PROJECT: "<project>"}


def format_neutral(value: Neutral, *, limit_chars: int | None = None) -> str:
    """Return a value as one line of text.

    Args:
        value: what `decode_neutral` returned.
        limit_chars: how long the text may get; the rest is left out, and an ellipsis says so.

    Cost: with a limit, in proportion to it, however large the value is.
    """
    pieces: list[str] = []
    size = 0
    for piece in _format(value):
        pieces.append(piece)
        size += len(piece)
        if limit_chars is not None and size > limit_chars:
            return "".join(pieces)[: max(limit_chars - 1, 0)] + "…"
    return "".join(pieces)


def find_blobs(value: Neutral, path: str = "value") -> Iterator[str]:
    """Yield where in a value blobs are, as `input.items[3].callback`."""
    if isinstance(value, Blob):
        yield path
    elif isinstance(value, Items):
        for index, item in enumerate(value.items):
            yield from find_blobs(item, f"{path}[{index}]")
    elif isinstance(value, Pairs):
        for key, item in value.pairs:
            place = f"{path}[{format_neutral(key, limit_chars=40)}]"
            yield from find_blobs(key, place)
            yield from find_blobs(item, place)
    elif isinstance(value, Fields):
        for name, part in value.fields:
            yield from find_blobs(part, f"{path}.{name}")
    elif isinstance(value, Moment):
        yield from find_blobs(value.zone, f"{path}.tzinfo")
    elif isinstance(value, Raised):
        yield from find_blobs(value.args, f"{path}.args")
        for name, part in value.attributes:
            yield from find_blobs(part, f"{path}.{name}")
        yield from find_blobs(value.cause, f"{path}.__cause__")


def _format(value: Neutral) -> Iterator[str]:
    if isinstance(value, Items):
        yield from _format_items(value)
    elif isinstance(value, Pairs):
        yield from _format_pairs(value)
    elif isinstance(value, Fields):
        yield f"{value.reference.qualname}("
        yield from _format_named(value.fields)
        yield ")"
    elif isinstance(value, Raised):
        yield value.reference.qualname
        yield from _format(value.args)
    elif isinstance(value, Moment):
        yield f"{value.naive.isoformat()} "
        yield from _format(value.zone)
    else:
        yield _format_leaf(value)


def _format_leaf(value: Neutral) -> str:
    if isinstance(value, Member):
        member = value.member
        name = value.reference.qualname
        return f"{name}.{member}" if isinstance(member, str) else f"{name}({member})"
    if isinstance(value, StoredPath):
        anchor = _ANCHORS.get(value.anchor)
        if anchor is None:
            return f"Path({value.rest!r})"
        return f"Path({f'{anchor}/{value.rest}' if value.rest else anchor!r})"
    if isinstance(value, Zone):
        return f"ZoneInfo({value.key!r})"
    if isinstance(value, Class):
        return f"<class {value.reference}>"
    if isinstance(value, Blob):
        return f"<cloudpickle of {value.name}, {len(value.data)} bytes>"
    if isinstance(value, int) and value.bit_length() > 2048:
        return hex(value)
    return repr(value)


def _format_items(value: Items) -> Iterator[str]:
    if not value.items and value.tag in _EMPTY:
        yield _EMPTY[value.tag]
        return
    opening, closing = _BRACKETS[value.tag]
    yield opening
    for index, item in enumerate(value.items):
        if index:
            yield ", "
        yield from _format(item)
    if value.tag == tags.TUPLE and len(value.items) == 1:
        yield ","
    yield closing if value.maxlen is None else f"], maxlen={value.maxlen})"


def _format_pairs(value: Pairs) -> Iterator[str]:
    opening, closing = _BRACKETS[value.tag]
    yield opening
    for index, (key, item) in enumerate(value.pairs):
        if index:
            yield ", "
        yield from _format(key)
        yield ": "
        yield from _format(item)
    yield closing


def _format_named(fields: tuple[tuple[str, Neutral], ...]) -> Iterator[str]:
    for index, (name, part) in enumerate(fields):
        yield f"{', ' if index else ''}{name}="
        yield from _format(part)

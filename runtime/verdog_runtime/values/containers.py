"""Containers: how ordered and unordered collections are written."""

from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from types import MappingProxyType

from verdog_objects.varint import append_varint
from verdog_runtime.values import tags
from verdog_runtime.values.classes import TYPING_NOTE
from verdog_runtime.values.errors import UnserializableValue
from verdog_runtime.values.writer import Encoder, Writer, put, put_blob

_SHOWN_KEY_CHARS = 40


def _put_items(writer: Writer, items: tuple[object, ...] | list[object], depth: int) -> None:
    encoders, other = writer.encoders, writer.other
    append_varint(writer.out, len(items))
    index = 0
    try:
        for item in items:
            encoders.get(type(item), other)(writer, item, depth)
            index += 1
    except UnserializableValue as error:
        raise error.below(f"[{index}]") from error.__cause__
    writer.check_size()


def _put_tuple(writer: Writer, value: tuple[object, ...], depth: int) -> None:
    if depth >= writer.guard and writer.stop(value, depth):
        return
    writer.out.append(tags.TUPLE)
    _put_items(writer, value, depth + 1)


def _put_list(writer: Writer, value: list[object], depth: int) -> None:
    if depth >= writer.guard and writer.stop(value, depth):
        return
    writer.out.append(tags.LIST)
    _put_items(writer, value.copy(), depth + 1)


def _put_deque(writer: Writer, value: deque[object], depth: int) -> None:
    if depth >= writer.guard and writer.stop(value, depth):
        return
    writer.out.append(tags.DEQUE)
    put(writer, value.maxlen, depth + 1)
    _put_items(writer, list(value), depth + 1)


def _put_set(writer: Writer, value: set[object] | frozenset[object], depth: int) -> None:
    if depth >= writer.guard and writer.stop(value, depth):
        return
    outer = writer.out
    pieces: list[bytes] = []
    try:
        for item in list(value):
            writer.out = bytearray()
            try:
                put(writer, item, depth + 1)
            except UnserializableValue as error:
                raise error.below(f"{{{_show(item)}}}") from error.__cause__
            pieces.append(bytes(writer.out))
    finally:
        writer.out = outer
    outer.append(tags.SET if type(value) is set else tags.FROZENSET)
    append_varint(outer, len(pieces))
    outer += b"".join(sorted(pieces))
    writer.check_size()


_MAPPINGS: dict[type, int] = {
    dict: tags.DICT,
    OrderedDict: tags.ORDERED_DICT,
    Counter: tags.COUNTER,
    MappingProxyType: tags.PROXY,
}


def _put_mapping(writer: Writer, value: Mapping[object, object], depth: int) -> None:
    if depth >= writer.guard and writer.stop(value, depth):
        return
    attributes: dict[str, object] | None = getattr(value, "__dict__", None)
    if attributes and attributes.keys() - {TYPING_NOTE}:
        put_blob(writer, value)
        return
    pairs = list(value.items())
    writer.out.append(_MAPPINGS[type(value)])
    append_varint(writer.out, len(pairs))
    depth += 1
    key: object = None
    try:
        for key, item in pairs:
            put(writer, key, depth)
            put(writer, item, depth)
    except UnserializableValue as error:
        raise error.below(f"[{_show(key)}]") from error.__cause__
    writer.check_size()


def _show(key: object) -> str:
    if isinstance(key, str | int | bytes | float | None):
        text = repr(key)
        if len(text) <= _SHOWN_KEY_CHARS:
            return text
    return f"<{type(key).__name__}>"


CONTAINERS: dict[type, Encoder] = {
    tuple: _put_tuple,
    list: _put_list,
    deque: _put_deque,
    set: _put_set,
    frozenset: _put_set,
    dict: _put_mapping,
    OrderedDict: _put_mapping,
    Counter: _put_mapping,
    MappingProxyType: _put_mapping,
}
"""How values of exactly these types are written."""

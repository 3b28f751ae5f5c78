"""Canonical JSON: one value has exactly one byte string, for the records that verdog defines."""

import json
import re
from json.encoder import encode_basestring  # the C version where there is one
from typing import NoReturn, TypeAlias, Union

from verdog_objects.errors import Corrupt, InvalidInput

Json: TypeAlias = Union[bool, int, str, list["Json"], dict[str, "Json"], None]  # noqa: UP007 (recursive)
"""What a record may hold. No floats: their text differs between writers."""

MAX_DEPTH = 128
"""The deepest nesting of lists and dicts that a record may have."""

_DIGITS = 512  # converted by Python at once: below every limit that int and str can be given
_LARGE = 10**_DIGITS
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


def encode_json(value: Json) -> bytes:
    """Return the value's only encoding: sorted keys (by code point), no spaces, UTF-8, no needless escapes.

    A lone surrogate (an undecodable byte of a file name) is escaped.

    Raises:
        InvalidInput: a float or another foreign type, a key that is no text, nesting beyond `MAX_DEPTH`, or
            text that spells one character as two surrogates, which JSON cannot tell from the character.
    """
    out: list[str] = []
    _encode(value, 0, out)
    return "".join(out).encode("utf-8", "backslashreplace")


def decode_json(data: bytes) -> Json:
    """Return the value that encodes to exactly these bytes.

    Raises:
        Corrupt: the bytes are no JSON, hold a float, nest too deeply, or are not what `encode_json` writes.
    """
    _check_depth(data)
    try:
        value: Json = _DECODER.decode(data.decode("utf-8"))
        again = _encode_parsed(value)
    except (
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:  # UnicodeDecodeError and InvalidInput are ValueErrors
        raise Corrupt(f"a record is no canonical JSON: {error}") from error
    if again != data:
        raise Corrupt("a record is no canonical JSON: written again, its bytes differ")
    return value


def _encode_parsed(value: Json) -> bytes:
    """Return what `encode_json` does for a value that the parser made, sooner.

    Such a value holds no foreign types, and no character as two surrogates: the parser joins them.
    """
    try:
        return _ENCODER.encode(value).encode("utf-8", "backslashreplace")
    except ValueError:  # an integer of more digits than Python converts at once
        return encode_json(value)


def _encode(value: object, depth: int, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(_quote(value))
    elif value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, int):
        out.append(_format_int(int(value)))
    elif depth >= MAX_DEPTH:
        raise InvalidInput(f"a record nests more than {MAX_DEPTH} lists and dicts")
    elif isinstance(value, dict):
        _encode_dict(value, depth, out)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        separator = "["
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            out.append(separator)
            _encode(item, depth + 1, out)  # pyright: ignore[reportUnknownArgumentType]
            separator = ","
        out.append("]" if value else "[]")
    else:
        raise InvalidInput(f"a record cannot hold a {type(value).__name__}")


def _encode_dict(value: dict[object, object], depth: int, out: list[str]) -> None:
    keys: list[str] = []
    for key in value:
        if not isinstance(key, str):
            raise InvalidInput(f"a record's keys are text, not {type(key).__name__}")
        keys.append(key)
    keys.sort()
    separator = "{"
    for key in keys:
        out.append(separator)
        out.append(_quote(key))
        out.append(":")
        _encode(value[key], depth + 1, out)
        separator = ","
    out.append("}" if keys else "{}")


def _quote(text: str) -> str:
    if not text.isascii() and _SPLIT_PAIR.search(text):
        raise InvalidInput("text spells one character as two surrogates")
    return encode_basestring(text)


def _check_depth(data: bytes) -> None:
    """Count brackets outside of strings, so that no parser recurses further than we allow."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for match in _TOKENS.finditer(data):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
            if depth > MAX_DEPTH:
                raise Corrupt(f"a record nests more than {MAX_DEPTH} lists and dicts")
        elif token in (b"]", b"}"):
            depth -= 1


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is no integer")


def _format_int(value: int) -> str:
    """Return the decimal digits of an integer of any size, whatever limit `sys` was given.

    Cost: that of dividing, at half the digits each time.
    """
    if -_LARGE < value < _LARGE:
        return int.__repr__(value)
    if value < 0:
        return "-" + _format_int(-value)
    half = value.bit_length() * 77 // 512  # about half of its digits: log10(2) / 2
    high, low = divmod(value, 10**half)
    return _format_int(high) + _format_int(low).rjust(half, "0")


def _parse_int(text: str) -> int:
    if len(text) <= _DIGITS:
        return int(text)
    if text[0] == "-":
        return -_parse_int(text[1:])
    half = len(text) // 2
    return _parse_int(text[:-half]) * 10**half + _parse_int(text[-half:])


_DECODER = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse, parse_int=_parse_int)

import enum
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.canonical import MAX_DEPTH, Json, decode_json, encode_json
from verdog_objects.errors import Corrupt, InvalidInput

_SURROGATES = st.text(st.characters(codec=None, categories=("L", "Nd", "Cs", "Cc", "So"))).filter(
    lambda text: (
        not any(
            "\ud800" <= first <= "\udbff" and "\udc00" <= second <= "\udfff"
            for first, second in pairwise(text)
        )
    )
)
_SCALARS = st.none() | st.booleans() | st.integers() | _SURROGATES
_VALUES: st.SearchStrategy[Json] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_SURROGATES, inner, max_size=5)
)


@given(_VALUES)
def test_a_value_decodes_from_its_encoding(value: Json) -> None:
    assert decode_json(encode_json(value)) == value


@given(st.dictionaries(_SURROGATES, st.integers(), max_size=6))
def test_the_order_of_insertion_does_not_matter(value: dict[str, int]) -> None:
    reversed_value: Json = dict(reversed(value.items()))
    assert encode_json({**value}) == encode_json(reversed_value)


@given(st.binary(max_size=40))
def test_any_bytes_are_the_encoding_of_a_value_or_corrupt(data: bytes) -> None:
    try:
        value = decode_json(data)
    except Corrupt:
        return
    assert encode_json(value) == data


@given(st.text(alphabet='{}[]",:0123456789.eE-+truefalsn \\ud8\n', max_size=30))
def test_any_text_like_json_is_canonical_or_corrupt(text: str) -> None:
    try:
        value = decode_json(text.encode())
    except Corrupt:
        return
    assert encode_json(value) == text.encode()


def test_the_encoding_is_as_documented() -> None:
    value: Json = {"b": [1, None, True], "a": "é\n\udcff", "": {}, "\U0001f600": [], "\uffff": -0}
    assert encode_json(value).decode() == (
        '{"":{},"a":"é\\n\\udcff","b":[1,null,true],"\uffff":0,"\U0001f600":[]}'
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" 1",
        b"1 ",
        b"1.0",
        b"1e3",
        b"-0",
        b"01",
        b"NaN",
        b"Infinity",
        b"nul",
        b'"\\u0041"',
        b'"\\ud83d\\ude00"',
        b'"\\/"',
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a": 1}',
        b"[1,]",
        b"\xff",
        b"\xef\xbb\xbf1",
        b'"\xed\xa0\x80"',
        b'"a',
        b"[" * 1_000_000,
        b'[{"a":' * 200_000,
        b"[" * 200 + b"]" * 200,
        b"1" * 5_000 + b".5",
    ],
)
def test_what_is_not_canonical_is_corrupt(data: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_json(data)


@pytest.mark.parametrize(
    "value", [1.0, (1,), {1: 2}, {None: 1}, b"a", {"a": {1, 2}}, float("nan"), object(), "\ud83d\ude00"]
)
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        encode_json(value)  # type: ignore[arg-type]


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Json] = []
    value.append(value)
    with pytest.raises(InvalidInput):
        encode_json(value)


def test_nesting_up_to_the_limit_works() -> None:
    value: Json = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert decode_json(encode_json(value)) == value
    with pytest.raises(InvalidInput):
        encode_json([value])


@pytest.mark.parametrize("data", [b"[" * 1_000_000, b'{"a":[' * 65, b"[" * 129 + b"]" * 129])
def test_nesting_is_counted_before_a_parser_recurses(data: bytes) -> None:
    with pytest.raises(Corrupt, match="nests"):
        decode_json(data)


def test_brackets_within_strings_are_no_nesting() -> None:
    value: Json = ['"[[{' * 500, "\\" * 3, "]" * 300]
    assert decode_json(encode_json(value)) == value


def test_enumerations_encode_as_their_plain_values() -> None:
    class Number(enum.IntEnum):
        TWO = 2

    class Word(enum.StrEnum):
        YES = "yes"

    assert encode_json({Word.YES: [Number.TWO, Word.YES]}) == b'{"yes":[2,"yes"]}'


def test_integers_of_any_size_pass_whatever_limit_python_has() -> None:
    value = 7**40_000
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        data = encode_json([value, -value])
        assert decode_json(data) == [value, -value]
        sys.set_int_max_str_digits(0)
        assert data == f"[{value},{-value}]".encode()
    finally:
        sys.set_int_max_str_digits(before)

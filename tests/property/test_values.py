"""Values against themselves: what is encoded comes back, and its bytes say nothing else."""

import datetime as dt
import pickle
import uuid
import zoneinfo
from collections import Counter, OrderedDict, deque
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.valuetypes import (
    Access,
    Coded,
    Colour,
    Level,
    Mood,
    Pair,
    Point,
    Slotted,
    same,
)
from verdog_runtime.values import Anchors, decode_neutral, decode_value, encode_value, format_neutral

ANCHORS = Anchors(output="/work/out", project="/work")

zones = st.one_of(
    st.none(),
    st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23)).map(dt.timezone),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]).map(zoneinfo.ZoneInfo),
)
texts = st.text(alphabet=st.characters(), max_size=8)
paths = st.sampled_from(["/work", "/work/out/a", "/work/out/../b", "rel", "/", ".", "/other/\udc80"])
hashable_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.floats(),
    st.complex_numbers(),
    texts,
    st.binary(max_size=8),
    st.decimals().filter(lambda value: not value.is_snan()),
    st.fractions(),
    st.uuids(),
    st.dates(),
    st.timedeltas(),
    st.builds(lambda at, fold: at.replace(fold=fold), st.datetimes(timezones=zones), st.integers(0, 1)),
    st.builds(lambda at, fold: at.replace(fold=fold), st.times(timezones=zones), st.integers(0, 1)),
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3)),
    st.sampled_from([*Colour, *Mood, *Level, Access.READ, Access.READ | Access.WRITE, Access(0), int, Pair]),
    st.builds(Path, paths),
    st.builds(PurePosixPath, paths),
    st.builds(PureWindowsPath, paths),
)
hashables: st.SearchStrategy[object] = st.deferred(lambda: _hashables)
_hashables = st.recursive(
    hashable_leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.frozensets(inner, max_size=4),
        st.builds(Slotted, texts, inner),
        st.builds(Pair, inner, inner),
    ),
    max_leaves=6,
)
values: st.SearchStrategy[object] = st.deferred(lambda: _values)
_values = st.recursive(
    hashables,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.sets(hashables, max_size=4),
        st.dictionaries(hashables, inner, max_size=4),
        st.dictionaries(texts, inner, max_size=3).map(OrderedDict),
        st.dictionaries(texts, inner, max_size=3).map(MappingProxyType),
        st.dictionaries(texts, st.integers(-3, 3), max_size=3).map(Counter),
        st.builds(deque, st.lists(inner, max_size=4), st.one_of(st.none(), st.integers(0, 5))),
        st.builds(Point, inner, inner),
        st.builds(ValueError, inner, inner),
        st.builds(lambda text, code: Coded(text, code=code), texts, inner),
    ),
    max_leaves=12,
)


@given(values)
def test_a_value_comes_back_with_its_types(value: object) -> None:
    encoded = encode_value(value, anchors=ANCHORS)
    assert encoded.unsafe == ()
    back = decode_value(encoded.payload, anchors=ANCHORS)
    assert same(back, value)
    assert encode_value(back, anchors=ANCHORS) == encoded


@given(values)
def test_looking_at_a_value_ends_in_text(value: object) -> None:
    payload = encode_value(value).payload
    assert format_neutral(decode_neutral(payload))
    assert len(format_neutral(decode_neutral(payload), limit_chars=5)) <= 5


@given(st.sets(hashables, max_size=6))
def test_the_order_of_a_set_does_not_matter(value: set[object]) -> None:
    again: set[object] = set()
    for element in sorted(value, key=lambda each: encode_value(each).payload, reverse=True):
        again.add(element)
    assert encode_value(again) == encode_value(value)


@given(hashables, hashables)
def test_two_values_have_the_same_bytes_exactly_if_they_are_the_same(one: object, other: object) -> None:
    assert (encode_value(one) == encode_value(other)) == (pickle_free_repr(one) == pickle_free_repr(other))


def pickle_free_repr(value: object) -> str:
    """Return text that tells values of all tested types apart."""
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(pickle_free_repr, value))})"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({[pickle_free_repr(each) for each in value]})"
    if isinstance(value, Slotted):
        return f"Slotted({value.name!r}, {pickle_free_repr(value.value)})"
    if isinstance(value, Path | PurePosixPath | PureWindowsPath):
        return f"{type(value)}{str(value)!r}"
    if isinstance(value, complex):
        return f"complex({pickle_free_repr(value.real)}, {pickle_free_repr(value.imag)})"
    if isinstance(value, float) and value != value:
        return f"nan{pickle.dumps(value)!r}"
    if isinstance(value, uuid.UUID | Fraction | dt.datetime | dt.time):
        return f"{value!r}{getattr(value, 'fold', '')}"
    return f"{type(value)}{value!r}"

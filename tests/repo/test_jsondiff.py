"""JSON documents compared key by key."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_repo.jsondiff import compare_json
from verdog_repo.parts import PartChange


def compare(before: str, after: str) -> list[PartChange] | None:
    return compare_json(before.encode(), after.encode())


def test_changed_added_and_removed_keys() -> None:
    assert compare('{"a": {"b": 1}, "gone": [1]}', '{"a": {"b": 2}, "odd key": null}') == [
        PartChange(".a.b", "1", "2"),
        PartChange(".gone", "[1]", None),
        PartChange('["odd key"]', None, "null"),
    ]


def test_elements_of_lists_are_aligned() -> None:
    assert compare("[1, 2, 3]", "[1, 3]") == [PartChange("[1]", "2", None)]
    assert compare('[{"a": 1}, 2]', '[{"a": 5}, 2]') == [PartChange("[0].a", "1", "5")]


def test_types_that_python_holds_equal_differ() -> None:
    assert compare("[1]", "[true]") == [PartChange("[0]", "1", "true")]
    assert compare('["1"]', "[1]") == [PartChange("[0]", '"1"', "1")]
    assert compare("[1.0]", "[1.00]") == [PartChange("[0]", "1.0", "1.00")]


def test_numbers_of_any_length_are_compared_as_written() -> None:
    long = "1" * 10_000
    found = compare(f"[{long}]", f"[{long}2]")
    assert found is not None
    assert found[0].before == long[:2000]


def test_documents_of_other_kinds_differ_as_a_whole() -> None:
    assert compare("[1]", "{}") == [PartChange("", "[1]", "{}")]


@pytest.mark.parametrize(
    "before", ["{", "", "\ufeff{}", '{"a": 1, "a": 2}', "[" * 100_000 + "]" * 100_000, "[1] x"]
)
def test_what_is_no_clean_json_is_not_compared(before: str) -> None:
    assert compare(before, "{}") is None
    assert compare("{}", before) is None


def test_bytes_that_are_not_utf_8_are_not_compared() -> None:
    assert compare_json(b'"\xfe"', b"{}") is None


def test_another_layout_alone_is_left_to_the_text() -> None:
    assert compare('{"a": 1, "b": 2}', '{"b":2,\n"a":1}') is None


def test_what_is_nested_very_deep_is_compared_as_one() -> None:
    found = compare("[" * 300 + "1" + "]" * 300, "[" * 300 + "2" + "]" * 300)
    assert found is not None
    assert found[0].path == "[0]" * 40


_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=4),
    max_leaves=8,
)


@given(_DOCUMENTS, _DOCUMENTS)
def test_documents_differ_exactly_when_their_texts_do(before: object, after: object) -> None:
    texts = [json.dumps(each, sort_keys=True) for each in (before, after)]
    found = compare(*texts)
    assert (found is None) is (texts[0] == texts[1])
    mirrored = compare(texts[1], texts[0])
    assert len(found or ()) == len(mirrored or ())

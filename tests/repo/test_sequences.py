"""Which elements of two lists stand for each other."""

from hypothesis import given
from hypothesis import strategies as st

from verdog_repo.sequences import MATCHED, pair_elements


def pairs(before: str, after: str) -> list[tuple[int | None, int | None]]:
    return list(pair_elements(before, after))


def test_equal_lists_have_nothing_to_pair() -> None:
    assert pairs("abc", "abc") == []
    assert pairs("", "") == []


def test_an_element_put_in_moves_no_other() -> None:
    assert pairs("abc", "abxc") == [(None, 2)]
    assert pairs("abc", "xabc") == [(None, 0)]


def test_elements_taken_out_are_named_by_their_old_position() -> None:
    assert pairs("abcd", "bd") == [(0, None), (2, None)]


def test_changed_elements_are_paired() -> None:
    assert pairs("abc", "axc") == [(1, 1)]
    assert pairs("abc", "xyz") == [(0, 0), (1, 1), (2, 2)]


def test_long_lists_are_paired_by_position() -> None:
    before = [f"a{number}" for number in range(MATCHED + 1)]
    after = [f"b{number}" for number in range(MATCHED + 3)]
    found = list(pair_elements(before, after))
    assert found[:2] == [(0, 0), (1, 1)]
    assert found[-1] == (None, MATCHED + 2)


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_applying_the_pairs_makes_one_list_of_the_other(before: str, after: str) -> None:
    found = pairs(before, after)
    gone = {old for old, _ in found if old is not None}
    new = {position for _, position in found if position is not None}
    kept = [each for index, each in enumerate(before) if index not in gone]
    assert kept == [each for index, each in enumerate(after) if index not in new]
    assert all(
        before[old] != after[position] for old, position in found if old is not None and position is not None
    )


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_swapped_lists_give_swapped_pairs(before: str, after: str) -> None:
    assert sorted(pairs(before, after), key=repr) == sorted(
        ((old, new) for new, old in pairs(after, before)), key=repr
    )


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_only_equal_lists_have_no_pairs(before: str, after: str) -> None:
    assert (not pairs(before, after)) is (before == after)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_cli.cells import measure, pad, shorten, take, wrap

PRINTABLE = st.text(alphabet=st.sampled_from("ab c-.é数据한글ö\u0301\u0e31"), max_size=40)
"""Narrow, wide and combining characters."""


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("数据", 4),
        ("caf\u00e9", 4),
        ("cafe\u0301", 4),
        ("\u1112\u1161\u11ab", 2),
        ("\uff41", 2),
    ],
)
def test_a_text_takes_as_many_cells_as_a_terminal_gives_it(text: str, cells: int) -> None:
    assert measure(text) == cells


@given(PRINTABLE, st.integers(0, 50), st.booleans())
def test_a_padded_text_takes_the_width_or_more_if_it_is_longer(text: str, width: int, right: bool) -> None:
    padded = pad(text, width, right=right)
    assert measure(padded) == max(width, measure(text))
    assert padded.strip(" ") == text.strip(" ")


def test_a_long_text_loses_its_middle() -> None:
    assert shorten("a" * 10 + "b" * 10, 10) == "aaaa..bbbb"
    assert shorten("数据数据数据", 9) == "数据..据"


@given(PRINTABLE, st.integers(1, 50))
def test_a_shortened_text_fits_and_is_whole_if_it_did(text: str, width: int) -> None:
    assert measure(shorten(text, width)) <= width
    if measure(text) <= width:
        assert shorten(text, width) == text


@given(PRINTABLE, st.integers(0, 50))
def test_the_beginning_of_a_text_leaves_no_mark_behind(text: str, width: int) -> None:
    taken = take(text, width)
    assert text.startswith(taken)
    assert measure(taken) <= width
    rest = text[len(taken) :]
    assert not rest or measure(taken) + measure(rest[0]) > width


@given(PRINTABLE, st.integers(4, 50))
def test_wrapped_text_has_every_word_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width, "> ", "  ")
    assert " ".join(line[2:] for line in lines).split() == text.split()
    assert all(measure(line) <= width or len(line[2:].split()) == 1 for line in lines)


def test_a_word_that_is_too_long_is_cut_only_when_it_may_be() -> None:
    assert wrap("aaaaaa bb", 4) == ["aaaaaa", "bb"]
    assert wrap("aaaaaa bb", 4, cut=True) == ["aaaa", "aa", "bb"]

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_cli.documents import emit_document
from verdog_cli.failures import Failure, format_failure
from verdog_cli.render import escape, exact, format_duration, format_size, plural


def test_a_name_with_control_characters_is_one_line() -> None:
    assert escape(b"l1\nl2") == "l1\\nl2"
    assert escape(b"t\tb") == "t\\tb"
    assert len(escape("a\u2028b\x9b\ud800").splitlines()) == 1


def test_a_name_that_is_not_utf8_shows_its_bytes() -> None:
    assert escape(b"\xfe") == "\\xfe"
    assert escape("caf\u00e9".encode()) == "caf\u00e9"


@given(st.binary(max_size=40))
def test_escaping_loses_nothing_and_prints_on_one_line(name: bytes) -> None:
    text = escape(name)
    assert len(text.splitlines()) <= 1
    assert text.isprintable()
    assert exact(name).encode("utf-8", "surrogateescape") == name


@given(st.lists(st.binary(max_size=6), unique=True, max_size=20))
def test_two_names_never_look_the_same(names: list[bytes]) -> None:
    assert len({escape(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (102400, "100 KiB"), (5 * 1024**3, "5.0 GiB")],
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert format_size(size) == text


@given(st.integers(min_value=0, max_value=2**63))
def test_a_size_takes_at_most_eleven_characters(size: int) -> None:
    assert len(format_size(size)) <= 11


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.2, "0.2 ms"),
        (3, "3 ms"),
        (1240, "1.24 s"),
        (12_400, "12.4 s"),
        (125_000, "2 m 05"),
        (12_000_000, "3 h 20"),
    ],
)
def test_durations_are_short(milliseconds: float, text: str) -> None:
    assert format_duration(round(milliseconds * 1e6)) == text


def test_counts_have_their_noun() -> None:
    assert plural(1, "file") == "1 file"
    assert plural(2000, "entry", "entries") == "2,000 entries"


def test_a_document_is_ascii_and_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    emit_document("ls", files=[exact(b"\xfe"), "caf\u00e9"])
    text = capsys.readouterr().out
    assert text.isascii()
    document = json.loads(text)
    assert document == {"schema_version": 1, "operation": "ls", "files": ["\udcfe", "caf\u00e9"]}


def test_an_error_is_a_sentence_and_a_hint() -> None:
    failure = Failure(exit_code=2, kind="usage", message="no run 'x'", hint="verdog runs")
    assert format_failure(failure) == "error: no run 'x'\nhint: verdog runs"


def test_an_error_that_was_told_already_prints_nothing() -> None:
    assert format_failure(Failure(exit_code=1, kind="run", message="")) == ""

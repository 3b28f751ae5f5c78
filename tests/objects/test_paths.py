import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.errors import InvalidInput
from verdog_objects.paths import escape_path, unescape_path


@given(st.binary())
def test_any_bytes_survive_the_way_to_text_and_back(path: bytes) -> None:
    assert unescape_path(escape_path(path)) == path


@given(st.binary())
def test_text_is_printable_and_one_line(path: bytes) -> None:
    text = escape_path(path)
    assert text.isprintable()
    text.encode()


@given(st.text())
def test_names_in_utf_8_survive(name: str) -> None:
    path = name.encode("utf-8", "surrogatepass")
    assert unescape_path(escape_path(path)) == path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (b"nodes/a b/--help", "nodes/a b/--help"),
        ("größe/数".encode(), "größe/数"),
        (b"l1\nl2", "l1\\nl2"),
        (b"t\tb\r", "t\\tb\\r"),
        (b"\xfe", "\\xfe"),
        (b"back\\slash", "back\\\\slash"),
        (b"back\\nslash", "back\\\\nslash"),
        (b"\x1b[31m\x7f", "\\x1b[31m\\x7f"),
        ("\u202eevil\u2028".encode(), "\\xe2\\x80\\xaeevil\\xe2\\x80\\xa8"),
        (b"a\xc3", "a\\xc3"),
    ],
)
def test_what_a_reader_could_misread_is_escaped(path: bytes, text: str) -> None:
    assert escape_path(path) == text


@pytest.mark.parametrize("text", ["\\", "a\\q", "\\x1", "\\xZZ", "\\xAB", "\\\\\\"])
def test_a_backslash_that_begins_no_escape_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        unescape_path(text)

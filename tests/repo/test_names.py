import pytest

from verdog_objects.errors import InvalidInput
from verdog_repo import names

BAD = [
    "",
    " ",
    "../x",
    "a/b",
    "x" * 129,
    "x" * 300,
    "-d",
    "@",
    "a..b",
    "a.lock",
    "x y",
    "a.",
    ".a",
    "_a",
    "HEAD",
]
BAD += ["a\n", "a\0b", "a\x1b[0m", "ä", "a:b", "a~1", "a^", "a@b", "٣", "\udcff"]


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("parse", [names.parse_run_id, names.parse_tag_name, names.parse_label_name])
def test_a_name_that_breaks_the_rule_is_refused(parse: object, text: str) -> None:
    with pytest.raises(ValueError, match="cannot be a") as caught:
        parse(text)  # type: ignore[operator]
    assert isinstance(caught.value, InvalidInput)


@pytest.mark.parametrize(
    "text", ["a", "0", "A-b_c.d", "x" * 128, "head", "a.lock.b", "0e9e3c5c-1b1a-4c4b-9a8a-000000000000"]
)
def test_a_name_that_follows_the_rule_is_kept(text: str) -> None:
    assert names.parse_run_id(text) == text


@pytest.mark.parametrize("value", [None, 1, b"run", ["run"]])
def test_what_is_no_text_is_no_run_id(value: object) -> None:
    with pytest.raises(InvalidInput):
        names.parse_run_id(value)


def test_a_commit_id_survives_its_text() -> None:
    commit = names.parse_commit_id("00ff" * 10)
    assert names.format_commit_id(commit) == "00ff" * 10


@pytest.mark.parametrize("text", ["", "00ff" * 9, "00FF" * 10, "zzzz" * 10, "00ff" * 11])
def test_other_text_is_no_commit_id(text: str) -> None:
    with pytest.raises(InvalidInput):
        names.parse_commit_id(text)


@pytest.mark.parametrize("text", ["", "0" * 15, "0" * 17, "A" * 16, "g" * 16])
def test_other_text_is_no_operation_id(text: str) -> None:
    with pytest.raises(InvalidInput):
        names.parse_operation_id(text)


@pytest.mark.parametrize(
    ("digits", "first", "beyond"),
    [
        ("00", "00", "01"),
        ("abc", "abc0", "abd0"),
        ("0fff", "0fff", "1000"),
        ("ffff", "ffff", None),
        ("f" * 40, "f" * 40, None),
        ("1" * 40, "1" * 40, "1" * 39 + "2"),
    ],
)
def test_a_prefix_bounds_the_ids_that_begin_with_it(digits: str, first: str, beyond: str | None) -> None:
    low, high = names.prefix_bounds(digits)
    assert low == bytes.fromhex(first.ljust(40, "0"))
    assert high == (None if beyond is None else bytes.fromhex(beyond.ljust(40, "0")))

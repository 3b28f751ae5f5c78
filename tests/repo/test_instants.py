import pytest

from verdog_objects.errors import InvalidInput
from verdog_repo.instants import format_instant, parse_instant


@pytest.mark.parametrize("microseconds", [0, 1, 999_999, 1_790_000_000_123_456, -1])
def test_an_instant_survives_its_text(microseconds: int) -> None:
    assert parse_instant(format_instant(microseconds)) == microseconds


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [("1970-01-01T00:00:01Z", 1_000_000), ("1970-01-01T00:00:00.25Z", 250_000)],
)
def test_fewer_decimals_are_read(text: str, microseconds: int) -> None:
    assert parse_instant(text) == microseconds


@pytest.mark.parametrize(
    "text",
    ["", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00+00:00", "1970-13-01T00:00:00Z",
     "1970-01-01T00:00:60Z", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00.1234567Z", "٢970-01-01T00:00:00Z"],
)  # fmt: skip
def test_other_text_is_no_instant(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_instant(text)

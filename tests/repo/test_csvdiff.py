"""Tables compared row by row."""

import pytest

from verdog_repo.csvdiff import compare_csv, find_delimiter
from verdog_repo.parts import PartChange


def compare(before: str, after: str, delimiter: str = ",") -> list[PartChange] | None:
    return compare_csv(before.encode(), after.encode(), delimiter)


def test_cells_and_rows() -> None:
    assert compare("name,x,y\na,1,2\nb,3,4\n", "name,x,y\na,1,5\nc,6,7\n") == [
        PartChange("a: y", "2", "5"),
        PartChange("b", "3, 4", None),
        PartChange("c", None, "6, 7"),
    ]


def test_quoted_cells_hold_anything() -> None:
    assert compare('n,x\n"a\nb","1,5"\n', 'n,x\n"a\nb","1;5"\n') == [PartChange("a\nb: x", "1,5", "1;5")]


def test_separators_of_lines_that_are_text_elsewhere_are_text() -> None:
    assert compare("n,x\na,1\u2028\x0b\n", "n,x\na,2\n") == [PartChange("a: x", "1\u2028\x0b", "2")]


def test_line_ends_of_other_systems_and_a_byte_order_mark() -> None:
    assert compare("\ufeffn,x\r\na,1\r\n", "n,x\na,2\n") == [PartChange("a: x", "1", "2")]


def test_tabs_separate_too() -> None:
    assert compare("n\tx\na\t1\n", "n\tx\na\t2\n", "\t") == [PartChange("a: x", "1", "2")]


@pytest.mark.parametrize(
    "table",
    ["", "n\na\n", "n,n\na,1\n", "n,y\na,1\n", "n,x\na,1\na,2\n", "n,x\na\n", 'n,x\n"a,1\n', "n,x\ra,1\r"],
)
def test_what_is_no_table_of_named_rows_is_not_compared(table: str) -> None:
    good = "n,x\na,2\n"
    assert compare(table, good) is None
    assert compare(good, table) is None


def test_another_order_of_rows_is_left_to_the_text() -> None:
    assert compare("n,x\na,1\nb,2\n", "n,x\nb,2\na,1\n") is None


def test_names_of_files_say_how_they_are_separated() -> None:
    found = [find_delimiter(path) for path in (b"a.csv", b"a/B.TSV", b"csv", b"a.txt")]
    assert found == [",", "\t", None, None]

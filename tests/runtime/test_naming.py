"""The legal names of files, modules and the graphs in them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from verdog_runtime.authoring.location import Location
from verdog_runtime.authoring.naming import (
    choose_package,
    format_file_package,
    format_module_package,
    format_part,
)
from verdog_runtime.declarations.ids import is_valid_entity_id


def test_a_legal_path_keeps_its_parts() -> None:
    assert format_file_package("flows/nightly/count.py") == "verdog_file.flows.nightly.count"


def test_an_illegal_part_is_spelled_and_told_apart_by_its_hash() -> None:
    assert format_file_package("Flows/count-down.py") == "verdog_file.flows_hfb44676a.count_down_h4151fbb5"


def test_a_keyword_and_a_reserved_part_are_no_legal_parts() -> None:
    assert re.fullmatch(
        r"verdog_file\.match_h[0-9a-f]{8}\.subroutines_h[0-9a-f]{8}",
        format_file_package("match/subroutines.py"),
    )


def test_a_module_keeps_its_name() -> None:
    assert format_module_package("shop.flows") == "verdog_module.shop.flows"


def test_a_file_loaded_by_verdog_is_its_own_package() -> None:
    assert choose_package(Location("/p/a.py", 1, "verdog_file.a")) == "verdog_file.a"


def test_code_without_a_file_has_a_package() -> None:
    assert choose_package(Location("<stdin>", 1, "__main__")) == "verdog_module.interactive"


@given(st.text(min_size=1))
def test_every_part_becomes_a_legal_id(part: str) -> None:
    assert is_valid_entity_id(format_part(part))


@given(st.text(alphabet="aA1-_ é", max_size=6), st.text(alphabet="aA1-_ é", max_size=6))
def test_two_parts_never_share_an_id(one: str, other: str) -> None:
    assert (format_part(one) == format_part(other)) == (one == other)

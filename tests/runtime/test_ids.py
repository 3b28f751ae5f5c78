import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_runtime.declarations.ids import is_valid_definition_id, is_valid_entity_id


@pytest.mark.parametrize("name", ["a", "main", "a1", "a_b", "a_1", "count_down_2", "types"])
def test_lower_case_names_are_entity_ids(name: str) -> None:
    assert is_valid_entity_id(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "_", "_a", "a_", "a__b", "A", "aB", "1a", "a-b", "a.b", "a b", "é", "a\n", "a²", "a٣", "ª"),
        *("if", "class", "match", "case", "type"),
    ],
)
def test_other_names_are_no_entity_ids(name: str) -> None:
    assert not is_valid_entity_id(name)


@pytest.mark.parametrize("name", ["main", "main__helper", "main__helper__inner", "a_b__c"])
def test_entity_ids_joined_by_two_underscores_are_definition_ids(name: str) -> None:
    assert is_valid_definition_id(name)


@pytest.mark.parametrize("name", ["", "main__", "__main", "a___b", "main__if", "a.main", "main____b"])
def test_other_names_are_no_definition_ids(name: str) -> None:
    assert not is_valid_definition_id(name)


@given(st.text(alphabet="ab1_A", max_size=8))
def test_an_entity_id_is_what_the_rules_say(name: str) -> None:
    rules = (
        name != ""
        and name[0] in "ab"
        and all(character in "ab1_" for character in name)
        and not name.endswith("_")
        and "__" not in name
        and not keyword.iskeyword(name)
        and not keyword.issoftkeyword(name)
    )
    assert is_valid_entity_id(name) == rules

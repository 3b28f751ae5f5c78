from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_runtime.interpreter.params import (
    build_registry,
    compose_project_path,
    find_params,
    format_address,
    normalize_address,
    normalize_project_path,
)

MAIN: Any = (".", "demo.flow.main")
OTHER: Any = ("external/acme/tools", "acme.tools.other")


@dataclass(frozen=True)
class Params:
    depth: int = 2


@dataclass(frozen=True)
class Strict:
    depth: int


class Angry:
    def __init__(self) -> None:
        raise LookupError("not today")


def test_every_declared_address_has_a_value() -> None:
    registry = build_registry({MAIN: Params, OTHER: type(None)}, {})
    assert registry == {MAIN: Params(), OTHER: None}
    assert list(registry) == [MAIN, OTHER]
    assert isinstance(registry, MappingProxyType)


def test_a_given_value_is_taken_as_it_is() -> None:
    value = object()
    assert build_registry({MAIN: Params}, {MAIN: value})[MAIN] is value
    assert build_registry({MAIN: Strict}, {MAIN: None})[MAIN] is None


def test_defaults_are_new_for_each_registry() -> None:
    assert build_registry({MAIN: object}, {})[MAIN] is not build_registry({MAIN: object}, {})[MAIN]


@pytest.mark.parametrize(
    ("kind", "error"),
    [(Strict, TypeError), (int | None, TypeError), (Literal[1], TypeError), (Angry, LookupError)],
)
def test_a_default_that_cannot_be_made_is_named_in_a_note(kind: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        build_registry({MAIN: Params, OTHER: kind}, {})
    assert any("acme.tools.other in external/acme/tools" in note for note in caught.value.__notes__)


def test_an_undeclared_address_is_refused() -> None:
    with pytest.raises(ValueError, match=r"acme\.tools\.other.*declares demo\.flow\.main"):
        build_registry({MAIN: Params}, {OTHER: Params()})
    with pytest.raises(ValueError, match="none"):
        build_registry({}, {OTHER: Params()})


def test_addresses_are_compared_in_one_form() -> None:
    given: Any = {("./external//acme/tools/", "acme.tools.other"): 1, ("", "demo.flow.main"): 2}
    assert build_registry({MAIN: Params, OTHER: Params}, given) == {MAIN: 2, OTHER: 1}
    declared: Any = {("./", "demo.flow.main"): Params}
    assert build_registry(declared, {}) == {MAIN: Params()}


def test_two_keys_of_one_address_are_refused() -> None:
    double: Any = {MAIN: 1, ("./.", "demo.flow.main"): 1}
    with pytest.raises(ValueError, match="two keys"):
        build_registry({MAIN: Params}, double)
    with pytest.raises(ValueError, match="two keys"):
        build_registry(dict.fromkeys(double, Params), {})


@pytest.mark.parametrize(
    "key", ["main", (".",), (".", "a", "b"), (1, "a"), (".", 1), (".", ""), [".", "a"], None]
)
def test_a_key_is_a_path_and_an_id(key: Any) -> None:
    with pytest.raises(TypeError, match="parameter address"):
        normalize_address(key)


@pytest.mark.parametrize("path", ["/", "/a", "..", "a/../b", "a/..", "../a", "//a"])
def test_a_path_stays_inside_the_project(path: str) -> None:
    with pytest.raises(ValueError, match="inside"):
        normalize_project_path(path)
    with pytest.raises(ValueError, match="inside"):
        build_registry({MAIN: Params}, {(path, "demo.flow.main"): 1})  # type: ignore[dict-item]


@given(st.text(alphabet="a./", max_size=10))
def test_a_normal_path_is_its_own_normal_form(path: str) -> None:
    try:
        normal = normalize_project_path(path)
    except ValueError:
        return
    assert normalize_project_path(normal) == normal
    assert normal == "." or not {"", ".", ".."} & set(normal.split("/"))


def test_paths_compose() -> None:
    assert compose_project_path(".", ".") == "."
    assert compose_project_path(".", "external/a/b") == "external/a/b"
    assert compose_project_path("external/a/b", ".") == "external/a/b"
    assert compose_project_path("external/a/b", "external/c/d") == "external/a/b/external/c/d"
    with pytest.raises(ValueError, match="inside"):
        compose_project_path("external/a", "/b")


def test_a_graph_without_params_cannot_be_activated() -> None:
    registry = build_registry({MAIN: Params}, {})
    assert find_params(registry, *MAIN) == Params()
    with pytest.raises(ValueError, match=r"acme\.tools\.other"):
        find_params(registry, *OTHER)


def test_addresses_are_formatted_for_people() -> None:
    assert format_address(MAIN) == "demo.flow.main"
    assert format_address(OTHER) == "acme.tools.other in external/acme/tools"

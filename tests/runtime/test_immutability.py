import enum
from collections import namedtuple
from dataclasses import dataclass, make_dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest

from tests.runtime.pieces import Count, first_state
from verdog_runtime.declarations import FeatureState
from verdog_runtime.interpreter.validation import require_immutable_state


class Color(enum.Enum):
    RED = 1


class Flags(enum.Flag):
    A = 1


@dataclass(frozen=True)
class Box:
    item: Any = None


@dataclass
class Open:
    item: int = 1


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 2**90, 1.5, float("nan"), 1j, "x", b"x", Color.RED, Flags.A),
        *(Path("x"), PurePosixPath("x"), PureWindowsPath("x"), first_state()),
        *((), (1, ("a", b"b")), frozenset((1, "a", ())), Point(1, "y")),
        *(Count(), Box(), Box((Box(1),)), frozenset((Box(1),))),
    ],
)
def test_values_that_cannot_change_are_accepted(value: object) -> None:
    assert require_immutable_state(value) is None


@pytest.mark.parametrize(
    "value",
    [
        *([], {}, set(), bytearray(), range(3), object(), Open(), Box, memoryview(b""), iter(())),
        *((1, [2]), Box([]), Box((Box({}),)), Point(1, []), FeatureState(), lambda: 1),
    ],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        require_immutable_state(value)


def test_the_refusal_has_the_way_to_the_value() -> None:
    with pytest.raises(TypeError, match=r"builtins\.list at \.item\[1\]\.item is not"):
        require_immutable_state(Box((1, Box([]))))


def test_a_cycle_ends() -> None:
    box = Box()
    object.__setattr__(box, "item", (box,))
    require_immutable_state(box)


def test_depth_is_not_limited() -> None:
    value: object = ()
    for _ in range(50_000):
        value = (value,)
    require_immutable_state(value)
    while value:
        (value,) = value  # type: ignore[misc]


def test_a_value_that_is_shared_many_times_is_looked_at_once() -> None:
    value: object = ()
    for _ in range(200):
        value = (value, value)
    require_immutable_state(value)


def test_a_frozen_dataclass_made_at_run_time_is_accepted() -> None:
    made = make_dataclass("Made", [("x", int, 1)], frozen=True)
    require_immutable_state(made())

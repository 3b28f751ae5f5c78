"""Values compared by the path of fields that leads to what differs."""

import datetime as dt
import math
import zoneinfo
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from uuid import UUID

import pytest
from hypothesis import given

from tests.property.test_values import values
from tests.runtime.valuetypes import Colour, Pair, Point
from verdog_runtime.values import Anchors, Neutral, decode_neutral, encode_value, format_neutral
from verdog_runtime.values.compare import (
    Absent,
    Difference,
    compare_values,
    identify,
    rebase_paths,
)

ANCHORS = Anchors(output="/work/out", project="/work")


@dataclass(frozen=True)
class Other:
    x: object
    y: object = None


def neutral(value: object) -> Neutral:
    return decode_neutral(encode_value(value, anchors=ANCHORS).payload)


def text(value: Neutral | Absent) -> str | None:
    return None if isinstance(value, Absent) else format_neutral(value)


def compare(before: object, after: object) -> list[tuple[str, str | None, str | None]]:
    found = compare_values(neutral(before), neutral(after))
    return [(each.path, text(each.before), text(each.after)) for each in found]


def test_equal_values_do_not_differ() -> None:
    assert compare(Point([1, {"a": {2}}]), Point([1, {"a": {2}}])) == []


def test_a_changed_field_is_named_by_its_path() -> None:
    before, after = Point([1, {"a": Point(1)}]), Point([1, {"a": Point(2)}])
    assert compare(before, after) == [(".x[1]['a'].x", "1", "2")]


def test_each_changed_field_is_one_difference() -> None:
    assert compare(Point(1, 2), Point(3, 4)) == [(".x", "1", "3"), (".y", "2", "4")]


def test_keys_come_and_go() -> None:
    assert compare({"a": 1, 2: 3}, {"a": 1, (4,): 5}) == [("[2]", "3", None), ("[(4,)]", None, "5")]


def test_elements_come_and_go_without_moving_the_others() -> None:
    assert compare((1, 2, 3), (2, 3)) == [("[0]", "1", None)]
    assert compare([Point(1), Point(2)], [Point(1), Point(9), Point(2)]) == [
        ("[1]", None, "Point(x=9, y=None)")
    ]


def test_members_of_sets_come_and_go() -> None:
    assert sorted(compare({1, 2}, {2, 3}), key=repr) == [("{}", "1", None), ("{}", None, "3")]
    assert compare(frozenset({"a"}), frozenset({"a", "b"})) == [("{}", None, "'b'")]


def test_the_order_of_keys_counts() -> None:
    assert compare({"a": 1, "b": 2}, {"b": 2, "a": 1}) == [("", "{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (0j, complex(0.0, -0.0)),
        (Decimal("1.0"), Decimal("1.00")),
        ([1], (1,)),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, Counter(a=1)),
        (deque([1], 2), deque([1], 3)),
        ("a", b"a"),
        (range(0), range(1, 1)),
        (dt.datetime(2026, 10, 25, 2, 30), dt.datetime(2026, 10, 25, 2, 30, fold=1)),
        (dt.UTC, dt.timezone(dt.timedelta(0), "GMT")),
        (Path("a"), PurePosixPath("a")),
        (Colour.RED, Colour.GREEN),
        (Point(1), Other(1)),
        (Pair(1, 2), (1, 2)),  # type: ignore[call-arg]
        (int, bool),
        (ValueError("a"), TypeError("a")),
        (UUID(int=1), UUID(int=2)),
    ],
)
def test_what_is_stored_differently_differs_as_a_whole(before: object, after: object) -> None:
    assert [path for path, _, _ in compare(before, after)] == [""]
    assert [path for path, _, _ in compare(Point(before), Point(after))] == [".x"]


def test_a_number_that_is_none_is_itself() -> None:
    assert compare(Point(math.nan, 1), Point(math.nan, 2)) == [(".y", "1", "2")]
    assert compare(Decimal("NaN"), Decimal("NaN")) == []


def test_exceptions_are_compared_by_their_parts() -> None:
    before, after = ValueError("a", 1), ValueError("a", 2)
    after.__cause__ = KeyError("b")
    assert compare(before, after) == [(".args[1]", "1", "2"), (".__cause__", "None", "KeyError('b',)")]


def test_moments_in_time_zones_differ_by_zone() -> None:
    zones = [zoneinfo.ZoneInfo(name) for name in ("Europe/Berlin", "Europe/Paris")]
    before, after = (dt.datetime(2026, 1, 1, tzinfo=zone) for zone in zones)
    assert len(compare(before, after)) == 1


def test_what_only_cloudpickle_can_read_is_compared_by_its_bytes() -> None:
    assert compare(lambda: 1, lambda: 2)[0][0] == ""


def test_a_value_nested_as_deep_as_can_be_is_compared() -> None:
    def nest(leaf: object) -> object:
        value = leaf
        for _ in range(195):
            value = [value]
        return value

    assert compare(nest(1), nest(2)) == [("[0]" * 195, "1", "2")]


def test_comparing_stops_where_nobody_asks_for_more() -> None:
    found = compare_values(neutral(tuple(range(1000))), neutral(tuple(range(1, 1002))))
    assert isinstance(next(found), Difference)


def test_paths_below_moved_directories_are_rebased() -> None:
    value = neutral(
        Point(
            {"/k": Path("/work/out/a/3/x")},
            (Path("/work/out/a/3"), Path("/work/out/a/30"), Path("/work/a/3")),
        )
    )
    wanted = neutral(
        Point(
            {"/k": Path("/work/out/a/2/x")},
            (Path("/work/out/a/2"), Path("/work/out/a/30"), Path("/work/a/3")),
        )
    )
    assert identify(rebase_paths(value, {"a/3": "a/2"})) == identify(wanted)


def test_the_longest_moved_directory_decides() -> None:
    moved = {"call/3": "call/2", "call/3/child/5": "call/2/child/4"}
    rebased = [
        rebase_paths(neutral(Path("/work/out") / each), moved) for each in ("call/3/child/5/x", "call/3/x")
    ]
    assert [format_neutral(each) for each in rebased] == [
        "Path('<output>/call/2/child/4/x')",
        "Path('<output>/call/2/x')",
    ]


@given(values, values)
def test_values_differ_exactly_when_their_bytes_do(before: object, after: object) -> None:
    payloads = [encode_value(each, anchors=ANCHORS).payload for each in (before, after)]
    found = list(compare_values(*map(decode_neutral, payloads)))
    assert bool(found) is (payloads[0] != payloads[1])
    mirrored = compare_values(*map(decode_neutral, reversed(payloads)))

    def show(differences: Iterable[Difference]) -> list[tuple[str | None, str | None]]:
        return sorted(((text(each.before), text(each.after)) for each in differences), key=repr)

    assert show(found) == show(each._replace(before=each.after, after=each.before) for each in mirrored)


@given(values)
def test_rebasing_by_nothing_changes_nothing(value: object) -> None:
    decoded = neutral(value)
    assert identify(rebase_paths(decoded, {})) == identify(decoded)

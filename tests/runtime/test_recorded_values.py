"""Values of a run: the same types and values after it is resumed, here and in another process."""

import math
import multiprocessing
import struct
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from tests.runtime.graphs import Count, Params, line_graph, workflow
from tests.runtime.recorded import REQUIRED, fork, resume, run, summaries
from verdog_runtime.declarations import Success


class Mood(Enum):
    CALM = 1
    TENSE = (2, "x")


class Word(StrEnum):
    YES = "yes"


class Pair(NamedTuple):
    left: int
    right: str


@dataclass(frozen=True)
class Everything:
    """One of each kind of value that a run must give back as it was."""

    mood: Any = Mood.TENSE
    word: Any = Word.YES
    path: Any = Path("/a/b")
    pure: Any = PurePosixPath("c/d")  # noqa: RUF009
    range: Any = range(1, 10, 3)
    fraction: Any = Fraction(1, 3)
    complex: Any = complex(-0.0, math.inf)
    deque: Any = field(default_factory=lambda: deque([1, 2], maxlen=3))
    counter: Any = field(default_factory=lambda: Counter("abca"))
    ordered: Any = field(default_factory=lambda: OrderedDict([("z", 1), ("a", 2)]))
    frozen: Any = frozenset({1, "a", (2,)})
    decimal: Any = Decimal("1.10")
    aware: Any = datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=1)), fold=1)
    zone: Any = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("UTC"), fold=1)
    bytes: Any = b"\x00\xff"
    nan: Any = math.nan
    negative: Any = -0.0
    big: Any = 2**80
    text: Any = "\udcff\x00\U0001f600"
    pair: Any = Pair(1, "r")  # noqa: RUF009
    nested: Any = ([{"k": (None, True, 1.5)}], {1: {2, 3}})
    own: Any = None


EVERYTHING = Everything(own=Everything())


def same(left: Any, right: Any) -> bool:
    """Whether two values are of the same types and equal to the bit, all through."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return struct.pack("d", left) == struct.pack("d", right)
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, Everything):
        return all(same(getattr(left, each.name), getattr(right, each.name)) for each in fields(left))
    if isinstance(left, deque):
        return left.maxlen == right.maxlen and same(list(left), list(right))
    if isinstance(left, OrderedDict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, datetime):
        return left == right and (left.fold, left.tzinfo) == (right.fold, right.tzinfo)
    if isinstance(left, frozenset):  # equal sets may show their members in different orders
        return left == right and sorted(map(repr, left)) == sorted(map(repr, right))
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and repr(left) == repr(right)


def flow(*, fails: bool) -> Any:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if fails:
            raise ValueError("boom")
        assert same(value, EVERYTHING)
        assert same(context.params.step, EVERYTHING)
        return Success(output=value, state=state)

    return workflow(line_graph(work))


def start(project: Path) -> None:
    params = {(".", "toy.loop.main"): Params(step=EVERYTHING)}  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="boom"):
        run(project, flow(fails=True), EVERYTHING, params=params, checkpointing=REQUIRED)
    assert all(each.restore_available for each in summaries(project / "out"))


def finish(project: str) -> None:
    assert same(resume(Path(project), flow(fails=False)).output, EVERYTHING)


def test_the_comparison_of_this_test_tells_values_apart() -> None:
    assert same(EVERYTHING, Everything(own=Everything()))
    for name, other in (("negative", 0.0), ("big", 2.0**80), ("deque", deque([1, 2])), ("word", "yes")):
        assert not same(Everything(**{name: other}), Everything())


def test_values_are_the_same_after_resuming_in_this_process(project: Path) -> None:
    start(project)
    finish(str(project))


def test_values_are_the_same_after_resuming_in_another_process(project: Path) -> None:
    start(project)
    other = multiprocessing.get_context("spawn").Process(target=finish, args=(str(project),))
    other.start()
    other.join(60)
    assert other.exitcode == 0


def test_values_are_the_same_in_a_fork(project: Path) -> None:
    start(project)
    assert same(fork(project, flow(fails=False), 1).output, EVERYTHING)


def test_no_value_of_these_needs_code_to_be_read(project: Path) -> None:
    from tests.runtime.recorded import opened, state_of
    from verdog_objects.oid import Kind
    from verdog_runtime.values import decode_neutral, find_blobs

    start(project)
    with opened(project) as repository:
        for entry in state_of(project, 1).values():
            assert list(find_blobs(decode_neutral(repository.store.get(Kind.VALUE, entry.oid)))) == []

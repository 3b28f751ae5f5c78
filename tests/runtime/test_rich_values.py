"""Case 23: values of every kind in a run that is stopped and resumed."""

import datetime as dt
import threading
import zoneinfo
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.runtime.graphs import ENTER, EXIT, FAILURE, Count, Params, edge, workflow
from tests.runtime.recorded import AUTO, REQUIRED, Stop, resume, run, summaries
from tests.runtime.valuetypes import same
from verdog_runtime.declarations import GraphDefinition, NodeDefinition, Python, Success


class Plain(Enum):
    ONE = 1


class Text(StrEnum):
    A = "a"


@dataclass(frozen=True)
class Rich:
    enum: Plain = Plain.ONE
    text: Text = Text.A
    path: Path = Path("/somewhere/else")
    pure: Any = field(default_factory=lambda: PurePosixPath("a/b"))
    range: range = range(1, 10, 3)
    fraction: Fraction = Fraction(1, 3)
    complex: complex = 1 + 2j
    deque: Any = field(default_factory=lambda: deque([1, 2, 3, 4], maxlen=3))
    counter: Any = field(default_factory=lambda: Counter("abca"))
    ordered: Any = field(default_factory=lambda: OrderedDict([("z", 1), ("a", 2)]))
    frozen: frozenset[str] = frozenset({"x", "y", "z"})
    decimal: Decimal = Decimal("1.10")
    at: dt.datetime = dt.datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    data: bytes = b"\0\xff"
    nan: float = float("nan")
    zero: float = -0.0
    large: int = 2**80
    anything: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RichParams(Params):
    rich: Rich = field(default_factory=Rich)


FIRST, SECOND = (
    NodeDefinition(id=name, name=name, operation=Python(), state_type=Count) for name in ("first", "second")
)


def two_nodes(second: Any) -> Any:
    def first(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=replace(value, path=context.output_dir / "x"), state=Count(n=1))

    definition = GraphDefinition(
        id="toy.rich.main",
        params_type=RichParams,
        enter=ENTER,
        exit=EXIT,
        failure=FAILURE,
        nodes=(FIRST, SECOND),
        edges=(edge("enter", "first", first), edge("first", "second", second), edge("second", "exit")),
        features=(),
    )
    flow = workflow(definition, input_type=Rich)
    return replace(flow, entry=replace(flow.entry, params_types={(".", definition.id): RichParams}))


def test_values_of_every_kind_come_back_after_a_resume(project: Path) -> None:
    seen: list[tuple[Any, Any]] = []

    def second(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append((value, context.params))
        if len(seen) == 1:
            raise Stop
        return Success(output=value, state=state)

    flow = two_nodes(second)
    params = {(".", "toy.rich.main"): RichParams(step=3)}
    with pytest.raises(Stop):
        run(project, flow, Rich(), params=params)
    result = resume(project, flow)
    (first_value, first_params), (value, again) = seen
    assert same(value, first_value)
    assert same(again, first_params)
    assert value.path == project.resolve() / "out/first/000001/x"
    assert same(result.output, first_value)
    assert all(each.restore_available for each in summaries(project / "out"))


def test_under_auto_what_cannot_be_kept_is_named_by_its_field(project: Path) -> None:
    def second(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=1, state=state)

    run(project, two_nodes(second), Rich(anything={"k": [threading.Lock()]}), checkpointing=AUTO)
    found = summaries(project / "out")
    assert [each.restore_available for each in found] == [False, False, False]
    reason = found[0].unavailable_reason
    assert reason is not None
    assert "input.anything['k'][0]: " in reason


def test_under_required_what_cannot_be_kept_fails_the_run(project: Path) -> None:
    def second(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=1, state=state)

    with pytest.raises(RuntimeError, match=r"anything.*\[checkpoint_required\]"):
        run(project, two_nodes(second), Rich(anything=threading.Lock()), checkpointing=REQUIRED)

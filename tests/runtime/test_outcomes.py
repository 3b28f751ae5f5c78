import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.runtime.pieces import CHECK, FEATURES, LEFT, READY, WORK, Count, edge, first_state, with_features
from verdog_runtime.declarations import FeatureState, FeatureSuccess, NodeDefinition, Python, Success
from verdog_runtime.declarations.state import same_universe, with_node_state
from verdog_runtime.interpreter.outcomes import (
    check_feature_result,
    check_visit_result,
    missing_call_visit,
    missing_visit,
    unsupported_operation,
)


@dataclass(frozen=True, slots=True)
class Loose:
    item: Any = None


class Counted(Count):
    __slots__ = ()


LOOSE: NodeDefinition[Any, Any] = NodeDefinition(
    id="loose", name="Loose", operation=Python(), state_type=Loose
)


async def coroutine() -> Success[int, Count]:
    return Success(output=1, state=Count())


def refusal(check: Callable[[], object], code: str, note: str) -> str:
    with pytest.raises(RuntimeError) as caught:
        check()
    assert str(caught.value).endswith(f"[{code}]")
    assert caught.value.__notes__ == [note]
    return str(caught.value)


def test_a_success_gives_output_and_candidate() -> None:
    before = first_state(left=1)
    output, candidate = check_visit_result(WORK, Success(output="x", state=Count(2)), before)
    assert output == "x"
    assert candidate == with_node_state(before, WORK, Count(2))
    assert same_universe(candidate, before)


@pytest.mark.parametrize("result", [None, 5, (1, Count()), FeatureSuccess(state=FeatureState()), Success])
def test_a_visit_must_return_a_success(result: object) -> None:
    refusal(lambda: check_visit_result(WORK, result, first_state()), "invalid_result", "node=work")


@pytest.mark.parametrize("result", [None, Success(output=1, state=Count()), FeatureState()])
def test_a_feature_visit_must_return_a_feature_success(result: object) -> None:
    refusal(
        lambda: check_feature_result(CHECK, result, first_state(), FEATURES), "invalid_result", "node=check"
    )


def test_a_coroutine_is_closed_and_reported() -> None:
    for check in (
        lambda made: check_visit_result(WORK, made, first_state()),
        lambda made: check_feature_result(CHECK, made, first_state(), FEATURES),
    ):
        made = coroutine()
        with pytest.raises(RuntimeError, match=r"coroutine.*\[invalid_result\]"):
            check(made)
        assert made.cr_frame is None
        del made
        gc.collect()


@pytest.mark.parametrize("state", [None, 3, Counted(1), {"taken": 1}, Count])
def test_a_state_must_be_exactly_of_the_node_s_type(state: object) -> None:
    refusal(
        lambda: check_visit_result(WORK, Success(output=1, state=state), first_state()),
        "invalid_state",
        "node=work",
    )


def test_a_state_must_be_immutable() -> None:
    with pytest.raises(TypeError, match="immutable") as caught:
        check_visit_result(LOOSE, Success(output=1, state=Loose([])), first_state())
    assert caught.value.__notes__ == ["node=loose"]


def test_a_feature_success_gives_the_candidate() -> None:
    before = first_state()
    view = FeatureState.over(before).replace(LEFT, 3).replace(READY, True)
    candidate = check_feature_result(CHECK, FeatureSuccess(state=view), before, FEATURES)
    assert candidate == with_features(before, left=3, ready=True)


def test_a_feature_visit_may_change_nothing() -> None:
    before = first_state(left=1)
    view = FeatureState.over(before)
    assert check_feature_result(CHECK, FeatureSuccess(state=view), before, FEATURES) == before


@pytest.mark.parametrize("state", [None, first_state(), 3])
def test_the_state_of_a_feature_success_must_be_a_view(state: Any) -> None:
    refusal(
        lambda: check_feature_result(CHECK, FeatureSuccess(state=state), first_state(), FEATURES),
        "invalid_feature_state",
        "node=check",
    )


@pytest.mark.parametrize("view", [FeatureState(), FeatureState.over(first_state())])
def test_a_view_of_another_activation_is_refused(view: FeatureState[Any]) -> None:
    with pytest.raises(ValueError, match="check") as caught:
        check_feature_result(CHECK, FeatureSuccess(state=view), first_state(), FEATURES)
    assert caught.value.__notes__ == ["node=check"]


def test_a_feature_visit_must_not_change_a_node() -> None:
    before = first_state()
    view = FeatureState.over(with_node_state(before, WORK, Count(1)))
    refusal(
        lambda: check_feature_result(CHECK, FeatureSuccess(state=view), before, FEATURES),
        "unauthorized_state_change",
        "node=check",
    )


def test_a_feature_must_not_lose_its_value() -> None:
    before = first_state(left=1)
    view = FeatureState.over(before).replace(LEFT, None)
    text = refusal(
        lambda: check_feature_result(CHECK, FeatureSuccess(state=view), before, FEATURES),
        "invalid_feature_value",
        "node=check",
    )
    assert "left" in text


@pytest.mark.parametrize(("before", "value"), [(None, -1), (3, -1), (None, True), (1, True), (1, 1.0)])
def test_a_new_value_must_be_in_the_domain_even_if_it_equals_the_old_one(before: Any, value: Any) -> None:
    state = first_state() if before is None else first_state(left=before)
    view = FeatureState.over(state).replace(LEFT, value)
    with pytest.raises(ValueError, match="left") as caught:
        check_feature_result(CHECK, FeatureSuccess(state=view), state, FEATURES)
    assert caught.value.__notes__ == ["node=check"]


def test_the_errors_of_impossible_visits_have_their_codes() -> None:
    for error, code, note in (
        (missing_visit(edge("enter", "work")), "missing_visit", "edge=enter__work"),
        (missing_call_visit(WORK), "durable_call_visit_required", "node=work"),
        (unsupported_operation(WORK), "unsupported_operation", "node=work"),
    ):
        assert str(error).endswith(f"[{code}]")
        assert error.__notes__ == [note]

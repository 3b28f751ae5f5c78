"""The shape of a small workflow: everything is inferred from the declarations."""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_type

from verdog_runtime.authoring import (
    Context,
    FeatureState,
    FeatureSuccess,
    IntegerFeature,
    PythonNode,
    Success,
    Workflow,
)


@dataclass(frozen=True)
class Count:
    value: int = 10


@dataclass(frozen=True)
class Steps:
    taken: int = 0


flow = Workflow("countdown", input=Count, output=Count)
left = flow.integer("left")
start = flow.feature_node("start", carries=Count)
work = flow.python_node("work", output=Count, state=Steps)
tick = flow.feature_node("tick", carries=Count)
report = flow.python_node("report", output=Count)

assert_type(left, IntegerFeature)
assert_type(work, PythonNode[Count, Steps])
assert_type(report, PythonNode[Count, None])


@start.on(flow.enter)
def begin(value: Count, state: FeatureState, context: Context) -> FeatureState:
    assert_type(context.params, None)
    assert_type(context.output_dir, Path)
    return state.replace(left, value.value)


@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def count(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
    return Success(output=value, state=Steps(taken=state.taken + 1))


@tick.on(work, when=[left.positive])
def down(value: Count, state: FeatureState, context: Context) -> FeatureSuccess[object]:
    assert_type(state.get(left), int)
    assert_type(state.get(work), Steps)
    return FeatureSuccess(state=state.replace(left, state.get(left) - 1))


@report.on(work, when=[left.zero])
def summarise(value: Count, state: None, context: Context) -> Success[Count, None]:
    return Success(output=value, state=None)


flow.exit.on(report)

"""Count down to zero, one visit per number.

    verdog run countdown.py
    verdog run countdown.py -- --input.value 3

The integer feature `left` steers the loop. Every visit of `work` writes a file of its own, and each is a
checkpoint: kill the run at any moment, and `verdog resume` goes on from the last one.
"""

from dataclasses import dataclass

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow


@dataclass(frozen=True)
class Count:
    """A number; each field is an argument, here `--input.value`."""

    value: int = 10


@dataclass(frozen=True)
class Steps:
    """The state of the node `work`. Every field has a default."""

    taken: int = 0


flow = Workflow("countdown", input=Count, output=Count)
left = flow.integer("left")
start = flow.feature_node("start", carries=Count)
work = flow.python_node("work", output=Count, state=Steps)
tick = flow.feature_node("tick", carries=Count)


@start.on(flow.enter)
def set_counter(value: Count, state: FeatureState, context: Context) -> FeatureState:
    """Enter the loop with the whole count ahead."""
    return state.replace(left, value.value)


@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def write_number(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
    """Write down how far we are: the number of steps so far, and how many there are in all."""
    taken = state.taken + 1
    (context.output_dir / "step.txt").write_text(f"step {taken} of {value.value + 1}\n", encoding="utf-8")
    return Success(output=value, state=Steps(taken=taken))


@tick.on(work, when=[left.positive])
def count_down(value: Count, state: FeatureState, context: Context) -> FeatureState:
    """Go round once more, with one less ahead."""
    return state.replace(left, state.get(left) - 1)


flow.exit.on(work, when=[left.zero])

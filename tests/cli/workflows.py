"""Small workflows in one file, as a person would write them."""

COUNTDOWN = """
from dataclasses import dataclass
from pathlib import Path
from verdog_runtime.authoring import Context, FeatureState, Success, Workflow

@dataclass(frozen=True)
class Count:
    value: int = 3

@dataclass(frozen=True)
class Steps:
    taken: int = 0

flow = Workflow("countdown", input=Count, output=Count)
left = flow.integer("left")
start = flow.feature_node("start", carries=Count)
work = flow.python_node("work", output=Count, state=Steps)
tick = flow.feature_node("tick", carries=Count)

@start.on(flow.enter)
def begin(value: Count, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, value.value)

@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def count(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
    BODY
    (context.output_dir / "n.txt").write_text(str(state.taken))
    return Success(output=value, state=Steps(taken=state.taken + 1))

@tick.on(work, when=[left.positive])
def down(value: Count, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, state.get(left) - 1)

flow.exit.on(work, when=[left.zero])
"""


def countdown(body: str = "pass") -> str:
    """Return a workflow of `2 * value + 3` checkpoints whose node `work` runs these lines first."""
    return COUNTDOWN.replace("BODY", body.replace("\n", "\n    "))


FAILS_ONCE = """if state.taken == 2 and not Path("mended").exists():
    raise RuntimeError("not mended yet")"""

HOLDS_A_LOCK = """
from dataclasses import dataclass
import threading
from verdog_runtime.authoring import Context, Success, Workflow

@dataclass(frozen=True)
class Held:
    lock: object = None

flow = Workflow("held", input=None, output=Held)
hold = flow.python_node("hold", output=Held)
last = flow.python_node("last", output=Held)

@hold.on(flow.enter)
def first(value: None, state: None, context: Context) -> Success[Held, None]:
    return Success(output=Held(threading.Lock()), state=None)

@last.on(hold)
def second(value: Held, state: None, context: Context) -> Success[Held, None]:
    return Success(output=Held(), state=None)

flow.exit.on(last)
"""

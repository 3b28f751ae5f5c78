"""Mistakes in hand-written visits that a type checker must find, each on the line that says so."""

from dataclasses import dataclass
from typing import Literal

from verdog_runtime.declarations import (
    CallContext,
    FeatureDefinition,
    FeatureKind,
    FeatureState,
    NodeDefinition,
    Python,
    Success,
    WorkflowState,
)
from verdog_runtime.declarations.ids import FeatureId, NodeId

Scope = Literal["demo.flow.main"]


@dataclass(frozen=True, slots=True)
class State:
    taken: int = 0


WORK = NodeDefinition[State, Scope](id=NodeId("work"), name="Work", operation=Python(), state_type=State)
LEFT = FeatureDefinition[int, Scope](
    id=FeatureId("left"), label="Left", description="", kind=FeatureKind.INTEGER
)
MOOD = FeatureDefinition[Literal["calm", "tense"], Scope](
    id=FeatureId("mood"), label="Mood", description="", kind=FeatureKind.ENUM, values=("calm", "tense")
)
FOREIGN = FeatureDefinition[int, Literal["demo.flow.other"]](
    id=FeatureId("left"), label="Left", description="", kind=FeatureKind.INTEGER
)


def look(state: WorkflowState[Scope]) -> None:
    text: str = state.get(LEFT)  # error
    number: int = state.get(LEFT)  # error
    state.get(FOREIGN)  # error
    print(text, number, state.get(WORK).missing)  # error


def change(state: FeatureState[Scope]) -> None:
    state.replace(LEFT, "x")  # error
    state.replace(LEFT, None)  # error
    state.replace(MOOD, "angry")  # error
    state.replace(WORK, State())  # error
    state.replace(FOREIGN, 1)  # error


def call(context: CallContext[None, State, int, str]) -> Success[int, State]:
    context.invoke("x")  # error
    context.invoke(1, params=None)  # error
    return Success(output=context.invoke(1), state=State())  # error

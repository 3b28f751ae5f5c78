"""Small graphs, and states of them, for tests of the interpreter's pure parts."""

from dataclasses import dataclass, replace
from typing import Any

from verdog_runtime.declarations import (
    EdgeDefinition,
    Feature,
    FeatureDefinition,
    FeatureKind,
    FeatureNodeDefinition,
    FeatureState,
    GraphDefinition,
    NodeDefinition,
    PortDefinition,
    Python,
    Success,
    VisitDefinition,
)
from verdog_runtime.declarations.graph import AnyFeature, AnyGraph, AnyNode
from verdog_runtime.declarations.state import AnyState, viewed_state
from verdog_runtime.interpreter import initial_workflow_state


@dataclass(frozen=True, slots=True)
class Count:
    taken: int = 0


def echo(value: object, state: object, context: object, /) -> Success[object, object]:
    return Success(output=value, state=state)


VISIT = VisitDefinition(implementation=echo)
ENTER, EXIT, FAILURE = PortDefinition(id="enter"), PortDefinition(id="exit"), PortDefinition(id="failure")
WORK: AnyNode = NodeDefinition(id="work", name="Work", operation=Python(), state_type=Count)
CHECK = FeatureNodeDefinition(id="check", name="Check", operation=Feature())
READY: AnyFeature = FeatureDefinition(id="ready", label="Ready", description="", kind=FeatureKind.BOOLEAN)
LEFT: AnyFeature = FeatureDefinition(id="left", label="Left", description="", kind=FeatureKind.INTEGER)
RATIO: AnyFeature = FeatureDefinition(id="ratio", label="Ratio", description="", kind=FeatureKind.FLOAT)
MOOD: AnyFeature = FeatureDefinition(
    id="mood", label="Mood", description="", kind=FeatureKind.ENUM, values=("calm", "tense")
)
FEATURES = {feature.id: feature for feature in (READY, LEFT, RATIO, MOOD)}


def edge(source: str, target: str, **fields: Any) -> EdgeDefinition:
    visit = None if target in ("exit", "failure", "enter") else VISIT
    return EdgeDefinition(
        **{"id": f"{source}__{target}", "source": source, "target": target, "visit": visit, **fields}
    )


GRAPH: AnyGraph = GraphDefinition(
    id="demo.flow.main",
    params_type=type(None),
    enter=ENTER,
    exit=EXIT,
    failure=FAILURE,
    nodes=(WORK, CHECK),
    edges=(edge("enter", "work"), edge("work", "check"), edge("check", "exit")),
    features=tuple(FEATURES.values()),
)


def graph(**changes: Any) -> AnyGraph:
    """The usual graph with some fields replaced."""
    return replace(GRAPH, **changes)


def with_edge(changed: EdgeDefinition) -> AnyGraph:
    """The usual graph with one more edge, or with the one of the same id replaced."""
    others = [each for each in GRAPH.edges if each.id != changed.id]
    return replace(GRAPH, edges=(*others, changed))


def with_features(state: AnyState, **values: object) -> AnyState:
    """A state with some features replaced, by id."""
    view = FeatureState.over(state)
    for name, value in values.items():
        view = view.replace(FEATURES[name], value)
    return viewed_state(view)


def first_state(**values: object) -> AnyState:
    return with_features(initial_workflow_state(GRAPH), **values)

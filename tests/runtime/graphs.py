"""Small graphs for tests of the interpreter."""

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verdog_runtime.declarations import (
    EdgeDefinition,
    Feature,
    FeatureDefinition,
    FeatureKind,
    FeatureNodeDefinition,
    FeatureSuccess,
    GraphDefinition,
    NodeDefinition,
    NumericalConditionObservation,
    NumericalEffectObservation,
    NumericalFeatureCondition,
    NumericalFeatureEffect,
    PortDefinition,
    Python,
    SubroutineCall,
    SubroutineDefinition,
    Success,
    VisitDefinition,
    WorkflowConfiguration,
    WorkflowDefinition,
)

ENTER, EXIT, FAILURE = (PortDefinition(id=name) for name in ("enter", "exit", "failure"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    step: int = 1


LEFT = FeatureDefinition(id="left", label="Left", description="", kind=FeatureKind.INTEGER)
WORK = NodeDefinition(id="work", name="Work", operation=Python(), state_type=Count)
INIT = FeatureNodeDefinition(id="init", name="Init", operation=Feature())
TICK = FeatureNodeDefinition(id="tick", name="Tick", operation=Feature())

Body = Callable[[Any, Any, Any], Any]


def graph(*edges: EdgeDefinition, nodes: tuple[Any, ...], features: tuple[Any, ...] = ()) -> GraphDefinition:
    return GraphDefinition(
        id="toy.loop.main",
        params_type=Params,
        enter=ENTER,
        exit=EXIT,
        failure=FAILURE,
        nodes=nodes,
        edges=edges,
        features=features,
    )


def edge(source: str, target: str, body: Body | None = None, **rest: Any) -> EdgeDefinition:
    visit = None if body is None else VisitDefinition(implementation=body)
    return EdgeDefinition(id=f"{source}__{target}", source=source, target=target, visit=visit, **rest)


def count_visits(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
    (context.output_dir / "out.txt").write_text(f"{value} {state.n}\n", encoding="utf-8")
    return Success(output=value, state=Count(n=state.n + 1))


def loop_graph(work: Body = count_visits) -> GraphDefinition:
    """`turns` times work and tick, then a last work."""

    def init(value: int, state: Any, context: Any, /) -> FeatureSuccess[Any]:
        return FeatureSuccess(state=state.replace(LEFT, value))

    def tick(value: int, state: Any, context: Any, /) -> FeatureSuccess[Any]:
        return FeatureSuccess(state=state.replace(LEFT, state.get(LEFT) - 1))

    def effect(observation: NumericalEffectObservation) -> Any:
        return (NumericalFeatureEffect(feature_id="left", observation=observation),)

    def condition(observation: NumericalConditionObservation) -> Any:
        return (NumericalFeatureCondition(feature_id="left", observation=observation),)

    return graph(
        edge("enter", "init", init),
        edge("init", "work", work, effects=effect(NumericalEffectObservation.UNCONSTRAINED)),
        edge("work", "tick", tick, conditions=condition(NumericalConditionObservation.GREATER_ZERO)),
        edge("work", "exit", conditions=condition(NumericalConditionObservation.EQUAL_ZERO)),
        edge("tick", "work", work, effects=effect(NumericalEffectObservation.DECREASES)),
        nodes=(INIT, WORK, TICK),
        features=(LEFT,),
    )


def line_graph(work: Body = count_visits, *, to: str = "exit") -> GraphDefinition:
    """One visit of `work`, then a port."""
    return graph(edge("enter", "work", work), edge("work", to), nodes=(WORK,))


def workflow(definition: GraphDefinition, **rest: Any) -> WorkflowDefinition:
    """Plant a graph as a module and return the workflow that enters it."""
    module = types.ModuleType("toy.loop.subroutines.main")
    module.definition = lambda: SubroutineDefinition(graph=definition)  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return WorkflowDefinition(
        id=definition.id,
        input_type=rest.get("input_type", int),
        entry=SubroutineCall(
            definition_id=definition.id,
            definition_module=module.__name__,
            params_types={(".", definition.id): Params},
            profile_arguments={},
            session_arguments={},
        ),
        configuration=WorkflowConfiguration(),
    )

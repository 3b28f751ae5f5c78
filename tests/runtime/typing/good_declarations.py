"""A graph written with the declarations, as generated projects write it."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from verdog_runtime.agents import AgentReply, AgentRequest
from verdog_runtime.agents.codex import CodexInvoker
from verdog_runtime.declarations import (
    Agent,
    AgentAccess,
    AgentInvoker,
    AgentNodeContext,
    AgentProfileDefinition,
    AgentProfileId,
    AgentSessionId,
    CallContext,
    CallVisitDefinition,
    EdgeDefinition,
    Feature,
    FeatureDefinition,
    FeatureKind,
    FeatureNodeDefinition,
    FeatureState,
    FeatureSuccess,
    ForkingAgentInvoker,
    GraphDefinition,
    NodeContext,
    NodeDefinition,
    ParameterType,
    PortDefinition,
    SubroutineCall,
    SubroutineDefinition,
    Success,
    VisitDefinition,
    WorkflowConfiguration,
    WorkflowDefinition,
)
from verdog_runtime.declarations.ids import EdgeId, FeatureId, GraphId, NodeId
from verdog_runtime.interpreter import (
    evaluate_conditions,
    initial_workflow_state,
    validate_feature_value,
    validate_graph,
)

Scope = Literal["demo.flow.main"]
MAIN = GraphId("demo.flow.main")
CHILD = GraphId("demo.flow.child")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    taken: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    step: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    value: int = 0


CALL = SubroutineCall(
    definition_id=CHILD,
    definition_module="demo.flow.child",
    params_types={(".", CHILD): Params},
    profile_arguments={},
    session_arguments={},
)
ASKS = Agent(profile=AgentProfileId("writer"), session=AgentSessionId("talk"))
ASK = NodeDefinition[State, Scope](id=NodeId("ask"), name="Ask", operation=ASKS, state_type=State)
CHILD_NODE = NodeDefinition[State, Scope](id=NodeId("call"), name="Call", operation=CALL, state_type=State)
SET = FeatureNodeDefinition(id=NodeId("set"), name="Set", operation=Feature())
LEFT = FeatureDefinition[int, Scope](
    id=FeatureId("left"), label="Left", description="", kind=FeatureKind.INTEGER
)
MOOD = FeatureDefinition[Literal["calm", "tense"], Scope](
    id=FeatureId("mood"), label="Mood", description="", kind=FeatureKind.ENUM, values=("calm", "tense")
)


def ask(input: Count, state: State, context: AgentNodeContext[Params], /) -> Success[Count, State]:
    text: str = context.invoke("x", workspace=context.output_dir, access=AgentAccess.READ_ONLY)
    step: int = context.params.step
    return Success(output=Count(value=int(text) + step), state=State(taken=state.taken + 1))


def assign(
    input: Count, state: FeatureState[Scope], context: NodeContext[Params], /
) -> FeatureSuccess[Scope]:
    left: int | None = state.get(LEFT)
    taken: int = state.get(ASK).taken
    return FeatureSuccess(state=state.replace(LEFT, (left or 0) + taken).replace(MOOD, "calm"))


def call(
    input: Count, state: State, context: CallContext[Params, Params, int, str], /
) -> Success[str, State]:
    output: str = context.invoke(input.value, params=Params(step=2))
    return Success(output=output, state=state)


class Echo:
    session_provider = "echo"

    def __call__(self, request: AgentRequest, /) -> AgentReply:
        return AgentReply(text=request.prompt)


def make_profile(input: Count, params: Params, /) -> AgentInvoker:
    return Echo()


@cache
def definition() -> SubroutineDefinition[Count, str, Params, Scope]:
    return SubroutineDefinition(
        graph=GraphDefinition[Count, str, Params, Scope](
            id=MAIN,
            params_type=Params,
            enter=PortDefinition(id=NodeId("enter")),
            exit=PortDefinition(id=NodeId("exit")),
            failure=PortDefinition(id=NodeId("failure")),
            nodes=(ASK, CHILD_NODE, SET),
            edges=(
                EdgeDefinition(
                    id=EdgeId("enter__ask"),
                    source=NodeId("enter"),
                    target=NodeId("ask"),
                    visit=VisitDefinition(implementation=ask),
                ),
                EdgeDefinition(
                    id=EdgeId("ask__call"),
                    source=NodeId("ask"),
                    target=NodeId("call"),
                    visit=CallVisitDefinition(implementation=call),
                ),
            ),
            features=(LEFT, MOOD),
            profiles=(
                AgentProfileDefinition[Count, Params](
                    id=AgentProfileId("writer"), name="Writer", implementation=make_profile
                ),
            ),
        )
    )


CONFIGURATION = WorkflowConfiguration(
    profile_arguments={AgentProfileId("one"): CodexInvoker(), AgentProfileId("two"): Echo()}
)
FORKING: ForkingAgentInvoker = CodexInvoker()
PARAMS_TYPES: dict[tuple[str, GraphId], ParameterType] = {(".", MAIN): Params, (".", CHILD): int | None}
WORKFLOW = WorkflowDefinition[Count, str, Params, Scope](
    id=MAIN, input_type=Count, entry=CALL, configuration=CONFIGURATION
)

graph = definition().graph
validate_graph(graph)
state = initial_workflow_state(graph)
left: int | None = state.get(LEFT)
checked: int = validate_feature_value(LEFT, 3)
holds: bool = evaluate_conditions((), state, {LEFT.id: LEFT, MOOD.id: MOOD})

"""All the rest of the builders' surface: params, options, agents, calls, unions, every kind of feature."""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_type

from verdog_runtime.agents import AgentReply, AgentRequest
from verdog_runtime.authoring import (
    AgentAccess,
    AgentContext,
    CallContext,
    Context,
    FeatureState,
    Subroutine,
    Success,
    Workflow,
    WorkflowConfiguration,
)
from verdog_runtime.declarations import AgentProfileId, WorkflowDefinition
from verdog_runtime.interpreter import Dispatcher


@dataclass(frozen=True)
class Question:
    text: str = "why?"


@dataclass(frozen=True)
class Answer:
    text: str


@dataclass(frozen=True)
class Params:
    depth: int = 1


@dataclass(frozen=True)
class ChildParams:
    width: int = 1


@dataclass(frozen=True)
class Options:
    loud: bool = False


@dataclass(frozen=True)
class Asked:
    times: int = 0


class Echo:
    session_provider = "echo"

    def __call__(self, request: AgentRequest, /) -> AgentReply:
        return AgentReply(text=request.prompt)


def configure(options: Options) -> WorkflowConfiguration:
    return WorkflowConfiguration(profile_arguments={AgentProfileId("writer"): Echo()})


def make_reader(value: Question, params: None) -> Echo:
    return Echo()


helper = Subroutine("helper", input=Question, output=Answer, params=ChildParams)
helper_ask = helper.python_node("look", output=Answer)
slot = helper.profile("anyone")
memory = helper.session_parameter("memory")


@helper_ask.on(helper.enter)
def look(value: Question, state: None, context: Context[ChildParams]) -> Success[Answer, None]:
    assert_type(context.params, ChildParams)
    return Success(output=Answer(value.text * context.params.width), state=None)


helper.exit.on(helper_ask)

other = Workflow("other", input=Question, output=Answer)
flow = Workflow("everything", input=Question, output=Answer)
flow.params(Params)
flow.options(Options, configure)
writer = flow.profile("writer", default=Echo())
reader = flow.made_profile("reader", make_reader)
talk = flow.session("talk", persistent=True)
sure = flow.boolean("sure")
ratio = flow.float("ratio")
mood = flow.enum("mood", "calm", "tense")
left = flow.integer("left", label="Left", description="what is left")

ask = flow.agent_node("ask", output=Answer, state=Asked, profile=writer, session=talk)
child = flow.call_node(
    "child", helper, output=Answer, state=Asked, profiles={slot: writer}, sessions={memory: talk}
)
far = flow.call_node("far", other, output=Answer)
judge = flow.feature_node("judge", carries=Answer)
merge = flow.python_node("merge", output=Answer)


@ask.on(flow.enter)
def ask_once(value: Question, state: Asked, context: AgentContext[Params]) -> Success[Answer, Asked]:
    assert_type(context.params.depth, int)
    text = context.invoke(value.text, workspace=context.output_dir, access=AgentAccess.READ_ONLY)
    return Success(output=Answer(text), state=Asked(state.times + 1))


@child.on(ask)
def call_helper(
    value: Answer, state: Asked, context: CallContext[Params, ChildParams, Question, Answer]
) -> Success[Answer, Asked]:
    assert_type(context.child_params, ChildParams)
    answer = context.invoke(Question(value.text), params=ChildParams(width=2))
    assert_type(answer, Answer)
    return Success(output=answer, state=state)


@far.on(child)
def call_other(
    value: Answer, state: None, context: CallContext[Params, None, Question, Answer]
) -> Success[Answer, None]:
    return Success(output=context.invoke(Question(value.text)), state=None)


@judge.on(far)
def judge_it(value: Answer, state: FeatureState, context: Context[Params]) -> FeatureState:
    state = state.replace(sure, True).replace(mood, "calm").replace(ratio, 0.5).replace(left, 3)
    assert_type(state.get(sure), bool)
    assert_type(state.get(mood), str)
    assert_type(state.get(ratio), float)
    assert_type(state.has(left), bool)
    return state


@merge.on(flow.enter, when=[sure.positive, ratio.zero])
@merge.on(judge, when=[sure.negative, mood.equals("calm")], effects=[mood.becomes("tense"), left.increases])
def merge_both(value: Question | Answer, state: None, context: Context[Params]) -> Success[Answer, None]:
    return Success(output=Answer(value.text), state=None)


flow.exit.on(merge)
flow.exit.on(judge, when=[mood.equals("tense")], effects=[sure.becomes_positive, ratio.unconstrained])
flow.failure.on(judge, effects=[sure.becomes_negative, ratio.unchanged, left.unchanged, mood.unconstrained])

assert_type(flow.definition(), WorkflowDefinition[Question, Answer, None, object])


def use() -> Answer:
    result = Dispatcher().run(flow.definition(), Question(), output_dir=Path("out"))
    assert_type(result.state.get(ask), Asked)
    assert_type(result.state.get(left), int | None)
    return result.output

"""Mistakes that a type checker must find, each on the line that says so."""

from dataclasses import dataclass

from verdog_runtime.authoring import (
    AgentContext,
    CallContext,
    Context,
    FeatureState,
    Subroutine,
    Success,
    Workflow,
)


@dataclass(frozen=True)
class Count:
    value: int = 10


@dataclass(frozen=True)
class Other:
    text: str = ""


@dataclass(frozen=True)
class Steps:
    taken: int = 0


flow = Workflow("countdown", input=Count, output=Count)
helper = Subroutine("helper", input=Other, output=Count)
left = flow.integer("left")
mood = flow.enum("mood", "calm", "tense")
sure = flow.boolean("sure")
writer = flow.profile("writer", default=7)  # error
talk = flow.session("talk", persistent=True)
start = flow.feature_node("start", carries=Count)
work = flow.python_node("work", output=Count, state=Steps)
bare = flow.python_node("bare", output=Other)
ask = flow.agent_node("ask", output=Other, profile=writer, session=talk)
ask_without = flow.agent_node("ask_without", output=Other, profile=talk, session=talk)  # error
call = flow.call_node("call", helper, output=Count, state=Steps)


@work.on(start)  # error
def wrong_input(value: Other, state: Steps, context: Context) -> Success[Count, Steps]:
    return Success(output=Count(), state=state)


@work.on(start)  # error
def wrong_state(value: Count, state: Other, context: Context) -> Success[Count, Steps]:
    return Success(output=Count(), state=Steps())


@work.on(start)  # error
def wrong_output(value: Count, state: Steps, context: Context) -> Success[Other, Steps]:
    return Success(output=Other(), state=state)


@work.on(start)  # error
def wrong_new_state(value: Count, state: Steps, context: Context) -> Success[Count, Other]:
    return Success(output=Count(), state=Other())


@work.on(start)  # error
@work.on(bare)
def only_one_input(value: Other, state: Steps, context: Context) -> Success[Count, Steps]:
    return Success(output=Count(), state=state)


@bare.on(work)  # error
def a_state_where_there_is_none(value: Count, state: Steps, context: Context) -> Success[Other, None]:
    return Success(output=Other(), state=None)


@start.on(flow.enter)
def wrong_values(value: Count, state: FeatureState, context: Context) -> FeatureState:
    state.replace(left, "x")  # error
    state.replace(mood, 3)  # error
    state.replace(sure, "yes")  # error
    state.replace(work, Steps())  # error
    state.get(left).upper()  # error
    return state


@start.on(work)  # error
def no_result(value: Count, state: FeatureState, context: Context) -> None:
    pass


@start.on(bare)  # error
def carried(value: Other, state: FeatureState, context: Context) -> FeatureState:
    return state


@work.on(start, when=[left.decreases])  # error
def effect_as_condition(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
    return Success(output=value, state=state)


@work.on(start, effects=[left.zero])  # error
def condition_as_effect(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
    return Success(output=value, state=state)


@work.on(start)  # error
def no_agent_here(value: Count, state: Steps, context: AgentContext) -> Success[Count, Steps]:
    return Success(output=value, state=state)


@call.on(start)  # error
def wrong_call(
    value: Count, state: Steps, context: CallContext[None, None, Count, Count]
) -> Success[Count, Steps]:
    return Success(output=context.invoke(value), state=state)


work.on(flow.exit)  # error
flow.exit.on(bare)  # error
flow.exit.on(flow.failure)  # error
left.equals("x")  # error

"""What graphs written in Python become, and how they run."""

import importlib
import pickle
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from verdog_runtime.agents import AgentReply, AgentRequest
from verdog_runtime.authoring import (
    AgentContext,
    AuthoringError,
    CallContext,
    Context,
    FeatureState,
    FeatureSuccess,
    Subroutine,
    Success,
    Workflow,
    WorkflowConfiguration,
)
from verdog_runtime.declarations import (
    Agent,
    AgentProfileId,
    CallVisitDefinition,
    Feature,
    FeatureKind,
    Python,
    SubroutineCall,
    SubroutineDefinition,
    VisitDefinition,
    WorkflowCall,
    WorkflowDefinition,
)
from verdog_runtime.declarations import FeatureState as DeclaredFeatureState
from verdog_runtime.declarations.ids import is_valid_entity_id
from verdog_runtime.interpreter import Dispatcher, initial_workflow_state, validate_graph

PACKAGE = "verdog_module.tests.runtime.test_authoring"


@dataclass(frozen=True)
class Count:
    value: int = 3


@dataclass(frozen=True)
class Steps:
    taken: int = 0


@dataclass(frozen=True)
class Params:
    step: int = 1


@dataclass(frozen=True)
class Options:
    loud: bool = False


class Echo:
    session_provider = "echo"

    def __init__(self, name: str = "echo") -> None:
        self.name = name

    def __call__(self, request: AgentRequest, /) -> AgentReply:
        return AgentReply(text=request.prompt)


def build_countdown(name: str = "countdown", step: int = 1) -> Workflow[Count, Count]:
    flow = Workflow(name, input=Count, output=Count)
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
        return Success(output=value, state=Steps(taken=state.taken + 1))

    @tick.on(work, when=[left.positive])
    def down(value: Count, state: FeatureState, context: Context) -> FeatureSuccess[object]:
        return FeatureSuccess(state=state.replace(left, max(state.get(left) - step, 0)))

    flow.exit.on(work, when=[left.zero])
    return flow


def build_echo(name: str) -> Subroutine[Count, Count]:
    """A subroutine that returns its input."""
    echo = Subroutine(name, input=Count, output=Count)
    echo.exit.on(echo.enter)
    return echo


def pass_on(
    value: Count, state: None, context: CallContext[None, None, Count, Count]
) -> Success[Count, None]:
    return Success(output=context.invoke(value), state=None)


def load(definition: WorkflowDefinition[Any, Any, Any, Any]) -> SubroutineDefinition[Any, Any, Any, Any]:
    return importlib.import_module(definition.entry.definition_module).definition()


def run(flow: Workflow[Any, Any, Any], input: object, output: Path) -> Success[Any, Any]:
    return Dispatcher(project_root=output.parent).run(flow.definition(), input, output_dir=output)


# What a definition is.


def test_a_definition_names_an_importable_module_whose_definition_has_its_id() -> None:
    definition = build_countdown().definition()
    graph = load(definition).graph
    assert definition.id == definition.entry.definition_id == graph.id == f"{PACKAGE}.countdown"
    assert all(is_valid_entity_id(part) for part in definition.entry.definition_module.split("."))
    validate_graph(graph)


def test_a_definition_says_what_a_generated_one_would() -> None:
    graph = load(build_countdown().definition()).graph
    assert [(node.id, node.name, type(node.operation)) for node in graph.nodes] == [
        ("start", "Start", Feature),
        ("work", "Work", Python),
        ("tick", "Tick", Feature),
    ]
    assert [edge.id for edge in graph.edges] == [
        "enter__start",
        "start__work",
        "tick__work",
        "work__tick",
        "work__exit",
    ]
    assert [(feature.id, feature.kind) for feature in graph.features] == [("left", FeatureKind.INTEGER)]
    assert [isinstance(edge.visit, VisitDefinition) for edge in graph.edges] == [True] * 4 + [False]
    assert graph.params_type is type(None)


def test_a_definition_stays_the_same_object() -> None:
    flow = build_countdown()
    definition = flow.definition()
    assert flow.definition() is definition
    assert load(definition) is load(definition)


def test_a_definition_can_be_replaced_as_a_generated_one_can() -> None:
    flow = Workflow("replaced", input=Count, output=Count)
    flow.params(Params)
    flow.exit.on(flow.enter)
    definition = flow.definition()
    other = replace(definition, configuration=WorkflowConfiguration())
    assert other.params_types == {(".", f"{PACKAGE}.replaced"): Params}


def test_a_function_is_returned_unchanged_and_used_as_it_is() -> None:
    flow = Workflow("plain", input=Count, output=Count)
    work = flow.python_node("work", output=Count, state=Steps)

    def visit(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
        return Success(output=value, state=state)

    assert work.on(flow.enter)(visit) is visit
    flow.exit.on(work)
    edge = load(flow.definition()).graph.edges[0]
    assert edge.visit.implementation is visit


# Names.


def test_flows_of_one_name_keep_their_own_definitions() -> None:
    one, two = build_countdown("twin", step=1), build_countdown("twin", step=2)
    first, second = one.definition(), two.definition()
    assert first.id == second.id
    assert load(first) is not load(second)
    assert load(first).graph.nodes[1] is not load(second).graph.nodes[1]


def test_nothing_that_could_be_imported_is_shadowed() -> None:
    before = set(sys.modules)
    build_countdown("shadow").definition()
    assert {name.partition(".")[0] for name in set(sys.modules) - before} <= {"verdog_module"}


# Running.


def test_a_flow_runs_from_python(tmp_path: Path) -> None:
    flow = build_countdown("runs")
    result = run(flow, Count(3), tmp_path / "out")
    assert result.output == Count(3)
    assert len(list((tmp_path / "out/work").iterdir())) == 4


def test_handles_name_the_state_of_a_result(tmp_path: Path) -> None:
    flow = Workflow("named", input=Count, output=Count)
    left = flow.integer("left")
    start = flow.feature_node("start", carries=Count)
    work = flow.python_node("work", output=Count, state=Steps)
    start.on(flow.enter)(lambda value, state, context: state.replace(left, 7))

    @work.on(start, effects=[left.unconstrained])
    def visit(value: Count, state: Steps, context: Context) -> Success[Count, Steps]:
        return Success(output=value, state=Steps(5))

    flow.exit.on(work)
    state = run(flow, Count(), tmp_path / "out").state
    assert (state.get(work), state.get(left)) == (Steps(5), 7)


def test_several_flows_run_in_one_process(tmp_path: Path) -> None:
    one, two = build_countdown("several", step=1), build_countdown("several", step=3)
    two.definition()
    run(one, Count(3), tmp_path / "one")
    run(two, Count(3), tmp_path / "two")
    assert len(list((tmp_path / "one/work").iterdir())) == 4
    assert len(list((tmp_path / "two/work").iterdir())) == 2


def test_a_node_without_a_state_sees_none(tmp_path: Path) -> None:
    flow = Workflow("stateless", input=Count, output=Count)
    work = flow.python_node("work", output=Count)
    seen: list[None] = []

    @work.on(flow.enter)
    def visit(value: Count, state: None, context: Context) -> Success[Count, None]:
        seen.append(state)
        return Success(output=Count(value.value + 1), state=None)

    flow.exit.on(work)
    assert run(flow, Count(1), tmp_path / "out").output == Count(2)
    assert seen == [None]


def test_reading_a_feature_without_a_value_says_so(tmp_path: Path) -> None:
    flow = Workflow("unset", input=Count, output=Count)
    left = flow.integer("left")
    start = flow.feature_node("start", carries=Count)
    seen: list[bool] = []

    @start.on(flow.enter)
    def begin(value: Count, state: FeatureState, context: Context) -> FeatureState:
        seen.append(state.has(left))
        return state.replace(left, state.get(left) + 1)

    flow.exit.on(start, effects=[left.unconstrained])
    with pytest.raises(ValueError, match="feature 'left' has no value yet"):
        run(flow, Count(), tmp_path / "out")
    assert seen == [False]


def test_a_feature_of_every_kind_can_be_set_and_routed_on(tmp_path: Path) -> None:
    flow = Workflow("kinds", input=Count, output=Count)
    sure = flow.boolean("sure")
    ratio = flow.float("ratio")
    mood = flow.enum("mood", "calm", "tense")
    start = flow.feature_node("start", carries=Count)
    work = flow.python_node("work", output=Count)

    @start.on(flow.enter)
    def begin(value: Count, state: FeatureState, context: Context) -> FeatureState:
        return state.replace(sure, True).replace(ratio, 0.5).replace(mood, "tense")

    effects = [sure.becomes_positive, ratio.unconstrained, mood.becomes("tense")]
    work.on(start, effects=effects)(lambda value, state, context: Success(output=value, state=None))
    flow.exit.on(work, when=[sure.positive, ratio.positive, mood.equals("tense")])
    flow.failure.on(work, when=[sure.negative])
    assert run(flow, Count(2), tmp_path / "out").output == Count(2)


def test_a_float_feature_takes_an_int(tmp_path: Path) -> None:
    flow = Workflow("whole", input=Count, output=Count)
    ratio = flow.float("ratio")
    start = flow.feature_node("start", carries=Count)
    start.on(flow.enter)(lambda value, state, context: state.replace(ratio, 2))
    flow.exit.on(start, effects=[ratio.unconstrained])
    value = run(flow, Count(), tmp_path / "out").state.get(ratio)
    assert (value, type(value)) == (2.0, float)


def test_a_feature_of_another_graph_cannot_be_read(tmp_path: Path) -> None:
    flow, other = (Workflow(name, input=Count, output=Count) for name in ("reads", "owns"))
    left = other.integer("left")
    start = flow.feature_node("start", carries=Count)
    start.on(flow.enter)(lambda value, state, context: state.replace(left, 1))
    flow.exit.on(start)
    with pytest.raises(KeyError, match="left"):
        run(flow, Count(), tmp_path / "out")


def test_a_mistake_survives_pickling() -> None:
    with pytest.raises(AuthoringError) as caught:
        Workflow("no id", input=Count, output=Count)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (str(copied), copied.line) == (str(caught.value), caught.value.line)


def test_parameters_reach_the_visits(tmp_path: Path) -> None:
    flow = Workflow("with_params", input=Count, output=Count, params=Params)
    work = flow.python_node("work", output=Count)

    @work.on(flow.enter)
    def visit(value: Count, state: None, context: Context[Params]) -> Success[Count, None]:
        return Success(output=Count(context.params.step), state=None)

    flow.exit.on(work)
    definition = flow.definition()
    assert run(flow, Count(), tmp_path / "default").output == Count(1)
    result = Dispatcher(project_root=tmp_path).run(
        definition,
        Count(),
        output_dir=tmp_path / "given",
        params={(".", definition.id): Params(9)},
    )
    assert result.output == Count(9)


def test_an_error_of_a_visit_passes_unchanged(tmp_path: Path) -> None:
    flow = Workflow("fails", input=Count, output=Count)
    work = flow.python_node("work", output=Count)

    @work.on(flow.enter)
    def visit(value: Count, state: None, context: Context) -> Success[Count, None]:
        raise KeyError("mine")

    flow.exit.on(work)
    with pytest.raises(KeyError, match="mine"):
        run(flow, Count(), tmp_path / "out")


# Agents.


def test_an_agent_node_names_its_profile_and_session() -> None:
    flow = Workflow("asks", input=Count, output=Count)
    writer = flow.profile("writer", default=Echo())
    reader = flow.made_profile("reader", lambda value, params: Echo())
    talk = flow.session("talk", persistent=True)
    ask = flow.agent_node("ask", output=Count, state=Steps, profile=writer, session=talk)
    flow.agent_node("read", output=Count, profile=reader, session=talk)

    @ask.on(flow.enter)
    def visit(value: Count, state: Steps, context: AgentContext) -> Success[Count, Steps]:
        return Success(output=value, state=state)

    flow.exit.on(ask)
    definition = flow.definition()
    graph = load(definition).graph
    assert graph.nodes[0].operation == Agent(profile=writer.id, session=talk.id)
    assert [(session.id, session.persistent) for session in graph.sessions] == [("talk", True)]
    assert [profile.id for profile in graph.profiles] == ["reader"]
    assert [profile.id for profile in graph.profile_parameters] == ["writer"]
    assert definition.entry.profile_arguments == {"writer": "writer"}
    assert set(definition.configuration.profile_arguments) == {"writer"}


def test_options_choose_other_invokers_than_the_defaults() -> None:
    flow = Workflow("chooses", input=Count, output=Count)
    flow.profile("writer", default=Echo("default"))
    flow.profile("reader", default=Echo("default"))
    loud = Echo("loud")

    def configure(options: Options) -> WorkflowConfiguration:
        return WorkflowConfiguration(
            profile_arguments={AgentProfileId("writer"): loud} if options.loud else {}
        )

    flow.options(Options, configure)
    quiet = flow.configure(Options()).profile_arguments
    chosen = flow.configure(Options(loud=True)).profile_arguments
    assert quiet[AgentProfileId("writer")] is not loud
    assert chosen[AgentProfileId("writer")] is loud
    assert chosen[AgentProfileId("reader")] is quiet[AgentProfileId("reader")]


# Calls.


def test_a_call_of_a_subroutine_names_its_definition_and_parameters() -> None:
    inner = Subroutine("inner", input=Count, output=Count, params=Params)
    inner.exit.on(inner.enter)
    outer = Subroutine("outer", input=Count, output=Count)
    deep = outer.call_node("deep", inner, output=Count)
    deep.on(outer.enter)(lambda value, state, context: Success(output=context.invoke(value), state=None))
    outer.exit.on(deep)
    flow = Workflow("calls", input=Count, output=Count)
    call = flow.call_node("call", outer, output=Count)
    call.on(flow.enter)(pass_on)
    flow.exit.on(call)

    definition = flow.definition()
    node, edge = load(definition).graph.nodes[0], load(definition).graph.edges[0]
    below = {(".", f"{PACKAGE}.outer"): type(None), (".", f"{PACKAGE}.inner"): Params}
    assert isinstance(node.operation, SubroutineCall)
    assert node.operation.definition_id == f"{PACKAGE}.outer"
    assert node.operation.params_types == below
    assert definition.params_types == {(".", f"{PACKAGE}.calls"): type(None), **below}
    assert isinstance(edge.visit, CallVisitDefinition)
    called = importlib.import_module(node.operation.definition_module).definition()
    assert called.graph.id == node.operation.definition_id
    assert called.graph.nodes[0].operation.definition_id == f"{PACKAGE}.inner"


def test_a_subroutine_may_call_itself() -> None:
    again = Subroutine("again", input=Count, output=Count)
    node = again.call_node("node", again, output=Count)
    node.on(again.enter)(pass_on)
    again.exit.on(node)
    flow = Workflow("recursive", input=Count, output=Count)
    call = flow.call_node("call", again, output=Count)
    call.on(flow.enter)(pass_on)
    flow.exit.on(call)
    assert set(flow.definition().params_types) == {
        (".", f"{PACKAGE}.{name}") for name in ("again", "recursive")
    }


def test_a_call_of_a_workflow_is_isolated() -> None:
    other = build_countdown("other")
    flow = Workflow("caller", input=Count, output=Count)
    call = flow.call_node("call", other, output=Count)
    call.on(flow.enter)(pass_on)
    flow.exit.on(call)
    definition = flow.definition()
    operation = load(definition).graph.nodes[0].operation
    assert isinstance(operation, WorkflowCall)
    assert operation.definition_module.startswith(f"{PACKAGE}.")
    assert importlib.import_module(operation.definition_module).definition().id == operation.definition_id
    assert set(definition.params_types) == {(".", f"{PACKAGE}.caller")}


def test_workflows_may_call_each_other() -> None:
    one = Workflow("ping", input=Count, output=Count)
    two = Workflow("pong", input=Count, output=Count)
    for flow, other in ((one, two), (two, one)):
        call = flow.call_node("call", other, output=Count)
        call.on(flow.enter)(pass_on)
        flow.exit.on(call)
    assert one.definition().id == f"{PACKAGE}.ping"
    assert two.definition().id == f"{PACKAGE}.pong"


def test_the_slots_of_a_subroutine_are_filled_by_name_or_as_told() -> None:
    helper = Subroutine("helped", input=Count, output=Count)
    anyone, memory = helper.profile("anyone"), helper.session_parameter("memory")
    helper.profile("writer")
    helper.exit.on(helper.enter)
    flow = Workflow("fills", input=Count, output=Count)
    writer, talk = flow.profile("writer", default=Echo()), flow.session("talk", persistent=False)
    call = flow.call_node("call", helper, output=Count, profiles={anyone: writer}, sessions={memory: talk})
    call.on(flow.enter)(pass_on)
    flow.exit.on(call)
    operation = load(flow.definition()).graph.nodes[0].operation
    assert operation.profile_arguments == {"anyone": "writer", "writer": "writer"}
    assert operation.session_arguments == {"memory": "talk"}


def test_two_workflows_of_a_file_share_a_subroutine() -> None:
    shared = build_echo("shared")
    flows = [Workflow(name, input=Count, output=Count) for name in ("sharing_one", "sharing_two")]
    for flow in flows:
        call = flow.call_node("call", shared, output=Count)
        call.on(flow.enter)(pass_on)
        flow.exit.on(call)
    modules = [load(flow.definition()).graph.nodes[0].operation.definition_module for flow in flows]
    assert modules[0] == modules[1]


def test_workflows_of_two_files_share_a_subroutine_that_calls(tmp_path: Path) -> None:
    inner, outer = build_echo("leaf"), Subroutine("branch", input=Count, output=Count)
    deep = outer.call_node("deep", inner, output=Count, state=Steps)
    mark = outer.feature_node("mark", carries=Count)
    seen: list[object] = []

    @deep.on(outer.enter)
    def call_leaf(
        value: Count, state: Steps, context: CallContext[None, None, Count, Count]
    ) -> Success[Count, Steps]:
        return Success(output=context.invoke(value), state=state)

    @mark.on(deep)
    def look(value: Count, state: FeatureState, context: Context) -> FeatureState:
        seen.append(state.get(deep))
        return state

    outer.exit.on(mark)
    graphs = []
    for package in ("verdog_file.one", "verdog_file.two"):
        flow = Workflow("tree", input=Count, output=Count)
        flow.draft.package = package
        call = flow.call_node("call", outer, output=Count)
        call.on(flow.enter)(pass_on)
        flow.exit.on(call)
        operation = load(flow.definition()).graph.nodes[0].operation
        graphs.append(importlib.import_module(operation.definition_module).definition().graph)
    assert [graph.nodes[0].operation.definition_id for graph in graphs] == [
        "verdog_file.one.leaf",
        "verdog_file.two.leaf",
    ]
    for graph in graphs:
        view = DeclaredFeatureState.over(initial_workflow_state(graph))
        graph.edges[1].visit.implementation(Count(), view, None)
    assert seen == [Steps(), Steps()]

import copy
import dataclasses
import pickle
import typing
from dataclasses import FrozenInstanceError, dataclass, replace
from enum import Enum, StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest

import verdog_runtime.agents as agents
import verdog_runtime.declarations as declarations
from tests.runtime.pieces import CHECK, GRAPH, LEFT, WORK, Count
from verdog_runtime.agents import AgentReply, AgentRequest, AgentSessionAction
from verdog_runtime.declarations import (
    Agent,
    AgentAccess,
    AgentNodeContext,
    AgentProfileDefinition,
    AgentSessionCapabilities,
    CallContext,
    CallVisitDefinition,
    EdgeDefinition,
    FeatureDefinition,
    FeatureKind,
    FeatureState,
    FeatureSuccess,
    GraphDefinition,
    NodeContext,
    NodeDefinition,
    Python,
    RemoteWorkflowError,
    StateKey,
    SubroutineCall,
    SubroutineDefinition,
    Success,
    WorkflowCall,
    WorkflowConfiguration,
    WorkflowDefinition,
    WorkflowState,
    calls,
    graph,
    interfaces,
    operations,
)

NAMES = [
    "Agent",
    "AgentAccess",
    "AgentInvoker",
    "AgentNodeContext",
    "AgentProfileDefinition",
    "AgentProfileId",
    "AgentProfileInitializer",
    "AgentProfileParameter",
    "AgentSessionAction",
    "AgentSessionCapabilities",
    "AgentSessionDefinition",
    "AgentSessionId",
    "AgentSessionParameter",
    "BooleanConditionObservation",
    "BooleanEffectObservation",
    "BooleanFeatureCondition",
    "BooleanFeatureEffect",
    "CallContext",
    "CallVisitDefinition",
    "EdgeDefinition",
    "EnumConditionObservation",
    "EnumEffectObservation",
    "EnumFeatureCondition",
    "EnumFeatureEffect",
    "Feature",
    "FeatureCondition",
    "FeatureDefinition",
    "FeatureEffect",
    "FeatureKind",
    "FeatureNodeDefinition",
    "FeatureState",
    "FeatureSuccess",
    "FeatureValue",
    "ForkingAgentInvoker",
    "GraphDefinition",
    "NodeContext",
    "NodeDefinition",
    "NumericalConditionObservation",
    "NumericalEffectObservation",
    "NumericalFeatureCondition",
    "NumericalFeatureEffect",
    "Operation",
    "ParameterAddress",
    "ParameterType",
    "PortDefinition",
    "ProviderSessionId",
    "Python",
    "RunId",
    "StateKey",
    "SubroutineCall",
    "SubroutineDefinition",
    "Success",
    "RemoteWorkflowError",
    "WorkflowCall",
    "WorkflowConfiguration",
    "WorkflowDefinition",
    "WorkflowState",
    "VisitDefinition",
]

CONTEXT: dict[str, Any] = {
    "run_id": "run",
    "graph_id": "demo.flow.main",
    "node_id": "work",
    "edge_id": "enter__work",
    "output_dir": Path("out"),
}
ENTRY: dict[str, Any] = {
    "definition_id": "demo.flow.main",
    "definition_module": "demo.flow.subroutines.main",
    "params_types": {(".", "demo.flow.main"): type(None)},
    "profile_arguments": {},
    "session_arguments": {},
}


@dataclass(frozen=True)
class Params:
    depth: int = 1


def workflow(**changes: Any) -> WorkflowDefinition[Any, Any, Any, Any]:
    return WorkflowDefinition(
        **{
            "id": "demo.flow.main",
            "input_type": int | None,
            "entry": SubroutineCall(**ENTRY),
            "configuration": WorkflowConfiguration(),
            **changes,
        }
    )


def test_the_package_offers_exactly_the_58_names() -> None:
    assert len(NAMES) == 58
    assert sorted(declarations.__all__) == sorted(NAMES)
    assert all(hasattr(declarations, name) for name in NAMES)


def test_ids_that_only_their_module_offers_are_not_offered_by_the_package() -> None:
    for name in (
        "NodeId",
        "EdgeId",
        "FeatureId",
        "GraphId",
        "AgentRequest",
        "AgentReply",
        "CallImplementation",
    ):
        assert not hasattr(declarations, name)


def test_the_agents_package_offers_its_seven_names_without_the_invokers() -> None:
    assert sorted(agents.__all__) == [
        *("AgentInvocationError", "AgentInvoker", "AgentReply", "AgentRequest", "AgentSessionAction"),
        *("AgentSessionCapabilities", "ForkingAgentInvoker"),
    ]


GENERIC: list[tuple[Any, int, dict[str, Any]]] = [
    (NodeContext, 1, {**CONTEXT, "params": 1}),
    (AgentNodeContext, 1, {**CONTEXT, "params": 1, "_invoke": print}),
    (CallContext, 4, {**CONTEXT, "params": 1, "child_params": 2, "_invoke": print}),
    (CallVisitDefinition, 7, {"implementation": print}),
    (AgentProfileDefinition, 2, {"id": "p", "name": "P", "implementation": print}),
    (FeatureDefinition, 2, {"id": "f", "label": "F", "description": "", "kind": FeatureKind.FLOAT}),
    (NodeDefinition, 2, {"id": "n", "name": "N", "operation": Python(), "state_type": Count}),
    (GraphDefinition, 4, {field.name: getattr(GRAPH, field.name) for field in dataclasses.fields(GRAPH)}),
    (
        WorkflowDefinition,
        4,
        {"id": "w", "input_type": int, "entry": SubroutineCall(**ENTRY), "configuration": None},
    ),
    (SubroutineDefinition, 4, {"graph": GRAPH}),
    (Success, 2, {"output": 1, "state": 2}),
    (FeatureSuccess, 1, {"state": FeatureState()}),
    (WorkflowState, 1, {}),
    (FeatureState, 1, {}),
]


@pytest.mark.parametrize(
    ("kind", "count", "fields"), GENERIC, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_generic_record_can_be_subscripted_and_then_called(
    kind: Any, count: int, fields: dict[str, Any]
) -> None:
    arguments = (Params, Count, int, str, int | None, Literal["scope"], Any)[:count]
    made = kind[arguments](**fields)
    assert type(made) is kind
    assert made == kind(**fields)


@pytest.mark.parametrize("kind", [each[0] for each in GENERIC if dataclasses.is_dataclass(each[0])])
def test_a_generic_record_is_frozen_and_not_slotted(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen
    assert "__slots__" not in vars(kind)


@pytest.mark.parametrize(
    "kind",
    [calls.CallImplementation, interfaces.AgentProfileInitializer, StateKey],
)
def test_generic_protocols_can_be_subscripted(kind: Any) -> None:
    assert kind[(int,) * len(kind.__parameters__)]


def test_contexts_may_leave_out_trailing_type_arguments() -> None:
    assert CallContext[Params]
    assert CallContext[Params, None, int]


def test_type_parameters_come_in_the_promised_number() -> None:
    counts = {kind.__name__: len(kind.__parameters__) for kind, _, _ in GENERIC}
    assert counts == {kind.__name__: count for kind, count, _ in GENERIC}
    assert len(calls.CallImplementation.__parameters__) == 7


def test_every_record_is_keyword_only_except_capabilities() -> None:
    assert AgentSessionCapabilities(True).fork_latest
    assert not AgentSessionCapabilities().fork_latest
    for kind in (Agent, EdgeDefinition, AgentReply, Success):
        with pytest.raises(TypeError, match="positional"):
            kind("x", "y")  # type: ignore[call-arg]


def test_records_cannot_be_assigned() -> None:
    for record, name in ((Success(output=1, state=2), "output"), (WORK, "id"), (GRAPH, "id")):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, 3)


def test_every_enum_is_a_text_with_its_value() -> None:
    enums = [
        kind
        for module in (declarations, graph)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Enum) and kind not in (Enum, StrEnum)
    ]
    assert enums
    assert all(issubclass(kind, StrEnum) for kind in enums)
    assert AgentAccess.READ_ONLY == "read-only"
    assert AgentAccess.WORKSPACE_WRITE == "workspace-write"
    assert [action.value for action in AgentSessionAction] == ["continue", "fork"]


def test_a_state_key_tells_its_address() -> None:
    assert WORK.state_key == ("node", "work")
    assert LEFT.state_key == ("feature", "left")
    with pytest.raises(NotImplementedError):
        StateKey().state_key  # noqa: B018
    assert not isinstance(CHECK, StateKey)


def test_annotations_of_contexts_and_requests_resolve() -> None:
    assert typing.get_type_hints(NodeContext)["output_dir"] is Path
    assert typing.get_type_hints(AgentRequest)["workspace"] is Path


def test_an_agent_context_passes_prompt_workspace_and_access() -> None:
    seen: list[object] = []

    def invoke(*arguments: object) -> str:
        seen.append(arguments)
        return "text"

    context = AgentNodeContext[None](**CONTEXT, params=None, _invoke=invoke)
    assert context.invoke("hello", workspace=Path("w")) == "text"
    context.invoke("again", workspace=Path("w"), access=AgentAccess.WORKSPACE_WRITE)
    assert seen == [
        ("hello", Path("w"), AgentAccess.READ_ONLY),
        ("again", Path("w"), AgentAccess.WORKSPACE_WRITE),
    ]
    assert "_invoke" not in repr(context)


def test_a_call_context_passes_its_child_params_unless_it_is_given_others() -> None:
    context: CallContext[None, Any, Any, Any] = CallContext(
        **CONTEXT, params=None, child_params="child", _invoke=lambda *given: given
    )
    assert context.invoke(1) == (1, "child")
    assert context.invoke(1, params="other") == (1, "other")
    assert context.invoke(1, params=None) == (1, None)


def test_each_request_has_a_token_of_its_own() -> None:
    fields: dict[str, Any] = {
        "prompt": "p",
        "profile_id": "a",
        "session_id": "s",
        "persistent": True,
        "provider_session_id": None,
        "node_context": None,
        "workspace": Path(),
        "artifact_dir": Path(),
        "access": AgentAccess.READ_ONLY,
    }
    one, other = AgentRequest(**fields), AgentRequest(**fields)
    assert one.cancellation is not other.cancellation
    assert one.provider_session_action is AgentSessionAction.CONTINUE


def test_a_workflow_copies_the_params_types_of_its_entry() -> None:
    types = {(".", "demo.flow.main"): int}
    made = workflow(entry=SubroutineCall(**{**ENTRY, "params_types": types}))
    types.clear()
    assert made.params_types == {(".", "demo.flow.main"): int}
    assert isinstance(made.params_types, MappingProxyType)


def test_replacing_the_entry_computes_the_params_types_again() -> None:
    other = SubroutineCall(**{**ENTRY, "params_types": {(".", "x"): str}})
    assert replace(workflow(), entry=other).params_types == {(".", "x"): str}
    assert replace(workflow(), configuration=WorkflowConfiguration()).params_types == ENTRY["params_types"]


def test_definitions_need_ids() -> None:
    with pytest.raises(ValueError, match="id"):
        workflow(id="")
    with pytest.raises(ValueError, match="id"):
        replace(workflow(), id="")
    with pytest.raises(ValueError, match="id"):
        SubroutineDefinition(graph=replace(GRAPH, id=""))


def test_a_configuration_has_no_profiles_of_its_own() -> None:
    assert WorkflowConfiguration().profile_arguments == {}


@pytest.mark.parametrize(
    "module", ["", ".", "a.", ".a", "a..b", "A", "a.B", "_a", "a.__init__", "a b", "a.class", "a-b", "a__b"]
)
def test_a_definition_module_is_absolute_and_of_lower_case_names(module: str) -> None:
    with pytest.raises(ValueError, match="definition_module"):
        SubroutineCall(**{**ENTRY, "definition_module": module})
    with pytest.raises(ValueError, match="definition_module"):
        WorkflowCall(definition_id="a.main", definition_module=module)


def test_a_definition_module_is_a_text() -> None:
    with pytest.raises(TypeError, match="definition_module"):
        SubroutineCall(**{**ENTRY, "definition_module": None})
    with pytest.raises(TypeError, match="definition_module"):
        WorkflowCall(definition_id="a.main", definition_module=b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["profile_arguments", "session_arguments"])
class TestArgumentMappings:
    def test_must_be_mappings(self, name: str) -> None:
        with pytest.raises(TypeError, match=name):
            SubroutineCall(**{**ENTRY, name: [("a", "b")]})

    @pytest.mark.parametrize("arguments", [{"A": "a"}, {"a": "A"}, {1: "a"}, {"a": None}, {"": "a"}])
    def test_must_hold_entity_ids(self, name: str, arguments: Any) -> None:
        with pytest.raises(ValueError, match=name):
            SubroutineCall(**{**ENTRY, name: arguments})

    def test_are_kept_as_read_only_copies(self, name: str) -> None:
        given = {"writer": "author"}
        call = SubroutineCall(**{**ENTRY, name: given})
        given.clear()
        assert getattr(call, name) == {"writer": "author"}
        assert isinstance(getattr(call, name), MappingProxyType)
        assert replace(call, definition_id="x") == replace(call, definition_id="x")


def test_calls_default_to_the_same_project() -> None:
    assert SubroutineCall(**ENTRY).project_path == "."
    assert WorkflowCall(definition_id="a.main", definition_module="a").project_path == "."


def test_a_parameter_type_is_any_type_form() -> None:
    assert operations.ParameterType


def test_a_remote_error_shows_type_message_and_traceback() -> None:
    error = RemoteWorkflowError("builtins.ValueError", "bad", "Traceback: ...")
    assert str(error) == "builtins.ValueError: bad"
    assert len(error.__notes__) == 1
    assert error.__notes__[0].splitlines()[1:] == ["Traceback: ..."]


@pytest.mark.parametrize(
    "copier", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy]
)
def test_a_remote_error_survives_pickling_with_attributes_and_notes(copier: Any) -> None:
    error = RemoteWorkflowError("builtins.ValueError", "bad", "Traceback: ...")
    error.add_note("second")
    error.extra = 7  # type: ignore[attr-defined]
    again = copier(error)
    assert type(again) is RemoteWorkflowError
    assert str(again) == str(error)
    assert vars(again) == vars(error)
    assert again.__notes__ == error.__notes__
    assert len(again.__notes__) == 2

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.pieces import (
    CHECK,
    ENTER,
    EXIT,
    FAILURE,
    FEATURES,
    GRAPH,
    MOOD,
    READY,
    WORK,
    Count,
    edge,
    graph,
    with_edge,
)
from verdog_runtime.declarations import (
    Agent,
    AgentProfileDefinition,
    AgentProfileParameter,
    AgentSessionDefinition,
    AgentSessionParameter,
    Feature,
    FeatureKind,
    FeatureNodeDefinition,
    NodeDefinition,
    PortDefinition,
    Python,
    SubroutineCall,
    WorkflowCall,
)
from verdog_runtime.interpreter import validate_graph
from verdog_runtime.interpreter.validation import require_instance


def refuse(error: type[Exception], match: str, **changes: Any) -> None:
    with pytest.raises(error, match=match):
        validate_graph(graph(**changes))


def node(**fields: Any) -> NodeDefinition[Any, Any]:
    return NodeDefinition(
        **{"id": "odd", "name": "Odd", "operation": Python(), "state_type": Count, **fields}
    )


def test_the_usual_graph_is_valid() -> None:
    validate_graph(GRAPH)


def test_unreachable_nodes_and_dead_ends_are_accepted() -> None:
    validate_graph(graph(nodes=(*GRAPH.nodes, node())))


def test_require_instance_returns_the_value_or_raises_the_message() -> None:
    assert require_instance(3, int, "no") == 3
    with pytest.raises(ValueError, match=r"^no text$"):
        require_instance(3, str, "no text")


class TestEntities:
    @pytest.mark.parametrize("port", ["enter", "exit", "failure"])
    def test_ports_must_be_ports(self, port: str) -> None:
        refuse(ValueError, port, **{port: None})
        refuse(ValueError, port, **{port: WORK})

    @pytest.mark.parametrize("port", ["enter", "exit", "failure"])
    def test_ports_need_ids_of_their_own(self, port: str) -> None:
        refuse(ValueError, "empty", **{port: PortDefinition(id="")})
        refuse(ValueError, "work", **{port: PortDefinition(id="work")})

    def test_two_ports_cannot_have_one_id(self) -> None:
        refuse(ValueError, "exit", failure=EXIT)

    def test_nodes_need_ids_of_their_own(self) -> None:
        refuse(ValueError, "empty", nodes=(node(id=""),))
        refuse(ValueError, "empty", nodes=(node(id=None),))
        refuse(ValueError, "odd", nodes=(node(), node()))
        refuse(
            ValueError, "odd", nodes=(node(), FeatureNodeDefinition(id="odd", name="", operation=Feature()))
        )

    @pytest.mark.parametrize("other", [ENTER, PortDefinition(id="x"), None, "work", edge("enter", "work")])
    def test_nodes_must_be_nodes(self, other: Any) -> None:
        refuse(ValueError, "node must be", nodes=(*GRAPH.nodes, other))

    def test_a_feature_node_has_the_operation_feature(self) -> None:
        odd: Any = FeatureNodeDefinition(id="odd", name="Odd", operation=Python())  # type: ignore[arg-type]
        refuse(ValueError, "odd", nodes=(*GRAPH.nodes, odd))

    def test_another_node_has_not(self) -> None:
        refuse(ValueError, "odd", nodes=(*GRAPH.nodes, node(operation=Feature())))

    def test_calls_need_a_definition_and_a_project(self) -> None:
        rest: dict[str, Any] = {"params_types": {}, "profile_arguments": {}, "session_arguments": {}}
        for call in (
            SubroutineCall(definition_id="", definition_module="a", **rest),
            SubroutineCall(definition_id="a.main", definition_module="a", project_path="", **rest),
            WorkflowCall(definition_id="", definition_module="a"),
            WorkflowCall(definition_id="a.main", definition_module="a", project_path=""),
        ):
            refuse(ValueError, "call node 'odd'", nodes=(*GRAPH.nodes, node(operation=call)))

    def test_an_unknown_operation_is_left_to_the_visit(self) -> None:
        validate_graph(graph(nodes=(*GRAPH.nodes, node(operation=object()))))


def feature(**changes: Any) -> Any:
    return dataclasses.replace(READY, **changes)


class TestFeatures:
    @pytest.mark.parametrize("changes", [{"id": ""}, {"id": None}, {"label": ""}, {"kind": "integral"}])
    def test_need_an_id_a_label_and_a_kind(self, changes: dict[str, Any]) -> None:
        refuse(ValueError, "feature", features=(feature(**changes),))

    @pytest.mark.parametrize("other", [None, "left", WORK])
    def test_must_be_features(self, other: Any) -> None:
        refuse(ValueError, "a feature must be", features=(READY, other))

    def test_need_ids_of_their_own(self) -> None:
        refuse(ValueError, "ready", features=(READY, feature(label="Other")))

    @pytest.mark.parametrize("kind", [FeatureKind.BOOLEAN, FeatureKind.INTEGER, FeatureKind.FLOAT])
    def test_only_enums_list_values(self, kind: FeatureKind) -> None:
        refuse(ValueError, "no enum", features=(feature(kind=kind, values=("a",)),))

    @pytest.mark.parametrize(
        "values", [(), ["a"], ("a", "a"), ("a", ""), (1,), ("a", None), (FeatureKind.ENUM,)]
    )
    def test_enums_list_different_texts(self, values: Any) -> None:
        refuse(ValueError, "enum feature 'ready'", features=(feature(kind=FeatureKind.ENUM, values=values),))

    def test_come_after_entities_and_before_edges(self) -> None:
        refuse(ValueError, "label", features=(feature(label=""),), edges=())
        refuse(ValueError, "enter port", features=(feature(label=""),), enter=None)


class TestPorts:
    def test_enter_must_be_left(self) -> None:
        refuse(ValueError, "enter", edges=(edge("work", "exit"),))

    def test_enter_must_not_be_entered(self) -> None:
        with pytest.raises(ValueError, match="enter"):
            validate_graph(with_edge(edge("work", "enter")))

    @pytest.mark.parametrize("port", [EXIT, FAILURE])
    def test_exit_and_failure_must_not_be_left(self, port: PortDefinition) -> None:
        with pytest.raises(ValueError, match=port.id):
            validate_graph(with_edge(edge(port.id, "exit")))

    def test_enter_may_lead_to_exit(self) -> None:
        validate_graph(graph(edges=(edge("enter", "exit"),)))


def profile(**fields: Any) -> AgentProfileDefinition[Any, Any]:
    return AgentProfileDefinition(**{"id": "writer", "name": "Writer", "implementation": print, **fields})


def session(**fields: Any) -> AgentSessionDefinition:
    return AgentSessionDefinition(**{"id": "talk", "name": "Talk", "persistent": True, **fields})


def slot(**fields: Any) -> AgentProfileParameter:
    return AgentProfileParameter(**{"id": "writer", "name": "Writer", **fields})


def session_slot(**fields: Any) -> AgentSessionParameter:
    return AgentSessionParameter(**{"id": "talk", "name": "Talk", **fields})


class TestResources:
    @pytest.mark.parametrize(
        "changes",
        [
            *({"profiles": (profile(id=""),)}, {"profiles": (profile(name=""),)}),
            *({"profile_parameters": (slot(id=""),)}, {"profile_parameters": (slot(name=""),)}),
            *({"sessions": (session(id=""),)}, {"sessions": (session(name=""),)}),
            *(
                {"session_parameters": (session_slot(id=""),)},
                {"session_parameters": (session_slot(name=""),)},
            ),
        ],
    )
    def test_need_ids_and_names(self, changes: dict[str, Any]) -> None:
        refuse(ValueError, r"profile|session", **changes)

    def test_need_ids_of_their_own_with_parameters_counted(self) -> None:
        refuse(ValueError, "two profiles", profiles=(profile(), profile()))
        refuse(ValueError, "two profiles", profiles=(profile(),), profile_parameters=(slot(),))
        refuse(ValueError, "two sessions", session_parameters=(session_slot(), session_slot()))
        refuse(ValueError, "two sessions", sessions=(session(),), session_parameters=(session_slot(),))

    def test_a_profile_and_a_session_may_share_an_id(self) -> None:
        validate_graph(graph(profiles=(profile(id="both"),), sessions=(session(id="both"),)))

    def test_a_profile_must_be_callable(self) -> None:
        refuse(ValueError, "callable", profiles=(profile(implementation=3),))

    @pytest.mark.parametrize("persistent", [None, 1, "yes"])
    def test_a_session_says_whether_it_is_persistent(self, persistent: Any) -> None:
        refuse(ValueError, "bool", sessions=(session(persistent=persistent),))

    @pytest.mark.parametrize("build", [slot, profile])
    def test_an_agent_node_s_profile_and_session_must_exist(self, build: Callable[[], Any]) -> None:
        asks = node(operation=Agent(profile="writer", session="talk"))
        nodes = (*GRAPH.nodes, asks)
        made = build()
        where = "profiles" if isinstance(made, AgentProfileDefinition) else "profile_parameters"
        validate_graph(graph(nodes=nodes, sessions=(session(),), **{where: (made,)}))
        validate_graph(graph(nodes=nodes, session_parameters=(session_slot(),), **{where: (made,)}))
        refuse(ValueError, "'odd'.*profile 'writer'", nodes=nodes, sessions=(session(),))
        refuse(ValueError, "'odd'.*session 'talk'", nodes=nodes, **{where: (made,)})

    def test_come_after_the_ports(self) -> None:
        refuse(ValueError, "enter", profiles=(profile(id=""),), edges=(edge("work", "exit"),))


def test_the_pieces_have_the_kinds_that_the_rules_speak_of() -> None:
    assert MOOD.kind is FeatureKind.ENUM
    assert set(FEATURES) == {"ready", "left", "ratio", "mood"}
    assert CHECK in GRAPH.nodes

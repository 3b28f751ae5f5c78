from typing import Any

from tests.runtime.pieces import GRAPH, Count, graph
from verdog_runtime.declarations import Agent, NodeDefinition, SubroutineCall, WorkflowCall
from verdog_runtime.interpreter.support import operation_kind, unsupported_operations

CALL = SubroutineCall(
    definition_id="a.main", definition_module="a", params_types={}, profile_arguments={}, session_arguments={}
)


def node(name: str, operation: Any) -> NodeDefinition[Any, Any]:
    return NodeDefinition(id=name, name=name, operation=operation, state_type=Count)


def test_python_and_feature_nodes_are_supported() -> None:
    assert unsupported_operations(GRAPH) == ()
    assert [operation_kind(each) for each in GRAPH.nodes] == ["python", "feature"]


def test_agent_and_call_nodes_are_named() -> None:
    later = (
        node("ask", Agent(profile="p", session="s")),
        node("sub", CALL),
        node("flow", WorkflowCall(definition_id="a.main", definition_module="a")),
    )
    assert [operation_kind(each) for each in later] == ["agent", "subroutine_call", "workflow_call"]
    assert unsupported_operations(graph(nodes=(*GRAPH.nodes, *later))) == (
        "agent node 'ask'",
        "call node 'sub'",
        "call node 'flow'",
    )


def test_a_subclass_of_an_operation_is_that_operation() -> None:
    class Asking(Agent):
        pass

    asking = node("ask", Asking(profile="p", session="s"))
    assert operation_kind(asking) == "agent"
    assert unsupported_operations(graph(nodes=(asking,))) == ("agent node 'ask'",)


def test_an_unknown_operation_is_left_to_the_visit() -> None:
    odd = node("odd", object())
    assert operation_kind(odd) == "unknown"
    assert unsupported_operations(graph(nodes=(odd,))) == ()

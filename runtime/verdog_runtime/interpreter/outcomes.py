"""Outcomes: what a visit returned, checked before anything of it counts.

Each refusal is an error with a machine code and one note that names the node or the edge.
"""

from collections.abc import Coroutine
from contextlib import suppress
from typing import cast

from verdog_runtime.declarations.graph import AnyNode, EdgeDefinition, FeatureNodeDefinition
from verdog_runtime.declarations.ids import NodeId
from verdog_runtime.declarations.results import FeatureSuccess, Success
from verdog_runtime.declarations.state import (
    AnyState,
    FeatureState,
    replaced_features,
    same_nodes,
    same_universe,
    viewed_state,
    with_node_state,
)
from verdog_runtime.interpreter.features import Features, validate_feature_value
from verdog_runtime.interpreter.immutability import require_immutable_state


def check_visit_result(node: AnyNode, result: object, before: AnyState) -> tuple[object, AnyState]:
    """Return the output and the candidate state of a visit to a node that has a state of its own.

    Raises:
        RuntimeError: the result is no `Success` [invalid_result], or its state is not exactly of the node's
            state type [invalid_state].
        TypeError: the state is not immutable.
    """
    if not isinstance(result, Success):
        raise _refuse_result(node.id, result, "Success")
    success = cast("Success[object, object]", result)
    state = success.state
    if type(state) is not node.state_type:
        raise _refusal(
            f"node {node.id!r} returned a state of class {_name(state)}, not {node.state_type.__qualname__}",
            "invalid_state",
            node.id,
        )
    try:
        require_immutable_state(state)
    except TypeError as error:
        error.add_note(f"node={node.id}")
        raise
    return success.output, with_node_state(before, node, state)


def check_feature_result(
    node: FeatureNodeDefinition, result: object, before: AnyState, features: Features
) -> AnyState:
    """Return the candidate state of a visit to a feature node.

    Raises:
        RuntimeError: the result is no `FeatureSuccess` [invalid_result], its state no `FeatureState`
            [invalid_feature_state], something else than features changed [unauthorized_state_change], or a
            feature lost its value [invalid_feature_value].
        ValueError: the state belongs to another activation, or a feature's value is not in its domain.
    """
    if not isinstance(result, FeatureSuccess):
        raise _refuse_result(node.id, result, "FeatureSuccess")
    view = cast("FeatureSuccess[object]", result).state
    if not isinstance(cast(object, view), FeatureState):
        raise _refusal(
            f"feature node {node.id!r} returned a state of class {_name(view)}, not FeatureState",
            "invalid_feature_state",
            node.id,
        )
    candidate = viewed_state(view)
    try:
        if not same_universe(before, candidate):
            raise ValueError(
                f"feature node {node.id!r} returned a state that is not a view of the one it was given"
            )
        if not same_nodes(before, candidate):
            raise _refusal(
                f"feature node {node.id!r} changed the state of a node",
                "unauthorized_state_change",
                node.id,
            )
        _check_features(node, before, candidate, features)
    except ValueError as error:
        error.add_note(f"node={node.id}")
        raise
    return candidate


def missing_visit(edge: EdgeDefinition) -> RuntimeError:
    """Return the error of an edge that enters a node and has nothing to do there [missing_visit]."""
    error = RuntimeError(f"edge {edge.id!r} has no visit for node {edge.target!r} [missing_visit]")
    error.add_note(f"edge={edge.id}")
    return error


def unsupported_operation(node: AnyNode) -> RuntimeError:
    """Return the error of a node whose operation the interpreter does not know [unsupported_operation]."""
    return _refusal(
        f"node {node.id!r} has an operation of unknown class {_name(node.operation)}",
        "unsupported_operation",
        node.id,
    )


def missing_call_visit(node: AnyNode) -> RuntimeError:
    """Return the error of a call node entered without an adapter [durable_call_visit_required]."""
    return _refusal(
        f"call node {node.id!r} was entered without a call visit", "durable_call_visit_required", node.id
    )


def _check_features(
    node: FeatureNodeDefinition, before: AnyState, candidate: AnyState, features: Features
) -> None:
    for feature in replaced_features(before, candidate):
        value: object = candidate.get(feature)
        if value is None:
            raise _refusal(
                f"feature node {node.id!r} took the value of feature {feature.id!r} away",
                "invalid_feature_value",
                node.id,
            )
        validate_feature_value(features.get(feature.id, feature), value)


def _refuse_result(node: NodeId, result: object, expected: str) -> RuntimeError:
    what = f"an object of class {_name(result)}"
    if isinstance(result, Coroutine):
        # Left alone, it would warn at some later time that nobody awaited it.
        with suppress(Exception):
            cast("Coroutine[object, object, object]", result).close()
        what = "a coroutine, and visits are not awaited"
    return _refusal(f"node {node!r} must return {expected}; it returned {what}", "invalid_result", node)


def _refusal(message: str, code: str, node: NodeId) -> RuntimeError:
    error = RuntimeError(f"{message} [{code}]")
    error.add_note(f"node={node}")
    return error


def _name(value: object) -> str:
    return type(value).__qualname__

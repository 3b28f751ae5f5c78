"""Routing: the one edge that a visit's outcome allows."""

from collections.abc import Sequence

from verdog_runtime.declarations.graph import EdgeDefinition
from verdog_runtime.declarations.ids import NodeId
from verdog_runtime.declarations.state import AnyState, changed_features
from verdog_runtime.interpreter.features import Features, effects_satisfied, evaluate_conditions
from verdog_runtime.interpreter.routes import explain_routing


def select_edge(
    source: NodeId,
    edges: Sequence[EdgeDefinition],
    before: AnyState,
    candidate: AnyState,
    features: Features,
) -> EdgeDefinition:
    """Return the only compatible edge.

    An edge is compatible if its conditions hold before the visit, its effects hold between before and
    candidate, and every feature that no effect of it mentions is unchanged.

    Args:
        source: the node or port that was visited.
        edges: its outgoing edges, in declaration order. All of them are evaluated.
        before: the state before the visit.
        candidate: the state after it, of the same universe.
        features: the graph's features.

    Raises:
        RuntimeError: not exactly one edge is compatible [routing_failed]; a note names the source, and says
            which edges there were.
        ValueError: a condition or an effect cannot be evaluated; a note names the edge.
    """
    changed = {str(feature.id) for feature in changed_features(before, candidate)}
    compatible = [edge for edge in edges if _is_compatible(edge, before, candidate, features, changed)]
    if len(compatible) == 1:
        return compatible[0]
    why = explain_routing(edges, compatible, before, candidate, features)
    error = RuntimeError(
        f"{len(compatible)} of the {len(edges)} edges that leave {source!r} are compatible, "
        f"and it must be exactly 1{why} [routing_failed]"
    )
    names = ",".join(sorted(changed))
    error.add_note(f"node={source} compatible={_names(compatible)} of={_names(edges)} changed={names}")
    raise error


def _is_compatible(
    edge: EdgeDefinition, before: AnyState, candidate: AnyState, features: Features, changed: set[str]
) -> bool:
    try:
        if not evaluate_conditions(edge.conditions, before, features):
            return False
        if not effects_satisfied(edge.effects, before, candidate, features):
            return False
    except ValueError as error:
        error.add_note(f"edge={edge.id}")
        raise
    # The inferred effects, UNCHANGED for each feature that is not mentioned, without making them.
    return not changed or changed <= {effect.feature_id for effect in edge.effects}


def _names(edges: Sequence[EdgeDefinition]) -> str:
    return ",".join(edge.id for edge in edges)

"""A graph compiled for execution: lookups that the machine would otherwise search for at every transition."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from verdog_runtime.declarations.graph import (
    AnyFeature,
    AnyGraph,
    AnyNode,
    EdgeDefinition,
    FeatureNodeDefinition,
)
from verdog_runtime.declarations.ids import FeatureId, NodeId

Node = AnyNode | FeatureNodeDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One graph and its lookups.

    Attributes:
        routes: the outgoing edges of each node, in declaration order. A node without any is absent.
    """

    graph: AnyGraph
    nodes: Mapping[NodeId, Node]
    routes: Mapping[NodeId, tuple[EdgeDefinition, ...]]
    features: Mapping[FeatureId, AnyFeature]


def compile_plan(graph: AnyGraph) -> Plan:
    """Return the lookups of a graph that `validate_graph` accepted. Cost: O(nodes + edges)."""
    routes: dict[NodeId, list[EdgeDefinition]] = {}
    for edge in graph.edges:
        routes.setdefault(edge.source, []).append(edge)
    return Plan(
        graph=graph,
        nodes=MappingProxyType({node.id: node for node in graph.nodes}),
        routes=MappingProxyType({source: tuple(edges) for source, edges in routes.items()}),
        features=MappingProxyType({feature.id: feature for feature in graph.features}),
    )

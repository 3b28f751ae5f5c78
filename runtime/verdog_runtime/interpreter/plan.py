"""A graph compiled for execution: lookups that the machine would otherwise search for at every transition."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from verdog_runtime.declarations.graph import (
    EdgeDefinition,
    FeatureDefinition,
    FeatureNodeDefinition,
    GraphDefinition,
    NodeDefinition,
)
from verdog_runtime.declarations.ids import FeatureId, NodeId

Graph = GraphDefinition[object, object, object, object]
Node = NodeDefinition[object, object] | FeatureNodeDefinition
Feature = FeatureDefinition[object, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One graph and its lookups.

    Attributes:
        routes: the outgoing edges of each node, in declaration order. A node without any is absent.
    """

    graph: Graph
    nodes: Mapping[NodeId, Node]
    routes: Mapping[NodeId, tuple[EdgeDefinition, ...]]
    features: Mapping[FeatureId, Feature]


def compile_plan(graph: Graph) -> Plan:
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

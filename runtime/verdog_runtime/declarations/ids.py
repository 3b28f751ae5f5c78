"""Ids: the names of nodes, edges, features, graphs, runs, profiles and sessions."""

import keyword
import re
from typing import NewType, TypeAlias

NodeId = NewType("NodeId", str)
EdgeId = NewType("EdgeId", str)
FeatureId = NewType("FeatureId", str)
GraphId = NewType("GraphId", str)
RunId = NewType("RunId", str)
AgentProfileId = NewType("AgentProfileId", str)
AgentSessionId = NewType("AgentSessionId", str)
ProviderSessionId = NewType("ProviderSessionId", str)

ParameterAddress: TypeAlias = tuple[str, GraphId]
"""(project path, graph id): the Params of one subroutine."""

_ENTITY = re.compile(r"[a-z](?:_?[a-z0-9])*", re.ASCII)
# `type` is a soft keyword from Python 3.12 on; an id must mean the same under every version.
_KEYWORDS = frozenset((*keyword.kwlist, *keyword.softkwlist, "type"))


def is_valid_entity_id(value: str, /) -> bool:
    """Return whether this is one lower-case name: letters, digits, single inner underscores, no keyword."""
    return _ENTITY.fullmatch(value) is not None and value not in _KEYWORDS


def is_valid_definition_id(value: str, /) -> bool:
    """Return whether this is a local definition id: entity ids joined by double underscores."""
    return all(is_valid_entity_id(part) for part in value.split("__"))

"""Operations: what a node does when it is visited."""

import types
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, TypeVar, cast

from typing_extensions import TypeForm

from verdog_runtime.declarations.ids import (
    AgentProfileId,
    AgentSessionId,
    GraphId,
    ParameterAddress,
    is_valid_entity_id,
)

ParameterType: TypeAlias = TypeForm[object] | types.UnionType
"""Any type form: a class, a union, a Literal."""

_SlotT = TypeVar("_SlotT", AgentProfileId, AgentSessionId)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Run a visit that may ask an agent.

    Attributes:
        profile: the profile that answers.
        session: the session the answers belong to.
    """

    profile: AgentProfileId
    session: AgentSessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """Run a visit that is plain Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Run a visit that sets features, which routing reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubroutineCall:
    """Call a graph in this process.

    Attributes:
        definition_id: the called graph's id.
        definition_module: the module whose `definition()` returns it.
        params_types: the Params of every graph that the call can reach in this process.
        profile_arguments: which of the caller's profiles fills each of the called graph's slots.
        session_arguments: which of the caller's sessions fills each of the called graph's slots.
        project_path: where the project that holds the graph is, relative to the caller's project.

    Raises:
        TypeError: the module is no string, or an argument mapping is no mapping.
        ValueError: the module or an argument id is not a valid name.
    """

    definition_id: GraphId
    definition_module: str
    params_types: Mapping[ParameterAddress, ParameterType]
    profile_arguments: Mapping[AgentProfileId, AgentProfileId]
    session_arguments: Mapping[AgentSessionId, AgentSessionId]
    project_path: str = "."

    def __post_init__(self) -> None:
        _check_module(self.definition_module)
        profiles = _frozen_arguments(self.profile_arguments, "profile_arguments")
        sessions = _frozen_arguments(self.session_arguments, "session_arguments")
        object.__setattr__(self, "profile_arguments", profiles)
        object.__setattr__(self, "session_arguments", sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowCall:
    """Call a workflow in a process and an environment of its own.

    Attributes:
        definition_id: the called workflow's id.
        definition_module: the module whose `definition()` returns it.
        project_path: where the project that holds the workflow is, relative to the caller's project.

    Raises:
        TypeError: the module is no string.
        ValueError: the module is not a valid name.
    """

    definition_id: GraphId
    definition_module: str
    project_path: str = "."

    def __post_init__(self) -> None:
        _check_module(self.definition_module)


Operation: TypeAlias = Agent | Feature | Python | SubroutineCall | WorkflowCall


def _check_module(module: object) -> None:
    if not isinstance(module, str):
        raise TypeError(f"definition_module must be a string, not {type(module).__name__}")
    if not all(is_valid_entity_id(part) for part in module.split(".")):
        raise ValueError(f"definition_module is not an absolute module of lower-case names: {module!r}")


def _frozen_arguments(arguments: Mapping[_SlotT, _SlotT], name: str) -> Mapping[_SlotT, _SlotT]:
    if not isinstance(cast(object, arguments), Mapping):
        raise TypeError(f"{name} must be a mapping, not {type(arguments).__name__}")
    for slot, argument in arguments.items():
        for value in (slot, argument):
            _check_slot(value, name)
    return MappingProxyType(dict(arguments))


def _check_slot(value: object, name: str) -> None:
    if not isinstance(value, str) or not is_valid_entity_id(value):
        raise ValueError(f"{name} holds an invalid id: {value!r}")

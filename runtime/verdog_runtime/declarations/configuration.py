"""Configuration: what a workflow is given from outside before it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from verdog_runtime.declarations.agents import AgentInvoker
from verdog_runtime.declarations.ids import AgentProfileId


def _no_profiles() -> dict[AgentProfileId, AgentInvoker]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowConfiguration:
    """The invokers of a workflow.

    Attributes:
        profile_arguments: the invoker of each profile id that the workflow's entry names.
    """

    profile_arguments: Mapping[AgentProfileId, AgentInvoker] = field(default_factory=_no_profiles)

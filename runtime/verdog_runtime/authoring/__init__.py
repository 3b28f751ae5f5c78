"""Workflows as graphs in one Python file.

A `Workflow` (or a `Subroutine`) hands out its parts: features, nodes, ports. `node.on(source)` makes the edge
from `source` to `node` and decorates the function that says what the node does when it is entered by that
edge. The type checker infers and checks every type; any other mistake is an error that names its line.
`flow.definition()` is what the interpreter takes. How ids are made is in `verdog_runtime.authoring.naming`.
"""

from verdog_runtime.authoring.builder import Profile, Session
from verdog_runtime.authoring.feature import BooleanFeature, EnumFeature, FloatFeature, IntegerFeature
from verdog_runtime.authoring.flow import Subroutine, Workflow
from verdog_runtime.authoring.location import AuthoringError
from verdog_runtime.authoring.node import AgentNode, CallNode, FeatureNode, PythonNode, Source
from verdog_runtime.authoring.state import FeatureState
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.context import AgentAccess, CallContext
from verdog_runtime.declarations.context import AgentNodeContext as AgentContext
from verdog_runtime.declarations.context import NodeContext as Context
from verdog_runtime.declarations.results import FeatureSuccess, RemoteWorkflowError, Success

__all__ = [
    "AgentAccess",
    "AgentContext",
    "AgentNode",
    "AuthoringError",
    "BooleanFeature",
    "CallContext",
    "CallNode",
    "Context",
    "EnumFeature",
    "FeatureNode",
    "FeatureState",
    "FeatureSuccess",
    "FloatFeature",
    "IntegerFeature",
    "Profile",
    "PythonNode",
    "RemoteWorkflowError",
    "Session",
    "Source",
    "Subroutine",
    "Success",
    "Workflow",
    "WorkflowConfiguration",
]

"""Flows: workflows and subroutines, the graphs that have a name."""

from collections.abc import Callable
from types import NoneType
from typing import Any, Generic, cast

from typing_extensions import TypeVar

from verdog_runtime.authoring.assembly import define_workflow
from verdog_runtime.authoring.builder import GraphBuilder, Profile, Session
from verdog_runtime.authoring.draft import Draft, require_name
from verdog_runtime.authoring.location import AuthoringError, locate_caller
from verdog_runtime.authoring.naming import choose_package
from verdog_runtime.declarations.agents import AgentInvoker
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.graph import AgentSessionParameter, WorkflowDefinition
from verdog_runtime.declarations.ids import AgentProfileId, AgentSessionId

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ParamsT = TypeVar("ParamsT", default=None)
OptionsT = TypeVar("OptionsT")


class Subroutine(GraphBuilder[InputT, OutputT, ParamsT], Generic[InputT, OutputT, ParamsT]):
    """A graph that workflows and other subroutines call in their own process."""

    def __init__(
        self,
        name: str,
        *,
        input: type[InputT],
        output: type[OutputT],
        params: type[ParamsT] | None = None,
    ) -> None:
        """Begin a subroutine.

        Args:
            name: its id within the workflows that call it.
            input: the type of its input.
            output: the type of its output.
            params: the type of its parameters, which must be callable without arguments.

        Raises:
            AuthoringError: the name is not legal.
        """
        super().__init__(_begin(name, input, params, isolated=False))

    def profile(self, name: str, *, label: str = "") -> Profile:
        """Declare a profile that the caller fills."""
        return self._profile_parameter(name, label, self._claim("profile", name))

    def session_parameter(self, name: str, *, label: str = "") -> Session:
        """Declare a session that the caller fills."""
        location = self._claim("session", name)
        session = AgentSessionParameter(id=AgentSessionId(name), name=label or name)
        self.draft.add(self.draft.session_parameters, session, location)
        return Session(self.draft, session.id)


class Workflow(GraphBuilder[InputT, OutputT, ParamsT], Generic[InputT, OutputT, ParamsT]):
    """A graph that can be run."""

    def __init__(
        self,
        name: str,
        *,
        input: type[InputT],
        output: type[OutputT],
        params: type[ParamsT] | None = None,
    ) -> None:
        """Begin a workflow.

        Args:
            name: its id within its file.
            input: the type of its input; the command line makes arguments of its fields.
            output: the type of its output.
            params: the type of its parameters, which must be callable without arguments.

        Raises:
            AuthoringError: the name is not legal.
        """
        super().__init__(_begin(name, input, params, isolated=True))

    def params(self, params: type[Any]) -> None:
        """Say the type of the workflow's parameters; it must be callable without arguments."""
        self.draft.require_open(locate_caller())
        self.draft.params_type = params

    def options(
        self, options: type[OptionsT], configure: Callable[[OptionsT], WorkflowConfiguration]
    ) -> None:
        """Say what can be chosen for a run, and how that is turned into invokers.

        Args:
            options: a dataclass; the command line makes arguments of its fields.
            configure: returns the invokers that differ from the profiles' defaults.
        """
        location = locate_caller()
        self.draft.require_open(location)
        if not isinstance(cast(object, options), type) or not callable(configure):
            raise AuthoringError(location, "options takes a class and a function that takes an object of it")
        self.draft.options_type = options
        self.draft.configure = configure

    def profile(self, name: str, *, default: AgentInvoker | None = None, label: str = "") -> Profile:
        """Declare a profile.

        Args:
            name: its id.
            default: its invoker unless `options` chooses another.
            label: a text for people.
        """
        location = self._claim("profile", name)
        if default is not None:
            provider = cast(object, getattr(default, "session_provider", None))
            if not callable(default) or not isinstance(provider, str) or not provider:
                raise AuthoringError(
                    location, f"the default of profile {name!r} must be callable and have a session_provider"
                )
            self.draft.configuration[AgentProfileId(name)] = default
        return self._profile_parameter(name, label, location)

    def configure(self, options: object = None) -> WorkflowConfiguration:
        """Return the invokers for some options: the defaults, and what the options choose instead."""
        chosen = dict(self.draft.configuration)
        if self.draft.configure is not None:
            chosen.update(self.draft.configure(options).profile_arguments)
        return WorkflowConfiguration(profile_arguments=chosen)

    def definition(self) -> WorkflowDefinition[InputT, OutputT, ParamsT, object]:
        """Return the workflow as the interpreter takes it. From then on nothing can be added.

        Raises:
            AuthoringError: something is missing, or breaks a rule that needs the whole graph.
        """
        return define_workflow(self.draft, self.draft.package)


def _begin(name: str, input: type[Any], params: type[Any] | None, *, isolated: bool) -> Draft:
    location = locate_caller()
    require_name("workflow" if isolated else "subroutine", name, location)
    return Draft(
        name=name,
        package=choose_package(location),
        location=location,
        isolated=isolated,
        input_type=input,
        params_type=params or NoneType,
    )

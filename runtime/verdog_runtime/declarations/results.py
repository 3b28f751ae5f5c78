"""Results: what a visit returns, and the error of a workflow that ran in another process."""

from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from verdog_runtime.declarations.keys import ScopeT
from verdog_runtime.declarations.state import FeatureState

OutputT_co = TypeVar("OutputT_co", covariant=True)
StateT_co = TypeVar("StateT_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Success(Generic[OutputT_co, StateT_co]):
    """The result of a visit, or of a whole run.

    Attributes:
        output: what the next node gets as its input.
        state: the node's state after the visit.
    """

    output: OutputT_co
    state: StateT_co


@dataclass(frozen=True, kw_only=True)
class FeatureSuccess(Generic[ScopeT]):
    """The result of a visit to a feature node: its input goes on as its output.

    Attributes:
        state: the view it was given, with features replaced.
    """

    state: FeatureState[ScopeT]


class RemoteWorkflowError(RuntimeError):
    """An exception that ended a workflow in another process.

    Attributes:
        exception_type: the qualified name of the exception's class.
        message: its text.
        remote_traceback: its traceback, as text.
    """

    def __init__(self, exception_type: str, message: str, remote_traceback: str, /) -> None:
        super().__init__(f"{exception_type}: {message}")
        self.exception_type = exception_type
        self.message = message
        self.remote_traceback = remote_traceback
        self.add_note(f"Traceback in the workflow's own process:\n{remote_traceback}")

    def __reduce__(self) -> tuple[type["RemoteWorkflowError"], tuple[str, str, str], dict[str, object]]:
        """Pickle by the three arguments, then every attribute, so that added notes are not lost."""
        arguments = (self.exception_type, self.message, self.remote_traceback)
        attributes: dict[str, object] = dict(self.__dict__)
        attributes["__notes__"] = list(self.__notes__)
        return type(self), arguments, attributes

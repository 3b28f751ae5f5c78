"""Refusals: why a run that exists cannot be resumed, restarted or forked as asked."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from verdog_objects.errors import Corrupt, FormatUnsupported, InvalidInput, NotFound
from verdog_runtime.storeerrors import RunStoreError


class AlreadySucceeded(RunStoreError):
    """The run reached its end; there is nothing to resume."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="run.already_succeeded")


class NothingToResume(RunStoreError):
    """The run has no checkpoint to go on from."""

    def __init__(self, message: str, *, code: str = "checkpoint.none") -> None:
        super().__init__(message, code=code)


class WorkflowMismatch(RunStoreError):
    """The definition is not the one that the run executes."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="run.workflow_mismatch")


class Incompatible(RunStoreError):
    """Code or environment are not what the checkpoint was made with.

    Attributes:
        differences: one line for each file, distribution or fact that differs.
        hint: what can be done.
    """

    def __init__(self, message: str, differences: tuple[str, ...]) -> None:
        super().__init__(message, code="run.incompatible", details={"differences": list(differences)})
        self.differences = differences
        self.hint = "put back what changed, restart the run, or go on with --allow-changed-code"


class CheckpointNotFound(RunStoreError, NotFound):
    """The run has no checkpoint of that number."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="checkpoint.not_found")
        self.paths: tuple[bytes, ...] = ()


class DestinationInvalid(RunStoreError, InvalidInput):
    """A fork cannot be written where it was asked for."""

    def __init__(self, message: str, *, code: str = "checkpoint.artifact_destination_invalid") -> None:
        super().__init__(message, code=code)


class RunDamaged(RunStoreError, Corrupt):
    """What is stored of the run, or the store itself, is damaged."""

    def __init__(self, message: str, *, paths: Iterable[bytes] = ()) -> None:
        super().__init__(message, code="run.manifest_invalid")
        self.paths: tuple[bytes, ...] = tuple(paths)


class RunUnsupported(RunStoreError, FormatUnsupported):
    """A later version wrote the run, or the store. Nothing was touched."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="run.schema_unsupported")
        self.paths: tuple[bytes, ...] = ()


@contextmanager
def told_as_run_errors() -> Generator[None]:
    """Tell damage and later formats as errors of stored runs, which are all that callers need to know."""
    try:
        yield
    except RunStoreError:
        raise
    except FormatUnsupported as error:
        raise RunUnsupported(str(error)) from error
    except Corrupt as error:
        raise RunDamaged(str(error), paths=error.paths) from error

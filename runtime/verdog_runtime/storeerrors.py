"""The errors of stored runs, as callers of the public interface meet them."""

from collections.abc import Iterable, Mapping

from verdog_objects.errors import Busy


class RunStoreError(ValueError):
    """A stored run that cannot be read, or not be used as asked.

    Attributes:
        code: a stable machine code, such as `run.output_missing`.
        details: what a program may want to know besides.
    """

    def __init__(
        self, message: str, *, code: str = "run.invalid", details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.details: dict[str, object] = dict(details or {})


class RunActive(RunStoreError, Busy):
    """Another process executes the run.

    Attributes:
        owner: who, as text, or None when unknown.
        since_ns: since when, in nanoseconds since the epoch, or None when unknown.
    """

    def __init__(self, message: str, *, owner: str | None = None, since_ns: int | None = None) -> None:
        RunStoreError.__init__(self, message, code="run.active")
        self.paths: tuple[bytes, ...] = ()
        self.owner = owner
        self.since_ns = since_ns


class OutputLost(RunStoreError):
    """The output directory of a run was moved, removed or replaced while the run was being executed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="run.output_lost")


class IntegrityError(RunStoreError):
    """Files of a run that are not what its checkpoint recorded.

    Attributes:
        paths: every one of them, relative to the output directory, byte for byte.
    """

    def __init__(
        self,
        message: str,
        *,
        paths: Iterable[bytes] = (),
        code: str = "checkpoint.artifact_corrupt",
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.paths: tuple[bytes, ...] = tuple(paths)

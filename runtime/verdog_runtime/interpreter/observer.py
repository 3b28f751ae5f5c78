"""Observers: who watches a run from outside, such as the command's live display."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

_LOG = logging.getLogger("verdog.run")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointNotice:
    """What an observer is told of a durable checkpoint.

    Attributes:
        commit: the commit id as 40 hexadecimal digits.
        reason: why it cannot be resumed or forked; None when it can.
    """

    sequence: int
    commit: str
    restorable: bool
    reason: str | None


class Observer(Protocol):
    """Told of each visit and checkpoint on the executing thread. It must be quick, and must not raise."""

    def run_started(self, run: str) -> None:
        """A run is listed and about to execute its first step, or its first one after it was resumed."""
        ...

    def visit_started(self, path: str) -> None:
        """A visit began; `path` is its run-relative directory."""
        ...

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """A visit ended as `succeeded`, `failed` or `cancelled`."""
        ...

    def checkpoint_written(self, notice: CheckpointNotice) -> None:
        """A checkpoint is durable."""
        ...

    def files_restored(self, paths: tuple[bytes, ...]) -> None:
        """Recorded files that differed on disk were put back before the run went on."""
        ...


class SilentObserver:
    """Watches nothing."""

    def run_started(self, run: str) -> None:
        """Do nothing."""

    def visit_started(self, path: str) -> None:
        """Do nothing."""

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """Do nothing."""

    def checkpoint_written(self, notice: CheckpointNotice) -> None:
        """Do nothing."""

    def files_restored(self, paths: tuple[bytes, ...]) -> None:
        """Do nothing."""


class CountingObserver:
    """Counts checkpoints, and passes everything on to another observer until that one raises.

    Attributes:
        begun: a visit was started.
        checkpoints: how many were written.
        not_restorable: how many of those cannot be restored.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.begun = False
        self.checkpoints = 0
        self.not_restorable = 0

    def run_started(self, run: str) -> None:
        """A run is about to execute."""
        self._tell(lambda observer: observer.run_started(run))

    def visit_started(self, path: str) -> None:
        """A visit began."""
        self.begun = True
        self._tell(lambda observer: observer.visit_started(path))

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """A visit ended."""
        self._tell(lambda observer: observer.visit_finished(path, status, duration_s))

    def files_restored(self, paths: tuple[bytes, ...]) -> None:
        """Files were put back."""
        self._tell(lambda observer: observer.files_restored(paths))

    def checkpoint_written(self, notice: CheckpointNotice) -> None:
        """A checkpoint is durable."""
        self.checkpoints += 1
        self.not_restorable += not notice.restorable
        self._tell(lambda observer: observer.checkpoint_written(notice))

    def _tell(self, tell: Callable[[Observer], None]) -> None:
        try:
            tell(self._observer)
        except Exception as error:
            _LOG.warning("progress is not shown any more: %s: %s", type(error).__name__, error)
            self._observer = SilentObserver()

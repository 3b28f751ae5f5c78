"""Observers: who watches a run from outside, such as the command's live display."""

from dataclasses import dataclass
from typing import Protocol


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

    def visit_started(self, path: str) -> None:
        """Do nothing."""

    def visit_finished(self, path: str, status: str, duration_s: float) -> None:
        """Do nothing."""

    def checkpoint_written(self, notice: CheckpointNotice) -> None:
        """Do nothing."""

    def files_restored(self, paths: tuple[bytes, ...]) -> None:
        """Do nothing."""

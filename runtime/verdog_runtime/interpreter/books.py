"""Books: where the checkpoints of a run, and how it ended, are written down."""

from typing import Protocol

from verdog_runtime.interpreter.commands import Fail, Finish, Record
from verdog_runtime.interpreter.machine import Machine


class Books(Protocol):
    """The record of one run while it executes. Used by the executing thread."""

    def record(self, command: Record, machine: Machine) -> None:
        """Make the machine's state durable, or raise an `Exception` that fails the run."""
        ...

    def finish(self, outcome: Finish | Fail) -> None:
        """Write that the run reached its exit port or its failure port."""
        ...

    def interrupt(self, error: BaseException) -> None:
        """Write that something that is no `Exception` ended the execution. It must not raise."""
        ...


class NoBooks:
    """Keeps nothing: a run without checkpoints, started from Python."""

    def record(self, command: Record, machine: Machine) -> None:
        """Do nothing."""

    def finish(self, outcome: Finish | Fail) -> None:
        """Do nothing."""

    def interrupt(self, error: BaseException) -> None:
        """Do nothing."""

"""Settings: what a dispatcher was made with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from verdog_runtime.cancellation import CancellationToken
from verdog_runtime.interpreter.clock import read_instant
from verdog_runtime.interpreter.events import ExecutionHandler
from verdog_runtime.interpreter.observer import Observer, SilentObserver

TRANSITION_LIMIT = 10_000
"""How many transitions a run may make unless something else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every run of one dispatcher shares.

    Attributes:
        project_root: absolute.
        transition_limit: how many transitions one run may make, resumed parts included.
        granted: how many transitions a run that goes on may make instead of what is left of its limit.
        handler: receives the public execution events.
        observer: watches visits and checkpoints for a display.
        now: the time for records, as RFC 3339 text in UTC.
    """

    project_root: Path
    transition_limit: int = TRANSITION_LIMIT
    cancellation: CancellationToken = field(default_factory=CancellationToken)
    handler: ExecutionHandler | None = None
    observer: Observer = field(default_factory=SilentObserver)
    now: Callable[[], str] = read_instant
    granted: int | None = None

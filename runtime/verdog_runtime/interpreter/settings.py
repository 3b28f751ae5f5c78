"""Settings: what a dispatcher was made with."""

from dataclasses import dataclass, field
from pathlib import Path

from verdog_runtime.cancellation import CancellationToken
from verdog_runtime.interpreter.events import ExecutionHandler
from verdog_runtime.interpreter.observer import Observer, SilentObserver


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every run of one dispatcher shares.

    Attributes:
        project_root: absolute.
        transition_limit: how many transitions one run may make, resumed parts included.
        handler: receives the public execution events.
        observer: watches visits and checkpoints for a display.
    """

    project_root: Path
    transition_limit: int = 10_000
    cancellation: CancellationToken = field(default_factory=CancellationToken)
    handler: ExecutionHandler | None = None
    observer: Observer = field(default_factory=SilentObserver)

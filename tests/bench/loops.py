"""A loop of visits that each write 1 KB and leave 2 KB of new state; run with a clock on every commit."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event, Semaphore, Thread
from unittest.mock import patch

from verdog_objects.compression import compress
from verdog_runtime.authoring import Context, FeatureState, Success, Workflow
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.interpreter.commands import Record
from verdog_runtime.interpreter.machine import Machine
from verdog_runtime.interpreter.recorder import Recorder

WORKERS = 9
"""The nodes of the loop that do something; a tenth one counts the turns."""


@dataclass(frozen=True)
class Turns:
    """How often the loop goes round."""

    turns: int = 1


@dataclass(frozen=True)
class Notes:
    """The state of a node: 2 KB that are new after each visit."""

    text: str = ""


flow = Workflow("loop", input=Turns, output=Turns)
left = flow.integer("left")
start = flow.feature_node("start", carries=Turns)
tick = flow.feature_node("tick", carries=Turns)
workers = [flow.python_node(f"work{number}", output=Turns, state=Notes) for number in range(WORKERS)]


def write_sample(directory: Path) -> None:
    """Write what a visit leaves: 1 KB that nothing compresses."""
    (directory / "out.bin").write_bytes(os.urandom(1024))


@start.on(flow.enter)
def begin(value: Turns, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, value.turns - 1)


def work(value: Turns, state: Notes, context: Context) -> Success[Turns, Notes]:
    write_sample(context.output_dir)
    return Success(output=value, state=Notes(text=os.urandom(1024).hex()))


workers[0].on(start, effects=[left.unconstrained])(work)
workers[0].on(tick, effects=[left.decreases])(work)
for before, after in pairwise(workers):
    after.on(before)(work)


@tick.on(workers[-1], when=[left.positive])
def count_down(value: Turns, state: FeatureState, context: Context) -> FeatureState:
    write_sample(context.output_dir)
    return state.replace(left, state.get(left) - 1)


flow.exit.on(workers[-1], when=[left.zero])

VISIT_PAYLOAD_BYTES = 1024 + len(compress(os.urandom(1024).hex().encode())[1])
"""What a visit leaves, compressed as the store compresses."""


@dataclass(kw_only=True)
class Loop:
    """A loop that was executed.

    Attributes:
        commits: how long each commit took after a visit that left file and state, in seconds.
        base: how long the paired operation took before each of the last commits.
        seconds: how long all of it took.
        store_bytes: the size of the project's store afterwards, closed.
    """

    project: Path
    output: Path
    commits: list[float] = field(default_factory=list)
    base: list[float] = field(default_factory=list)
    seconds: float = 0.0
    store_bytes: int = 0

    @property
    def paired(self) -> list[float]:
        """The commits that the paired operation went before."""
        return self.commits[len(self.commits) - len(self.base) :]


Operation = Callable[[], float]
"""Something that returns how long it took, in seconds."""


def record_loop(project: Path, visits: int, base: Operation | None = None, last: int = 0) -> Loop:
    """Execute the loop with a checkpoint for every visit.

    Args:
        project: an empty directory.
        visits: how many.
        base: done before each of the last commits.
        last: how many these are, at most.
    """
    loop = Loop(project=project, output=project / "out")
    commits = visits // (WORKERS + 1) * WORKERS

    def timed(recorder: Recorder, command: Record, machine: Machine) -> None:
        if not command.completed.node.startswith("work"):
            return COMMIT(recorder, command, machine)
        if base is not None and len(loop.commits) >= commits - last:
            loop.base.append(base())
        begun = time.perf_counter()
        COMMIT(recorder, command, machine)
        loop.commits.append(time.perf_counter() - begun)
        return None

    with watch(project, timed):
        loop.seconds = execute(project, loop.output, visits, CheckpointPolicy.AUTO)
    loop.store_bytes = measure_directory(project / ".verdog" / "store")
    return loop


Recording = Callable[[Recorder, Record, Machine], None]

COMMIT: Recording = Recorder.record

_watchers: dict[Path, Recording] = {}


def _record(recorder: Recorder, command: Record, machine: Machine) -> None:
    _watchers[recorder.repository.project](recorder, command, machine)


@contextmanager
def watch(project: Path, recording: Recording) -> Generator[None]:
    """Record the checkpoints of a project's runs through another function."""
    _watchers[project] = recording
    try:
        with patch.object(Recorder, "record", _record):
            yield
    finally:
        del _watchers[project]


class WaitingRun:
    """A loop in another thread that goes on for one commit when it is asked to.

    Before the first time it does its first commits by itself: `skipped` of them.
    """

    def __init__(self, project: Path, visits: int, skipped: int) -> None:
        self._skipped = skipped
        self._asked, self._done, self._over = Semaphore(0), Semaphore(0), Event()
        self._taken = 0.0
        self._thread = Thread(target=self._execute, args=(project, visits), daemon=True)
        self._thread.start()

    def commit(self) -> float:
        """Go on for one commit, wait again, and return how long the commit took."""
        self._asked.release()
        if not self._done.acquire(timeout=60):
            raise RuntimeError("the waiting run stopped")
        return self._taken

    def end(self) -> None:
        """Let it go on by itself to its end."""
        self._over.set()
        self._asked.release()
        self._thread.join()

    def _execute(self, project: Path, visits: int) -> None:
        _watchers[project] = self._timed
        self._asked.acquire()
        execute(project, project / "out", visits, CheckpointPolicy.AUTO)
        del _watchers[project]

    def _timed(self, recorder: Recorder, command: Record, machine: Machine) -> None:
        begun = time.perf_counter()
        COMMIT(recorder, command, machine)
        if not command.completed.node.startswith("work") or self._over.is_set():
            return
        self._skipped -= 1
        if self._skipped < 0:
            self._taken = time.perf_counter() - begun
            self._done.release()
            self._asked.acquire()


def execute(project: Path, output: Path, visits: int, policy: CheckpointPolicy) -> float:
    """Execute the loop and return how long it took, in seconds."""
    begun = time.perf_counter()
    Dispatcher(project_root=project, transition_limit=10**9).run(
        flow.definition(),
        Turns(turns=max(1, visits // (WORKERS + 1))),
        output_dir=output,
        checkpointing=policy,
    )
    return time.perf_counter() - begun


def measure_directory(directory: Path) -> int:
    """Return the size of all files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())

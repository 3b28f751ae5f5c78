"""A loop of visits that each write 1 KB and leave 2 KB of new state; run with a clock on every commit."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from tests.bench.pairs import Appender
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
    return state.replace(left, value.turns)


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
        appends: how long the paired appends took.
        paired: the times of `commits` that an append went before.
        seconds: how long all of it took.
        store_bytes: the size of the project's store afterwards, closed.
    """

    project: Path
    output: Path
    commits: list[float] = field(default_factory=list)
    appends: list[float] = field(default_factory=list)
    paired: list[float] = field(default_factory=list)
    seconds: float = 0.0
    store_bytes: int = 0


def record_loop(project: Path, visits: int, is_paired: Callable[[int], bool]) -> Loop:
    """Execute the loop with a checkpoint for every visit.

    Args:
        project: an empty directory.
        visits: how many, about.
        is_paired: whether an append goes before the commit of this number.
    """
    loop = Loop(project=project, output=project / "out")
    appender = Appender(project / "appended")
    commit = Recorder.record

    def timed(recorder: Recorder, command: Record, machine: Machine) -> None:
        completed = command.completed
        if not completed.node.startswith("work"):
            return commit(recorder, command, machine)
        paired = is_paired(len(loop.commits))
        if paired:
            appender.append()
        begun = time.perf_counter()
        commit(recorder, command, machine)
        loop.commits.append(time.perf_counter() - begun)
        if paired:
            loop.paired.append(loop.commits[-1])
        return None

    with patch.object(Recorder, "record", timed):
        loop.seconds = execute(project, loop.output, visits, CheckpointPolicy.AUTO)
    appender.close()
    loop.appends = appender.taken
    loop.store_bytes = measure_directory(project / ".verdog" / "store")
    return loop


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

"""Case 12 by hand: visits that write 1 KB each beside a large file and many files that nobody touches.

    python -m tests.bench.untouched --directory /some/disk

makes a file of 5 GB and 250,000 small files in one visit, then commits 50 visits of 1 KB each, and prints
what each of those adds to the store and how long it takes. It needs room for the file twice.
"""

import argparse
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import cast
from unittest.mock import patch

from verdog_objects.sqlite import SqliteStore
from verdog_runtime.authoring import Context, FeatureState, Success, Workflow
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.interpreter.artifacts import ArtifactTree
from verdog_runtime.interpreter.recorder import Recorder

_BLOCK_BYTES = 1 << 20
_FILES_PER_DIRECTORY = 500


@dataclass(frozen=True)
class Job:
    """How much there is that nobody touches, and how many visits come after it."""

    size_mib: int = 5 * 1024
    files: int = 250_000
    visits: int = 50


flow = Workflow("untouched", input=Job, output=Job)
left = flow.integer("left")
make = flow.python_node("make", output=Job)
start = flow.feature_node("start", carries=Job)
work = flow.python_node("work", output=Job)
tick = flow.feature_node("tick", carries=Job)


@make.on(flow.enter)
def write_all(job: Job, state: None, context: Context) -> Success[Job, None]:
    """Write the large file, of bytes that nothing compresses, and the small ones."""
    chance = random.Random(12)
    with (context.output_dir / "large.bin").open("wb") as file:
        for _ in range(job.size_mib):
            file.write(chance.randbytes(_BLOCK_BYTES))
    for number in range(job.files):
        directory = context.output_dir / f"{number // _FILES_PER_DIRECTORY:04}"
        if number % _FILES_PER_DIRECTORY == 0:
            directory.mkdir()
        (directory / f"{number:06}").write_bytes(b"%d" % number)
    os.sync()  # or the disk would still be writing all this while the commits are measured
    return Success(output=job, state=None)


@start.on(make)
def begin(job: Job, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, job.visits - 1)


def write_sample(job: Job, state: None, context: Context) -> Success[Job, None]:
    """Write 1 KB that nothing compresses."""
    (context.output_dir / "out.bin").write_bytes(os.urandom(1024))
    return Success(output=job, state=None)


work.on(start, effects=[left.unconstrained])(write_sample)
work.on(tick, effects=[left.decreases])(write_sample)


@tick.on(work, when=[left.positive])
def count_down(job: Job, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, state.get(left) - 1)


flow.exit.on(work, when=[left.zero])


@dataclass(kw_only=True)
class Measured:
    """What was measured of the commits after the first: those of nodes `work` and `tick`.

    Attributes:
        commits_s: how long each took that did not look at everything.
        sweeps_s: how long each took that did.
        grown_bytes: by how much each let the store grow.
    """

    commits_s: list[float] = field(default_factory=list)
    sweeps_s: list[float] = field(default_factory=list)
    grown_bytes: list[int] = field(default_factory=list)
    first_s: float = 0.0


def measure(job: Job, project: Path) -> Measured:
    """Execute the workflow with a clock on every commit."""
    measured = Measured()
    recording, sweeping = Recorder.record, ArtifactTree._sweep
    swept: list[bool] = []

    def sweep(*arguments: object) -> object:
        swept.append(True)
        return sweeping(*arguments)  # type: ignore[arg-type]

    def record(recorder: Recorder, command: object, machine: object) -> None:
        before, begun = count_bytes(recorder), time.perf_counter()
        swept.clear()
        recording(recorder, command, machine)  # type: ignore[arg-type]
        taken_s = time.perf_counter() - begun
        node = command.completed.node  # type: ignore[attr-defined]
        if node == "make":
            measured.first_s = taken_s
        elif node in ("work", "tick"):
            (measured.sweeps_s if swept else measured.commits_s).append(taken_s)
            measured.grown_bytes.append(count_bytes(recorder) - before)

    with patch.object(Recorder, "record", record), patch.object(ArtifactTree, "_sweep", sweep):
        dispatcher = Dispatcher(project_root=project)
        dispatcher.run(
            flow.definition(), job, output_dir=project / "out", checkpointing=CheckpointPolicy.AUTO
        )
    return measured


def count_bytes(recorder: Recorder) -> int:
    """Return how large a store is: the pages of its database, wherever they are now, and its packs."""
    store = recorder.repository.store
    assert isinstance(store, SqliteStore)
    connection = store.connections.get()
    pages, page_bytes = (
        cast("int", connection.execute(f"PRAGMA {name}").fetchall()[0][0])
        for name in ("page_count", "page_size")
    )
    return pages * page_bytes + sum(each.stat().st_size for each in store.pack_files())


def report(job: Job, measured: Measured) -> str:
    """Return the result as lines of Markdown."""
    commits, grown = sorted(measured.commits_s), measured.grown_bytes
    lines = [
        f"- untouched: a file of {job.size_mib:,} MiB and {job.files:,} small files, "
        f"captured in {measured.first_s:.1f} s",
        f"- then {job.visits} visits of 1 KB, {len(grown)} commits: {len(commits)} of them took "
        f"{1000 * median(commits):.2f} ms (median), {1000 * commits[-1]:.2f} ms (longest)",
        f"- {len(measured.sweeps_s)} looked at every file, by `stat`: "
        f"{', '.join(f'{each:.2f} s' for each in measured.sweeps_s) or '-'}",
        f"- the store grew by {sum(grown) / job.visits:,.0f} bytes a visit (mean); "
        f"{max(grown):,} at most in one commit",
        f"- memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB at most",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure in a temporary directory, and print the result."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.untouched", description=__doc__)
    parser.add_argument("--directory", type=Path, help="measure the disk of this directory")
    parser.add_argument("--mib", type=int, default=Job.size_mib)
    parser.add_argument("--files", type=int, default=Job.files)
    parser.add_argument("--visits", type=int, default=Job.visits)
    given = parser.parse_args(arguments)
    job = Job(size_mib=given.mib, files=given.files, visits=given.visits)
    project = Path(tempfile.mkdtemp(prefix="verdog-untouched-", dir=given.directory))
    try:
        (project / "pyproject.toml").touch()
        print(report(job, measure(job, project)))
    finally:
        shutil.rmtree(project)


if __name__ == "__main__":
    main()

"""Rows about commands that only look: each a process of its own, beside an empty one."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.bench.bench import Bench
from tests.bench.pairs import Samples, measure
from tests.repo.samples import Script
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus
from verdog_runtime.runs import RunStore

LOG_TARGET_S, RUNS_TARGET_S, OPEN_TARGET = 0.150, 0.250, 1.3
HEAVY = ("pygit2", "cffi", "_cffi_backend")


def verdog(project: Path, *arguments: str, imports: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command line in a new process."""
    flags = ["-X", "importtime"] if imports else []
    return subprocess.run(
        [sys.executable, *flags, "-m", "verdog_cli", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"},
    )


def empty(number: int) -> None:
    """Start Python and do nothing."""
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def measure_help(bench: Bench) -> None:
    """The help text."""
    project = bench.directory("help")
    ours, base = measure(lambda number: verdog(project, "--help"), empty, rounds=bench.sizes.shots)
    _add(bench, "help", "verdog --help", ours, base)


def measure_log(bench: Bench) -> None:
    """The history of a long run."""
    loop = bench.long_loop
    command = ("log", str(loop.output), "-n", "20")
    verdog(loop.project, *command)
    ours, base = measure(lambda number: verdog(loop.project, *command), empty, rounds=bench.sizes.shots)
    trace = verdog(loop.project, *command, imports=True).stderr
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in trace.splitlines()}
    heavy = sorted(loaded.intersection(HEAVY))
    note = f"it imports {', '.join(heavy)}" if heavy else "pygit2 is not imported"
    _add(
        bench,
        "log",
        f"verdog log -n 20, new process, a run of {bench.sizes.visits:,} checkpoints",
        ours,
        base,
        limit_s=LOG_TARGET_S,
        fits=not heavy,
        note=note,
    )


def measure_runs(bench: Bench) -> None:
    """The list of many runs."""
    project = bench.directory("runs")
    script = Script(Repository.create(project))
    for number in range(bench.sizes.runs):
        run = f"run-{number:06d}"
        script.run(run)
        script.commit(run)
        script.release(run)
        header = replace(script.repository.header(RunId(run)), status=RunStatus.SUCCEEDED)
        script.repository.update_header(RunId(run), None, header)
        (project / header.output_dir).mkdir(parents=True)
    script.close()
    verdog(project, "runs")
    ours, base = measure(lambda number: verdog(project, "runs"), empty, rounds=bench.sizes.shots)
    what = f"verdog runs, new process, {bench.sizes.runs:,} runs"
    _add(bench, "runs", what, ours, base, limit_s=RUNS_TARGET_S)


def measure_open(bench: Bench) -> None:
    """A run opened, with many checkpoints and with few."""

    def read(output: Path) -> None:
        assert RunStore.open(output).manifest().checkpoints.count > 0

    long, short = bench.long_loop, bench.short_loop
    ours, base = measure(
        lambda number: read(long.output), lambda number: read(short.output), rounds=4 * bench.sizes.shots
    )
    bench.add(
        name="open",
        what=f"opening a run of {bench.sizes.visits:,} checkpoints, with its summary",
        ours=ours.median,
        base=base.median,
        base_name="a run of 100",
        target="independent (<= 1.3x)",
        ok=ours.median <= OPEN_TARGET * base.median,
    )


def _add(
    bench: Bench,
    name: str,
    what: str,
    ours: Samples,
    base: Samples,
    *,
    limit_s: float | None = None,
    fits: bool = True,
    note: str = "",
) -> None:
    bench.add(
        name=name,
        what=what,
        ours=ours.median,
        base=base.median,
        base_name="python -c pass",
        target="-" if limit_s is None else f"<= {limit_s * 1e3:.0f} ms",
        ok=None if limit_s is None else fits and ours.median <= limit_s,
        note=note,
    )

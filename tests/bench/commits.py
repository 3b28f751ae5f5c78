"""Rows about commits: what one costs, whether it grows, what it takes to store, and a loop without any."""

from statistics import median

from tests.bench.bench import Bench
from tests.bench.loops import VISIT_PAYLOAD_BYTES, WORKERS, Loop, execute, record_loop, write_sample
from tests.bench.pairs import Appender, Samples, measure
from tests.bench.table import format_quantity
from verdog_runtime.interpreter import CheckpointPolicy

MEDIAN_TARGET, MEDIAN_TARGET_S, P99_TARGET = 5.0, 0.002, 12.0
GROWTH_TARGET, LOOP_TARGET_S = 1.3, 30.0
OVERHEAD_TARGET_BYTES = 6000


def measure_commit(bench: Bench) -> None:
    """A commit after a node against an append, in pairs."""
    project = bench.directory("commit")
    appender = Appender(project / "appended")
    loop = record_loop(project, bench.sizes.commits, appender.append, bench.sizes.commits)
    appender.close()
    ours, base = Samples(taken=tuple(loop.paired)), Samples(taken=tuple(loop.base))
    quick = sorted(ours.taken)[len(ours.taken) // 10]
    bench.add(
        name="commit",
        what="commit after a node, 1 KB file + 2 KB state (median)",
        ours=ours.median,
        base=base.median,
        base_name="append 10 KB, fdatasync",
        target="<= 5x or 2 ms",
        ok=ours.median <= max(MEDIAN_TARGET * base.median, MEDIAN_TARGET_S),
        note=f"a tenth of the commits took less than {quick * 1e3:.2f} ms",
    )
    bench.add(
        name="commit",
        what="the same, 99th percentile against its median",
        ours=ours.p99,
        base=ours.median,
        base_name="median",
        target="<= 12x",
        ok=ours.p99 <= P99_TARGET * ours.median,
        note=f"p99 of the append: {base.p99 * 1e3:.2f} ms, {base.p99 / base.median:.1f}x its median",
    )


def measure_growth(bench: Bench) -> None:
    """The last commits of a long loop against those of younger runs, done in turns with them."""
    loop, window = bench.long_loop, bench.window
    what = f"last {window} commits of a loop of {bench.sizes.visits:,} visits (median)"
    for start, name, note in (
        (0, f"first {window} of another", f"the first {window} of the loop itself: {_first(loop, window)}"),
        (window, f"another after {5 * window}", ""),
    ):
        ours = median(loop.paired[start : start + window])
        base = median(loop.base[start : start + window])
        bench.add(
            name="growth",
            what=what,
            ours=ours,
            base=base,
            base_name=f"{name}, in turns",
            target="<= 1.3x",
            ok=ours <= GROWTH_TARGET * base,
            note=note,
        )
    bench.add(
        name="growth",
        what=f"the whole loop of {bench.sizes.visits:,} visits",
        ours=loop.seconds,
        target="<= 30 s",
        ok=loop.seconds <= LOOP_TARGET_S,
    )


def measure_bytes(bench: Bench) -> None:
    """What the store grows by, beyond what visits left."""
    long, short = bench.long_loop, bench.short_loop
    commits = (len(long.commits) - len(short.commits)) * (WORKERS + 1) / WORKERS
    taken = (long.store_bytes - short.store_bytes) / commits
    payload = (VISIT_PAYLOAD_BYTES * WORKERS + 1024) / (WORKERS + 1)
    bench.add(
        name="bytes",
        what="store bytes for each such commit, all tables and indexes counted",
        ours=taken,
        base=payload,
        base_name="compressed payload",
        unit="bytes",
        target="<= payload + 6 KB",
        ok=taken <= payload + OVERHEAD_TARGET_BYTES,
        note=f"{taken - payload:,.0f} bytes more than the payload; mean over {commits:,.0f} commits",
    )


def measure_off(bench: Bench) -> None:
    """The same loop without checkpoints."""
    project, transitions = bench.directory("off"), bench.sizes.transitions
    policy = CheckpointPolicy.OFF

    def write(number: int) -> None:
        for visit in range(transitions):
            directory = project / f"base-{number}" / f"{visit:06d}"
            directory.mkdir(parents=True)
            write_sample(directory)

    ours, base = measure(
        lambda number: execute(project, project / f"out-{number}", transitions, policy),
        write,
        rounds=bench.sizes.rounds,
    )
    bench.add(
        name="off",
        what="a transition with checkpointing off, 1 KB file",
        ours=ours.median / transitions,
        base=base.median / transitions,
        base_name="mkdir, write",
    )


def _first(loop: Loop, window: int) -> str:
    return format_quantity(median(loop.commits[:window]), "s")

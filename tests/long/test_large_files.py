"""Files of gigabytes: recorded, killed while they are recorded or written, changed a little, read again."""

import hashlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.loops import COMMIT, measure_directory, watch
from tests.memory import read_peak_bytes
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.interpreter.commands import Record
from verdog_runtime.interpreter.machine import Machine
from verdog_runtime.interpreter.recorder import Recorder
from verdog_runtime.sources import load_workflow

MIB = 1 << 20
MEMORY_BYTES = 200 * MIB

FLOW = """
import hashlib
import random
from dataclasses import dataclass

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow


@dataclass(frozen=True)
class Size:
    mebibytes: int = 1024
    files: int = 0
    turns: int = 0


flow = Workflow("large", input=Size, output=Size)
left = flow.integer("left")
make = flow.python_node("make", output=Size)
edit = flow.python_node("edit", output=Size)
start = flow.feature_node("start", carries=Size)
work = flow.python_node("work", output=Size)
tick = flow.feature_node("tick", carries=Size)


@make.on(flow.enter)
def write(value: Size, state: None, context: Context) -> Success[Size, None]:
    chance, digest = random.Random(1), hashlib.sha256()
    with (context.output_dir / "large.bin").open("wb") as file:
        for _ in range(value.mebibytes):
            block = chance.randbytes(1 << 20)
            digest.update(block)
            file.write(block)
    (context.output_dir / "sha256").write_text(digest.hexdigest())
    for number in range(value.files):
        directory = context.output_dir / f"{number // 1000:04d}"
        directory.mkdir(exist_ok=True)
        (directory / f"{number:06d}").write_bytes(b"%d" % number)
    return Success(output=value, state=None)


@edit.on(make)
def insert(value: Size, state: None, context: Context) -> Success[Size, None]:
    if value.files:
        return Success(output=value, state=None)
    with (
        (context.output_dir.parents[1] / "make" / "000001" / "large.bin").open("rb") as old,
        (context.output_dir / "large.bin").open("wb") as new,
    ):
        for number in range(value.mebibytes):
            if number == value.mebibytes // 2:
                new.write(b"something new in the middle")
            new.write(old.read(1 << 20))
    return Success(output=value, state=None)


@start.on(edit)
def begin(value: Size, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, value.turns)


@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def note(value: Size, state: None, context: Context) -> Success[Size, None]:
    (context.output_dir / "note.bin").write_bytes(random.randbytes(1024))
    return Success(output=value, state=None)


@tick.on(work, when=[left.positive])
def count(value: Size, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, state.get(left) - 1)


flow.exit.on(work, when=[left.zero])
"""


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    """Begin a command line in the current directory."""
    return subprocess.Popen([sys.executable, "-m", "verdog_cli", *arguments], stdout=subprocess.DEVNULL)


_MEASURED = """
import sys
from pathlib import Path

from tests.memory import read_peak_bytes
from verdog_cli.main import main

code = main()
Path("peak").write_text(str(read_peak_bytes()))
sys.exit(code)
"""


def verdog(*arguments: str) -> None:
    """Run a command line, which must succeed in bounded memory."""
    begun = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _MEASURED, *arguments]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    peak = int(Path("peak").read_text())
    print(f"{arguments[0]}: {time.monotonic() - begun:.0f} s, {peak // MIB} MiB", flush=True)
    assert peak < MEMORY_BYTES


RUN = ("run", "flow.py", "--run-id", "r", "--output-dir", "out")


def record(*arguments: str) -> None:
    """Run the workflow to its end."""
    verdog(*RUN, "--", *arguments)


def kill_when(child: "subprocess.Popen[bytes]", directory: Path, pattern: str, size_bytes: int) -> None:
    """Kill a process as soon as the files of a pattern have a size together."""
    while sum(path.stat().st_size for path in directory.glob(pattern) if path.is_file()) < size_bytes:
        assert child.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    child.kill()
    assert child.wait() == -signal.SIGKILL


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def packed_bytes(project: Path) -> int:
    return measure_directory(project / ".verdog" / "store")


@pytest.fixture
def large_project(project: Path) -> Path:
    (project / "flow.py").write_text(FLOW)
    return project


@pytest.mark.long
@pytest.mark.parametrize("gibibytes", [1, 5], ids=["1GiB", "5GiB"])
def test_a_file_of_gigabytes_comes_back_exactly_and_an_edit_costs_little(
    large_project: Path, gibibytes: int
) -> None:
    size = gibibytes * 1024 * MIB
    made, edited = (f"{node}/000001/large.bin" for node in ("make", "edit"))
    verdog(
        "run", "flow.py", "--run-id", "r", "--output-dir", "out", "--", "--input.mebibytes", str(size // MIB)
    )
    assert packed_bytes(large_project) < 1.01 * size
    digests = {name: hash_file(large_project / "out" / name) for name in (made, edited)}
    assert digests[made] == (large_project / "out/make/000001/sha256").read_text() != digests[edited]
    verdog("status", "r")
    shutil.rmtree(large_project / "out")
    verdog("fsck", "--read-data")
    verdog("checkout", "r", "copy", "--", edited)
    assert hash_file(large_project / "copy" / edited) == digests[edited]
    shutil.rmtree(large_project / "copy")
    verdog("checkout", "r@make", "copy")
    assert hash_file(large_project / "copy" / made) == digests[made]


@pytest.mark.long
def test_a_run_that_is_killed_while_it_records_a_gigabyte_goes_on(large_project: Path) -> None:
    child = start(*RUN)
    kill_when(child, large_project, ".verdog/store/packs/*.pack", 300 * MIB)
    verdog("fsck", "--read-data")
    verdog("resume", "r")
    verdog("status", "r")
    verdog("fsck", "--read-data")
    assert packed_bytes(large_project) < 1.4 * 1024 * MIB


@pytest.mark.long
def test_a_checkout_that_is_killed_while_it_writes_a_gigabyte_is_repeated(large_project: Path) -> None:
    record()
    child = start("checkout", "r@make", "copy")
    kill_when(child, large_project, ".verdog-partial-*/**/*", 300 * MIB)
    assert not (large_project / "copy").exists()
    verdog("checkout", "r@make", "copy")
    assert not list(large_project.glob(".verdog-partial-*"))
    made = "make/000001/large.bin"
    assert hash_file(large_project / "copy" / made) == hash_file(large_project / "out" / made)


@pytest.mark.long
def test_visits_beside_much_that_is_untouched_cost_what_they_write(large_project: Path) -> None:
    """Five gigabytes in one file and 250,000 small files, then fifty visits of 1 KB."""
    store = large_project / ".verdog" / "store"
    taken: list[float] = []
    sizes: list[int] = []

    def timed(recorder: Recorder, command: Record, machine: Machine) -> None:
        begun = time.perf_counter()
        COMMIT(recorder, command, machine)
        if command.completed.node in ("work", "tick"):
            taken.append(time.perf_counter() - begun)
            sizes.append(measure_directory(store))

    loaded = load_workflow("flow.py", cwd=large_project, project=large_project)
    given = loaded.definition.input_type(mebibytes=5 * 1024, files=250_000, turns=49)
    with watch(large_project, timed):
        Dispatcher(project_root=large_project, transition_limit=10**9).run(
            loaded.definition,
            given,
            output_dir=large_project / "out",
            checkpointing=CheckpointPolicy.REQUIRED,
        )
    grown = (sizes[-1] - sizes[0]) / (len(sizes) - 1)  # on average: the database file grows in steps
    print(f"commits: median {statistics.median(taken) * 1e3:.1f} ms, longest {max(taken) * 1e3:.0f} ms")
    print(f"growth of the store: {grown / 1024:.1f} KiB for each commit")
    print(f"memory: {read_peak_bytes() // MIB} MiB")
    assert len(taken) == 99
    assert grown < MIB // 4

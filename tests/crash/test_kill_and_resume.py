"""A run that is killed at random moments and resumed each time ends like one that nobody disturbed."""

import itertools
import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.lives import Life, Nursery
from verdog_objects import manifest
from verdog_objects.errors import NotFound
from verdog_objects.oid import Kind
from verdog_objects.verify import verify_tree
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.fsck import check
from verdog_repo.names import RunId, format_commit_id
from verdog_repo.record import CheckpointKind
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus
from verdog_runtime.values import decode_neutral
from verdog_runtime.values.document import describe_neutral

FLOW = """
import hashlib
import os
import random
import shutil
import time
from dataclasses import dataclass

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow


@dataclass(frozen=True)
class Turns:
    value: int = 10


@dataclass(frozen=True)
class Chain:
    taken: int = 0
    digest: bytes = b""


flow = Workflow("killed", input=Turns, output=Turns)
left = flow.integer("left")
start = flow.feature_node("start", carries=Turns)
work = flow.python_node("work", output=Turns, state=Chain)
tick = flow.feature_node("tick", carries=Turns)


@start.on(flow.enter)
def begin(value: Turns, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, value.value)


@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def write(value: Turns, state: Chain, context: Context) -> Success[Turns, Chain]:
    taken = state.taken + 1
    log = os.open("side.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, b"%d\\n" % taken)
    os.close(log)
    content = random.Random(taken).randbytes(100_000 if taken % 5 == 0 else 1_000)
    (context.output_dir / "content.bin").write_bytes(content)
    if taken % 3 == 0:
        (context.output_dir / "empty").mkdir()
        (context.output_dir / "link").symlink_to("content.bin")
    return Success(output=value, state=Chain(taken, hashlib.sha256(state.digest + content).digest()))


@tick.on(work, when=[left.positive])
def count(value: Turns, state: FeatureState, context: Context) -> FeatureState:
    (context.output_dir / "left.txt").write_text(str(state.get(left) - 1))
    return state.replace(left, state.get(left) - 1)


flow.exit.on(work, when=[left.zero])
"""


@dataclass(frozen=True, kw_only=True)
class Story:
    """What a run came to, without the numbers that directories of unfinished attempts used up.

    Attributes:
        completed: the node of each checkpoint's completed visit.
        contents: of each of these visits, everything that is recorded of its directory.
        state: the values of the last checkpoint, by address.
        position: where the machine stood there.
    """

    completed: list[str | None]
    contents: list[dict[bytes, manifest.Entry]]
    state: dict[bytes, bytes]
    position: dict[str, object]


def read_history(repository: Repository, run: str) -> list[Checkpoint]:
    """Return a run's checkpoints and its ancestors', oldest first, without those that only say `fork`."""
    tip = repository.tip(RunId(run))
    found = repository.history(RunId(run), limit=tip.generation) if tip is not None else []
    return [each for each in reversed(found) if each.kind is not CheckpointKind.FORK]


def tell_story(repository: Repository, run: str) -> Story:
    """Return what a run came to; no file is recorded that is neither a completed visit's nor an attempt's."""
    history = read_history(repository, run)
    record = repository.record(history[-1])
    assert record.artifacts is not None
    assert record.state is not None
    by_visit: dict[bytes, dict[bytes, manifest.Entry]] = {}
    for key, entry in manifest.iterate(repository.store, record.artifacts):
        node, *rest = key.split(b"\0", 2)
        if rest:
            by_visit.setdefault(node + b"/" + rest[0], {})[b"".join(rest[1:])] = entry
    finished = [f"{each.place}/{each.visit:06d}".encode() for each in history if each.place is not None]
    assert len(set(finished)) == len(finished)
    values = {
        key: repository.store.get(Kind.VALUE, entry.oid)
        for key, entry in manifest.iterate(repository.store, record.state)
    }
    frame = describe_neutral(decode_neutral(values.pop(b"frame:0")))
    assert isinstance(frame, dict)
    return Story(
        completed=[each.place for each in history],
        contents=[by_visit.get(visit, {}) for visit in finished],
        state=values,
        position={key: value for key, value in frame.items() if key not in ("output", "visits")},
    )


class Ordeal:
    """Runs in one project that are killed, resumed, and looked at after each life."""

    def __init__(self, project: Path, nursery: Nursery, turns: int, chance: random.Random) -> None:
        self._project = project
        self._nursery = nursery
        self._turns = turns
        self._chance = chance
        self._log = project / "side.log"
        self._seen = 0

    def endure(self, run: str, kills: int) -> tuple[bool, int]:
        """Kill a run so many times, or until it ends; return whether it has checkpoints, and the kills."""
        killed, command = 0, "run"
        while True:
            before = self._work_done(run)
            self._seen = len(self._side_log())
            if before and self._chance.random() < 0.15:
                shutil.rmtree(self._project / run, ignore_errors=True)  # the store has all that counts
            life = self._nursery.live(
                self._project, command, run, self._turns, self._moment() if killed < kills else None
            )
            killed += life.killed
            self._check_store(run)
            self._check_side_log(before)
            if life.killed and self._has_succeeded(run):
                return True, killed  # it was killed after its last commit, so there is nothing left to resume
            if life.killed:
                command = "resume" if self._exists(run) else "run"
            elif life.status.startswith("NothingToResume"):
                return False, killed
            else:
                assert life == Life(killed=False, status="succeeded")
                return True, killed

    def _moment(self) -> float:
        """Return a time: often one at which a life has just begun, else one that lets it get somewhere."""
        return self._chance.uniform(0, 0.05 if self._chance.random() < 0.4 else 0.3)

    def _exists(self, run: str) -> bool:
        try:
            with Repository.open(self._project, read_only=True) as repository:
                return repository.has_run(run)
        except NotFound:
            return False

    def _has_succeeded(self, run: str) -> bool:
        if not self._exists(run):
            return False
        with Repository.open(self._project, read_only=True) as repository:
            return repository.header(RunId(run)).status == "succeeded"

    def _side_log(self) -> list[int]:
        return [int(line) for line in self._log.read_text().split()] if self._log.exists() else []

    def _work_done(self, run: str) -> int:
        """Return how many visits of `work` are in checkpoints."""
        if not self._exists(run):
            return 0
        with Repository.open(self._project, read_only=True) as repository:
            return sum(each.place == "work" for each in read_history(repository, run))

    def _check_side_log(self, before: int) -> None:
        """A life begins after the last completed visit and begins no visit twice."""
        begun = self._side_log()[self._seen :]
        assert begun == list(range(before + 1, before + 1 + len(begun)))

    def _check_store(self, run: str) -> None:
        """The store is sound, and has every checkpoint that was acknowledged."""
        if not self._exists(run):
            return
        with Repository.open(self._project, read_only=True) as repository:
            commits = {each.sequence: each.commit for each in read_history(repository, run)}
            index = self._project / run / ".verdog" / "checkpoints" / "index.jsonl"
            whole = index.read_text().rpartition("\n")[0] if index.exists() else ""
            for line in whole.splitlines():
                acknowledged = json.loads(line)
                assert format_commit_id(commits[acknowledged["sequence"]]) == acknowledged["commit"]
            assert check(repository) == []


@pytest.fixture
def flow_project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "flow.py").write_text(FLOW)
    (project / ".verdog").mkdir()
    (project / ".verdog" / "config.toml").touch()
    return project


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


def choose_seed() -> int:
    """Return a seed that pytest prints when the test fails; give it back as VERDOG_KILL_SEED."""
    seed = int(os.environ.get("VERDOG_KILL_SEED", random.randrange(1 << 32)))
    print(f"VERDOG_KILL_SEED={seed}")
    return seed


def kill_and_compare(project: Path, nursery: Nursery, *, turns: int, kills: int) -> None:
    ordeal = Ordeal(project, nursery, turns, random.Random(choose_seed()))
    ended: list[str] = []
    for number in itertools.count():
        if ended and not kills:
            break
        run = f"run-{number}"
        has_checkpoints, killed = ordeal.endure(run, kills)
        kills -= killed
        if has_checkpoints:
            ended.append(run)
    assert nursery.live(project, "run", "undisturbed", turns) == Life(killed=False, status="succeeded")
    with Repository.open(project, read_only=True) as repository:
        print(f"runs that came to their end: {len(ended)}")
        expected = tell_story(repository, "undisturbed")
        assert len(expected.completed) == 2 * turns + 3
        for run in ended:
            assert tell_story(repository, run) == expected
            tip = repository.tip(RunId(run))
            artifacts = repository.record(tip).artifacts if tip is not None else None
            assert artifacts is not None
            assert verify_tree(repository.store, artifacts, project / run) == []
        assert not list(project.glob(".verdog-partial-*"))
        assert check(repository, read_data=True) == []


def test_a_run_killed_five_times_ends_like_an_undisturbed_one(flow_project: Path, nursery: Nursery) -> None:
    kill_and_compare(flow_project, nursery, turns=20, kills=5)


@pytest.mark.slow
def test_runs_killed_many_times_end_like_undisturbed_ones(flow_project: Path, nursery: Nursery) -> None:
    """Fifty times, or VERDOG_KILLS times."""
    kill_and_compare(flow_project, nursery, turns=60, kills=int(os.environ.get("VERDOG_KILLS", "50")))


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_a_killed_restore_or_checkout_leaves_nothing_but_whole_files_and_can_be_repeated(
    flow_project: Path, nursery: Nursery, kills: int
) -> None:
    chance = random.Random(choose_seed())
    assert nursery.live(flow_project, "run", "source", 12) == Life(killed=False, status="succeeded")
    output, copy = flow_project / "source", flow_project / "source-copy"
    files = {path: path.read_bytes() for path in output.glob("work/*/content.bin")}
    control = {each.name for each in (output / ".verdog").iterdir()}
    for _ in range(kills):
        for path in files:
            path.unlink()
        nursery.live(flow_project, "restore", "source", 0, chance.uniform(0, 0.06))
        nursery.live(flow_project, "checkout", "source", 0, chance.uniform(0, 0.06))
        assert all(path.read_bytes() == content for path, content in files.items() if path.exists())
        if not copy.exists():
            assert nursery.live(flow_project, "checkout", "source", 0) == Life(killed=False, status="done")
        assert nursery.live(flow_project, "restore", "source", 0) == Life(killed=False, status="done")
        assert {path: path.read_bytes() for path in output.glob("work/*/content.bin")} == files
        with Repository.open(flow_project, read_only=True) as repository:
            assert check(repository) == []
            tip = repository.tip(RunId("source"))
            artifacts = repository.record(tip).artifacts if tip is not None else None
            assert artifacts is not None
            for directory in (output, copy):
                assert verify_tree(repository.store, artifacts, directory) == []
        assert not list(flow_project.glob(".verdog-partial-*"))
        assert {each.name for each in (output / ".verdog").iterdir()} <= control
        shutil.rmtree(copy)


@pytest.mark.parametrize("forks", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_a_killed_fork_is_absent_or_goes_on_like_its_source(
    flow_project: Path, nursery: Nursery, forks: int
) -> None:
    turns, whole_s = 8, 0.0
    chance = random.Random(choose_seed())
    assert nursery.live(flow_project, "run", "source", turns) == Life(killed=False, status="succeeded")
    with Repository.open(flow_project, read_only=True) as repository:
        expected = tell_story(repository, "source")
        source = repository.tip(RunId("source"))
    known = {"source"}
    for kill in range(forks + 1):
        begun = time.monotonic()
        kill_after_s = chance.uniform(0, whole_s) if kill else None
        nursery.live(flow_project, "fork", "source", chance.randrange(1, 2 * turns), kill_after_s)
        whole_s = whole_s if kill else time.monotonic() - begun
        with Repository.open(flow_project, read_only=True) as repository:
            assert check(repository) == []
            assert repository.tip(RunId("source")) == source
            (*made,) = {listing.header.run for listing in repository.runs()} - known
            started = [run for run in made if repository.header(run).status is not RunStatus.SUCCEEDED]
        known.update(made)
        for run in started:
            assert nursery.live(flow_project, "resume", run, 0) == Life(killed=False, status="succeeded")
        with Repository.open(flow_project, read_only=True) as repository:
            assert [tell_story(repository, run) for run in made] == [expected] * len(made)
    print(f"forks that were made: {len(known) - 1} of {forks + 1}")

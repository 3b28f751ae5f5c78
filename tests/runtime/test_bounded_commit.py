"""What one checkpoint costs does not grow with what the run has recorded before: counted, not timed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from verdog_objects import sqlite
from verdog_objects.memory import MemoryStore, MemoryWriter
from verdog_objects.nodecache import NodeCache
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import Guard, Query, Row, Write
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_repo.tables import TABLES
from verdog_runtime.authoring import Context, FeatureState, Success, Workflow
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher

TURNS = 20
MOST = {"nodes read": 24, "nodes put": 12, "objects read": 24, "objects put": 16, "rows put": 3, "queries": 0}
"""What one commit may do, whatever the run holds. A manifest of millions of paths has four levels."""


@dataclass(frozen=True)
class Job:
    files: int = 0
    turns: int = TURNS


@dataclass(frozen=True)
class Steps:
    taken: int = 0


flow = Workflow("bounded", input=Job, output=Job)
left = flow.integer("left")
start = flow.feature_node("start", carries=Job)
work = flow.python_node("work", output=Job, state=Steps)
tick = flow.feature_node("tick", carries=Job)


@start.on(flow.enter)
def prefill(value: Job, state: FeatureState, context: Context) -> FeatureState:
    for number in range(value.files):
        directory = context.output_dir / f"{number // 100:04d}"
        if number % 100 == 0:
            directory.mkdir()
        (directory / f"{number:06d}").write_bytes(b"%d" % number)
    return state.replace(left, value.turns)


@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def write(value: Job, state: Steps, context: Context) -> Success[Job, Steps]:
    (context.output_dir / "out.txt").write_text(f"{state.taken}")
    return Success(output=value, state=Steps(state.taken + 1))


@tick.on(work, when=[left.positive])
def count(value: Job, state: FeatureState, context: Context) -> FeatureState:
    return state.replace(left, state.get(left) - 1)


flow.exit.on(work, when=[left.zero])


class CountingStore(MemoryStore):
    """Counts what is asked of it between one change and the next."""

    def __init__(self) -> None:
        super().__init__(TABLES)
        self.changes: list[Counter[str]] = []
        self.now: Counter[str] = Counter()

    def writer(self) -> "CountingWriter":
        return CountingWriter(self)

    def select(self, query: Query) -> list[Row]:
        self.now["queries"] += 1
        return super().select(query)

    def apply(
        self,
        writer: MemoryWriter | None = None,
        *,
        guards: Sequence[Guard] = (),
        writes: Sequence[Write] = (),
    ) -> None:
        super().apply(writer, guards=guards, writes=writes)
        self.now["rows put"] += len(writes)
        self.changes.append(self.now)
        self.now = Counter()


class CountingWriter(MemoryWriter):
    def __init__(self, store: CountingStore) -> None:
        super().__init__(store)
        self._counts = store

    def get(self, kind: Kind, oid: Oid) -> bytes:
        self._counts.now["objects read"] += 1
        self._counts.now["nodes read"] += kind is Kind.NODE
        return super().get(kind, oid)

    def put(self, kind: Kind, payload: bytes) -> Oid:
        self._counts.now["objects put"] += 1
        self._counts.now["nodes put"] += kind is Kind.NODE
        return super().put(kind, payload)


def count_commits(project: Path, files: int, monkeypatch: pytest.MonkeyPatch) -> list[Counter[str]]:
    """Run the loop over so many files; return what each of its commits did, those with a sweep left out."""
    store = CountingStore()
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "create_store", lambda directory, tables: store)
        Dispatcher(project_root=project).run(
            flow.definition(),
            Job(files=files),
            output_dir=project / "out",
            run_id=RunId("run"),
            checkpointing=CheckpointPolicy.AUTO,
        )
    history = Repository.over(store, project).history(RunId("run"), limit=1000)
    first = next(index for index, change in enumerate(store.changes) if change["nodes put"])
    commits = store.changes[first : first + len(history)]
    assert len(history) == 2 * TURNS + 3
    assert all(commit["nodes put"] for commit in commits)
    looped = zip(reversed(history), commits, strict=True)
    return [change for checkpoint, change in looped if checkpoint.place != "start" and not checkpoint.swept]


@pytest.mark.parametrize("cached", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize(
    "files", [100, 3_000, *(pytest.param(files, marks=pytest.mark.slow) for files in (10_000, 100_000))]
)
def test_a_commit_does_as_little_whatever_was_recorded_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, cached: bool
) -> None:
    if not cached:
        monkeypatch.setattr(NodeCache, "find", lambda self, oid: None)
    commits = count_commits(tmp_path, files, monkeypatch)
    assert len(commits) > TURNS
    most = {what: max(commit[what] for commit in commits) for what in MOST}
    print(files, most)
    assert {what: count for what, count in most.items() if count > MOST[what]} == {}

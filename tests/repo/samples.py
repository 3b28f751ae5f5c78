"""Runs made of invented checkpoints: no workflow, no files, only what the repository sees."""

from collections.abc import Iterator
from pathlib import Path

from verdog_objects import manifest
from verdog_objects.memory import MemoryStore
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import Writer
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.draft import CheckpointDraft
from verdog_repo.instants import format_instant
from verdog_repo.lease import Lease
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import OperationId, RunId
from verdog_repo.operations import OperationDraft
from verdog_repo.record import Boundary, CheckpointKind
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus
from verdog_repo.tables import TABLES

START_US = 1_790_000_000_000_000


def at(second: float) -> str:
    return format_instant(START_US + int(second * 1_000_000))


def operation(kind: str = "run", number: int = 1, second: float = 0) -> OperationDraft:
    return OperationDraft(id=OperationId(f"{number:016x}"), kind=kind, at=at(second))


def header(run: str, *, parent: Lineage | None = None, output_dir: str | None = None) -> RunHeader:
    return RunHeader(
        run=RunId(run),
        workflow="census",
        definition_id="census.main",
        module="census",
        checkpointing="auto",
        status=RunStatus.RUNNING,
        started_at=at(0),
        updated_at=at(0),
        output_dir=output_dir if output_dir is not None else f".verdog/runs/census/{run}",
        parent=parent,
    )


def boundary(node: str, visit: int = 1, call_path: str = "") -> Boundary:
    return Boundary(project_path=".", graph="census.main", node=node, visit=visit, call_path=call_path)


def memory_repository(project: Path) -> Repository:
    return Repository.over(MemoryStore(TABLES), project)


class Script:
    """A repository with runs, to which checkpoints are added one after the other, a second apart."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.second = 0.0
        self._leases: dict[str, Lease] = {}

    def run(self, run: str) -> None:
        self.repository.create_run(header(run), operation=operation())

    def lease(self, run: str) -> Lease:
        if run not in self._leases:
            self._leases[run] = self.repository.lease(RunId(run))
        return self._leases[run]

    def release(self, run: str) -> None:
        self._leases.pop(run).release()

    def commit(self, run: str, node: str = "work", visit: int | None = None, **changes: object) -> Checkpoint:
        """Commit a checkpoint after a visit; its state and its artifacts hold one entry each."""
        self.second += 1
        lease = self.lease(run)
        tip = self.repository.tip(RunId(run))
        number = visit if visit is not None else (tip.sequence if tip else 0) + 1
        writer = self.repository.store.writer()
        values: dict[str, object] = {
            "kind": CheckpointKind.NODE,
            "operation": operation().id,
            "created_at": at(self.second),
            "completed": boundary(node, number),
            "next": boundary("work", number + 1),
            "artifacts": self.artifacts(writer, run, number),
            "state": state(writer, number),
        }
        draft = CheckpointDraft(**{**values, **changes})  # type: ignore[arg-type]
        return self.repository.commit(writer, lease, draft)

    def commits(self, run: str, count: int) -> list[Checkpoint]:
        return [self.commit(run) for _ in range(count)]

    def artifacts(self, writer: Writer, run: str, number: int) -> Oid:
        tip = self.repository.tip(RunId(run))
        root = self.repository.record(tip).artifacts if tip is not None else None
        content = f"{run} {number}".encode()
        entry = Entry(EntryKind.FILE, 0o644, len(content), writer.put(Kind.BLOB, content))
        key = manifest.path_key(f"{run}-{number}.txt".encode())
        return manifest.update(writer, root if root is not None else manifest.empty(writer), {key: entry})

    def fork(self, source: Checkpoint, run: str, *, clear_sessions: bool = False) -> Checkpoint:
        self.second += 1
        return self.repository.fork(
            source.commit,
            header(run, parent=lineage(source)),
            clear_sessions=clear_sessions,
            operation=operation("fork", 2, self.second),
        )

    def close(self) -> None:
        for lease in self._leases.values():
            lease.release()
        self.repository.close()


def state(writer: Writer, number: int, sessions: tuple[str, ...] = ()) -> Oid:
    values = {b"input": b"in", b"node:work": f"state {number}".encode()}
    values |= {f"session:{name}".encode(): b"talk" for name in sessions}
    items = [
        (key, Entry(EntryKind.VALUE, 0, len(value), writer.put(Kind.VALUE, value)))
        for key, value in sorted(values.items())
    ]
    return manifest.build(writer, items)


def lineage(source: Checkpoint, kind: LineageKind = LineageKind.FORK) -> Lineage:
    return Lineage(
        run=source.run, operation=kind, checkpoint=source.sequence, arguments=ArgumentsKind.CHECKPOINT
    )


def make_script(kind: str, project: Path) -> Iterator[Script]:
    """Yield a script over a store of a kind, `memory` or `sqlite`, and check the repository afterwards."""
    from verdog_repo.fsck import check

    repository = memory_repository(project) if kind == "memory" else Repository.create(project)
    script = Script(repository)
    yield script
    assert check(repository, read_data=True) == []
    script.close()

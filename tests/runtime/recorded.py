"""Recorded runs of a test's project: how they are made, and everything that is stored of them."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import Count, count_visits
from verdog_objects import manifest
from verdog_objects.manifest import Entry
from verdog_objects.store import Query, Row
from verdog_repo import tables
from verdog_repo.record import CheckpointRecord
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader
from verdog_runtime.declarations import Success, WorkflowDefinition
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.runs import CheckpointSummary, RunStore

AUTO = CheckpointPolicy.AUTO
REQUIRED = CheckpointPolicy.REQUIRED


class Stop(BaseException):
    """Ends a process in the middle of a visit, as far as the interpreter can tell."""


def run(
    project: Path,
    definition: WorkflowDefinition,
    value: object,
    *,
    output: str | Path = "out",
    checkpointing: CheckpointPolicy = AUTO,
    **rest: Any,
) -> Success[Any, Any]:
    """Run with checkpoints into a directory of the project."""
    dispatcher = Dispatcher(project_root=project)
    return dispatcher.run(definition, value, output_dir=project / output, checkpointing=checkpointing, **rest)


def resume(
    project: Path, definition: WorkflowDefinition, output: str | Path = "out", **rest: Any
) -> Success[Any, Any]:
    return Dispatcher(project_root=project).resume(definition, output_dir=project / output, **rest)


def fork(
    project: Path,
    definition: WorkflowDefinition,
    checkpoint: int,
    *,
    source: str | Path = "out",
    output: str | Path = "forked",
    sessions: str = "fresh",
    **rest: Any,
) -> Success[Any, Any]:
    return Dispatcher(project_root=project).fork(
        definition,
        source_output_dir=project / source,
        checkpoint=checkpoint,
        output_dir=project / output,
        sessions=sessions,  # type: ignore[arg-type]
        **rest,
    )


def summaries(output: Path) -> tuple[CheckpointSummary, ...]:
    """Return the checkpoints of a run, oldest first, as the public interface tells them."""
    return RunStore.open(output).checkpoints()


def last(output: Path) -> CheckpointSummary:
    return summaries(output)[-1]


def completed(output: Path) -> list[str]:
    """Return the visits that the checkpoints of a run completed, in order."""
    return [f"{each.completed.node}/{each.completed.visit}" for each in summaries(output) if each.completed]


@contextmanager
def opened(project: Path) -> Iterator[Repository]:
    with Repository.open(project, read_only=True) as repository:
        yield repository


def header_of(project: Path, output: str | Path = "out") -> RunHeader:
    with opened(project) as repository:
        return repository.header(run_id(project / output))


def run_id(output: Path) -> Any:
    return RunStore.open(output).manifest().id


def record_of(project: Path, sequence: int, output: str | Path = "out") -> CheckpointRecord:
    with opened(project) as repository:
        return repository.record(repository.checkpoint_at(run_id(project / output), sequence))


def artifacts_of(project: Path, sequence: int, output: str | Path = "out") -> dict[bytes, Entry]:
    """Return the recorded paths of a checkpoint with their entries."""
    root = record_of(project, sequence, output).artifacts
    assert root is not None
    with opened(project) as repository:
        return {manifest.key_path(key): entry for key, entry in manifest.iterate(repository.store, root)}


def state_of(project: Path, sequence: int, output: str | Path = "out") -> dict[bytes, Entry]:
    root = record_of(project, sequence, output).state
    assert root is not None
    with opened(project) as repository:
        return dict(manifest.iterate(repository.store, root))


def read_tree(output: Path, *, times: bool = False) -> dict[bytes, tuple[Any, ...]]:
    """Return type, mode and content of everything in a directory but `.verdog`, the trace and the reports.

    Args:
        output: the directory.
        times: also inode and times of change.
    """
    found: dict[bytes, tuple[Any, ...]] = {}
    pending = [os.fsencode(output)]
    while pending:
        directory = pending.pop()
        for name in os.listdir(directory):  # noqa: PTH208
            path = os.path.join(directory, name)  # noqa: PTH118
            relative = os.path.relpath(path, os.fsencode(output))
            if name == b".verdog" or relative in (b"trace.log", b"config.md", b"stats.md"):
                continue
            status = os.lstat(path)
            stamp = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns) if times else ()
            found[relative] = (status.st_mode, _content(path, status.st_mode), *stamp)
            if stat.S_ISDIR(status.st_mode):
                pending.append(path)
    return found


def _content(path: bytes, mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return os.readlink(path)  # noqa: PTH115
    return Path(os.fsdecode(path)).read_bytes() if stat.S_ISREG(mode) else b""


def stored_of(project: Path, output: str | Path = "out") -> dict[str, Any]:
    """Return every row that speaks of a run, and the bytes of every object that it reaches."""
    run = run_id(project / output)
    with opened(project) as repository:
        store = repository.store
        number = repository.catalog.runs.number(run)

        def select(table: Any, column: str, value: Any) -> list[Row]:
            return store.select(Query(table=table, equal=((column, value),)))

        rows = {
            "run": select(tables.RUNS, "run", run),
            "number": select(tables.RUN_NUMBERS, "number", number),
            "leases": select(tables.LEASES, "run", number),
            "refs": select(tables.REFS, "run", number),
            "reflog": select(tables.REFLOG, "run", number),
            "checkpoints": select(tables.CHECKPOINTS, "run", number),
        }
        found: dict[str, Any] = {**rows, "objects": {}}
        for each in repository.history(run, 1000):
            record = repository.record(each)
            roots = [record.artifacts, record.state]
            oids = [each.record, *record.environments, repository.catalog.runs.get(run).header]
            for root in roots:
                if root is not None:
                    oids += [oid for _, oid in manifest.reachable(store, root)]
            found["objects"].update(store.get_many(list(dict.fromkeys(oids))))
        return found


def fail_in(visit: int) -> Any:
    """A body that fails in its `visit`-th visit, every time it gets there."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == visit - 1:
            raise ValueError("boom")
        return count_visits(value, state, context)

    return work


def refused(project: Path, definition: Any, error: type[Exception], **rest: Any) -> Any:
    """Resume, expect a refusal, and check that neither store nor directory changed."""
    before = stored_of(project), read_tree(project / "out", times=True)
    with pytest.raises(error) as caught:
        resume(project, definition, **rest)
    after = stored_of(project), read_tree(project / "out", times=True)
    before[0].pop("leases"), after[0].pop("leases")  # who asks takes the lease, whatever is said then
    assert after == before
    return caught.value

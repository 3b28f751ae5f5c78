"""One process that commits checkpoints to one run of a store; the tests start several at once.

    python committer.py PROJECT RUN COMMITS BULK_FILE|-

It says `ready`, begins when it is told to, and then prints one JSON object: what was committed, and how long
each commit took from its first object to its durable point. With a bulk file the tenth commit captures that
too, and a file `done` in the project says when all is committed; without one, commits go on until then.
"""

import importlib
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from verdog_objects import manifest
from verdog_objects.capture import capture_tree
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import Writer
from verdog_repo.draft import CheckpointDraft
from verdog_repo.instants import format_instant
from verdog_repo.names import OperationId, RunId, format_commit_id
from verdog_repo.operations import OperationDraft
from verdog_repo.record import Boundary, CheckpointKind
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus

BULK_COMMIT = 10
DIRECTORY = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)
OPERATION = OperationId("00000000000000aa")


def now() -> str:
    return format_instant(time.time_ns() // 1000)


def begin_run(repository: Repository, run: RunId) -> None:
    header = RunHeader(
        run=run,
        workflow="committer",
        definition_id="committer.main",
        module="committer",
        checkpointing="auto",
        status=RunStatus.RUNNING,
        started_at=now(),
        updated_at=now(),
        output_dir=run,
    )
    repository.create_run(header, operation=OperationDraft(id=OPERATION, kind="run", at=now()))


def put_file(writer: Writer, root: Oid | None, number: int) -> Oid:
    content = os.urandom(1024)
    entry = Entry(EntryKind.FILE, 0o644, len(content), writer.put(Kind.BLOB, content))
    changes = {b"work": DIRECTORY, manifest.path_key(b"work/%06d" % number): entry}
    return manifest.update(writer, root or manifest.empty(writer), changes)


def put_state(writer: Writer) -> Oid:
    value = os.urandom(2048)
    entry = Entry(EntryKind.VALUE, 0, len(value), writer.put(Kind.VALUE, value))
    return manifest.build(writer, [(b"node:work", entry)])


def put_bulk(writer: Writer, root: Oid, bulk: Path) -> Oid:
    captured = capture_tree(
        writer, bulk.parent, [os.fsencode(bulk.name)], excluded=lambda path, is_dir: False
    )
    assert not captured.problems
    entries = {manifest.path_key(path): entry for path, entry in captured.entries.items()}
    return manifest.update(writer, root, entries)


def commit(
    repository: Repository, run: RunId, commits: int, bulk: Path | None
) -> Iterator[tuple[str, float]]:
    """Yield the id of each commit, and how many seconds it took."""
    artifacts: Oid | None = None
    done = repository.project / "done"
    with repository.lease(run) as lease:
        for number in itertools.count(1):
            if number > commits and (bulk is not None or done.exists()):
                return
            begun = time.perf_counter()
            with repository.store.writer() as writer:
                artifacts = put_file(writer, artifacts, number)
                if bulk is not None and number == BULK_COMMIT:
                    artifacts = put_bulk(writer, artifacts, bulk)
                place = Boundary(
                    project_path=".", graph="committer.main", node="work", visit=number, call_path=""
                )
                draft = CheckpointDraft(
                    kind=CheckpointKind.NODE,
                    operation=OPERATION,
                    created_at=now(),
                    completed=place,
                    next=place,
                    artifacts=artifacts,
                    state=put_state(writer),
                )
                checkpoint = repository.commit(writer, lease, draft)
            yield format_commit_id(checkpoint.commit), time.perf_counter() - begun


def main() -> None:
    project, run, commits, bulk = Path(sys.argv[1]), RunId(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    importlib.import_module("verdog_repo.gitobjects")  # a commit's time is the store's, not that of an import
    with Repository.open(project) as repository:
        begin_run(repository, run)
        print("ready", flush=True)
        sys.stdin.readline()
        made = list(commit(repository, run, commits, None if bulk == "-" else Path(bulk)))
        if bulk != "-":
            (project / "done").touch()
    print(json.dumps({"commits": [each for each, _ in made], "seconds": [seconds for _, seconds in made]}))


if __name__ == "__main__":
    main()

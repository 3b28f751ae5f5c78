"""Make the small store that is kept for ever: `python -m tests.golden.make_store DIRECTORY`.

The store of format 1 in `store-1/`, and what was in it in `store-1.json`, were made by this and never again:
every later version has to read those very bytes. Making another store today must give the same ids, for all
that a store decides freely (the uuid, the names of packs, how well it compresses) is no part of them.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tests.golden.contents import FILES, RESULT, STATE, describe_store
from verdog_objects import locking, manifest, rownames
from verdog_objects.chunking import INLINE_LIMIT, Chunker, encode_chunks
from verdog_objects.nodes import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.store import Writer
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.draft import CheckpointDraft
from verdog_repo.instants import format_instant
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import LabelName, OperationId, RunId, TagName
from verdog_repo.operations import OperationDraft
from verdog_repo.record import Boundary, CheckpointKind, SessionIssue, Sessions
from verdog_repo.repository import Repository
from verdog_repo.runs import RunError, RunHeader, RunStatus, SourceFile, SourceModule
from verdog_runtime.fingerprint import Distribution, Environment, encode_environment
from verdog_runtime.values import Anchors, encode_value

HERE = Path(__file__).parent
STORE, EXPECTED = HERE / "store-1", HERE / "store-1.json"
ANCHORS = Anchors(output="/project/out", project="/project")

_START_US = 1_790_000_000_000_000


def at(second: float) -> str:
    return format_instant(_START_US + int(second * 1_000_000))


def operation(kind: str, number: int, second: float, *command: str) -> OperationDraft:
    return OperationDraft(id=OperationId(f"{number:016x}"), kind=kind, at=at(second), command=command)


def header(run: str, **changes: object) -> RunHeader:
    plain = RunHeader(
        run=RunId(run),
        workflow="golden",
        definition_id="verdog_file.golden.golden",
        module="verdog_file.golden",
        source=SourceFile("golden.py", "golden"),
        arguments=("--input.value", "3"),
        checkpointing="auto",
        status=RunStatus.RUNNING,
        started_at=at(0),
        updated_at=at(0),
        output_dir=f"runs/{run}",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def boundary(node: str, visit: int, call_path: str = "") -> Boundary:
    return Boundary(
        project_path=".", graph="verdog_file.golden.golden", node=node, visit=visit, call_path=call_path
    )


def put_file(writer: Writer, content: bytes) -> Oid:
    """Store a file's content as a writer of format 1 does."""
    if len(content) <= INLINE_LIMIT:
        return writer.put(Kind.BLOB, content)
    chunker = Chunker()
    chunks = [(writer.put(Kind.CHUNK, each), len(each)) for each in chunker.feed(content) + chunker.finish()]
    return writer.put(Kind.CHUNKS, encode_chunks(chunks))


def put_files(writer: Writer, files: Mapping[bytes, tuple[EntryKind, int, bytes]]) -> Oid:
    """Store a tree of files."""
    entries: dict[bytes, Entry] = {}
    for path, (kind, mode, content) in files.items():
        if kind is EntryKind.DIRECTORY:
            entry = Entry(kind, mode, 0, EMPTY_OID)
        elif kind is EntryKind.SYMLINK:
            entry = Entry(kind, mode, len(content), writer.put(Kind.BLOB, content))
        else:
            entry = Entry(kind, mode, len(content), put_file(writer, content))
        entries[manifest.path_key(path)] = entry
    return manifest.build(writer, sorted(entries.items()))


def put_state(writer: Writer, values: Mapping[str, object]) -> Oid:
    """Store a state."""
    items: list[tuple[bytes, Entry]] = []
    for address, value in values.items():
        payload = encode_value(value, anchors=ANCHORS).payload
        entry = Entry(EntryKind.VALUE, 0, len(payload), writer.put(Kind.VALUE, payload))
        items.append((address.encode(), entry))
    return manifest.build(writer, sorted(items))


def put_environment(writer: Writer) -> Oid:
    """Store a fingerprint."""
    environment = Environment(
        files={"golden.py": compute_oid(Kind.BLOB, b"the workflow\n")},
        distributions=(
            Distribution(name="some-package", version="1.0", record=compute_oid(Kind.BLOB, b"RECORD")),
            Distribution(name="without-record", version="2.0.post1", record=None),
        ),
        python={"abi": "cpython-312", "implementation": "cpython", "platform": "linux", "version": "3.12"},
    )
    return writer.put(Kind.ENVIRONMENT, encode_environment(environment))


def make(project: Path) -> None:
    """Make the store of a project: three runs, one of them a fork, a tag and a label."""
    with (
        mock.patch.object(rownames, "RECENT_ROWS", 20),
        mock.patch.object(locking, "read_boot_id", return_value="0b007000-0000-4000-8000-000000000000"),
        Repository.create(project) as repository,
    ):
        second = _run_first(repository)
        _fork(repository, second)
        repository.create_run(
            header(
                "again",
                source=SourceModule("package.golden", "flow"),
                arguments=(),
                checkpointing="required",
                parent=Lineage(
                    run=RunId("first"),
                    operation=LineageKind.RESTART,
                    checkpoint=None,
                    arguments=ArgumentsKind.OVERRIDDEN,
                ),
            ),
            operation=operation("restart", 3, 30, "verdog", "restart", "first", "--sessions", "fresh", "--"),
        )
        marks = repository.marks
        marks.add_tag(TagName("kept"), second.commit, operation=operation("tag", 4, 40))
        marks.add_label(LabelName("base"), RunId("first"), operation=operation("label", 5, 50))


def _run_first(repository: Repository) -> Checkpoint:
    """Make a run that succeeded, and return its second checkpoint."""
    command = operation("run", 1, 0, "verdog", "run", "golden.py", "--run-id", "first")
    repository.create_run(header("first"), operation=command)
    with repository.lease(RunId("first")) as lease:
        writer = repository.store.writer()
        environment = put_environment(writer)
        entry = CheckpointDraft(
            kind=CheckpointKind.ENTRY,
            operation=command.id,
            created_at=at(1),
            completed=boundary("enter", 1),
            next=boundary("work", 1),
            swept=True,
            artifacts=put_files(writer, {}),
            state=put_state(writer, {each: STATE[each] for each in ("input", "frame:0")}),
            environments=(environment,),
        )
        repository.commit(writer, lease, entry)
        writer = repository.store.writer()
        node = replace(
            entry,
            kind=CheckpointKind.NODE,
            created_at=at(2.25),
            completed=boundary("work", 1),
            next=boundary("ünï code", 1, "call#1/child#2"),
            swept=False,
            late=(b"late", b"odd-\xff"),
            artifacts=put_files(writer, FILES),
            state=put_state(writer, STATE),
            duration_ns=1_234_567_890,
            files_added=sum(kind is EntryKind.FILE for kind, _, _ in FILES.values()),
            bytes_added=sum(len(content) for _, _, content in FILES.values()),
        )
        second = repository.commit(writer, lease, node)
        writer = repository.store.writer()
        result = writer.put(Kind.VALUE, encode_value(RESULT, anchors=ANCHORS).payload)
        terminal = replace(
            node,
            kind=CheckpointKind.TERMINAL,
            created_at=at(2),  # the clock went back; the time of the commit does not
            completed=boundary("ünï code", 1, "call#1/child#2"),
            next=None,
            late=(),
            files_added=0,
            bytes_added=0,
            resumed_from=2,
        )
        done = replace(
            repository.header(RunId("first")),
            status=RunStatus.SUCCEEDED,
            updated_at=at(3),
            result=result,
            result_text="RESULT",
        )
        repository.commit(writer, lease, terminal, header=done)
    return second


def _fork(repository: Repository, point: Checkpoint) -> None:
    """Fork a checkpoint, and let the new run fail after one that cannot be restored."""
    command = operation("fork", 2, 20, "verdog", "fork", "first@2", "--sessions", "fresh")
    parent = Lineage(
        run=point.run,
        operation=LineageKind.FORK,
        checkpoint=point.sequence,
        arguments=ArgumentsKind.CHECKPOINT,
    )
    forked = header(
        "forked", parent=parent, output_dir="/elsewhere/forked", changed_code=("golden.py changed",)
    )
    repository.fork(point.commit, forked, clear_sessions=True, operation=command)
    with repository.lease(RunId("forked")) as lease:
        writer = repository.store.writer()
        draft = CheckpointDraft(
            kind=CheckpointKind.NODE,
            operation=command.id,
            created_at=at(21),
            completed=boundary("work", 2),
            next=boundary("work", 3),
            restorable=False,
            unavailable_code="checkpoint.artifact_capture_failed",
            reason="work/000002/pipe is a named pipe",
            branchable=False,
            fork_fresh=False,
            sessions=Sessions(
                persistent=1,
                issues=(SessionIssue(address="chat", provider="none", code="session.tainted", message="m"),),
            ),
            swept=True,
        )
        failed = replace(
            repository.header(RunId("forked")),
            status=RunStatus.FAILED,
            updated_at=at(22),
            error=RunError(type="ValueError", message="no\nvalue", traceback="Traceback ...\n"),
            trusted=True,
        )
        repository.commit(writer, lease, draft, header=failed)


def main(directory: Path) -> None:
    """Make the store and what is expected of it, both in a new directory."""
    directory.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        make(project)
        store = project / ".verdog" / "store"
        (directory / "store-1" / "packs").mkdir(parents=True)
        for path in (store / "store.db", *(store / "packs").iterdir()):
            shutil.copyfile(path, directory / "store-1" / path.relative_to(store))
        found = describe_store(project)
    text = json.dumps(found, indent=1, sort_keys=True)
    (directory / "store-1.json").write_text(f"{text}\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    print(f"{size} bytes, {hashlib.sha256(text.encode()).hexdigest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

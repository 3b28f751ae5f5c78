"""Runs made by hand, so that reading commands are tested without executing anything."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from verdog_objects.capture import capture_tree
from verdog_objects.manifest import empty, path_key, update
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.draft import CheckpointDraft
from verdog_repo.lineage import Lineage
from verdog_repo.names import OperationId, RunId
from verdog_repo.operations import OperationDraft
from verdog_repo.record import Boundary, CheckpointKind
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus
from verdog_runtime.values import encode_value

OPERATION = OperationId("0123456789abcdef")


def at(second: int) -> str:
    return f"2026-11-30T10:{second // 60:02}:{second % 60:02}.000000Z"


class HandMade:
    """One run under construction: every checkpoint adds files to a directory that is read whole."""

    def __init__(
        self,
        repository: Repository,
        run: str,
        *,
        parent: Lineage | None = None,
        arguments: tuple[str, ...] = (),
    ) -> None:
        self.repository = repository
        self.run = RunId(run)
        self.output = repository.project / ".verdog" / "runs" / "census" / run
        self.output.mkdir(parents=True)
        self.header = RunHeader(
            run=self.run,
            workflow="census",
            definition_id="census.main",
            module="census",
            checkpointing="auto",
            status=RunStatus.RUNNING,
            started_at=at(0),
            updated_at=at(0),
            output_dir=f".verdog/runs/census/{run}",
            arguments=arguments,
            parent=parent,
        )
        self._operation = OperationDraft(id=OPERATION, kind="run", at=at(0))
        repository.create_run(self.header, operation=self._operation)
        self._count = 0

    def checkpoint(
        self,
        node: str = "survey",
        *,
        visit: int | None = None,
        files: Mapping[bytes, bytes] | None = None,
        following: str | None = "tick",
        reason: str | None = None,
        call_path: str = "",
    ) -> Checkpoint:
        """Write files below the output and commit."""
        self._count += 1
        for path, content in (files or {}).items():
            target = Path(str(self.output)) / path.decode("utf-8", "surrogateescape")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        store = self.repository.store
        with store.writer() as writer, self.repository.lease(self.run) as lease:
            captured = capture_tree(
                writer, self.output, [b""], excluded=lambda path, is_dir: False, memory=None
            )
            keys = {path_key(path): entry for path, entry in captured.entries.items()}
            artifacts = update(writer, empty(writer), keys)
            payload = encode_value({"count": self._count}).payload
            entry = Entry(EntryKind.VALUE, 0, len(payload), writer.put(Kind.VALUE, payload))
            state = update(writer, empty(writer), {b"input": entry})
            return self.repository.commit(
                writer,
                lease,
                CheckpointDraft(
                    kind=CheckpointKind.NODE,
                    operation=OPERATION,
                    created_at=at(self._count),
                    completed=Boundary(
                        project_path=".",
                        graph="census.main",
                        node=node,
                        visit=visit or self._count,
                        call_path=call_path,
                    ),
                    next=None
                    if following is None
                    else Boundary(
                        project_path=".", graph="census.main", node=following, visit=1, call_path=call_path
                    ),
                    restorable=reason is None,
                    unavailable_code=None if reason is None else "checkpoint.serialization_failed",
                    reason=reason,
                    artifacts=artifacts,
                    state=state,
                    duration_ns=1_240_000_000,
                    files_added=len(files or {}),
                    bytes_added=sum(map(len, (files or {}).values())),
                ),
            )

    def finish(self, status: RunStatus = RunStatus.SUCCEEDED) -> None:
        """Set the final status."""
        self.header = replace(self.header, status=status, updated_at=at(self._count + 1))
        with self.repository.lease(self.run) as lease:
            self.repository.update_header(self.run, lease, self.header)

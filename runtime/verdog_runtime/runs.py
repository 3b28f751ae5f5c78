"""Stored runs, for reading: the public interface to what is recorded of a run."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import NoReturn

from verdog_objects.errors import Corrupt, NotFound, VerdogError
from verdog_objects.oid import Kind
from verdog_repo import record as records
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import RunId, parse_run_id
from verdog_repo.record import CheckpointKind, CheckpointRecord, decode_record
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus
from verdog_runtime.layout import CONTROL_DIRECTORY
from verdog_runtime.refusals import told_as_run_errors
from verdog_runtime.registry import RUN_HISTORY_SCHEMA_VERSION
from verdog_runtime.runfiles import load_run_header, read_run_file, registered_runs, run_is_active
from verdog_runtime.runheader import (
    Boundary,
    CheckpointSummary,
    RunCheckpoints,
    RunHeader,
    RunLaunch,
    RunParent,
    RunSessionIssue,
    RunSessions,
    RunWorkflow,
)
from verdog_runtime.runrecord import RUN_MANIFEST, SCHEMA_VERSION
from verdog_runtime.storeerrors import IntegrityError, RunActive, RunStoreError

__all__ = [
    "CONTROL_DIRECTORY",
    "RUN_HISTORY_SCHEMA_VERSION",
    "RUN_MANIFEST",
    "Boundary",
    "CheckpointKind",
    "CheckpointSummary",
    "IntegrityError",
    "RunActive",
    "RunCheckpoints",
    "RunHeader",
    "RunLaunch",
    "RunManifest",
    "RunParent",
    "RunSessionIssue",
    "RunSessions",
    "RunStatus",
    "RunStore",
    "RunStoreError",
    "RunWorkflow",
    "load_run_header",
    "registered_runs",
    "run_is_active",
]

_PAGE = 500
_FAILURE_PORT = "checkpoint.failure_port"


@dataclass(frozen=True, slots=True)
class RunManifest(RunHeader):
    """A run together with what its checkpoints are good for.

    Attributes:
        compatibility: facts about the environment it was begun in.
        storage_schema_version: of `run.json`.
    """

    checkpoints: RunCheckpoints = field(default_factory=lambda: RunCheckpoints(0, None, None, False))
    sessions: RunSessions = field(default_factory=RunSessions)
    compatibility: dict[str, str] = field(default_factory=dict[str, str])
    storage_schema_version: int = SCHEMA_VERSION

    def as_summary(self, *, status: RunStatus | None = None) -> dict[str, object]:
        """Return the run as JSON, with another status for display if one is given."""
        return {
            **RunHeader.as_summary(self, status=status),
            "checkpoints": self.checkpoints.as_json(),
            "sessions": self.sessions.as_json(),
        }

    def as_json(self) -> dict[str, object]:
        """Return the run as a JSON document."""
        return {
            "schema_version": RUN_HISTORY_SCHEMA_VERSION,
            **self.as_summary(),
            "project_root": str(self.project_root),
            "compatibility": dict(self.compatibility),
            "storage_schema_version": self.storage_schema_version,
        }


class RunStore:
    """A run that was recorded, by its output directory. It only reads.

    Attributes:
        output_dir: absolute, without symbolic links.
        control_dir: the runtime's directory in it.
    """

    def __init__(self, output_dir: Path) -> None:
        """Open the run. See `open`."""
        self._header, self._compatibility = read_run_file(output_dir)
        self.output_dir = self._header.output_dir
        self.control_dir = self.output_dir / CONTROL_DIRECTORY

    @classmethod
    def open(cls, output_dir: Path) -> "RunStore":
        """Open the run in an output directory.

        Raises:
            RunStoreError: as `load_run_header`.
        """
        return cls(output_dir)

    @classmethod
    def create(cls, *arguments: object, **options: object) -> NoReturn:
        """Refuse: runs are made by executing them."""
        raise _unsupported("create")

    def manifest(self) -> RunManifest:
        """Return the run as it is now.

        Raises:
            RunStoreError: as `load_run_header`, or the project's store cannot be read.

        Cost: from the latest checkpoint back to the latest that can be restored.
        """
        header, compatibility = read_run_file(self.output_dir)
        run = parse_run_id(header.id)
        with self._repository() as repository:
            stored = repository.header(run)
            tip = repository.tip(run)
            overview = _describe_checkpoints(repository, run, tip, stored.checkpointing)
            sessions = _describe_sessions(repository.record(tip)) if tip is not None else RunSessions()
        values = {each.name: getattr(header, each.name) for each in fields(header)}
        values |= {"status": stored.status, "updated_at": stored.updated_at}
        return RunManifest(**values, checkpoints=overview, sessions=sessions, compatibility=compatibility)

    def checkpoints(self) -> tuple[CheckpointSummary, ...]:
        """Return the run's own checkpoints, oldest first.

        Raises:
            RunStoreError: the project's store cannot be read.

        Cost: reads every record, some hundreds at a time.
        """
        run = parse_run_id(self._header.id)
        found: list[CheckpointSummary] = []
        with self._repository() as repository:
            own = _walk_own(repository, run, repository.tip(run))
            while page := list(islice(own, _PAGE)):
                stored = repository.store.get_many([each.record for each in page])
                for each in page:
                    kind, payload = stored.get(each.record, (None, b""))
                    if kind is not Kind.RECORD:
                        raise Corrupt(f"run {run}: the record of checkpoint {each.sequence} is missing")
                    found.append(_summarise(decode_record(payload)))
        return tuple(reversed(found))

    def __getattr__(self, name: str) -> NoReturn:
        if name not in _UNSUPPORTED:
            raise AttributeError(name)
        raise _unsupported(name)

    @contextmanager
    def _repository(self) -> Generator[Repository]:
        """Open the project's store for reading, and tell its errors as this interface tells them."""
        project = self._header.project_root
        try:
            with told_as_run_errors(), Repository.open(project, read_only=True) as repository:
                yield repository
        except RunStoreError:
            raise
        except NotFound as error:
            raise RunStoreError(
                f"the store of {project} does not hold run {self._header.id}: {error}",
                code="run.manifest_unreadable",
            ) from error
        except VerdogError as error:
            raise RunStoreError(str(error), code="run.manifest_unreadable") from error


_UNSUPPORTED = frozenset(
    {
        "artifact_references_available",
        "capture_artifacts",
        "checkpoint_directory",
        "checkpoint_shard",
        "checkpoint_shard_path",
        "checkpoint_shards",
        "commit_checkpoint",
        "lease",
        "materialize_artifacts",
        "next_checkpoint_sequence",
        "save",
        "update",
        "validate_artifacts",
    }
)


def _unsupported(name: str) -> RunStoreError:
    return RunStoreError(
        f"RunStore.{name} is not supported: runs are stored as commits of the project's store; "
        "verdog_repo.repository.Repository reads and changes them",
        code="run.unsupported",
    )


def _walk_own(repository: Repository, run: RunId, tip: Checkpoint | None) -> Iterator[Checkpoint]:
    """Yield a run's own checkpoints, newest first."""
    if tip is None:
        return iter(())
    return repository.catalog.index.walk_own(tip, repository.catalog.runs.get(run).number)


def _describe_checkpoints(
    repository: Repository, run: RunId, tip: Checkpoint | None, checkpointing: str
) -> RunCheckpoints:
    if tip is None:
        if checkpointing == "off":
            return RunCheckpoints(0, None, None, False, "checkpoint.disabled", "the run makes no checkpoints")
        return RunCheckpoints(0, None, None, False, "checkpoint.none", "the run has no checkpoint yet")
    own = _walk_own(repository, run, tip)
    latest = next((each.sequence for each in own if each.restorable), None)
    start, record = tip, repository.record(tip)
    while record.unavailable_code == _FAILURE_PORT:
        before = record.resumed_from or start.sequence - 1
        if before == 0:
            break
        start = repository.checkpoint_at(run, before)
        record = repository.record(start)
    code, reason = record.unavailable_code, record.reason
    if code is None and not start.branchable:
        code, reason = "checkpoint.session_branch_unavailable", "an agent's conversation cannot be branched"
    return RunCheckpoints(tip.sequence, tip.sequence, latest, code is None, code, reason)


def _describe_sessions(record: CheckpointRecord) -> RunSessions:
    sessions = record.sessions
    issues = tuple(
        RunSessionIssue(each.address, each.provider, each.code, each.message) for each in sessions.issues
    )
    return RunSessions(sessions.persistent, "copy-on-write", not issues, issues)


def _summarise(record: CheckpointRecord) -> CheckpointSummary:
    return CheckpointSummary(
        record.sequence,
        record.created_at,
        record.kind,
        _convert(record.completed),
        _convert(record.next),
        record.restorable,
        record.branchable,
        record.fork_fresh,
        record.unavailable_code,
        record.reason,
    )


def _convert(boundary: records.Boundary | None) -> Boundary | None:
    if boundary is None:
        return None
    return Boundary(boundary.project_path, boundary.graph, boundary.node, boundary.visit, boundary.call_path)

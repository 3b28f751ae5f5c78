"""The public records of stored runs and their checkpoints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from verdog_repo.record import CheckpointKind
from verdog_repo.runs import RunStatus

CHECKPOINT_SCHEMA_VERSION: Final = 4

ArgumentMode = Literal["checkpoint", "reused", "overridden"]


@dataclass(frozen=True, slots=True)
class Boundary:
    """A visit of a node, as the place before or after it.

    Attributes:
        project_path: the project of the graph, relative to the run's own, which is `.`.
        visit: the number of the visit's directory.
        call_path: the calls that lead to the graph, as `call#1/child#2`; empty for the root graph.
    """

    project_path: str
    graph: str
    node: str
    visit: int
    call_path: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the boundary as JSON."""
        return {
            "project_path": self.project_path,
            "graph": self.graph,
            "node": self.node,
            "visit": self.visit,
            "call_path": self.call_path,
        }


@dataclass(frozen=True, slots=True)
class CheckpointSummary:
    """What a checkpoint is good for.

    Attributes:
        sequence: its number in the run, from 1.
        completed: the visit that ended, or None.
        next: the visit that would come next, or None at the end.
        restore_available: the run can be resumed or forked from it at all.
        fork_with_branch_available: with its agents' conversations going on.
        fork_with_fresh_available: with new conversations.
        unavailable_code: why it cannot be restored, as a stable code.
    """

    sequence: int
    created_at: str
    kind: CheckpointKind
    completed: Boundary | None
    next: Boundary | None
    restore_available: bool
    fork_with_branch_available: bool
    fork_with_fresh_available: bool
    unavailable_code: str | None = None
    unavailable_reason: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the summary as a JSON document."""
        return {"schema_version": CHECKPOINT_SCHEMA_VERSION, **self.as_summary()}

    def as_summary(self) -> dict[str, object]:
        """Return the summary as JSON, as a part of a document."""
        return {
            "sequence": self.sequence,
            "created_at": self.created_at,
            "kind": self.kind.value,
            "completed": self.completed.as_json() if self.completed else None,
            "next": self.next.as_json() if self.next else None,
            "restore_available": self.restore_available,
            "fork_with_branch_available": self.fork_with_branch_available,
            "fork_with_fresh_available": self.fork_with_fresh_available,
            "unavailable_code": self.unavailable_code,
            "unavailable_reason": self.unavailable_reason,
        }


@dataclass(frozen=True, slots=True)
class RunWorkflow:
    """The workflow of a run: its id, and its entry graph's id and module."""

    id: str
    definition_id: str
    module: str

    def as_json(self) -> dict[str, object]:
        """Return the workflow as JSON."""
        return {"id": self.id, "definition_id": self.definition_id, "module": self.module}


@dataclass(frozen=True, slots=True)
class RunLaunch:
    """How a run was started: its workflow's own arguments, and `off`, `auto` or `required`."""

    workflow_arguments: tuple[str, ...] = ()
    checkpointing: str = "auto"

    def as_json(self) -> dict[str, object]:
        """Return the launch as JSON."""
        return {"workflow_arguments": list(self.workflow_arguments), "checkpointing": self.checkpointing}


@dataclass(frozen=True, slots=True)
class RunParent:
    """The run that another one came from by a restart or fork."""

    run_id: str
    operation: Literal["restart", "fork"]
    checkpoint: int | None
    arguments: ArgumentMode

    def as_json(self) -> dict[str, object]:
        """Return the parent as JSON."""
        return {
            "run_id": self.run_id,
            "operation": self.operation,
            "checkpoint": self.checkpoint,
            "arguments": self.arguments,
        }


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What `run.json` says of a run.

    Attributes:
        project_root: the project whose store holds the run, absolute.
        directory_name: the name of the output directory.
        status: as the run's own process last wrote it; see `run_is_active`.
        output_dir: absolute.
        parent: the run it came from, or None.
    """

    id: str
    project_root: Path
    directory_name: str
    workflow: RunWorkflow
    status: RunStatus
    started_at: str
    updated_at: str
    output_dir: Path
    launch: RunLaunch
    parent: RunParent | None = None

    def as_summary(self, *, status: RunStatus | None = None) -> dict[str, object]:
        """Return the run as JSON, with another status for display if one is given."""
        return {
            "id": self.id,
            "directory_name": self.directory_name,
            "workflow": self.workflow.as_json(),
            "status": (status or self.status).value,
            "started_at": self.started_at,
            "updated_at": self.updated_at,
            "output_dir": str(self.output_dir),
            "launch": self.launch.as_json(),
            "parent": self.parent.as_json() if self.parent else None,
        }


@dataclass(frozen=True, slots=True)
class RunCheckpoints:
    """A run's checkpoints in short.

    Attributes:
        count: how many there are.
        latest_completed: the number of the latest, or None.
        latest_restorable: the number of the latest that can be restored, or None.
        resume_available: the run can go on; if not, the code and the reason say why.
    """

    count: int
    latest_completed: int | None
    latest_restorable: int | None
    resume_available: bool
    unavailable_code: str | None = None
    unavailable_reason: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the overview as JSON."""
        return {
            "count": self.count,
            "latest_completed": self.latest_completed,
            "latest_restorable": self.latest_restorable,
            "resume_available": self.resume_available,
            "unavailable_code": self.unavailable_code,
            "unavailable_reason": self.unavailable_reason,
        }


@dataclass(frozen=True, slots=True)
class RunSessionIssue:
    """Why an agent's conversation cannot be branched."""

    address: str
    provider: str
    code: str
    message: str

    def as_json(self) -> dict[str, object]:
        """Return the issue as JSON."""
        return {
            "address": self.address,
            "provider": self.provider,
            "code": self.code,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class RunSessions:
    """The persistent conversations of agents at a run's latest checkpoint."""

    persistent: int = 0
    model: Literal["copy-on-write", "legacy"] = "copy-on-write"
    branch_available: bool = True
    issues: tuple[RunSessionIssue, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the sessions as JSON."""
        return {
            "persistent": self.persistent,
            "model": self.model,
            "branch_available": self.branch_available,
            "issues": [issue.as_json() for issue in self.issues],
        }

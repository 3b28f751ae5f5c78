"""The checkpoint draft: what the runtime says about a checkpoint that is to be committed."""

from dataclasses import dataclass, field

from verdog_objects.canonical import Json
from verdog_objects.oid import Oid
from verdog_repo.lineage import Lineage
from verdog_repo.names import OperationId, RunId
from verdog_repo.record import Boundary, CheckpointKind, CheckpointRecord, LedgerSeal, Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDraft:
    """A checkpoint without what only the repository knows: its run, its number and what it follows.

    The attributes mean what they mean in `CheckpointRecord`. A draft that is not restorable has an
    `unavailable_code`; a restorable one has `artifacts` and `state`.
    """

    kind: CheckpointKind
    operation: OperationId
    created_at: str
    completed: Boundary | None = None
    next: Boundary | None = None
    restorable: bool = True
    unavailable_code: str | None = None
    reason: str | None = None
    branchable: bool = True
    fork_fresh: bool = True
    sessions: Sessions = field(default_factory=Sessions)
    swept: bool = False
    late: tuple[bytes, ...] = ()
    artifacts: Oid | None = None
    state: Oid | None = None
    environments: tuple[Oid, ...] = ()
    ledger: LedgerSeal = field(default_factory=LedgerSeal)
    duration_ns: int = 0
    files_added: int = 0
    bytes_added: int = 0
    parent: Lineage | None = None
    resumed_from: int | None = None
    waiting: dict[str, Json] | None = None


def complete(draft: CheckpointDraft, run: RunId, sequence: int, previous: Oid | None) -> CheckpointRecord:
    """Return the record that a draft becomes as a numbered checkpoint of a run."""
    return CheckpointRecord(
        run=run,
        sequence=sequence,
        previous=previous,
        kind=draft.kind,
        operation=draft.operation,
        created_at=draft.created_at,
        completed=draft.completed,
        next=draft.next,
        restorable=draft.restorable,
        unavailable_code=draft.unavailable_code,
        reason=draft.reason,
        branchable=draft.branchable,
        fork_fresh=draft.fork_fresh,
        sessions=draft.sessions,
        swept=draft.swept,
        late=draft.late,
        artifacts=draft.artifacts,
        state=draft.state,
        environments=draft.environments,
        ledger=draft.ledger,
        duration_ns=draft.duration_ns,
        files_added=draft.files_added,
        bytes_added=draft.bytes_added,
        parent=draft.parent,
        resumed_from=draft.resumed_from,
        waiting=draft.waiting,
    )

"""A checkpoint as the index knows it: every column derived from the record and the parent."""

from dataclasses import dataclass
from typing import Final, cast

from verdog_objects.errors import Corrupt
from verdog_objects.oid import Oid
from verdog_objects.store import Row
from verdog_repo.commitbytes import derive_commit, format_place
from verdog_repo.instants import MICROSECONDS, format_instant, parse_instant
from verdog_repo.names import CommitId, RunId
from verdog_repo.record import CheckpointKind, CheckpointRecord

RESTORABLE: Final = 1
BRANCHABLE: Final = 2
FORK_FRESH: Final = 4
SWEPT: Final = 8

KIND_NUMBERS: Final = {
    CheckpointKind.ENTRY: 1,
    CheckpointKind.NODE: 2,
    CheckpointKind.CHILD_START: 3,
    CheckpointKind.CHILD_RETURN: 4,
    CheckpointKind.TERMINAL: 5,
    CheckpointKind.FORK: 6,
}
_KINDS: Final = {number: kind for kind, number in KIND_NUMBERS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A commit of a run.

    Attributes:
        generation: 1 for a root, else one more than the parent's.
        record: the object that says everything about it (`Repository.record` reads it).
        committed_s: the commit's time: never below the parent's, whatever the clock did.
        place: the node that was completed, with the calls that lead to it (`call#1/child`), or None.
        visit: the number of that visit's directory.
        next_place: the node that comes next, or None at the end.
        resumed_from: the number of the checkpoint whose state went on; those in between are given up.
    """

    run: RunId
    sequence: int
    commit: CommitId
    parent: CommitId | None
    generation: int
    record: Oid
    committed_s: int
    kind: CheckpointKind
    flags: int
    place: str | None
    visit: int | None
    next_place: str | None
    next_visit: int | None
    resumed_from: int | None
    created_us: int
    duration_ns: int
    files_added: int
    bytes_added: int

    @property
    def restorable(self) -> bool:
        """Whether a run can go on from here."""
        return bool(self.flags & RESTORABLE)

    @property
    def branchable(self) -> bool:
        """Whether the agents' conversations can go on from here."""
        return bool(self.flags & BRANCHABLE)

    @property
    def fork_fresh(self) -> bool:
        """Whether it can be forked with new conversations."""
        return bool(self.flags & FORK_FRESH)

    @property
    def swept(self) -> bool:
        """Whether the whole output directory was looked at for it."""
        return bool(self.flags & SWEPT)

    @property
    def created_at(self) -> str:
        """When it was made, as RFC 3339 text in UTC."""
        return format_instant(self.created_us)


def derive_checkpoint(
    record: CheckpointRecord, record_oid: Oid, payload: bytes, parent: Checkpoint | None
) -> tuple[Checkpoint, bytes]:
    """Return the checkpoint that a record makes after its parent, and the bytes of its commit."""
    created_us = parse_instant(record.created_at)
    committed_s = max(0, created_us // MICROSECONDS)
    if parent is not None:
        committed_s = max(committed_s, parent.committed_s)
    commit, raw = derive_commit(record, payload, parent.commit if parent else None, committed_s)
    completed, following = record.completed, record.next
    checkpoint = Checkpoint(
        run=record.run,
        sequence=record.sequence,
        commit=commit,
        parent=parent.commit if parent else None,
        generation=parent.generation + 1 if parent else 1,
        record=record_oid,
        committed_s=committed_s,
        kind=record.kind,
        flags=compute_flags(record),
        place=format_place(completed) if completed else None,
        visit=completed.visit if completed else None,
        next_place=format_place(following) if following else None,
        next_visit=following.visit if following else None,
        resumed_from=record.resumed_from,
        created_us=created_us,
        duration_ns=record.duration_ns,
        files_added=record.files_added,
        bytes_added=record.bytes_added,
    )
    return checkpoint, raw


def compute_flags(record: CheckpointRecord) -> int:
    """Return what can be done with a checkpoint, as one integer."""
    return (
        record.restorable * RESTORABLE
        | record.branchable * BRANCHABLE
        | record.fork_fresh * FORK_FRESH
        | record.swept * SWEPT
    )


def encode_row(checkpoint: Checkpoint, number: int) -> Row:
    """Return the row of the checkpoints table; `number` is the run's."""
    return (
        number,
        checkpoint.sequence,
        checkpoint.commit,
        checkpoint.parent,
        checkpoint.generation,
        checkpoint.record,
        checkpoint.committed_s,
        KIND_NUMBERS[checkpoint.kind],
        checkpoint.flags,
        checkpoint.place,
        checkpoint.visit,
        checkpoint.next_place,
        checkpoint.next_visit,
        checkpoint.resumed_from,
        checkpoint.created_us,
        checkpoint.duration_ns,
        checkpoint.files_added,
        checkpoint.bytes_added,
    )


_Cells = tuple[
    int, int, CommitId, CommitId | None, int, Oid, int, int, int, str | None, int | None,
    str | None, int | None, int | None, int, int, int, int,
]  # fmt: skip


def decode_row(row: Row, run: RunId) -> Checkpoint:
    """Return the checkpoint of a row of the checkpoints table."""
    cells = cast("_Cells", row)
    kind = _KINDS.get(cells[7])
    if kind is None:
        raise Corrupt(
            f"run {run}: checkpoint {cells[1]} has the unknown kind {cells[7]} in the checkpoints table"
        )
    return Checkpoint(
        run=run,
        sequence=cells[1],
        commit=cells[2],
        parent=cells[3],
        generation=cells[4],
        record=cells[5],
        committed_s=cells[6],
        kind=kind,
        flags=cells[8],
        place=cells[9],
        visit=cells[10],
        next_place=cells[11],
        next_visit=cells[12],
        resumed_from=cells[13],
        created_us=cells[14],
        duration_ns=cells[15],
        files_added=cells[16],
        bytes_added=cells[17],
    )

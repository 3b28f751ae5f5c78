"""A checkpoint as the index knows it."""

from dataclasses import dataclass, fields
from typing import Final, cast

from verdog_objects.errors import Corrupt
from verdog_objects.oid import Oid
from verdog_objects.store import Row
from verdog_repo.instants import format_instant
from verdog_repo.kinds import CheckpointKind
from verdog_repo.names import CommitId, RunId

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


def list_differences(found: Checkpoint, derived: Checkpoint) -> str:
    """Return the names of what two checkpoints differ in."""
    names = [each.name for each in fields(Checkpoint)]
    return ", ".join(name for name in names if getattr(found, name) != getattr(derived, name))


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


def decode_visit(row: Row) -> tuple[int, int | None] | None:
    """Return only the number and the visit of a row's checkpoint; None for the first one of a fork."""
    cells = cast("_Cells", row)
    return None if cells[7] == KIND_NUMBERS[CheckpointKind.FORK] else (cells[1], cells[10])


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

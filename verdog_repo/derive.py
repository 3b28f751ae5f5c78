"""What a record makes of the checkpoint before it: the next checkpoint, with the bytes of its commit."""

from verdog_objects.oid import Oid
from verdog_repo.checkpoint import BRANCHABLE, FORK_FRESH, RESTORABLE, SWEPT, Checkpoint
from verdog_repo.commitbytes import derive_commit, format_place
from verdog_repo.instants import MICROSECONDS, parse_instant
from verdog_repo.record import CheckpointRecord


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

"""The catalog: a store together with the readers of its tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdog_objects.errors import Corrupt
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectStore
from verdog_repo.checkpoint import Checkpoint, list_differences
from verdog_repo.index import Index
from verdog_repo.names import RunId, format_commit_id
from verdog_repo.refs import name_run_ref, read_ref
from verdog_repo.runtable import RunTable

if TYPE_CHECKING:
    from verdog_repo.record import CheckpointRecord


@dataclass(frozen=True, slots=True)
class Catalog:
    """A store, its runs and its checkpoints.

    What only some calls need is imported by them: listing a history decodes no record.
    """

    store: ObjectStore
    runs: RunTable
    index: Index

    def record(self, checkpoint: Checkpoint) -> "CheckpointRecord":
        """Return everything a checkpoint says."""
        from verdog_repo.record import decode_record

        return decode_record(self.store.get(Kind.RECORD, checkpoint.record))

    def states(self, checkpoints: Sequence[Checkpoint]) -> list[Oid | None]:
        """Return the state of each of at most `PAGE_ROWS` checkpoints, without decoding whole records."""
        from verdog_repo.record import decode_state

        found = self.store.get_many([Oid(each.record) for each in checkpoints])
        return [
            decode_state(found[each.record][1])
            if each.record in found and found[each.record][0] is Kind.RECORD
            else self.record(each).state
            for each in checkpoints
        ]

    def tip(self, run: RunId) -> Checkpoint | None:
        """Return a run's latest checkpoint, or None when it has none yet.

        Raises:
            Corrupt: the ref points at a commit that is not in the checkpoints table.
        """
        ref = read_ref(self.store, name_run_ref(run))
        if ref is None or ref.commit is None:
            return None
        found = self.index.find(ref.commit)
        if found is None:
            raise Corrupt(
                f"run {run}: its commit {format_commit_id(ref.commit)} is not in the checkpoints table"
            )
        return found

    def commit_bytes(self, checkpoint: Checkpoint) -> bytes:
        """Return the bytes of a commit, derived from its record, if that says what the checkpoint's row says.

        Raises:
            Corrupt: record and parent do not make this row, or not this commit.
        """
        from verdog_repo.derive import derive_checkpoint
        from verdog_repo.record import decode_record

        payload = self.store.get(Kind.RECORD, checkpoint.record)
        parent = self.index.parent(checkpoint)
        derived, raw = derive_checkpoint(decode_record(payload), Oid(checkpoint.record), payload, parent)
        if derived != checkpoint:
            differing = list_differences(checkpoint, derived)
            raise Corrupt(
                f"run {checkpoint.run}: checkpoint {checkpoint.sequence} is listed with another {differing}, "
                "not what its record says; `verdog fsck --read-data --repair` writes its row anew"
            )
        return raw


def open_catalog(store: ObjectStore) -> Catalog:
    """Return the catalog of a store."""
    runs = RunTable(store)
    return Catalog(store, runs, Index(store, runs))

"""The lease: the right to change a run, held by one process, fenced by a number."""

from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, cast

from verdog_objects import durable, locking
from verdog_objects.errors import Busy, Conflict
from verdog_objects.store import Guard, ObjectStore, PutRow, Query, Row
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import RunId
from verdog_repo.refs import Ref
from verdog_repo.runtable import RunRow
from verdog_repo.tables import LEASES


class Head(NamedTuple):
    """The latest checkpoint as the holder of the lease knows it, so that committing reads nothing.

    Attributes:
        ref: the run's ref, or None before the first checkpoint.
        checkpoint: what the ref points at.
        raw: the bytes of that commit.
    """

    ref: Ref | None = None
    checkpoint: Checkpoint | None = None
    raw: bytes = b""


class Lease:
    """The right to commit to one run and to change its header.

    Two things hold it: a lock that ends with the process, and an epoch in the store. Whoever takes the lease
    adds 1 to the epoch, so that a holder that was wrongly thought dead gets `Conflict` from then on.

    Attributes:
        run: the run.
        number: its number in the store.
        epoch: how often the lease was taken.
        previous_boot: the boot id of the host that held it before, or None if nobody did. A different boot id
            than `locking.read_boot_id()` means that files written before may not have reached the disk.
        head: the run's latest checkpoint, once it was needed.
    """

    def __init__(
        self, run: RunRow, row: Row, previous_boot: str | None, lock: locking.FileLock | None
    ) -> None:
        self.run: RunId = run.run
        self.number = run.number
        self.epoch = cast("int", row[1])
        self.previous_boot = previous_boot
        self.head: Head | None = None
        self._row = row
        self._lock = lock
        self._held = True

    def guard(self) -> Guard:
        """Return the condition that nobody took the lease over.

        Raises:
            Conflict: this lease was released.
        """
        if not self._held or (self._lock is not None and not self._lock.held):
            raise Conflict(f"the lease of run {self.run} was released")
        return Guard(table=LEASES, key=(self.number,), expected=self._row)

    def release(self) -> None:
        """Give the lease up. Safe to call twice."""
        self._held = False
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.release()


def lock_path(locks: Path, run: RunId) -> Path:
    """Return the file that is locked while a run is leased."""
    return locks / run


def take_lease(store: ObjectStore, locks: Path | None, run: RunRow, owner: str) -> Lease:
    """Take the lease of a run.

    Raises:
        Busy: another process holds it; the error names it.

    Durability: the new epoch is durable when the call returns.
    """
    lock: locking.FileLock | None = None
    if locks is not None:
        if not locks.is_dir():
            durable.make_directory(locks, parents=True)
        try:
            lock = locking.acquire(lock_path(locks, run.run), owner=owner)
        except Busy as error:
            raise _name_run(run.run, error) from error
    try:
        return _raise_epoch(store, run, lock)
    except BaseException:
        if lock is not None:
            lock.release()
        raise


def is_leased(locks: Path | None, run: RunId) -> bool:
    """Return whether a process holds the lease of a run at this moment."""
    return locks is not None and locking.is_locked(lock_path(locks, run))


def _raise_epoch(store: ObjectStore, run: RunRow, lock: locking.FileLock | None) -> Lease:
    rows = store.select(Query(table=LEASES, equal=(("run", run.number),), limit=1))
    before = rows[0] if rows else None
    epoch = cast("int", before[1]) + 1 if before is not None else 1
    row: Row = (run.number, epoch, locking.read_boot_id())
    guard = Guard(table=LEASES, key=(run.number,), expected=before)
    store.apply(guards=[guard], writes=[PutRow(table=LEASES, row=row)])
    return Lease(run, row, cast("str", before[2]) if before is not None else None, lock)


def _name_run(run: RunId, error: Busy) -> Busy:
    who = f" by {error.owner}" if error.owner else " by another process"
    return Busy(f"run {run} is held{who}", owner=error.owner, since_ns=error.since_ns)

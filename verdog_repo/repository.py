"""The repository: the front door to a project's runs and their checkpoints."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from verdog_objects.errors import NotFound
from verdog_objects.store import ObjectStore, Writer
from verdog_repo.catalog import Catalog, open_catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.history import list_children, read_page
from verdog_repo.names import CommitId, RunId
from verdog_repo.resolve import Resolver, Revision, RevisionRange
from verdog_repo.tables import TABLES

if TYPE_CHECKING:
    from verdog_repo.draft import CheckpointDraft
    from verdog_repo.fork import Rebased
    from verdog_repo.lease import Lease
    from verdog_repo.listing import RunListing
    from verdog_repo.marks import Marks
    from verdog_repo.operations import OperationDraft
    from verdog_repo.record import CheckpointRecord
    from verdog_repo.runs import RunHeader

CONTROL_DIRECTORY: Final = ".verdog"


class Repository:
    """The runs of one project.

    Every method may be called from any thread. What it returns does not change; call again to see changes.
    Each method imports what only it needs: a command that reads a history does not load what commits.

    Attributes:
        project: the project's directory.
        store: the objects and tables below.
        catalog: the same with readers of the tables, for functions of this package.
        locks: the directory of the leases' locks, or None for a store in memory without any.
    """

    def __init__(self, project: Path, store: ObjectStore, locks: Path | None) -> None:
        self.project = project
        self.store = store
        self.locks = locks
        self.catalog: Catalog = open_catalog(store)

    @property
    def marks(self) -> Marks:
        """Tags and labels."""
        from verdog_repo.marks import Marks

        return Marks(self.catalog)

    @classmethod
    def create(cls, project: Path) -> Self:
        """Open the store of a project, making it if there is none.

        Durability: an empty store is durable when the call returned.
        """
        from verdog_objects import durable
        from verdog_objects.sqlite import create_store

        control = project / CONTROL_DIRECTORY
        store_directory = control / "store"
        if not store_directory.is_dir():
            durable.make_directory(control, 0o755, parents=True)
            if not (control / ".gitignore").exists():
                durable.write_file(control / ".gitignore", b"*\n", 0o644)
        return cls(project, create_store(store_directory, TABLES), store_directory / "locks")

    @classmethod
    def open(cls, project: Path, *, read_only: bool = False) -> Self:
        """Open the store of a project.

        Raises:
            NotFound: the project has none.
            Corrupt: it is damaged.
        """
        from verdog_objects.sqlite import open_store

        store_directory = project / CONTROL_DIRECTORY / "store"
        store = open_store(store_directory, TABLES, read_only=read_only)
        return cls(project, store, store_directory / "locks")

    @classmethod
    def over(cls, store: ObjectStore, project: Path, *, locks: Path | None = None) -> Self:
        """Return the repository of any store that was made with `tables.TABLES`."""
        return cls(project, store, locks)

    def create_run(self, header: RunHeader, *, operation: OperationDraft) -> None:
        """Record a new run without checkpoints.

        Raises:
            InvalidInput: the id is already used in the project.
        """
        from verdog_repo import transaction

        transaction.create_run(self.catalog, header, operation)

    def has_run(self, run: str) -> bool:
        """Return whether there is a run of this id."""
        return self.catalog.runs.find(run) is not None

    def header(self, run: RunId) -> RunHeader:
        """Return a run's header. Raises `NotFound` when there is no such run."""
        return self.catalog.runs.header(self.catalog.runs.get(run))

    def update_header(
        self, run: RunId, lease: Lease | None, header: RunHeader, *, operation: OperationDraft | None = None
    ) -> None:
        """Replace a run's header; `operation` is given when this begins a new command on the run.

        Raises:
            Conflict: the header was changed meanwhile, or the lease taken over.
        """
        from verdog_repo import transaction

        transaction.update_header(self.catalog, run, lease, header, operation)

    def lease(self, run: RunId, *, owner: str = "") -> Lease:
        """Take the right to change a run.

        Args:
            run: the run.
            owner: what the message of a second comer says about this process.

        Raises:
            Busy: another process holds it.
        """
        from verdog_repo.lease import take_lease

        return take_lease(self.store, self.locks, self.catalog.runs.get(run), owner)

    def is_active(self, run: RunId) -> bool:
        """Return whether a process holds the lease of a run at this moment."""
        from verdog_repo.lease import is_leased

        return is_leased(self.locks, run)

    def commit(
        self, writer: Writer, lease: Lease, draft: CheckpointDraft, *, header: RunHeader | None = None
    ) -> Checkpoint:
        """Commit the next checkpoint of a run, with everything the writer staged, in one step.

        Args:
            writer: of `Repository.store`, with the manifests and values that the draft names. It is used up.
            lease: of the run.
            draft: what the checkpoint says.
            header: a new header for the run, to change with it.

        Raises:
            Conflict: the lease was taken over, or the ref moved, or gc removed an object that the writer
                skipped. Nothing was changed.

        Durability: all of it when the call returned, none of it before.
        """
        from verdog_repo import transaction

        return transaction.commit(self.catalog, writer, lease, draft, header)

    def tip(self, run: RunId) -> Checkpoint | None:
        """Return a run's latest checkpoint, or None before the first."""
        return self.catalog.tip(self.catalog.runs.get(run).run)

    def checkpoint(self, commit: CommitId) -> Checkpoint:
        """Return the checkpoint of a commit. Raises `NotFound` when there is none."""
        return self.catalog.index.get(commit)

    def parent(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Return the checkpoint before this one, perhaps of another run, or None for a root."""
        return self.catalog.index.parent(checkpoint)

    def checkpoint_at(self, run: RunId, sequence: int) -> Checkpoint:
        """Return a run's own checkpoint by its number. Raises `NotFound` when the run has none of it."""
        tip = self.tip(run)
        if tip is None or not 1 <= sequence <= tip.sequence:
            last = f"its last is {tip.sequence}" if tip is not None else "it has none"
            raise NotFound(f"run {run} has no checkpoint {sequence}: {last}")
        return self.catalog.index.own_ancestor(tip, self.catalog.runs.number(run), sequence)

    def record(self, checkpoint: Checkpoint) -> CheckpointRecord:
        """Return everything a checkpoint says."""
        return self.catalog.record(checkpoint)

    def checked_record(self, checkpoint: Checkpoint) -> CheckpointRecord:
        """Return everything a checkpoint says, once its row in the checkpoints table says the same.

        Raises:
            Corrupt: the row does not; what it says of the checkpoint cannot be relied on.
        """
        self.catalog.commit_bytes(checkpoint)
        return self.catalog.record(checkpoint)

    def history(self, start: RunId | CommitId, limit: int = 20) -> list[Checkpoint]:
        """Return a checkpoint and those before it, newest first, over fork points, at most `limit`.

        Args:
            start: a commit, or a run for its latest checkpoint (an empty list when it has none).
            limit: how many. Ask again from the last one's `parent` for more; None there is the end.

        Cost: one query per run crossed. `history.walk`, `walk_all` and `walk_range` iterate instead.
        """
        tip = self.tip(RunId(start)) if isinstance(start, str) else self.checkpoint(start)
        return read_page(self.catalog, tip, limit) if tip is not None else []

    def children(self, commit: CommitId) -> list[Checkpoint]:
        """Return the checkpoints whose parent is this one: the run's next, and the first of each fork."""
        return list_children(self.catalog, self.checkpoint(commit))

    def resolver(self, here: Path | None = None) -> Resolver:
        """Return what finds the meaning of names; paths of runs are relative to `here` (default: the cwd)."""
        return Resolver(self.catalog, self.project, here if here is not None else Path.cwd())

    def resolve(self, text: str) -> Revision:
        """Return the checkpoint that a revision means. See `Resolver.resolve` for what it raises."""
        return self.resolver().resolve(text)

    def resolve_range(self, text: str) -> Revision | RevisionRange:
        """Return the checkpoint, or the two, that `A`, `A..B` or `A...B` means."""
        return self.resolver().resolve_range(text)

    def resolve_run(self, text: str) -> RunId:
        """Return the run that a text names, checkpoints or not; empty text means the only run."""
        return self.resolver().resolve_run(text)

    def fork(
        self,
        source: CommitId,
        header: RunHeader,
        *,
        clear_sessions: bool,
        operation: OperationDraft,
        rebased: Rebased | None = None,
    ) -> Checkpoint:
        """Make a new run whose checkpoint 1 (kind `fork`) follows a checkpoint of another run: see `fork`."""
        from verdog_repo.fork import fork

        return fork(
            self.catalog, source, header, clear_sessions=clear_sessions, operation=operation, rebased=rebased
        )

    def runs(self) -> list[RunListing]:
        """Return every run, newest first."""
        from verdog_repo.listing import iter_runs

        found = iter_runs(self.catalog, self.project, self.locks)
        return sorted(found, key=lambda each: each.number, reverse=True)

    def close(self) -> None:
        """Release the store's files. Safe to call twice."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

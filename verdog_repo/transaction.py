"""Transactions: every change of a run is objects first, then ONE swap of rows."""

from verdog_objects.errors import Conflict, Corrupt, InvalidInput
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import Guard, PutRow, Write, Writer
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint, encode_row
from verdog_repo.commitbytes import format_message
from verdog_repo.derive import derive_checkpoint
from verdog_repo.draft import CheckpointDraft, complete
from verdog_repo.lease import Head, Lease
from verdog_repo.names import CommitId, LabelName, OperationId, RunId, TagName, format_commit_id
from verdog_repo.operations import OperationDraft, RefMove, log_operation
from verdog_repo.record import CheckpointRecord, encode_record
from verdog_repo.refs import (
    Ref,
    absent,
    log_move,
    name_label_ref,
    name_run_ref,
    name_tag_ref,
    point_at,
    read_ref,
)
from verdog_repo.runs import RunHeader, encode_header
from verdog_repo.runtable import RunRow
from verdog_repo.tables import CHECKPOINTS, RUN_NUMBERS, RUNS

_ATTEMPTS = 8


def create_run(catalog: Catalog, header: RunHeader, operation: OperationDraft) -> None:
    """Record a new run without checkpoints, and the operation that made it.

    Raises:
        InvalidInput: the id is already used in the project.

    Durability: all of it when the call returned.
    """
    number = claim_number(catalog, header.run)
    with catalog.store.writer() as writer:
        guards, writes = stage_run(writer, header, number, None)
        writes.append(log_operation(operation, number))
        apply_new(catalog, header.run, writer, guards, writes)


def apply_new(
    catalog: Catalog, name: str, writer: Writer | None, guards: list[Guard], writes: list[Write]
) -> None:
    """Apply what gives a name that must be unused.

    Raises:
        InvalidInput: another process was faster to use it.
    """
    try:
        catalog.store.apply(writer, guards=guards, writes=writes)
    except Conflict:
        require_unused(catalog, name)
        raise


def claim_number(catalog: Catalog, run: RunId) -> int:
    """Return a number that was never given before and is given to this run from now on.

    Raises:
        InvalidInput: the run's id is already used in the project.

    Durability: the number is used up when the call returned, whatever becomes of the run.
    """
    require_unused(catalog, run)
    for _ in range(_ATTEMPTS):
        number = catalog.runs.next_number()
        guard = Guard(table=RUN_NUMBERS, key=(number,), expected=None)
        try:
            catalog.store.apply(guards=[guard], writes=[PutRow(table=RUN_NUMBERS, row=(number, run))])
        except Conflict:
            continue  # another process took it
        return number
    raise Conflict("other processes make runs faster than this one can")


def require_unused(catalog: Catalog, name: str) -> None:
    """Refuse a name that a run, a tag or a label already has.

    Raises:
        InvalidInput: it has; the message says which.
    """
    taken = {
        "run": catalog.runs.find(name),
        "tag": read_ref(catalog.store, name_tag_ref(TagName(name))),
        "label": read_ref(catalog.store, name_label_ref(LabelName(name))),
    }
    for what, found in taken.items():
        if found is not None:
            raise InvalidInput(f"{name} is already the name of a {what} in this project")


def unused(name: str) -> list[Guard]:
    """Return the conditions that no run, tag or label has a name."""
    return [
        Guard(table=RUNS, key=(name,), expected=None),
        absent(name_tag_ref(TagName(name))),
        absent(name_label_ref(LabelName(name))),
    ]


def stage_run(
    writer: Writer, header: RunHeader, number: int, fork_point: CommitId | None
) -> tuple[list[Guard], list[Write]]:
    """Put a new run's header and return the guards and writes that make the run."""
    oid = writer.put(Kind.HEADER, encode_header(header))
    row = RunRow(header.run, number, oid, header.output_dir, fork_point)
    return unused(header.run), [row.write]


def update_header(
    catalog: Catalog,
    run: RunId,
    lease: Lease | None,
    header: RunHeader,
    operation: OperationDraft | None,
) -> None:
    """Replace a run's header, and log the operation that does it.

    Args:
        catalog: the store.
        run: the run.
        lease: of the run; None only where no process can hold it.
        header: the new header, of the same run.
        operation: None while an operation that was logged before goes on.

    Raises:
        Conflict: the header was changed meanwhile, or the lease taken over.

    Durability: all of it when the call returned.
    """
    row = catalog.runs.get(run)
    guards = [row.guard]
    if lease is not None:
        guards.append(lease.guard())
    with catalog.store.writer() as writer:
        writes: list[Write] = [_stage_header(writer, row, header)]
        if operation is not None:
            tip = catalog.tip(run)
            at = tip.commit if tip is not None else None
            moves = (RefMove(name=name_run_ref(run), before=at, after=at),)
            writes.append(log_operation(operation, row.number, moves))
        catalog.store.apply(writer, guards=guards, writes=writes)


def _stage_header(writer: Writer, row: RunRow, header: RunHeader) -> PutRow:
    if header.run != row.run:
        raise InvalidInput(f"the header of run {header.run} cannot be that of run {row.run}")
    oid = writer.put(Kind.HEADER, encode_header(header))
    return row._replace(header=oid, output_dir=header.output_dir).write


def commit(
    catalog: Catalog, writer: Writer, lease: Lease, draft: CheckpointDraft, header: RunHeader | None
) -> Checkpoint:
    """Commit a checkpoint to the run that a lease holds. See `Repository.commit`."""
    head = lease.head if lease.head is not None else load_head(catalog, lease)
    before = head.checkpoint
    record = complete(
        draft,
        lease.run,
        before.sequence + 1 if before is not None else 1,
        before.record if before is not None else None,
    )
    checkpoint, raw = stage_commit(writer, record, before, head.raw)
    name = name_run_ref(lease.run)
    ref = point_at(name, lease.number, checkpoint)
    guards = [lease.guard(), head.ref.guard if head.ref is not None else absent(name)]
    writes = list_commit_writes(ref, checkpoint, draft.operation)
    if header is not None:
        row = catalog.runs.get(lease.run)
        guards.append(row.guard)
        writes.append(_stage_header(writer, row, header))
    lease.head = None  # until it is known again which checkpoint is the latest
    catalog.store.apply(writer, guards=guards, writes=writes)
    lease.head = Head(ref, checkpoint, raw)
    return checkpoint


def stage_commit(
    writer: Writer, record: CheckpointRecord, parent: Checkpoint | None, parent_raw: bytes
) -> tuple[Checkpoint, bytes]:
    """Put a record and return its checkpoint with the bytes of its commit, which libgit2 made too."""
    from verdog_repo.gitobjects import write_commit  # libgit2 is loaded by the first commit, never by reading

    payload = encode_record(record)
    oid = writer.put(Kind.RECORD, payload)
    checkpoint, raw = derive_checkpoint(record, Oid(oid), payload, parent)
    made = write_commit(
        payload,
        format_message(record),
        (parent.commit, parent_raw) if parent is not None else None,
        checkpoint.committed_s,
    )
    if made != (checkpoint.commit, raw):
        raise Corrupt(
            f"run {record.run}: libgit2 makes commit {format_commit_id(made[0])} of checkpoint "
            f"{record.sequence}, not {format_commit_id(checkpoint.commit)}"
        )
    return checkpoint, raw


def list_commit_writes(ref: Ref, checkpoint: Checkpoint, operation: OperationId) -> list[Write]:
    """Return the writes that make a checkpoint the latest of its run."""
    return [
        PutRow(table=CHECKPOINTS, row=encode_row(checkpoint, ref.run_number)),
        ref.write,
        log_move(ref.run_number, checkpoint.commit, checkpoint.created_us, operation),
    ]


def load_head(catalog: Catalog, lease: Lease) -> Head:
    """Read the latest checkpoint of a leased run; its commit is derived again and checked."""
    ref = read_ref(catalog.store, name_run_ref(lease.run))
    if ref is None or ref.commit is None:
        return Head()
    checkpoint = catalog.tip(lease.run)
    if checkpoint is None:
        raise Conflict(f"the ref of run {lease.run} moved")
    return Head(ref, checkpoint, catalog.commit_bytes(checkpoint))

"""Forking: a new run whose first checkpoint follows a checkpoint of another run. No user code is needed."""

from dataclasses import dataclass, replace
from typing import Final

from verdog_objects import manifest
from verdog_objects.errors import InvalidInput, NotRestorable
from verdog_objects.oid import Oid
from verdog_objects.store import Guard, Writer
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint, encode_row
from verdog_repo.lineage import LineageKind
from verdog_repo.names import CommitId
from verdog_repo.operations import OperationDraft, RefMove, log_operation
from verdog_repo.record import CheckpointKind, CheckpointRecord, Sessions
from verdog_repo.refs import absent, name_run_ref, point_at
from verdog_repo.runs import RunHeader
from verdog_repo.tables import CHECKPOINTS
from verdog_repo.transaction import apply_new, claim_number, list_commit_writes, stage_commit, stage_run

_SESSION_KEYS: Final = (b"session:", b"session;")
"""Where a state keeps the agents' conversations: from the first key up to the second."""


@dataclass(frozen=True, slots=True)
class Rebased:
    """The artifacts of a fork whose links had to point elsewhere.

    Attributes:
        writer: of the same store, with the new nodes and objects staged. The fork uses it up.
        artifacts: the root of the new artifact manifest.
    """

    writer: Writer
    artifacts: Oid


def fork(
    catalog: Catalog,
    source: CommitId,
    header: RunHeader,
    *,
    clear_sessions: bool,
    operation: OperationDraft,
    rebased: Rebased | None = None,
) -> Checkpoint:
    """Make a new run whose checkpoint 1 (kind `fork`) follows a checkpoint of another run.

    State and artifacts are the source's objects. The caller has materialised the files before; if links had
    to be rewritten for the new directory, `rebased` brings the changed artifacts.

    Args:
        catalog: the store. The source and its run are not touched.
        source: the fork point.
        header: of the new run; its `parent` names the fork point.
        clear_sessions: leave the agents' conversations behind.
        operation: its time becomes the checkpoint's.
        rebased: other artifacts than the fork point's.

    Raises:
        NotFound: no such commit.
        NotRestorable: it cannot be forked, or not with its conversations.
        InvalidInput: the run id is already used, or the header has another parent.

    Durability: header, operation, commit and ref, all of it when the call returned, none of it before.
    """
    point = catalog.index.get(source)
    before = catalog.record(point)
    check_forkable(point, before, clear_sessions=clear_sessions)
    _check_lineage(header, point)
    number = claim_number(catalog, header.run)
    name = name_run_ref(header.run)
    with rebased.writer if rebased is not None else catalog.store.writer() as writer:
        record = _begin(before, point, header, operation)
        if rebased is not None:
            record = replace(record, artifacts=rebased.artifacts)
        if clear_sessions:
            state = _clear_sessions(writer, before.state)
            record = replace(record, state=state, sessions=Sessions(), branchable=True)
        checkpoint, _ = stage_commit(writer, record, point, catalog.commit_bytes(point))
        guards, writes = stage_run(writer, header, number, source)
        guards += [absent(name), _still_there(catalog, point)]
        writes += list_commit_writes(point_at(name, number, checkpoint), checkpoint, operation.id)
        move = RefMove(name=name, before=None, after=checkpoint.commit)
        writes.append(log_operation(operation, number, (move,)))
        apply_new(catalog, header.run, writer, guards, writes)
    return checkpoint


def check_forkable(point: Checkpoint, record: CheckpointRecord, *, clear_sessions: bool) -> None:
    """Refuse a checkpoint that cannot be forked this way.

    Raises:
        NotRestorable: with the recorded reason.
    """
    where = f"run {point.run} checkpoint {point.sequence}"
    if not record.restorable:
        why = record.reason or record.unavailable_code
        raise NotRestorable(f"{where} cannot be forked: {why}", code=record.unavailable_code)
    if not (record.fork_fresh if clear_sessions else record.branchable):
        kept = "with new conversations" if clear_sessions else "with its conversations going on"
        why = "; ".join(issue.message for issue in record.sessions.issues)
        code = record.sessions.issues[0].code if record.sessions.issues else None
        raise NotRestorable(f"{where} cannot be forked {kept}" + (f": {why}" if why else ""), code=code)


def _check_lineage(header: RunHeader, point: Checkpoint) -> None:
    parent = header.parent
    if (
        parent is None
        or parent.operation is not LineageKind.FORK
        or (parent.run, parent.checkpoint) != (point.run, point.sequence)
    ):
        raise InvalidInput(
            f"the header of run {header.run} does not say that it is a fork of run {point.run} "
            f"at checkpoint {point.sequence}"
        )


def _begin(
    before: CheckpointRecord, point: Checkpoint, header: RunHeader, operation: OperationDraft
) -> CheckpointRecord:
    return replace(
        before,
        previous=point.record,
        run=header.run,
        sequence=1,
        kind=CheckpointKind.FORK,
        operation=operation.id,
        created_at=operation.at,
        parent=header.parent,
        resumed_from=None,
        swept=False,
        late=(),
        duration_ns=0,
        files_added=0,
        bytes_added=0,
    )


def _clear_sessions(writer: Writer, state: Oid | None) -> Oid | None:
    """Return the state without the agents' conversations; everything else keeps its object."""
    if state is None:
        return None
    start, stop = _SESSION_KEYS
    gone = [key for key, _ in manifest.iterate(writer, state, start=start, stop=stop)]
    return manifest.update(writer, state, dict.fromkeys(gone)) if gone else state


def _still_there(catalog: Catalog, point: Checkpoint) -> Guard:
    number = catalog.runs.number(point.run)
    return Guard(
        table=CHECKPOINTS,
        key=(number, point.sequence, point.commit),
        expected=encode_row(point, number),
    )

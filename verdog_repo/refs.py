"""Refs: the only things that change, moved by compare-and-swap, with a log of their earlier values."""

from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from verdog_objects.oid import Oid
from verdog_objects.store import PAGE_ROWS, Guard, ObjectStore, PutRow, Query, RemoveRow, Row
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import CommitId, LabelName, OperationId, RunId, TagName
from verdog_repo.tables import REFLOG, REFS

RUN_PREFIX: Final = "runs/"
TAG_PREFIX: Final = "tags/"
LABEL_PREFIX: Final = "labels/"


def name_run_ref(run: RunId) -> str:
    """Return the name of the ref that points at a run's latest checkpoint."""
    return RUN_PREFIX + run


def name_tag_ref(tag: TagName) -> str:
    """Return the name of a tag's ref."""
    return TAG_PREFIX + tag


def name_label_ref(label: LabelName) -> str:
    """Return the name of a label's ref."""
    return LABEL_PREFIX + label


class Ref(NamedTuple):
    """One row of the refs table.

    Attributes:
        run_number: the number of the run that the ref belongs to.
        commit: what it points at; None for a label, which names a run.
        record: the record of that commit.
        sequence: that checkpoint's number, generation, commit time and flags, for listings.
    """

    name: str
    run_number: int
    commit: CommitId | None
    record: Oid | None
    sequence: int
    generation: int
    committed_s: int
    flags: int

    @property
    def short_name(self) -> str:
        """The name without its kind."""
        return self.name.partition("/")[2]

    @property
    def guard(self) -> Guard:
        """The condition that the ref still has this value."""
        return Guard(table=REFS, key=(self.name,), expected=tuple(self))

    @property
    def write(self) -> PutRow:
        """The write that gives the ref this value."""
        return PutRow(table=REFS, row=tuple(self))

    @property
    def removal(self) -> RemoveRow:
        """The write that removes the ref."""
        return RemoveRow(table=REFS, key=(self.name,))


def point_at(name: str, run_number: int, checkpoint: Checkpoint) -> Ref:
    """Return a ref that points at a checkpoint."""
    return Ref(
        name=name,
        run_number=run_number,
        commit=checkpoint.commit,
        record=checkpoint.record,
        sequence=checkpoint.sequence,
        generation=checkpoint.generation,
        committed_s=checkpoint.committed_s,
        flags=checkpoint.flags,
    )


def point_at_run(name: str, run_number: int) -> Ref:
    """Return a ref that names a run."""
    return Ref(name, run_number, None, None, 0, 0, 0, 0)


def absent(name: str) -> Guard:
    """Return the condition that there is no ref of this name."""
    return Guard(table=REFS, key=(name,), expected=None)


def read_ref(store: ObjectStore, name: str) -> Ref | None:
    """Return a ref, or None when there is none of this name."""
    rows = store.select(Query(table=REFS, equal=(("name", name),), limit=1))
    return _decode(rows[0]) if rows else None


def iter_refs(store: ObjectStore, prefix: str) -> Iterator[Ref]:
    """Yield the refs whose name begins with a text, in order, reading a page at a time."""
    after = prefix
    while True:
        query = Query(
            table=REFS, at_least=("name", after), below=("name", prefix + "\U0010ffff"), limit=PAGE_ROWS
        )
        page = store.select(query)
        yield from map(_decode, page)
        if len(page) < PAGE_ROWS:
            return
        after = cast("str", page[-1][0]) + "\0"


def log_move(run_number: int, commit: CommitId | None, at_us: int, operation: OperationId) -> PutRow:
    """Return the write that notes a new value of a run's ref in the reflog."""
    return PutRow(table=REFLOG, row=(run_number, commit, at_us, bytes.fromhex(operation)))


class ReflogEntry(NamedTuple):
    """One value that a run's ref had; no commit means that it was removed."""

    number: int
    run_number: int
    commit: CommitId | None
    at_us: int
    operation: OperationId


def read_reflog(
    store: ObjectStore, run_number: int, *, before: int | None = None, limit: int = 100
) -> list[ReflogEntry]:
    """Return values of a run's ref, newest first; `before` is the number of the last entry already seen."""
    query = Query(
        table=REFLOG,
        equal=(("run", run_number),),
        below=("number", before) if before is not None else None,
        order=("number",),
        descending=True,
        limit=limit,
    )
    entries: list[ReflogEntry] = []
    for row in store.select(query):
        number, run, commit, at_us, operation = cast("tuple[int, int, CommitId | None, int, bytes]", row)
        entries.append(ReflogEntry(number, run, commit, at_us, OperationId(operation.hex())))
    return entries


def _decode(row: Row) -> Ref:
    return Ref._make(cast("tuple[str, int, CommitId | None, Oid | None, int, int, int, int]", row))

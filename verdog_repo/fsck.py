"""Checking a repository: every ref, run, commit and row, and that each object they need is there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from verdog_objects.errors import Corrupt, VerdogError
from verdog_objects.oid import Kind, Oid, format_oid
from verdog_objects.paths import escape_path
from verdog_objects.store import PAGE_ROWS, Query
from verdog_objects.treecheck import TreeCheck
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint, encode_row, list_differences
from verdog_repo.derive import derive_checkpoint
from verdog_repo.names import CommitId, RunId, format_commit_id
from verdog_repo.operations import read_operations
from verdog_repo.record import CheckpointRecord, decode_record
from verdog_repo.refs import (
    LABEL_PREFIX,
    RUN_PREFIX,
    TAG_PREFIX,
    Ref,
    iter_refs,
    name_run_ref,
    point_at,
    read_ref,
    read_reflog,
)
from verdog_repo.repository import Repository
from verdog_repo.runtable import RunRow
from verdog_repo.survey import Survey, Wound
from verdog_repo.tables import RUN_NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        kind: what it is wrong with: `store`, `run`, `ref`, `reflog`, `operation`, `checkpoint` or `object`.
        message: one sentence that names it.
        run: the run that is affected, if one is.
        sequences: the numbers of its affected checkpoints.
        visits: the completed visits of these checkpoints, as `node/3`.
        paths: the artifact paths (bytes) that cannot be restored.
        addresses: the addresses of the state's values that cannot be restored.
        oid: the object that is missing or damaged.
    """

    kind: str
    message: str
    run: RunId | None = None
    sequences: tuple[int, ...] = ()
    visits: tuple[str, ...] = ()
    paths: tuple[bytes, ...] = ()
    addresses: tuple[str, ...] = ()
    oid: Oid | None = None


@runtime_checkable
class SelfChecking(Protocol):
    """A store that can check what is below its objects and rows."""

    def check(self) -> list[str]:
        """Return what is wrong, one sentence each."""
        ...

    def mend(self) -> bool:
        """Make anew what follows from the rest if it is wrong, and return whether it was."""
        ...


def mend_store(repository: Repository) -> bool:
    """Make anew what follows from the rest below objects and rows if it is wrong, and return whether it was.

    Durability: all of it once the call returned.
    """
    store = repository.store
    return isinstance(store, SelfChecking) and store.mend()


def check(repository: Repository, *, read_data: bool = False) -> list[Finding]:
    """Return everything that is wrong with a repository; nothing when it is sound.

    Args:
        repository: what to check. Nothing is changed.
        read_data: read and hash the content of every file and value too, not only what leads to it.

    Others may write meanwhile; what they add may or may not be checked.

    Cost: reads every row, record and manifest node once; with `read_data` every object.
    """
    return list(_Check(repository.catalog, read_data=read_data).run())


@dataclass(slots=True)
class _Harm:
    """What one damaged object, or one kind of entry that cannot be, does to one run.

    Attributes:
        damage: what is wrong.
    """

    damage: str
    sequences: list[int] = field(default_factory=list[int])
    visits: dict[str, None] = field(default_factory=dict[str, None])
    paths: dict[bytes, None] = field(default_factory=dict[bytes, None])
    addresses: dict[str, None] = field(default_factory=dict[str, None])


class _Check:
    def __init__(self, catalog: Catalog, *, read_data: bool) -> None:
        self.catalog = catalog
        self.survey = Survey(catalog.store, read_data=read_data)
        self.trees = TreeCheck(self.survey.reader, read_targets=read_data)
        self._artifacts: dict[CommitId, Oid] = {}

    def run(self) -> Iterator[Finding]:
        store = self.catalog.store
        if isinstance(store, SelfChecking):
            for sentence in store.check():
                yield Finding(kind="store", message=sentence)
        rows: list[RunRow] = []
        try:
            for page in self.catalog.runs.pages():
                rows += page
        except VerdogError as error:
            yield Finding(kind="run", message=str(error))
        for row in sorted(rows, key=lambda each: each.number):
            yield from self._check_run(row)
        yield from self._check_refs({row.number: row.run for row in rows})
        yield from self._check_operations()

    def _check_run(self, row: RunRow) -> Iterator[Finding]:
        catalog, harms, misplaced = self.catalog, dict[Oid, _Harm](), dict[str, _Harm]()
        numbered = catalog.store.select(Query(table=RUN_NUMBERS, equal=(("number", row.number),)))
        if numbered != [(row.number, row.run)]:
            yield Finding(
                kind="run", run=row.run, message=f"run {row.run} does not own its number {row.number}"
            )
        try:
            header = catalog.runs.header(row)
        except VerdogError as error:
            yield Finding(kind="run", run=row.run, oid=row.header, message=f"run {row.run}: header: {error}")
        else:
            if header.output_dir != row.output_dir:
                yield Finding(
                    kind="run", run=row.run, message=f"run {row.run}: its row names another directory"
                )
            if header.result is not None:
                damage = self.survey.look_at_object(Kind.VALUE, header.result)
                if damage is not None:
                    harms[header.result] = _Harm(damage)
        before: dict[CommitId, Checkpoint] = {}
        for page in self._pages(row):
            for checkpoint in page:
                yield from self._check_checkpoint(row, checkpoint, before, harms)
                self._check_tree(checkpoint, misplaced)
            before = {each.commit: each for each in page[-8:]}
        yield from (_report(row.run, oid, harm) for oid, harm in harms.items())
        yield from (_report_misplaced(row.run, harm) for harm in misplaced.values())
        yield from self._check_reflog(row)

    def _pages(self, row: RunRow) -> Iterator[list[Checkpoint]]:
        after = 0
        while True:
            page = self.catalog.index.page(row.number, after)
            if page:
                yield page
            if len(page) < PAGE_ROWS:
                return
            after = page[-1].sequence + 1

    def _check_checkpoint(
        self, row: RunRow, checkpoint: Checkpoint, before: dict[CommitId, Checkpoint], harms: dict[Oid, _Harm]
    ) -> Iterator[Finding]:
        try:
            record = self._derive_again(row, checkpoint, before)
        except VerdogError as error:
            yield Finding(
                kind="checkpoint",
                run=row.run,
                sequences=(checkpoint.sequence,),
                visits=_visits(checkpoint),
                oid=checkpoint.record,
                message=f"run {row.run} checkpoint {checkpoint.sequence}: {error}",
            )
            return
        finally:
            before[checkpoint.commit] = checkpoint
        wounds: list[Wound] = []
        for root in (record.artifacts, record.state):
            if root is not None:
                wounds += self.survey.look_at_manifest(root)
        if record.artifacts is not None and all(wound.key is not None for wound in wounds):
            self._artifacts[checkpoint.commit] = record.artifacts
        for environment in record.environments:
            damage = self.survey.look_at_object(Kind.ENVIRONMENT, environment)
            if damage is not None:
                wounds.append(Wound(environment, damage, None, False))
        if record.ledger.root is not None:
            damage = self.survey.look_at_object(Kind.LEDGER, record.ledger.root)
            if damage is not None:
                wounds.append(Wound(record.ledger.root, damage, None, False))
        for wound in wounds:
            _note(harms.setdefault(wound.oid, _Harm(wound.damage)), checkpoint, wound)

    def _check_tree(self, checkpoint: Checkpoint, misplaced: dict[str, _Harm]) -> None:
        """Note the entries of a checkpoint's artifacts that cannot be where they are, if they can be read."""
        root = self._artifacts.get(checkpoint.commit)
        if root is None:
            return
        parent = checkpoint.parent
        for each in self.trees.check(root, self._artifacts.get(parent) if parent is not None else None):
            harm = misplaced.setdefault(each.reason, _Harm(each.reason))
            _note_checkpoint(harm, checkpoint)
            harm.paths[each.path] = None

    def _derive_again(
        self, row: RunRow, checkpoint: Checkpoint, before: dict[CommitId, Checkpoint]
    ) -> CheckpointRecord:
        """Return the record, when it and the parent make exactly this row and this commit id."""
        catalog = self.catalog
        payload = catalog.store.get(Kind.RECORD, checkpoint.record)
        record = decode_record(payload)
        parent = before.get(checkpoint.parent) if checkpoint.parent is not None else None
        if parent is None:
            parent = catalog.index.parent(checkpoint)
        if record.previous != (parent.record if parent is not None else None):
            raise Corrupt("its record does not follow its parent's")
        derived, _ = derive_checkpoint(record, checkpoint.record, payload, parent)
        if derived.commit != checkpoint.commit:
            raise Corrupt(
                f"its record makes commit {format_commit_id(derived.commit)}, not the one in its row"
            )
        if encode_row(derived, row.number) != encode_row(checkpoint, row.number) or record.run != row.run:
            differing = list_differences(checkpoint, derived)
            raise Corrupt(f"it is listed with another {differing}, not what its record says")
        if parent is not None and parent.run == row.run:
            if parent.sequence != checkpoint.sequence - 1:
                raise Corrupt(f"it follows checkpoint {parent.sequence}")
        elif checkpoint.sequence != 1 or row.fork_point != (parent.commit if parent is not None else None):
            raise Corrupt("it begins a history, but is not where its run begins")
        return record

    def _check_refs(self, names: dict[int, RunId]) -> Iterator[Finding]:
        for prefix in (RUN_PREFIX, TAG_PREFIX, LABEL_PREFIX):
            try:
                for ref in iter_refs(self.catalog.store, prefix):
                    run = names.get(ref.run_number) or self._find_made_since(ref.run_number)
                    problem = self._find_problem(ref, run)
                    if problem is not None:
                        yield Finding(kind="ref", run=run, message=f"ref {ref.name} {problem}")
            except VerdogError as error:
                yield Finding(kind="ref", message=f"refs {prefix}*: {error}")

    def _find_made_since(self, number: int) -> RunId | None:
        """Return the run of a number that was not there yet when the runs were listed."""
        try:
            row = self.catalog.runs.find(self.catalog.runs.name(number))
        except Corrupt:
            return None
        return row.run if row is not None and row.number == number else None

    def _find_problem(self, ref: Ref, run: RunId | None) -> str | None:
        if run is None:
            return f"belongs to a run number {ref.run_number} that no run has"
        if ref.name.startswith(RUN_PREFIX) and ref.short_name != run:
            return f"belongs to run {run}"
        if ref.name.startswith(LABEL_PREFIX):
            return None if ref.commit is None else "is a label, but points at a commit"
        if ref.commit is None:
            return "points at no commit"
        checkpoint = self.catalog.index.find(ref.commit)
        if checkpoint is None:
            return f"points at commit {format_commit_id(ref.commit)}, which is not in the checkpoints table"
        if point_at(ref.name, ref.run_number, checkpoint) != ref:
            return "does not say what its checkpoint says"
        return None

    def _check_reflog(self, row: RunRow) -> Iterator[Finding]:
        try:
            agree = _compare_with_reflog(self.catalog, row)
        except VerdogError as error:
            yield Finding(kind="reflog", run=row.run, message=f"run {row.run}: {error}")
            return
        if not agree:
            yield Finding(
                kind="reflog", run=row.run, message=f"run {row.run}: its ref is not where its reflog says"
            )

    def _check_operations(self) -> Iterator[Finding]:
        before: int | None = None
        while True:
            try:
                page = read_operations(self.catalog.store, before=before, limit=PAGE_ROWS)
            except VerdogError as error:
                yield Finding(kind="operation", message=str(error))
                return
            if len(page) < PAGE_ROWS:
                return
            before = page[-1].number


def _compare_with_reflog(catalog: Catalog, row: RunRow) -> bool:
    """Return whether a run's ref is where its reflog says; it may move between the reading of both."""
    store, name = catalog.store, name_run_ref(row.run)
    while True:
        ref = read_ref(store, name)
        latest = read_reflog(store, row.number, limit=1)
        if (ref.commit if ref is not None else None) == (latest[0].commit if latest else None):
            return True
        if read_ref(store, name) == ref:
            return False


def _note(harm: _Harm, checkpoint: Checkpoint, wound: Wound) -> None:
    _note_checkpoint(harm, checkpoint)
    if wound.key is None:
        return
    if wound.is_path:
        harm.paths[wound.key.replace(b"\x00", b"/")] = None
    else:
        harm.addresses[wound.key.decode("utf-8", "backslashreplace")] = None


def _note_checkpoint(harm: _Harm, checkpoint: Checkpoint) -> None:
    if not harm.sequences or harm.sequences[-1] != checkpoint.sequence:
        harm.sequences.append(checkpoint.sequence)
    harm.visits.update(dict.fromkeys(_visits(checkpoint)))


def _report(run: RunId, oid: Oid, harm: _Harm) -> Finding:
    where = _describe_checkpoints(harm) if harm.sequences else "its result"
    return Finding(
        kind="object",
        run=run,
        oid=oid,
        message=f"object {format_oid(oid)} is {harm.damage}: run {run}, {where}",
        sequences=tuple(harm.sequences),
        visits=tuple(harm.visits),
        paths=tuple(harm.paths),
        addresses=tuple(harm.addresses),
    )


def _report_misplaced(run: RunId, harm: _Harm) -> Finding:
    first, *others = harm.paths
    more = f", and {len(others)} more like it" if others else ""
    where = _describe_checkpoints(harm)
    return Finding(
        kind="checkpoint",
        run=run,
        message=f"run {run}, {where}: {escape_path(first)} {harm.damage}{more}",
        sequences=tuple(harm.sequences),
        visits=tuple(harm.visits),
        paths=tuple(harm.paths),
    )


def _describe_checkpoints(harm: _Harm) -> str:
    first, last = harm.sequences[0], harm.sequences[-1]
    return f"checkpoint {first}" if first == last else f"checkpoints {first} to {last}"


def _visits(checkpoint: Checkpoint) -> tuple[str, ...]:
    return (f"{checkpoint.place}/{checkpoint.visit}",) if checkpoint.place is not None else ()

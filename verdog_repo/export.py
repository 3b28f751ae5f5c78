"""Exporting the history of all runs into a bare Git repository, of which only what is new is written."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol, runtime_checkable

from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.oid import Kind, Oid
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.derive import derive_checkpoint
from verdog_repo.exportdir import ExportDirectory, open_export_directory
from verdog_repo.exportwriter import CommitWriter, FilesWriter, HistoryWriter, Point
from verdog_repo.gitrefs import HEADS, TAGS, UNBORN, Names, point_head, read_names, write_names
from verdog_repo.history import walk
from verdog_repo.names import CommitId, RunId, format_commit_id
from verdog_repo.record import CheckpointRecord, decode_record
from verdog_repo.refs import LABEL_PREFIX, RUN_PREFIX, TAG_PREFIX, iter_refs
from verdog_repo.repository import CONTROL_DIRECTORY, Repository

_PAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export did.

    Attributes:
        commits: how many commits it wrote; so `objects`.
        size_bytes: the length of the packs that it wrote.
        branches: how many runs have a branch now; so `tags` and `labels`.
        left_out: paths that Git refuses, in some of the commits written, and why.
        unrecorded: how many of the commits written have the files of their parent, since theirs were not
            recorded.
    """

    commits: int
    objects: int
    size_bytes: int
    branches: int
    tags: int
    labels: int
    left_out: dict[bytes, str]
    unrecorded: int


@runtime_checkable
class _Identified(Protocol):
    """A store that has a name for ever."""

    uuid: str


def export(
    repository: Repository,
    directory: Path,
    *,
    files: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write what is new in the history of all runs into a bare Git repository.

    Each run is a branch, each tag a tag, and each label a symbolic name of its run's branch. Without files,
    the commits are those that `log` shows, and each holds its record. With files, each holds the artifacts of
    its checkpoint instead; then its id is another one, and its message ends with the id that `log` shows.

    Args:
        repository: what to export. Nothing in it is changed.
        directory: absent, empty, or an earlier export of the same repository and kind.
        files: write the artifacts.
        progress: is called with how many commits were written, and how many there are to write.

    Raises:
        InvalidInput: the directory is something else.
        Busy: another process exports into it.
        Corrupt: the store is damaged. What was written before is sound and named.
        Unavailable: the disk refused.

    Durability: all of it once the call returned. A killed export is completed by the next one: objects come
        before the names that need them.

    Cost: one read of each ref, then what the new commits need.
    """
    _require_outside(repository, directory)
    store = repository.store
    identity = store.uuid if isinstance(store, _Identified) else ""
    with open_export_directory(directory, store=identity, files=files) as target:
        return _Export(repository.catalog, target, progress).run()


def _require_outside(repository: Repository, directory: Path) -> None:
    control = (repository.project / CONTROL_DIRECTORY / "store").resolve()
    if directory.resolve().is_relative_to(control):
        raise InvalidInput(f"{directory} is inside the store")


class _Chain(NamedTuple):
    """Commits to write, oldest first, and the one before them, which is written already or by then.

    Attributes:
        run: the run whose branch these commits lead to, or None for those that only a tag names.
    """

    run: RunId | None
    base: CommitId | None
    commits: list[CommitId]


class _Export:
    def __init__(
        self, catalog: Catalog, target: ExportDirectory, progress: Callable[[int, int], None] | None
    ) -> None:
        self._catalog = catalog
        self._target = target
        self._progress = progress
        kind = FilesWriter if target.marker.files else HistoryWriter
        self._writer: CommitWriter = kind(catalog, target)
        self._kept: dict[CommitId, Point | None] = {}
        self._uses: Counter[CommitId] = Counter()
        self._advanced: dict[str, CommitId] = {}
        self._done = 0

    def run(self) -> Exported:
        catalog = self._catalog
        runs = sorted(
            (ref.run_number, RunId(ref.short_name), ref.commit)
            for ref in iter_refs(catalog.store, RUN_PREFIX)
            if ref.commit is not None
        )
        tips = {run: commit for _, run, commit in runs}
        tags = {
            ref.short_name: ref.commit
            for ref in iter_refs(catalog.store, TAG_PREFIX)
            if ref.commit is not None
        }
        labels = {
            ref.short_name: catalog.runs.name(ref.run_number)
            for ref in iter_refs(catalog.store, LABEL_PREFIX)
        }
        labels = {label: run for label, run in labels.items() if run in tips}
        chains = list(self._plan([*tips.items(), *((None, commit) for commit in tags.values())]))
        for commit in (*tips.values(), *tags.values()):
            self._kept.setdefault(commit)
        symbolic = {HEADS + label: HEADS + run for label, run in labels.items()}
        named = {*(HEADS + run for run in tips), *(TAGS + tag for tag in tags), *symbolic}
        self._target.remember({*self._target.marker.names, *named})
        try:
            total = sum(len(chain.commits) for chain in chains)
            for chain in chains:
                self._write_chain(chain, total)
            self._writer.finish()
        finally:
            self._writer.close()
        commits = {HEADS + run: self._point(commit).name for run, commit in tips.items()}
        commits |= {TAGS + tag: self._point(commit).name for tag, commit in tags.items()}
        self._name(Names(commits=commits, symbolic=symbolic), newest=runs[-1][1] if runs else None)
        return Exported(
            commits=self._done,
            objects=self._writer.objects,
            size_bytes=self._writer.size_bytes,
            branches=len(tips),
            tags=len(tags),
            labels=len(labels),
            left_out=self._writer.left_out,
            unrecorded=self._writer.unrecorded,
        )

    def _plan(self, starts: list[tuple[RunId | None, CommitId]]) -> Iterator[_Chain]:
        """Yield the commits that the export lacks, each once, and each after its parent."""
        planned: set[CommitId] = set()
        for run, start in starts:
            chain: list[CommitId] = []
            base: CommitId | None = None
            for each in walk(self._catalog, self._catalog.index.get(start)):
                if each.commit in planned or self._find(each) is not None:
                    base = each.commit
                    break
                chain.append(each.commit)
            planned.update(chain)
            if chain:
                if base is not None:
                    self._kept.setdefault(base)
                    self._uses[base] += 1
                chain.reverse()
                yield _Chain(run, base, chain)

    def _find(self, checkpoint: Checkpoint) -> Point | None:
        """Return where a checkpoint is in the export, if it was there before."""
        found = self._kept.get(checkpoint.commit)
        if found is None:
            found = self._writer.find(checkpoint)
            if found is not None:
                self._kept[checkpoint.commit] = found
        return found

    def _point(self, commit: CommitId) -> Point:
        """Return where a commit is in the export, which has it by now."""
        found = self._kept.get(commit) or self._find(self._catalog.index.get(commit))
        if found is None:
            raise Corrupt(f"commit {format_commit_id(commit)} was not exported")
        return found

    def _write_chain(self, chain: _Chain, total: int) -> None:
        parent = None if chain.base is None else self._catalog.index.get(chain.base)
        point = None if chain.base is None else self._take_base(chain.base)
        for checkpoint, record, payload in self._read(chain.commits):
            derived, raw = derive_checkpoint(record, checkpoint.record, payload, parent)
            if derived != checkpoint:
                raise Corrupt(
                    f"run {checkpoint.run}: checkpoint {checkpoint.sequence} is not what its record says "
                    f"(commit {format_commit_id(checkpoint.commit)})"
                )
            point = self._writer.write(checkpoint, record, payload, raw, point)
            parent = checkpoint
            if checkpoint.commit in self._kept:
                self._kept[checkpoint.commit] = point if self._uses[checkpoint.commit] else Point(point.name)
            if self._writer.take_published():  # and so need not be written again after a kill
                write_names(self._target.path, Names(commits=self._advanced, symbolic={}))
                self._advanced.clear()
            if checkpoint.run == chain.run:
                self._advanced[HEADS + checkpoint.run] = point.name
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, total)

    def _take_base(self, commit: CommitId) -> Point:
        """Return where a chain begins, and forget its files once no other chain begins there."""
        point = self._point(commit)
        self._uses[commit] -= 1
        if not self._uses[commit]:
            self._kept[commit] = Point(point.name)
        return point

    def _read(self, commits: list[CommitId]) -> Iterator[tuple[Checkpoint, CheckpointRecord, bytes]]:
        index, store = self._catalog.index, self._catalog.store
        for start in range(0, len(commits), _PAGE):
            page = [index.get(commit) for commit in commits[start : start + _PAGE]]
            payloads = store.get_many([Oid(each.record) for each in page])
            for each in page:
                kind, payload = payloads.get(each.record, (None, b""))
                if kind is not Kind.RECORD:
                    raise Corrupt(f"run {each.run}: the record of checkpoint {each.sequence} is missing")
                yield each, decode_record(payload), payload

    def _name(self, names: Names, *, newest: RunId | None) -> None:
        own = names.commits.keys() | names.symbolic.keys()
        path = self._target.path
        write_names(path, names, obsolete=set(self._target.marker.names) - own)
        point_head(path, HEADS + newest if newest is not None else UNBORN, read_names(path))
        self._target.remember(own)

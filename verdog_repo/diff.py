"""The difference of two checkpoints: in visits, in state, in files."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final, NamedTuple

from verdog_objects.content import iter_content
from verdog_objects.manifest import CachedReader, NodeCache
from verdog_objects.nodes import Entry
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import PAGE_ROWS, ObjectReader
from verdog_objects.treediff import Change
from verdog_repo.alignment import Alignment, Key, Visit, align
from verdog_repo.artifactdiff import FileChange, compare_artifacts, diff_manifests
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.places import Step
from verdog_repo.renames import find_renames

SameValue = Callable[[bytes, bytes, bytes, Mapping[bytes, bytes]], bool]
"""Returns whether two values at an address are one, when directories on the right stand for others."""

Layout = Callable[[Sequence[Step]], bytes]
"""Returns the directory of a visit: of the calls that lead to it and its node, each with its number."""

_CALL_NUMBER: Final = re.compile(r"#[0-9]+")

FRAME_KEYS: Final = b"frame:"
"""Where a state keeps how far the run is: directory numbers among them, which a retry changes."""


@unique
class Reason(StrEnum):
    """How a visit of one history differs from the visit at its place in the other one."""

    ORDER = "order"
    """Another node was visited, or the same one for another time."""
    NEXT = "next"
    """The run went on to another node."""
    STATE = "state"
    """It left another state."""
    FILES = "files"
    """It left other files in its directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first visits of two histories that differ, and how."""

    left: Visit
    right: Visit
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two checkpoints: what its record says of files and state.

    Attributes:
        checkpoint: None for what is before the first checkpoint of all.
        artifacts: the manifest of its files, or None.
        state: the manifest of its state, or None.
    """

    checkpoint: Checkpoint | None
    artifacts: Oid | None
    state: Oid | None

    @property
    def lacks_files(self) -> bool:
        """Whether there is a checkpoint whose files were not recorded."""
        return self.checkpoint is not None and self.artifacts is None

    @property
    def lacks_state(self) -> bool:
        """Whether there is a checkpoint whose state was not recorded."""
        return self.checkpoint is not None and self.state is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two checkpoints differ in.

    Attributes:
        alignment: the visits of both, or None for runs of different workflows: their files alone compare.
        divergence: the first visits that differ, if both histories have any after they parted.
        state: the changed addresses; None when a state is not recorded, or for different workflows.
        files: the changed files; None when files are not recorded.
        moved: directories on the right that stand for one of another name on the left.
    """

    left: Side
    right: Side
    alignment: Alignment | None
    divergence: Divergence | None
    state: tuple[Change, ...] | None
    files: tuple[FileChange, ...] | None
    moved: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])

    @property
    def state_differs(self) -> bool:
        """Whether the states differ; of different workflows they are not compared."""
        if self.alignment is None:
            return False
        return self.left.state != self.right.state if self.state is None else bool(self.state)

    @property
    def files_differ(self) -> bool:
        """Whether the files differ, or are recorded on one side only."""
        return self.left.artifacts != self.right.artifacts if self.files is None else bool(self.files)


def compare(
    catalog: Catalog,
    left: Checkpoint | None,
    right: Checkpoint,
    layout: Layout,
    same_value: SameValue = lambda key, before, after, moved: False,
) -> Comparison:
    """Compare two checkpoints.

    Args:
        catalog: where they are.
        left: the one before, or None for nothing at all.
        right: the one after.
        layout: where the files of visits are.
        same_value: asked of values that differ in bytes, where directories have other numbers on each side.

    Cost: O(changes * log N) nodes, the rows of the checkpoints since the histories parted, and their records
        up to the first one that differs.
    """
    reader = CachedReader(catalog.store, NodeCache())
    before, after = _read_side(catalog, left), _read_side(catalog, right)
    alignment = align(catalog, left, right) if left is None or _same_workflow(catalog, left, right) else None
    moved = _find_moved(alignment, layout) if alignment is not None else {}
    values = _Values(reader, moved, same_value)
    state: tuple[Change, ...] | None = None
    if alignment is not None and not before.lacks_state and not after.lacks_state:
        state = tuple(values.iter_changes(before.state, after.state))
    files: tuple[FileChange, ...] | None = None
    if not before.lacks_files and not after.lacks_files:
        changes = compare_artifacts(reader, before.artifacts, after.artifacts, moved)
        files = tuple(find_renames(changes, _make_read(reader)))
    divergence: Divergence | None = None
    if alignment is not None and (state or files or state is None or files is None):
        divergence = _find_divergence(catalog, values, alignment, _touched(alignment, files or (), layout))
    return Comparison(
        left=before,
        right=after,
        alignment=alignment,
        divergence=divergence,
        state=state,
        files=files,
        moved=moved,
    )


class _Values(NamedTuple):
    """How the values of two states are compared."""

    reader: ObjectReader
    moved: Mapping[bytes, bytes]
    same_value: SameValue

    def iter_changes(self, before: Oid | None, after: Oid | None) -> Iterator[Change]:
        """Yield the addresses whose values differ by more than the numbers of directories."""
        for change in diff_manifests(self.reader, before, after):
            if not self._same(change):
                yield change

    def differ(self, before: Oid | None, after: Oid | None) -> bool:
        """Return whether two visits left different states, whatever the numbers of their directories."""
        if before == after or before is None or after is None:
            return before != after
        return any(
            not change.key.startswith(FRAME_KEYS) and not self._same(change)
            for change in diff_manifests(self.reader, before, after)
        )

    def _same(self, change: Change) -> bool:
        if not self.moved or change.before is None or change.after is None:
            return False
        before, after = (self.reader.get(Kind.VALUE, each.oid) for each in (change.before, change.after))
        return self.same_value(change.key, before, after, self.moved)


def _read_side(catalog: Catalog, checkpoint: Checkpoint | None) -> Side:
    if checkpoint is None:
        return Side(checkpoint=None, artifacts=None, state=None)
    record = catalog.record(checkpoint)
    return Side(checkpoint=checkpoint, artifacts=record.artifacts, state=record.state)


def _same_workflow(catalog: Catalog, left: Checkpoint, right: Checkpoint) -> bool:
    if left.run == right.run:
        return True
    headers = [catalog.runs.header(catalog.runs.get(each.run)) for each in (left, right)]
    return headers[0].definition_id == headers[1].definition_id


def _make_read(reader: ObjectReader) -> Callable[[bytes, Entry], bytes]:
    def read(path: bytes, entry: Entry) -> bytes:
        return b"".join(iter_content(reader, path, entry))

    return read


def _find_moved(alignment: Alignment, layout: Layout) -> dict[bytes, bytes]:
    """Return the directories of visits, and of calls around them, that have another number on each side."""
    moved: dict[bytes, bytes] = {}
    for left, right in alignment.pairs:
        if left.steps != right.steps:
            for depth in range(1, len(left.steps) + 1):
                if left.steps[:depth] != right.steps[:depth]:
                    moved[layout(right.steps[:depth])] = layout(left.steps[:depth])
    return moved


def _touched(alignment: Alignment, files: Sequence[FileChange], layout: Layout) -> set[Key]:
    """Return the visits of both sides in whose directories a file changed."""
    if not alignment.left or not alignment.right:
        return set()
    befores = [each.before_path for each in files if each.before_path is not None]
    afters = [each.after_path for each in files if each.after_path is not None]
    return _owning(alignment.left, befores, layout) | _owning(alignment.right, afters, layout)


def _owning(visits: Sequence[Visit], paths: Sequence[bytes], layout: Layout) -> set[Key]:
    """Return the visits in whose own directories, not those of visits inside them, these paths are."""
    if not paths:
        return set()
    owners = {layout(visit.steps): visit.key for visit in visits}
    found: set[Key] = set()
    for path in paths:
        end = len(path)
        while end > 0 and path[:end] not in owners:
            end = path.rfind(b"/", 0, end)
        if end > 0:
            found.add(owners[path[:end]])
    return found


def _find_divergence(
    catalog: Catalog, values: _Values, alignment: Alignment, touched: set[Key]
) -> Divergence | None:
    for (left, right), states in _iter_with_states(
        catalog, list(zip(alignment.left, alignment.right, strict=False))
    ):
        if left.key != right.key:
            return Divergence(left=left, right=right, reasons=(Reason.ORDER,))
        reasons = [Reason.NEXT] if _next_node(left) != _next_node(right) else []
        if values.differ(*states):
            reasons.append(Reason.STATE)
        if left.key in touched:
            reasons.append(Reason.FILES)
        if reasons:
            return Divergence(left=left, right=right, reasons=tuple(reasons))
    return None


def _iter_with_states(
    catalog: Catalog, visits: Sequence[tuple[Visit, Visit]]
) -> Iterator[tuple[tuple[Visit, Visit], tuple[Oid | None, Oid | None]]]:
    """Yield pairs of visits with the states that they left, reading more at once the longer this goes on."""
    start, size = 0, 4
    while start < len(visits):
        some = visits[start : start + size]
        states = catalog.states([visit.checkpoint for pair in some for visit in pair])
        yield from zip(some, zip(states[::2], states[1::2], strict=True), strict=True)
        start, size = start + size, min(2 * size, PAGE_ROWS // 2)


def _next_node(visit: Visit) -> str | None:
    """Return where the run went on, without the numbers of the calls that lead there."""
    return visit.checkpoint.next_place and _CALL_NUMBER.sub("#", visit.checkpoint.next_place)

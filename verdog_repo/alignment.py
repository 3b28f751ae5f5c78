"""Alignment: which completed visits of two histories are the same visit.

Two histories share all visits up to the checkpoint where they part. After it, a visit is called by the calls
that lead to it, its node, and its ordinal among the completed visits of that node. A retry after a kill takes
a new directory number but not a new ordinal, so numbers of directories never decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from verdog_objects.store import PAGE_ROWS
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.history import find_ancestor, merge_base, walk
from verdog_repo.kinds import CheckpointKind
from verdog_repo.places import Step, parse_place
from verdog_repo.visits import count_visits

Key = tuple[tuple[str, int], ...]
"""What a visit is called on both sides: nodes, each with its ordinal from 0 since the histories parted."""


class Visit(NamedTuple):
    """A completed visit after the parting of two histories.

    Attributes:
        key: its name on both sides.
        steps: the calls that lead to it and its node, each with the number of its directory.
        checkpoint: the one right after it.
    """

    key: Key
    steps: tuple[Step, ...]
    checkpoint: Checkpoint

    @property
    def place(self) -> str:
        """The node with the calls that lead to it, as this side numbers them."""
        return self.checkpoint.place or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Two histories, visit by visit, oldest first.

    Attributes:
        base: the latest checkpoint that both go on from, or None when they share nothing.
        left: the visits since then that only the left history had to make, in order; so too `right`.
    """

    base: Checkpoint | None
    left: tuple[Visit, ...]
    right: tuple[Visit, ...]

    @property
    def pairs(self) -> list[tuple[Visit, Visit]]:
        """The visits that both sides made, in the order of the left one."""
        on_right = {visit.key: visit for visit in self.right}
        return [(visit, on_right[visit.key]) for visit in self.left if visit.key in on_right]

    @property
    def only_left(self) -> list[Visit]:
        """The visits that the right side did not make."""
        return _without(self.left, self.right)

    @property
    def only_right(self) -> list[Visit]:
        """The visits that the left side did not make."""
        return _without(self.right, self.left)


def align(catalog: Catalog, left: Checkpoint | None, right: Checkpoint) -> Alignment:
    """Align the histories that lead to two checkpoints; without a left one, everything is only on the right.

    Cost: the rows of the checkpoints since the histories parted, and three lookups per fork before that.
    """
    base = merge_base(catalog, left, right) if left is not None else None
    while True:
        ours = _read_since(catalog, left, base)
        theirs = _read_since(catalog, right, base)
        floors = [each.floor for each in (ours, theirs) if each.floor is not None]
        if base is None or not floors:
            break
        # One side gave up what the other one still has, so they part before it.
        base = find_ancestor(catalog, base, base.sequence - min(floors))
    return Alignment(base=base, left=name_visits(ours.completed), right=name_visits(theirs.completed))


class Ordinals:
    """Counts visits from the beginning of a history, as `RUN@node#3` does, and remembers what it counted."""

    def __init__(self, catalog: Catalog, base: Checkpoint | None) -> None:
        """Count for an alignment with this base."""
        self._catalog = catalog
        self._base = base
        self._before: dict[str, int] = {}

    def find(self, visit: Visit) -> int:
        """Return which of the completed visits of its node this one is, from 1.

        Cost: for the first visit of a place, reads the rows of the history before the parting.
        """
        if self._base is None:
            return visit.key[-1][1] + 1
        before = self._before.get(visit.place)
        if before is None:
            before = self._before[visit.place] = count_visits(self._catalog, self._base, visit.place)
        return before + visit.key[-1][1] + 1


def name_visits(completed: Sequence[Checkpoint]) -> tuple[Visit, ...]:
    """Return the visits of a history, oldest first, under names that another history can share.

    A number that a call or a visit had is replaced by how many others of the same place came before it.
    """
    numbers: dict[tuple[Key, str], dict[int, int]] = {}
    visits: dict[Key, Visit] = {}
    for checkpoint in completed:
        calls, node = parse_place(checkpoint.place or "")
        steps = (*calls, (node, checkpoint.visit or 0))
        key: Key = ()
        for name, number in steps:
            known = numbers.setdefault((key, name), {})
            key = (*key, (name, known.setdefault(number, len(known))))
        visits.setdefault(key, Visit(key, steps, checkpoint))
    return tuple(visits.values())


class _Read(NamedTuple):
    """The part of a history after a checkpoint.

    Attributes:
        completed: the checkpoints after completed visits, oldest first.
        floor: the number of the checkpoint it really goes on from, when that lies before the one asked for.
    """

    completed: list[Checkpoint]
    floor: int | None


def _read_since(catalog: Catalog, tip: Checkpoint | None, base: Checkpoint | None) -> _Read:
    """Read the visits after `base`, leaving out those that a resumed run gave up."""
    completed: list[Checkpoint] = []
    count = 0 if tip is None else tip.generation - (base.generation if base is not None else 0)
    if tip is None or count <= 0:
        return _Read(completed, None)
    kept: tuple[str, int] | None = None  # in this run, only what is not above this number was kept
    for each in walk(catalog, tip, min(count, PAGE_ROWS)):
        given_up = kept is not None and each.run == kept[0] and each.sequence > kept[1]
        if base is not None and each.commit == base.commit:
            return _Read(completed[::-1], kept[1] if given_up and kept is not None else None)
        if given_up:
            continue
        if each.resumed_from is not None:
            kept = (each.run, each.resumed_from)
        if each.place is not None and each.kind is not CheckpointKind.FORK:
            completed.append(each)
    return _Read(completed[::-1], None)


def _without(visits: Sequence[Visit], others: Sequence[Visit]) -> list[Visit]:
    keys = {visit.key for visit in others}
    return [visit for visit in visits if visit.key not in keys]

"""History: walking from checkpoint to parent, over fork points, and where two histories meet."""

from collections.abc import Iterator
from heapq import heapify, heappop, heapreplace
from itertools import islice
from typing import NamedTuple

from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.store import PAGE_ROWS
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import CommitId
from verdog_repo.refs import RUN_PREFIX, iter_refs


class Segment(NamedTuple):
    """The part of a history that lies in one run: from its first checkpoint to `tip`."""

    number: int
    tip: Checkpoint
    first: Checkpoint


def walk(catalog: Catalog, start: Checkpoint, page_rows: int = PAGE_ROWS) -> Iterator[Checkpoint]:
    """Yield a checkpoint and all before it on first parents, newest first, over fork points.

    Cost: one query per `page_rows` checkpoints, and one per fork point.
    """
    here: Checkpoint | None = start
    while here is not None:
        last = here
        for each in catalog.index.walk_own(here, catalog.runs.number(here.run), page_rows):
            yield each
            last = each
        here = catalog.index.parent(last)


def read_page(catalog: Catalog, start: Checkpoint, limit: int) -> list[Checkpoint]:
    """Return a checkpoint and those before it, newest first; go on from the last one's parent."""
    return list(islice(walk(catalog, start, min(limit, PAGE_ROWS)), limit))


def walk_all(catalog: Catalog) -> Iterator[Checkpoint]:
    """Yield the checkpoints of all runs, newest first; a child always before its parent.

    Cost: one read of each ref, then one query for each run that has a checkpoint among those taken, and one
    more for each further page.
    """
    heads: list[_Head] = []
    for ref in iter_refs(catalog.store, RUN_PREFIX):
        if ref.commit is not None:
            heads.append(
                _Head((-ref.committed_s, -ref.generation, ref.commit), ref.run_number, None, iter(()))
            )
    heapify(heads)
    while heads:
        head = heads[0]
        if head.checkpoint is None:  # only now does the run's history have to be read
            rest = catalog.index.walk_own(catalog.index.get(head.order[2]), head.number, 50)
            here = next(rest)
        else:
            here, rest = head.checkpoint, head.rest
        yield here
        following = next(rest, None)
        if following is None:
            heappop(heads)
        else:
            heapreplace(heads, _Head(_order(following), head.number, following, rest))


class _Head(NamedTuple):
    order: tuple[int, int, CommitId]
    number: int
    checkpoint: Checkpoint | None
    rest: Iterator[Checkpoint]

    def __lt__(self, other: "_Head") -> bool:  # type: ignore[override]
        return self.order < other.order


def _order(checkpoint: Checkpoint) -> tuple[int, int, CommitId]:
    """Return a key that rises from children to parents: a commit's time is never below its parent's."""
    return -checkpoint.committed_s, -checkpoint.generation, checkpoint.commit


def list_segments(catalog: Catalog, tip: Checkpoint) -> list[Segment]:
    """Return the history that leads to a checkpoint, run by run, newest first.

    Cost: three lookups per fork, whatever the number of checkpoints.
    """
    segments: list[Segment] = []
    here: Checkpoint | None = tip
    while here is not None:
        number = catalog.runs.number(here.run)
        first = catalog.index.own_ancestor(here, number, 1)
        segments.append(Segment(number, here, first))
        here = catalog.index.parent(first)
    return segments


def find_ancestor(catalog: Catalog, checkpoint: Checkpoint, count: int) -> Checkpoint:
    """Return the checkpoint this many first parents back.

    Raises:
        NotFound: the history is shorter.

    Cost: three lookups per fork point crossed.
    """
    if count >= checkpoint.generation:
        raise NotFound(
            f"nothing is {count} back from run {checkpoint.run} checkpoint {checkpoint.sequence}: "
            f"its history has {checkpoint.generation}"
        )
    here = checkpoint
    while count:
        number = catalog.runs.number(here.run)
        within = min(count, here.sequence - 1)
        here = catalog.index.own_ancestor(here, number, here.sequence - within)
        count -= within
        if count:
            parent = catalog.index.parent(here)
            if parent is None:
                raise Corrupt(f"run {here.run}: its generations do not add up")
            here, count = parent, count - 1
    return here


def merge_base(catalog: Catalog, left: Checkpoint, right: Checkpoint) -> Checkpoint | None:
    """Return the latest checkpoint that two histories share, or None when they share nothing.

    Cost: three lookups per fork of either history; more only in a run with undone operations.
    """
    on_left = {segment.number: segment for segment in list_segments(catalog, left)}
    for there in list_segments(catalog, right):
        here = on_left.get(there.number)
        if here is not None:
            return _merge_within(catalog, there.number, here.tip, there.tip)
    return None


def _merge_within(catalog: Catalog, number: int, left: Checkpoint, right: Checkpoint) -> Checkpoint | None:
    index = catalog.index
    sequence = min(left.sequence, right.sequence)
    here = index.own_ancestor(left, number, sequence)
    there = index.own_ancestor(right, number, sequence)
    if here.commit == there.commit:
        return here
    for one, other in zip(index.walk_own(here, number), index.walk_own(there, number), strict=True):
        here, there = one, other
        if one.commit == other.commit:
            return one
    parent = index.parent(here)  # two first checkpoints of one run: they may still share their fork point
    return parent if parent is not None and here.parent == there.parent else None


def is_ancestor(catalog: Catalog, ancestor: Checkpoint, descendant: Checkpoint) -> bool:
    """Return whether a checkpoint is another one, or lies before it."""
    if ancestor.generation > descendant.generation:
        return False
    found = find_ancestor(catalog, descendant, descendant.generation - ancestor.generation)
    return found.commit == ancestor.commit


def list_children(catalog: Catalog, checkpoint: Checkpoint) -> list[Checkpoint]:
    """Return the checkpoints whose parent is this one: the run's next, and the first of each fork."""
    number = catalog.runs.number(checkpoint.run)
    found = catalog.index.at(number, checkpoint.sequence + 1)
    for row in catalog.runs.forked_from(checkpoint.commit):
        found += catalog.index.at(row.number, 1)
    return [each for each in found if each.parent == checkpoint.commit]


def walk_range(catalog: Catalog, exclude: Checkpoint, include: Checkpoint) -> Iterator[Checkpoint]:
    """Yield what one history has and another has not, newest first."""
    base = merge_base(catalog, exclude, include)
    for each in walk(catalog, include):
        if base is not None and each.commit == base.commit:
            return
        yield each

"""Completed visits: which checkpoint of a history came after the second visit of a node."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from verdog_objects.errors import NotFound
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.history import list_segments
from verdog_repo.kinds import CheckpointKind
from verdog_repo.revision import NodeStep

T = TypeVar("T")


def find_visit(catalog: Catalog, tip: Checkpoint, steps: Sequence[NodeStep]) -> Checkpoint:
    """Return the checkpoint right after a completed visit.

    Visits are counted along the history that leads to `tip`, over fork points. A visit that was given up (its
    run went on from an earlier checkpoint) does not count, and neither does one that was killed.

    Args:
        catalog: the store.
        tip: where the history ends.
        steps: the calls that lead to the node, and the node.

    Raises:
        NotFound: there was no such visit; the message says how many there were.

    Cost: reads the rows of the whole history in the database.
    """
    *calls, node = steps
    candidates = list(_iter_completed(catalog, tip, calls[0] if calls else node, inside=bool(calls)))
    prefix = ""
    for call in calls:
        numbers: dict[str, None] = dict.fromkeys(
            number
            for each in candidates
            if (number := _call_number(each, f"{prefix}{call.node}#")) is not None
        )
        number = _choose(list(numbers), call, f"{prefix}{call.node}", tip)
        prefix += f"{call.node}#{number}/"
    place = prefix + node.node
    visits: dict[int | None, Checkpoint] = {}
    for each in candidates:
        if each.place == place:
            visits.setdefault(each.visit, each)
    return _choose(list(visits.values()), node, place, tip)


def count_visits(catalog: Catalog, tip: Checkpoint, place: str) -> int:
    """Return how many visits of a place are completed in the history that leads to a checkpoint.

    Cost: reads the rows of the whole history in the database.
    """
    index = catalog.index
    found: set[int | None] = set()
    for number, last, _ in list_segments(catalog, tip):
        if not index.is_linear(number):
            return len({each.visit for each in _iter_completed(catalog, tip, NodeStep(place), inside=False)})
        given_up = index.given_up(number, last)
        found |= {
            visit
            for sequence, visit in index.completed_visits(number, place, up_to=last.sequence)
            if not any(sequence in gap for gap in given_up)
        }
    return len(found)


def _iter_completed(
    catalog: Catalog, tip: Checkpoint, step: NodeStep, *, inside: bool
) -> Iterator[Checkpoint]:
    index = catalog.index
    place = f"{step.node}#" if inside else step.node
    for segment in reversed(list_segments(catalog, tip)):
        given_up = index.given_up(segment.number, segment.tip)
        linear = index.is_linear(segment.number)
        for each in index.completed_at(segment.number, place, up_to=segment.tip.sequence, inside=inside):
            if each.kind is CheckpointKind.FORK or any(each.sequence in gap for gap in given_up):
                continue
            if linear or index.own_ancestor(segment.tip, segment.number, each.sequence).commit == each.commit:
                yield each


def _call_number(checkpoint: Checkpoint, prefix: str) -> str | None:
    place = checkpoint.place or ""
    return place[len(prefix) :].partition("/")[0] if place.startswith(prefix) else None


def _choose(found: list[T], step: NodeStep, place: str, tip: Checkpoint) -> T:
    if not found:
        raise NotFound(f"no visit of {place} is completed at run {tip.run} checkpoint {tip.sequence}")
    if step.ordinal is None:
        return found[-1]
    if step.ordinal > len(found):
        raise NotFound(
            f"{place} has {len(found)} completed visits at run {tip.run} checkpoint {tip.sequence}, "
            f"not {step.ordinal}"
        )
    return found[step.ordinal - 1]

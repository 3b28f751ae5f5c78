"""A comparison of two checkpoints as JSON."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verdog_cli.difference import format_address, list_parts
from verdog_cli.views import change_as_json, checkpoint_as_json, visit_as_json
from verdog_repo.alignment import Ordinals

if TYPE_CHECKING:
    from verdog_objects.nodes import Entry
    from verdog_objects.store import ObjectReader
    from verdog_objects.treediff import Change
    from verdog_repo.alignment import Visit
    from verdog_repo.artifactdiff import FileChange
    from verdog_repo.diff import Comparison, Side
    from verdog_repo.repository import Repository


def comparison_as_json(
    repository: "Repository",
    comparison: "Comparison",
    files: Sequence["FileChange"] | None,
    *,
    state: bool,
) -> dict[str, object]:
    """Return everything that differs.

    Args:
        repository: where values are read.
        comparison: the checkpoints and their visits.
        files: the changed files that are wanted, or None for no answer.
        state: whether the state is wanted.
    """
    lists: dict[str, list[dict[str, object]]] = {"left": [], "right": [], "value": [], "change": []}
    head: dict[str, object] = {}
    for kind, fields in iter_lines(repository, comparison, files, state=state):
        if kind == "comparison":
            head = fields
        else:
            lists[str(fields["side"]) if kind == "visit" else kind].append(fields)
    compared = head.pop("compared")
    assert isinstance(compared, list)
    return head | {
        "only_left": lists["left"],
        "only_right": lists["right"],
        "state": lists["value"] if "state" in compared else None,
        "files": lists["change"] if "files" in compared else None,
    }


def iter_lines(
    repository: "Repository",
    comparison: "Comparison",
    files: Sequence["FileChange"] | None,
    *,
    state: bool,
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the same piece by piece, each with what it is: the comparison first, then all that differs."""
    changes = comparison.state if state else None
    compared = [name for name, found in (("state", changes), ("files", files)) if found is not None]
    alignment = comparison.alignment
    ordinals = None if alignment is None else Ordinals(repository.catalog, alignment.base)
    yield "comparison", _head_as_json(comparison, ordinals) | {"compared": compared}
    if alignment is not None and ordinals is not None:
        for side, visits in (("left", alignment.only_left), ("right", alignment.only_right)):
            for visit in visits:
                yield "visit", {"side": side, **_visit_as_json(visit, ordinals)}
    for change in changes or ():
        yield "value", _value_change_as_json(repository.store, change, comparison)
    for file in files or ():
        sides = (file.before_path, file.before), (file.after_path, file.after)
        yield "change", change_as_json(file.status.value, *sides, file.similarity)


def _head_as_json(comparison: "Comparison", ordinals: "Ordinals | None") -> dict[str, object]:
    alignment, divergence = comparison.alignment, comparison.divergence
    base = None if alignment is None else alignment.base
    return {
        "left": _side_as_json(comparison.left),
        "right": _side_as_json(comparison.right),
        "same_workflow": alignment is not None,
        "base": None if base is None else checkpoint_as_json(base),
        "both": None if alignment is None else len(alignment.pairs),
        "first_difference": None
        if divergence is None or ordinals is None
        else {
            "left": _visit_as_json(divergence.left, ordinals),
            "right": _visit_as_json(divergence.right, ordinals),
            "reasons": [reason.value for reason in divergence.reasons],
        },
    }


def _side_as_json(side: "Side") -> dict[str, object] | None:
    return None if side.checkpoint is None else checkpoint_as_json(side.checkpoint)


def _visit_as_json(visit: "Visit", ordinals: "Ordinals") -> dict[str, object]:
    return {
        "run": visit.checkpoint.run,
        "checkpoint": visit.checkpoint.sequence,
        "completed": visit_as_json(visit.place, visit.checkpoint.visit),
        "ordinal": ordinals.find(visit),
    }


def _value_change_as_json(
    reader: "ObjectReader", change: "Change", comparison: "Comparison"
) -> dict[str, object]:
    address = format_address(change.key)
    return {
        "address": change.key.decode("utf-8", "replace"),
        "before": _value_as_json(change.before),
        "after": _value_as_json(change.after),
        "fields": [
            {"path": part.path[len(address) :], "before": part.before, "after": part.after}
            for part in list_parts(reader, change, comparison)
        ],
    }


def _value_as_json(entry: "Entry | None") -> dict[str, object] | None:
    return None if entry is None else {"size_bytes": entry.size, "oid": entry.oid.hex()}

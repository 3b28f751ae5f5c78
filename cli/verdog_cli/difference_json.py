"""A comparison of two checkpoints as members of a JSON document."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from verdog_cli.difference import format_address, list_parts
from verdog_cli.views import checkpoint_as_json, entry_as_json
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
    changes = comparison.state if state else None
    return {
        "left": _side_as_json(comparison.left),
        "right": _side_as_json(comparison.right),
        "same_workflow": comparison.alignment is not None,
        "visits": _visits_as_json(repository, comparison),
        "state": None
        if changes is None
        else [_change_as_json(repository.store, each, comparison) for each in changes],
        "files": None if files is None else [_file_as_json(each) for each in files],
    }


def _side_as_json(side: "Side") -> dict[str, object] | None:
    return None if side.checkpoint is None else checkpoint_as_json(side.checkpoint)


def _visits_as_json(repository: "Repository", comparison: "Comparison") -> dict[str, object] | None:
    alignment, divergence = comparison.alignment, comparison.divergence
    if alignment is None:
        return None
    ordinals = Ordinals(repository.catalog, alignment.base)

    def convert(visit: "Visit") -> dict[str, object]:
        return {
            "run": visit.checkpoint.run,
            "checkpoint": visit.checkpoint.sequence,
            "place": visit.place,
            "ordinal": ordinals.find(visit),
            "visit": visit.checkpoint.visit,
        }

    def convert_all(visits: Iterable["Visit"]) -> list[dict[str, object]]:
        return [convert(visit) for visit in visits]

    return {
        "base": None if alignment.base is None else checkpoint_as_json(alignment.base),
        "both": len(alignment.pairs),
        "only_left": convert_all(alignment.only_left),
        "only_right": convert_all(alignment.only_right),
        "first_difference": None
        if divergence is None
        else {
            "left": convert(divergence.left),
            "right": convert(divergence.right),
            "reasons": [reason.value for reason in divergence.reasons],
        },
    }


def _change_as_json(reader: "ObjectReader", change: "Change", comparison: "Comparison") -> dict[str, object]:
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


def _file_as_json(change: "FileChange") -> dict[str, object]:
    return {
        "status": change.status.value,
        "similarity": change.similarity,
        "before": None if change.before is None else entry_as_json(change.before_path or b"", change.before),
        "after": None if change.after is None else entry_as_json(change.after_path or b"", change.after),
    }

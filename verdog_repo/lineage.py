"""Lineage: which run, by which operation and at which checkpoint, another run came from."""

from dataclasses import dataclass
from enum import StrEnum, unique

from verdog_objects.canonical import Json
from verdog_objects.oid import Oid
from verdog_repo.fields import Fields, format_optional
from verdog_repo.names import RunId, parse_run_id


@unique
class LineageKind(StrEnum):
    """The operation that made a run out of another."""

    FORK = "fork"
    RESTART = "restart"


@unique
class ArgumentsKind(StrEnum):
    """Where the arguments of a run with a parent came from."""

    CHECKPOINT = "checkpoint"
    REUSED = "reused"
    OVERRIDDEN = "overridden"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """One value of the state that differs from the fork point on purpose: its address, old and new object."""

    address: str
    before: Oid | None
    after: Oid | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """A run's parent.

    Attributes:
        checkpoint: the fork point's sequence; for a restart, the one whose conversations go on, or None.
        changes: what a fork changed of the state; always empty in this version.
    """

    run: RunId
    operation: LineageKind
    checkpoint: int | None
    arguments: ArgumentsKind
    changes: tuple[StateChange, ...] = ()

    def __post_init__(self) -> None:
        if self.checkpoint is not None and self.checkpoint < 1:
            raise ValueError("checkpoints are numbered from 1")
        if self.operation is LineageKind.FORK and self.checkpoint is None:
            raise ValueError("a fork names the checkpoint it was made from")


def lineage_to_json(lineage: Lineage | None) -> Json:
    """Return a lineage as JSON; null for a run without a parent."""
    if lineage is None:
        return None
    changes: list[Json] = [
        {
            "address": change.address,
            "before": format_optional(change.before),
            "after": format_optional(change.after),
        }
        for change in lineage.changes
    ]
    return {
        "run": lineage.run,
        "operation": lineage.operation.value,
        "checkpoint": lineage.checkpoint,
        "arguments": lineage.arguments.value,
        "changes": changes,
    }


def lineage_from_json(value: Json) -> Lineage | None:
    """Return the lineage written as JSON. Raises `Corrupt` for anything `lineage_to_json` does not write."""
    if value is None:
        return None
    fields = Fields(value, "lineage")
    lineage = Lineage(
        run=fields.parsed("run", parse_run_id),
        operation=fields.choice("operation", LineageKind),
        checkpoint=fields.optional("checkpoint", fields.positive),
        arguments=fields.choice("arguments", ArgumentsKind),
        changes=tuple(_change_from_json(change) for change in fields.items("changes")),
    )
    fields.done()
    return lineage


def _change_from_json(value: Json) -> StateChange:
    fields = Fields(value, "state change")
    change = StateChange(
        address=fields.text("address"),
        before=fields.optional("before", fields.oid),
        after=fields.optional("after", fields.oid),
    )
    fields.done()
    return change

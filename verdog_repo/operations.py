"""The operation log: one row for each command that changed something."""

from dataclasses import dataclass
from typing import Final, cast

from verdog_objects.canonical import Json, decode_json, encode_json
from verdog_objects.errors import InvalidInput
from verdog_objects.store import ObjectStore, PutRow, Query, Row
from verdog_repo.fields import Fields
from verdog_repo.instants import format_instant, parse_instant
from verdog_repo.names import CommitId, OperationId, parse_commit_id, parse_operation_id
from verdog_repo.tables import OPERATIONS

_LONGEST_KIND: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationDraft:
    """A command that is about to change something.

    Attributes:
        id: a new random id of 16 hexadecimal digits; also the trailer of every commit the command makes.
        kind: the command's name: `run`, `resume`, `restart`, `fork`, `tag` and so on.
        at: when it began, as RFC 3339 text in UTC.
        command: its arguments, for people.
    """

    id: OperationId
    kind: str
    at: str
    command: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parse_operation_id(self.id)
        parse_instant(self.at)
        if not self.kind or len(self.kind) > _LONGEST_KIND or not self.kind.isprintable():
            raise InvalidInput(f"{self.kind!r} cannot name an operation")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefMove:
    """One ref that an operation moved: None before means that it made it, None after that it removed it."""

    name: str
    before: CommitId | None
    after: CommitId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One row of the operation log.

    Attributes:
        run_number: the run's number in this store, or None when no run was concerned.
    """

    number: int
    id: OperationId
    kind: str
    at: str
    run_number: int | None
    command: tuple[str, ...]
    moves: tuple[RefMove, ...]


def log_operation(draft: OperationDraft, number: int | None, moves: tuple[RefMove, ...] = ()) -> PutRow:
    """Return the write that logs an operation on the run of this number."""
    detail: Json = {
        "command": list(draft.command),
        "refs": [
            {"name": move.name, "before": _commit_text(move.before), "after": _commit_text(move.after)}
            for move in moves
        ],
    }
    row: Row = (
        bytes.fromhex(draft.id),
        draft.kind,
        parse_instant(draft.at),
        number,
        encode_json(detail),
    )
    return PutRow(table=OPERATIONS, row=row)


def read_operations(store: ObjectStore, *, before: int | None = None, limit: int = 100) -> list[Operation]:
    """Return a page of operations, newest first; `before` is the number of the last one already seen."""
    query = Query(
        table=OPERATIONS,
        below=("number", before) if before is not None else None,
        descending=True,
        limit=limit,
    )
    return [_decode(row) for row in store.select(query)]


def find_operation(store: ObjectStore, operation: OperationId) -> Operation | None:
    """Return an operation by its id."""
    rows = store.select(Query(table=OPERATIONS, equal=(("operation", bytes.fromhex(operation)),), limit=1))
    return _decode(rows[0]) if rows else None


def _decode(row: Row) -> Operation:
    number, operation, kind, at_us, run, detail = cast("tuple[int, bytes, str, int, int | None, bytes]", row)
    fields = Fields(decode_json(detail), f"operation {number}")
    command = fields.texts("command")
    moves = tuple(_move_from_json(move) for move in fields.items("refs"))
    fields.done()
    return Operation(
        number=number,
        id=OperationId(operation.hex()),
        kind=kind,
        at=format_instant(at_us),
        run_number=run,
        command=command,
        moves=moves,
    )


def _move_from_json(value: Json) -> RefMove:
    fields = Fields(value, "ref move")
    move = RefMove(
        name=fields.text("name"),
        before=fields.optional("before", lambda name: fields.parsed(name, parse_commit_id)),
        after=fields.optional("after", lambda name: fields.parsed(name, parse_commit_id)),
    )
    fields.done()
    return move


def _commit_text(commit: CommitId | None) -> str | None:
    return commit.hex() if commit is not None else None

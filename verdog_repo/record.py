"""The checkpoint record: everything a checkpoint says, as canonical JSON."""

import json
from dataclasses import dataclass, field
from typing import Final

from verdog_objects.canonical import Json, decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_objects.oid import Oid, format_oid, parse_oid
from verdog_repo.fields import Fields, format_optional
from verdog_repo.instants import parse_instant
from verdog_repo.kinds import CheckpointKind
from verdog_repo.lineage import Lineage, lineage_from_json, lineage_to_json
from verdog_repo.names import OperationId, RunId, parse_operation_id, parse_run_id

RECORD_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A visit of a node: before it (`next`) or after it (`completed`).

    Attributes:
        project_path: the project the graph belongs to, relative to the run's own (`.`).
        visit: the number of the visit's directory.
        call_path: the calls that lead to the graph, as `call#1/child#2`; empty for the root graph.
    """

    project_path: str
    graph: str
    node: str
    visit: int
    call_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionIssue:
    """Why an agent conversation cannot be branched at a checkpoint."""

    address: str
    provider: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """The persistent agent conversations at a checkpoint: how many, and which of them cannot be branched."""

    persistent: int = 0
    issues: tuple[SessionIssue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSeal:
    """The run's ledger at a checkpoint: its length, the hash of its last entry, its root object."""

    length: int = 0
    head: Oid | None = None
    root: Oid | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRecord:
    """Everything a checkpoint says. Together with the parent's id it decides every byte of the commit.

    Attributes:
        sequence: 1, 2, 3 and so on within the run.
        operation: the command execution that wrote it.
        unavailable_code: why it is not restorable, as a stable code; `reason` says it in words.
        branchable: it can be forked, or its run resumed, with its conversations going on.
        fork_fresh: it can be forked with new conversations.
        swept: the whole output directory was looked at for this checkpoint.
        late: paths of files that were written outside the completed visit and are recorded from here on.
        artifacts: the root of the artifact manifest, or None when the files could not be captured.
        state: the root of the state manifest, or None when the state could not be encoded.
        environments: fingerprints of the code and distributions, one for each isolated environment.
        previous: the record before this one (of the fork point's run for a fork), or None for the first.
        parent: of the first checkpoint of a fork or a restart: where the run came from.
        resumed_from: the checkpoint whose state went on, if that is not the one before this one.
        waiting: what a suspended run waits for; always None in this version.
    """

    run: RunId
    sequence: int
    kind: CheckpointKind
    operation: OperationId
    created_at: str
    completed: Boundary | None = None
    next: Boundary | None = None
    restorable: bool = True
    unavailable_code: str | None = None
    reason: str | None = None
    branchable: bool = True
    fork_fresh: bool = True
    sessions: Sessions = field(default_factory=Sessions)
    swept: bool = False
    late: tuple[bytes, ...] = ()
    artifacts: Oid | None = None
    state: Oid | None = None
    environments: tuple[Oid, ...] = ()
    ledger: LedgerSeal = field(default_factory=LedgerSeal)
    duration_ns: int = 0
    files_added: int = 0
    bytes_added: int = 0
    previous: Oid | None = None
    parent: Lineage | None = None
    resumed_from: int | None = None
    waiting: dict[str, Json] | None = None

    def __post_init__(self) -> None:
        parse_instant(self.created_at)
        if self.sequence < 1:
            raise ValueError("checkpoints are numbered from 1")
        if min(self.duration_ns, self.files_added, self.bytes_added) < 0:
            raise ValueError("a checkpoint's duration, files and bytes are not negative")
        if self.restorable and (self.artifacts is None or self.state is None):
            raise ValueError("a restorable checkpoint has artifacts and a state")
        if self.restorable is not (self.unavailable_code is None):
            raise ValueError("exactly the checkpoints that are not restorable have a code that says why")


def encode_record(record: CheckpointRecord) -> bytes:
    """Return the canonical JSON of a record: the content of the commit's `checkpoint.json`."""
    value: dict[str, Json] = {
        "format": RECORD_FORMAT,
        "run": record.run,
        "sequence": record.sequence,
        "kind": record.kind.value,
        "operation": record.operation,
        "completed": boundary_to_json(record.completed),
        "next": boundary_to_json(record.next),
        "restorable": record.restorable,
        "unavailable_code": record.unavailable_code,
        "reason": record.reason,
        "branchable": record.branchable,
        "fork_fresh": record.fork_fresh,
        "sessions": _sessions_to_json(record.sessions),
        "swept": record.swept,
        "late": [path.decode("utf-8", "surrogateescape") for path in record.late],
        "artifacts": format_optional(record.artifacts),
        "state": format_optional(record.state),
        "environments": [format_oid(environment) for environment in record.environments],
        "ledger": {
            "length": record.ledger.length,
            "head": format_optional(record.ledger.head),
            "root": format_optional(record.ledger.root),
        },
        "duration_ns": record.duration_ns,
        "files_added": record.files_added,
        "bytes_added": record.bytes_added,
        "created_at": record.created_at,
        "previous": format_optional(record.previous),
        "parent": lineage_to_json(record.parent),
        "resumed_from": record.resumed_from,
        "waiting": record.waiting,
    }
    return encode_json(value)


def decode_record(data: bytes) -> CheckpointRecord:
    """Return the record that was encoded.

    Raises:
        FormatUnsupported: the record says that it has another format.
        Corrupt: the bytes are not exactly what `encode_record` writes for some record.
    """
    fields = Fields(decode_json(data), "checkpoint record")
    number = fields.integer("format")
    if number != RECORD_FORMAT:
        raise FormatUnsupported(
            f"checkpoint record of format {number}; this version knows format {RECORD_FORMAT}"
        )
    try:
        record = _take_record(fields)
    except ValueError as error:
        raise Corrupt(f"checkpoint record: {error}") from error
    fields.done()
    return record


def decode_state(data: bytes) -> Oid | None:
    """Return only the state that a record names; the rest of it is not checked.

    Raises:
        Corrupt: the bytes are no record.

    Cost: about a seventh of what `decode_record` takes, which checks every field.
    """
    try:
        state: object = json.loads(data)["state"]
        if state is None:
            return None
        if isinstance(state, str):
            return parse_oid(state)
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    return decode_record(data).state


def _take_record(fields: Fields) -> CheckpointRecord:
    return CheckpointRecord(
        run=fields.parsed("run", parse_run_id),
        sequence=fields.positive("sequence"),
        kind=fields.choice("kind", CheckpointKind),
        operation=fields.parsed("operation", parse_operation_id),
        completed=boundary_from_json(fields.take("completed")),
        next=boundary_from_json(fields.take("next")),
        restorable=fields.flag("restorable"),
        unavailable_code=fields.optional("unavailable_code", fields.text),
        reason=fields.optional("reason", fields.text),
        branchable=fields.flag("branchable"),
        fork_fresh=fields.flag("fork_fresh"),
        sessions=_sessions_from_json(fields.take("sessions")),
        swept=fields.flag("swept"),
        late=tuple(_path_from_text(path) for path in fields.texts("late")),
        artifacts=fields.optional("artifacts", fields.oid),
        state=fields.optional("state", fields.oid),
        environments=fields.oids("environments"),
        ledger=_ledger_from_json(fields.take("ledger")),
        duration_ns=fields.integer("duration_ns"),
        files_added=fields.integer("files_added"),
        bytes_added=fields.integer("bytes_added"),
        created_at=fields.text("created_at"),
        previous=fields.optional("previous", fields.oid),
        parent=lineage_from_json(fields.take("parent")),
        resumed_from=fields.optional("resumed_from", fields.positive),
        waiting=fields.optional("waiting", fields.mapping),
    )


def boundary_to_json(boundary: Boundary | None) -> Json:
    """Return a boundary as JSON; null for none."""
    if boundary is None:
        return None
    return {
        "project_path": boundary.project_path,
        "graph": boundary.graph,
        "node": boundary.node,
        "visit": boundary.visit,
        "call_path": boundary.call_path,
    }


def boundary_from_json(value: Json) -> Boundary | None:
    """Return the boundary written as JSON. Raises `Corrupt` for what `boundary_to_json` does not write."""
    if value is None:
        return None
    fields = Fields(value, "boundary")
    boundary = Boundary(
        project_path=fields.text("project_path"),
        graph=fields.text("graph"),
        node=fields.text("node"),
        visit=fields.integer("visit"),
        call_path=fields.text("call_path"),
    )
    fields.done()
    return boundary


def _sessions_to_json(sessions: Sessions) -> Json:
    issues: list[Json] = [
        {
            "address": issue.address,
            "provider": issue.provider,
            "code": issue.code,
            "message": issue.message,
        }
        for issue in sessions.issues
    ]
    return {"persistent": sessions.persistent, "issues": issues}


def _sessions_from_json(value: Json) -> Sessions:
    fields = Fields(value, "sessions")
    sessions = Sessions(
        persistent=fields.integer("persistent"),
        issues=tuple(_issue_from_json(issue) for issue in fields.items("issues")),
    )
    fields.done()
    return sessions


def _issue_from_json(value: Json) -> SessionIssue:
    fields = Fields(value, "session issue")
    issue = SessionIssue(
        address=fields.text("address"),
        provider=fields.text("provider"),
        code=fields.text("code"),
        message=fields.text("message"),
    )
    fields.done()
    return issue


def _ledger_from_json(value: Json) -> LedgerSeal:
    fields = Fields(value, "ledger")
    seal = LedgerSeal(
        length=fields.integer("length"),
        head=fields.optional("head", fields.oid),
        root=fields.optional("root", fields.oid),
    )
    fields.done()
    return seal


def _path_from_text(text: str) -> bytes:
    path = text.encode("utf-8", "surrogateescape")
    if path.decode("utf-8", "surrogateescape") != text:
        raise Corrupt(f"late path {text!r} is not written in the one way that names it")
    return path

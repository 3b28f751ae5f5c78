"""The run header: everything about a run that its checkpoints do not say, as canonical JSON."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final, cast

from verdog_objects.canonical import Json, decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported, InvalidInput
from verdog_objects.oid import Oid
from verdog_repo.fields import Fields, format_optional
from verdog_repo.instants import parse_instant
from verdog_repo.lineage import Lineage, lineage_from_json, lineage_to_json
from verdog_repo.names import RunId, parse_run_id

HEADER_FORMAT: Final = 1


@unique
class RunStatus(StrEnum):
    """How far a run is, as its own process last wrote it; `running` without a held lease is interrupted."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    SUCCEEDED = "succeeded"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A workflow in one Python file: its path relative to the project, and the name of the builder in it."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class SourceModule:
    """A workflow in an importable module, and the name of the builder or definition in it."""

    module: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why a run failed: the exception's type and message, and its traceback as text."""

    type: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """A run.

    Attributes:
        workflow: the workflow's local id; directories of runs are grouped by it.
        definition_id: the graph's id.
        module: the module of the definition.
        source: where a command finds the workflow again, or None for a run that Python code started.
        arguments: the workflow's own command-line arguments.
        checkpointing: `off`, `auto` or `required`.
        started_at: RFC 3339 text in UTC, as is `updated_at`.
        output_dir: relative to the project, with `/`; absolute when it lies outside.
        result: the encoded output of a run that succeeded.
        result_text: the output for people.
        trusted: it was made of, or resumed from, records of elsewhere that may run code, by explicit wish.
        changed_code: what differed in code or environment when the run went on although it had changed.
    """

    run: RunId
    workflow: str
    definition_id: str
    module: str
    checkpointing: str
    status: RunStatus
    started_at: str
    updated_at: str
    output_dir: str
    source: SourceFile | SourceModule | None = None
    arguments: tuple[str, ...] = ()
    result: Oid | None = None
    result_text: str | None = None
    error: RunError | None = None
    parent: Lineage | None = None
    trusted: bool = False
    changed_code: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parse_run_id(self.run)
        parse_instant(self.started_at)
        parse_instant(self.updated_at)
        if not all(isinstance(cast(object, each), str) for each in self.arguments):
            raise InvalidInput(f"the arguments of run {self.run} must be texts")

    @property
    def workflow_id(self) -> str:
        """The workflow's whole id: its local id in the package of its entry graph."""
        package, dot, _ = self.definition_id.rpartition(".")
        return f"{package}{dot}{self.workflow}"


def encode_header(header: RunHeader) -> bytes:
    """Return the canonical JSON of a header."""
    value: dict[str, Json] = {
        "format": HEADER_FORMAT,
        "run": header.run,
        "workflow": header.workflow,
        "definition_id": header.definition_id,
        "module": header.module,
        "source": _source_to_json(header.source),
        "arguments": list(header.arguments),
        "checkpointing": header.checkpointing,
        "status": header.status.value,
        "started_at": header.started_at,
        "updated_at": header.updated_at,
        "output_dir": header.output_dir,
        "result": format_optional(header.result),
        "result_text": header.result_text,
        "error": _error_to_json(header.error),
        "parent": lineage_to_json(header.parent),
        "trusted": header.trusted,
        "changed_code": list(header.changed_code),
    }
    return encode_json(value)


def decode_header(data: bytes) -> RunHeader:
    """Return the header that was encoded.

    Raises:
        FormatUnsupported: the header says that it has another format.
        Corrupt: the bytes are not exactly what `encode_header` writes for some header.
    """
    fields = Fields(decode_json(data), "run header")
    number = fields.integer("format")
    if number != HEADER_FORMAT:
        raise FormatUnsupported(f"run header of format {number}; this version knows format {HEADER_FORMAT}")
    try:
        header = _take_header(fields)
    except ValueError as error:
        raise Corrupt(f"run header: {error}") from error
    fields.done()
    return header


def _take_header(fields: Fields) -> RunHeader:
    return RunHeader(
        run=fields.parsed("run", parse_run_id),
        workflow=fields.text("workflow"),
        definition_id=fields.text("definition_id"),
        module=fields.text("module"),
        source=_source_from_json(fields.take("source")),
        arguments=fields.texts("arguments"),
        checkpointing=fields.text("checkpointing"),
        status=fields.choice("status", RunStatus),
        started_at=fields.text("started_at"),
        updated_at=fields.text("updated_at"),
        output_dir=fields.text("output_dir"),
        result=fields.optional("result", fields.oid),
        result_text=fields.optional("result_text", fields.text),
        error=_error_from_json(fields.take("error")),
        parent=lineage_from_json(fields.take("parent")),
        trusted=fields.flag("trusted"),
        changed_code=fields.texts("changed_code"),
    )


def _source_to_json(source: SourceFile | SourceModule | None) -> Json:
    if source is None:
        return None
    if isinstance(source, SourceFile):
        return {"path": source.path, "name": source.name}
    return {"module": source.module, "name": source.name}


def _source_from_json(value: Json) -> SourceFile | SourceModule | None:
    if value is None:
        return None
    fields = Fields(value, "source")
    source: SourceFile | SourceModule
    if isinstance(value, dict) and "path" in value:
        source = SourceFile(fields.text("path"), fields.text("name"))
    else:
        source = SourceModule(fields.text("module"), fields.text("name"))
    fields.done()
    return source


def _error_to_json(error: RunError | None) -> Json:
    if error is None:
        return None
    return {"type": error.type, "message": error.message, "traceback": error.traceback}


def _error_from_json(value: Json) -> RunError | None:
    if value is None:
        return None
    fields = Fields(value, "error")
    error = RunError(
        type=fields.text("type"), message=fields.text("message"), traceback=fields.text("traceback")
    )
    fields.done()
    return error

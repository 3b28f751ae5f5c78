"""Store books: the record of a run in the project's store, with its copies in the output directory."""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from verdog_objects.errors import VerdogError
from verdog_objects.oid import Kind
from verdog_repo.lease import Lease
from verdog_repo.repository import Repository
from verdog_repo.runs import RunError, RunHeader, RunStatus
from verdog_runtime.cancellation import ExecutionCancelled
from verdog_runtime.interpreter.commands import Fail, Finish, Record
from verdog_runtime.interpreter.machine import Machine
from verdog_runtime.interpreter.notes import add_note, format_message, format_traceback
from verdog_runtime.interpreter.recorder import Recorder
from verdog_runtime.runfacts import RunFacts, describe_result
from verdog_runtime.runrecord import write_run_record
from verdog_runtime.values import Anchors, UnserializableValue, encode_value

_RESULT_CHARS = 400
_MESSAGE_CHARS = 10_000
_TRACEBACK_CHARS = 200_000
"""What a header keeps of an error: each command that lists runs reads it. `stacktrace.txt` holds all."""

_LOG = logging.getLogger("verdog.run")


@dataclass(slots=True, kw_only=True)
class StoreBooks:
    """Writes checkpoints through a recorder, and the run's status into its header.

    Attributes:
        header: the run's header as it was last written.
        facts: what `run.json` says beside the header.
        recorder: None when the run keeps no checkpoints.
        anchors: what stored paths are relative to.
        main_module: the name that types of `__main__` are stored under, or None.
        now: the time as RFC 3339 text in UTC.
    """

    repository: Repository
    lease: Lease
    header: RunHeader
    facts: RunFacts
    output: Path
    recorder: Recorder | None
    anchors: Anchors
    main_module: str | None
    now: Callable[[], str]

    def record(self, command: Record, machine: Machine) -> None:
        """Commit a checkpoint, if the run keeps any. Raises and is durable as `Recorder.record`."""
        if self.recorder is not None:
            self.recorder.record(command, machine)

    def finish(self, outcome: Finish | Fail) -> None:
        """Write how the run ended.

        Durability: the new header is durable when the call returned.
        """
        match outcome:
            case Finish(value=value):
                self._succeed(value)
            case Fail(error=error):
                self._fail(error)

    def interrupt(self, error: BaseException) -> None:
        """Write that the run was interrupted, or failed if the error is neither cancellation nor Ctrl+C."""
        if self.header.status is not RunStatus.RUNNING:
            return
        with contextlib.suppress(Exception):
            if isinstance(error, ExecutionCancelled | KeyboardInterrupt):
                self._write(replace(self.header, status=RunStatus.INTERRUPTED))
            else:
                self._write(replace(self.header, status=RunStatus.FAILED, error=describe_error(error)))

    def _succeed(self, value: object) -> None:
        result = None
        try:
            encoded = encode_value(value, anchors=self.anchors, main_module=self.main_module, path="output")
            (result,) = self.repository.store.put_many([(Kind.VALUE, encoded.payload)])
            self.facts = replace(self.facts, result=describe_result(encoded.payload))
        except UnserializableValue as error:
            _LOG.warning("the run's output is kept as text only: %s", error)
        self._write(
            replace(self.header, status=RunStatus.SUCCEEDED, result=result, result_text=format_result(value))
        )

    def _fail(self, error: Exception) -> None:
        try:
            self._write(replace(self.header, status=RunStatus.FAILED, error=describe_error(error)))
        except Exception as worse:
            add_note(error, f"the run's status could not be written: {type(worse).__name__}: {worse}")

    def _write(self, header: RunHeader) -> None:
        header = replace(header, updated_at=self.now())
        self.repository.update_header(header.run, self.lease, header)
        self.header = header
        try:
            write_run_record(self.output, header, self.repository.project, self.facts)
        except VerdogError as error:  # a visit may have removed the directory; the header has it all
            _LOG.warning("run.json does not say how the run ended: %s", error)


def describe_error(error: BaseException) -> RunError:
    """Return an exception as the record that a header keeps."""
    kind = type(error)
    return RunError(
        type=f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__,
        message=_cut(_printable(format_message(error)), _MESSAGE_CHARS),
        traceback=_cut(_printable(format_traceback(error)), _TRACEBACK_CHARS),
    )


def format_result(value: object) -> str:
    """Return a result for people: its `repr`, cut at 400 characters."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__qualname__} whose repr raised {type(error).__name__}>"
    text = _printable(text)
    return text if len(text) <= _RESULT_CHARS else text[: _RESULT_CHARS - 1] + "…"


def _cut(text: str, limit: int) -> str:
    """Leave out the middle of a text that is too long."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half:,} characters left out) ...\n{text[-half:]}"


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()

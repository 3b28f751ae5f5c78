"""Store books: the record of a run in the project's store, with its copies in the output directory."""

import contextlib
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from verdog_objects.oid import Kind
from verdog_repo.lease import Lease
from verdog_repo.repository import Repository
from verdog_repo.runs import RunError, RunHeader, RunStatus
from verdog_runtime.cancellation import ExecutionCancelled
from verdog_runtime.interpreter.commands import Fail, Finish, Record
from verdog_runtime.interpreter.machine import Machine
from verdog_runtime.interpreter.notes import add_note
from verdog_runtime.interpreter.recorder import Recorder
from verdog_runtime.runrecord import write_run_record
from verdog_runtime.values import Anchors, UnserializableValue, encode_value

_RESULT_CHARS = 400
_LOG = logging.getLogger("verdog.run")


@dataclass(slots=True, kw_only=True)
class StoreBooks:
    """Writes checkpoints through a recorder, and the run's status into its header.

    Attributes:
        header: the run's header as it was last written.
        recorder: None when the run keeps no checkpoints.
        anchors: what stored paths are relative to.
        main_module: the name that types of `__main__` are stored under, or None.
        now: the time as RFC 3339 text in UTC.
    """

    repository: Repository
    lease: Lease
    header: RunHeader
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
        write_run_record(self.output, header, self.repository.project)


def describe_error(error: BaseException) -> RunError:
    """Return an exception as the record that a header keeps."""
    kind = type(error)
    return RunError(
        type=f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__,
        message=_printable(_format_message(error)),
        traceback=_printable("".join(traceback.format_exception(error))),
    )


def _format_message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as worse:
        return f"<{type(error).__qualname__} whose str raised {type(worse).__name__}>"


def format_result(value: object) -> str:
    """Return a result for people: its `repr`, cut at 400 characters."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__qualname__} whose repr raised {type(error).__name__}>"
    text = _printable(text)
    return text if len(text) <= _RESULT_CHARS else text[: _RESULT_CHARS - 1] + "…"


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()

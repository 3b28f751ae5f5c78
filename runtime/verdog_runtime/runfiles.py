"""Run files: what an output directory itself says about its run."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from verdog_objects import locking
from verdog_objects.errors import InvalidInput
from verdog_repo.filenames import parse_filename
from verdog_repo.names import RunId, parse_run_id
from verdog_repo.runs import RunStatus
from verdog_runtime.layout import CONTROL_DIRECTORY
from verdog_runtime.registry import read_registry
from verdog_runtime.runheader import ArgumentMode, RunHeader, RunLaunch, RunParent, RunWorkflow
from verdog_runtime.runrecord import RUN_MANIFEST, SCHEMA_VERSION
from verdog_runtime.storeerrors import RunStoreError

LOCK: Final = "lock"

_READABLE: Final = (1, SCHEMA_VERSION)
_ARGUMENT_MODES: Final[dict[str, ArgumentMode]] = {
    "checkpoint": "checkpoint",
    "reused": "reused",
    "overridden": "overridden",
}


def load_run_header(output_dir: Path) -> RunHeader:
    """Return what a run's directory says of it. Never looks at checkpoints.

    A project that was moved as a whole is followed. A run's directory that was moved alone is refused.

    Raises:
        RunStoreError: with the code `run.output_missing`, `run.control_invalid`, `run.manifest_unreadable`,
            `run.manifest_invalid`, `run.schema_unsupported` or `run.output_mismatch`.
    """
    return read_run_file(output_dir)[0]


def read_run_file(output_dir: Path) -> tuple[RunHeader, dict[str, str]]:
    """Return the run of `run.json`, and the facts under `compatibility`. Raises as `load_run_header`."""
    output = Path(os.path.realpath(output_dir))
    fields = _Fields(_read_document(output), "run.json")
    version = fields.number("schema_version")
    if version not in _READABLE:
        raise RunStoreError(
            f"the run in {output} was written with schema {version}; this version reads "
            f"{' and '.join(map(str, _READABLE))}",
            code="run.schema_unsupported",
            details={"schema_version": version},
        )
    project = Path(parse_filename(fields.text("project_root")))
    recorded = Path(parse_filename(fields.text("output_dir")))
    header = RunHeader(
        id=fields.text("id"),
        project_root=_follow(project, recorded, output),
        directory_name=output.name,
        workflow=_read_workflow(fields.mapping("workflow")),
        status=fields.status("status"),
        started_at=fields.text("started_at"),
        updated_at=fields.text("updated_at"),
        output_dir=output,
        launch=_read_launch(fields.optional("launch")),
        parent=_read_parent(fields.optional("parent")),
    )
    compatibility = fields.optional("compatibility")
    facts = compatibility.texts() if compatibility is not None else {}
    return header, facts


def read_run_id(output: Path) -> RunId | None:
    """Return the run that an output directory's `run.json` names, or None when it names none."""
    try:
        document = cast(object, json.loads((output / CONTROL_DIRECTORY / RUN_MANIFEST).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    try:
        return parse_run_id(cast("dict[str, object]", document).get("id"))
    except ValueError:
        return None


def registered_runs(project_root: Path) -> tuple[Path, ...]:
    """Return the output directories in a project's registry, present or not, in order.

    Raises:
        RunStoreError: with the code `run.registry_unreadable` or `run.registry_invalid`.
    """
    return tuple(Path(path) for path in read_registry(project_root))


def run_is_active(output_dir: Path) -> bool:
    """Return whether a process executes the run in a directory at this moment.

    Raises:
        RunStoreError: with the code `run.lock_invalid`, when the lock is no regular file.
    """
    try:
        return locking.is_locked(output_dir / CONTROL_DIRECTORY / LOCK)
    except InvalidInput as error:
        raise RunStoreError(str(error), code="run.lock_invalid") from error


def _read_document(output: Path) -> Mapping[str, object]:
    if not output.is_dir():
        raise RunStoreError(f"there is no directory {output}", code="run.output_missing")
    control = output / CONTROL_DIRECTORY
    if control.is_symlink() or not control.is_dir():
        raise RunStoreError(f"{output} holds no run: it has no directory .verdog", code="run.control_invalid")
    path = control / RUN_MANIFEST
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise RunStoreError(
            f"{path} cannot be read: {error.strerror}", code="run.manifest_unreadable"
        ) from error
    try:
        document: object = json.loads(text)
    except ValueError as error:
        raise RunStoreError(f"{path} is damaged: {error}", code="run.manifest_invalid") from error
    except RecursionError:
        raise RunStoreError(f"{path} is damaged", code="run.manifest_invalid") from None
    if not isinstance(document, dict):
        raise RunStoreError(f"{path} is damaged: it is no object", code="run.manifest_invalid")
    return cast("dict[str, object]", document)


def _follow(project: Path, recorded: Path, output: Path) -> Path:
    """Return the project that a run belongs to now, when it, with the run in it, may have been moved."""
    if Path(os.path.realpath(recorded)) == output:
        return project
    if recorded.is_relative_to(project):
        inside = recorded.relative_to(project).parts
        moved = output.parents[len(inside) - 1] if 0 < len(inside) <= len(output.parents) else None
        if moved is not None and output.parts[-len(inside) :] == inside and _has_store(moved):
            return moved
    raise RunStoreError(
        f"the run in {output} was recorded in {recorded}; a run's directory cannot be moved alone",
        code="run.output_mismatch",
        details={"output_dir": str(output), "recorded": str(recorded)},
    )


def _has_store(project: Path) -> bool:
    return (project / CONTROL_DIRECTORY / "store").is_dir()


def _read_workflow(fields: "_Fields") -> RunWorkflow:
    return RunWorkflow(fields.text("id"), fields.text("definition_id"), fields.text("module"))


def _read_launch(fields: "_Fields | None") -> RunLaunch:
    if fields is None:
        return RunLaunch()
    return RunLaunch(fields.text_list("workflow_arguments"), fields.text("checkpointing"))


def _read_parent(fields: "_Fields | None") -> RunParent | None:
    if fields is None:
        return None
    operation = fields.text("operation")
    arguments = _ARGUMENT_MODES.get(fields.text("arguments"))
    checkpoint = None if fields.is_null("checkpoint") else fields.number("checkpoint")
    if operation not in ("restart", "fork") or arguments is None:
        raise fields.invalid("parent")
    return RunParent(
        fields.text("run_id"), "fork" if operation == "fork" else "restart", checkpoint, arguments
    )


class _Fields:
    """The fields of a JSON object that are read with their types; others do not matter."""

    def __init__(self, value: Mapping[str, object], what: str) -> None:
        self._value = value
        self._what = what

    def invalid(self, name: str) -> RunStoreError:
        return RunStoreError(f"{self._what} is damaged: {name!r} is not valid", code="run.manifest_invalid")

    def is_null(self, name: str) -> bool:
        return self._value.get(name) is None

    def text(self, name: str) -> str:
        value = self._value.get(name)
        if isinstance(value, str):
            return value
        raise self.invalid(name)

    def number(self, name: str) -> int:
        value = self._value.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self.invalid(name)

    def status(self, name: str) -> RunStatus:
        try:
            return RunStatus(self.text(name))
        except ValueError:
            raise self.invalid(name) from None

    def mapping(self, name: str) -> "_Fields":
        value = self._value.get(name)
        if isinstance(value, dict):
            return _Fields(cast("dict[str, object]", value), f"{self._what}: {name}")
        raise self.invalid(name)

    def optional(self, name: str) -> "_Fields | None":
        return None if self.is_null(name) else self.mapping(name)

    def text_list(self, name: str) -> tuple[str, ...]:
        value = self._value.get(name)
        if isinstance(value, list):
            texts = tuple(each for each in cast("list[object]", value) if isinstance(each, str))
            if len(texts) == len(cast("list[object]", value)):
                return texts
        raise self.invalid(name)

    def texts(self) -> dict[str, str]:
        return {name: self.text(name) for name in self._value}

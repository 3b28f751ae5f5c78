"""The registry: the list of a project's runs that other tools read. The store is the truth."""

import json
import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

from verdog_objects import durable
from verdog_objects.errors import InvalidInput, Unavailable
from verdog_repo.filenames import parse_filename
from verdog_runtime.controlfiles import open_control_file, read_control_file
from verdog_runtime.layout import CONTROL_DIRECTORY
from verdog_runtime.locking import locked_file
from verdog_runtime.storeerrors import RunStoreError

REGISTRY: Final = "run-registry.json"
RUN_HISTORY_SCHEMA_VERSION: Final = 1

Rebuild = Callable[[], dict[str, str]]
"""Returns the run ids by absolute output directory, as the store has them."""

_LOCK: Final = "locks/run-registry.lock"
_LOG = logging.getLogger("verdog.run")


def read_registry(project_root: Path) -> dict[str, str]:
    """Return the run ids by output directory, in the directories' order; empty when there is no registry.

    Raises:
        RunStoreError: it cannot be read (`run.registry_unreadable`) or is damaged (`run.registry_invalid`).
    """
    path = project_root / CONTROL_DIRECTORY / REGISTRY
    try:
        data = read_control_file(path)
    except FileNotFoundError:
        return {}
    except InvalidInput as error:
        raise RunStoreError(str(error), code="run.registry_invalid") from error
    except Unavailable as error:
        raise RunStoreError(str(error), code="run.registry_unreadable") from error
    try:
        return _parse(json.loads(data.decode("utf-8", "surrogateescape")))
    except ValueError as error:
        raise RunStoreError(
            f"{path} is no registry of runs ({error})",
            code="run.registry_invalid",
        ) from error
    except RecursionError:
        raise RunStoreError(
            f"{path} is no registry of runs (nested too deep)", code="run.registry_invalid"
        ) from None


def register_run(
    project_root: Path, run_id: str, output_dir: Path, *, rebuild: Rebuild | None = None
) -> None:
    """Add a run to the registry. It takes the place of an earlier one of the same directory.

    Args:
        project_root: the project.
        run_id: the run.
        output_dir: its directory, absolute.
        rebuild: tells what a damaged registry is written anew from; it is refused without.

    Durability: once the call returned. Safe to repeat.
    """
    with _locked(project_root):
        runs = _read_or_rebuild(project_root, rebuild)
        if runs.get(str(output_dir)) != run_id:
            _write(project_root, runs | {str(output_dir): run_id})


def unregister_runs(
    project_root: Path, output_dirs: frozenset[Path], *, rebuild: Rebuild | None = None
) -> tuple[Path, ...]:
    """Remove directories from the registry and return those that were in it, in order.

    Durability: once the call returned. Safe to repeat.
    """
    with _locked(project_root):
        runs = _read_or_rebuild(project_root, rebuild)
        kept = {path: run for path, run in runs.items() if Path(path) not in output_dirs}
        if len(kept) < len(runs):
            _write(project_root, kept)
        return tuple(Path(path) for path in runs if path not in kept)


def align_registry(project_root: Path, read_store: Rebuild) -> tuple[Path, ...]:
    """Remove directories that are not there, add those of the store that are, and return the removed ones.

    Durability: once the call returned. Safe to repeat.
    """
    with _locked(project_root):
        runs = _read_or_rebuild(project_root, read_store)
        kept = {path: run for path, run in runs.items() if os.path.lexists(path)}
        aligned = kept | read_store()
        if aligned != runs:
            _write(project_root, aligned)
        return tuple(Path(path) for path in runs if path not in kept)


def _read_or_rebuild(project_root: Path, rebuild: Rebuild | None) -> dict[str, str]:
    """Return what the registry says. One that says nothing sensible is put aside, never lost."""
    try:
        return read_registry(project_root)
    except RunStoreError as error:
        if rebuild is None:
            raise
        path = project_root / CONTROL_DIRECTORY / REGISTRY
        aside = path.with_name(f"{REGISTRY}.damaged-{os.urandom(4).hex()}")
        runs = rebuild()
        durable.rename(path, aside)
        _write(project_root, runs)
        _LOG.warning("%s; it is kept as %s, and was written anew from the store", error, aside.name)
        return runs


def _write(project_root: Path, runs: dict[str, str]) -> None:
    document = {
        "schema_version": RUN_HISTORY_SCHEMA_VERSION,
        "runs": [{"run_id": runs[path], "output_dir": path} for path in sorted(runs)],
    }
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    path = project_root / CONTROL_DIRECTORY / REGISTRY
    durable.write_file(path, text.encode("utf-8", "surrogateescape"))


def _parse(document: object) -> dict[str, str]:
    fields = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    if fields.get("schema_version") != RUN_HISTORY_SCHEMA_VERSION:
        raise ValueError(f"schema_version {RUN_HISTORY_SCHEMA_VERSION} expected")
    runs = fields.get("runs")
    if not isinstance(runs, list):
        raise ValueError("a list of runs expected")
    found: dict[str, str] = {}
    for each in cast("list[object]", runs):
        entry = cast("dict[str, object]", each) if isinstance(each, dict) else {}
        run, text = entry.get("run_id"), entry.get("output_dir")
        path = parse_filename(text) if isinstance(text, str) else ""
        if not isinstance(run, str) or not Path(path).is_absolute() or path in found:
            raise ValueError("each run needs an id and a directory of its own")
        found[path] = run
    return found


@contextmanager
def _locked(project_root: Path) -> Generator[None]:
    path = project_root / CONTROL_DIRECTORY / _LOCK
    durable.make_directory(path.parent, parents=True)
    fd = open_control_file(path, os.O_RDWR | os.O_CREAT)
    with open(fd, "r+b") as stream, locked_file(stream, blocking=True):  # noqa: PTH123  (of a descriptor)
        yield

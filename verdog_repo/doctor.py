"""Facts for a report on one project and the machine it is on. Nothing is judged here."""

import importlib.metadata
import os
import platform
import re
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from verdog_objects.disks import Disk, inspect_disk, measure_sync
from verdog_objects.errors import Unavailable, VerdogError
from verdog_objects.locking import Owner, is_locked, read_owner
from verdog_objects.staging import list_left_behind
from verdog_repo.filenames import locate_directory
from verdog_repo.names import RunId
from verdog_repo.repository import CONTROL_DIRECTORY, Repository
from verdog_repo.runs import RunStatus

_WRITTEN_S: Final = 60
_LEFTOVER: Final = re.compile(r"\..+\.[0-9a-f]{16,32}\.tmp")
"""What a killed writer of one file leaves beside its destination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lock that a process holds at this moment."""

    name: str
    owner: Owner | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """The store of a project.

    Attributes:
        database_bytes: the length of the database, its log included.
        packs: how many packs there are, and `packs_bytes` how long they are together.
        error: why it cannot be read; what follows is empty then.
        runs: how many there are; `missing` of them have no output directory.
        active: the runs that a process executes at this moment.
        interrupted: those that say so of themselves, though no process holds them.
        stuck: those of them that no resumption can go on with: they have no checkpoint, or an unusable one.
    """

    directory: Path
    database_bytes: int
    packs: int
    packs_bytes: int
    format: int | None = None
    error: VerdogError | None = None
    runs: int = 0
    missing: int = 0
    active: tuple[RunId, ...] = ()
    interrupted: tuple[RunId, ...] = ()
    stuck: tuple[RunId, ...] = ()
    longest_output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that `verdog doctor` tells.

    Attributes:
        versions: of verdog, Python and what reads and writes the store.
        store: None when nothing was ever run in the project.
        disks: of the store and of the output directories, each file system once, with what it is for.
        syncs_ns: how long a small append and its sync took, several times, in order; empty if nothing may be
            written there.
        open_files: how many this process may open, and how many it could ask for.
        held: the locks of the store that are held.
        leftovers: what was left behind by a process that was killed.
    """

    project: Path
    versions: dict[str, str]
    store: StoreFacts | None
    disks: tuple[tuple[str, Disk], ...]
    syncs_ns: tuple[int, ...]
    open_files: tuple[int, int]
    held: tuple[Held, ...] = ()
    leftovers: tuple[Path, ...] = ()


def gather_facts(project: Path) -> Facts:
    """Return the facts of a project, or, if it has no store, of the machine.

    No file of the project is changed; unnamed ones are made to try the disk.

    Raises:
        Unavailable: the project's directory cannot be looked at.

    Cost: one read of each run's header and ref, and twenty syncs.
    """
    control = project / CONTROL_DIRECTORY
    found = _Places([project, control, control / "store", control / "runs"])
    store = _read_store(project, found) if (control / "store").is_dir() else None
    base = control / "store" if store is not None else project
    return Facts(
        project=project,
        versions=read_versions(),
        store=store,
        disks=tuple(_inspect_disks(base, found)),
        syncs_ns=_try_syncs(base),
        open_files=_read_open_files(),
        held=tuple(_find_held(control / "store" / "locks")),
        leftovers=tuple(_find_leftovers(found)),
    )


def read_versions() -> dict[str, str]:
    """Return the versions of what the store depends on."""
    import apsw
    import pygit2

    python = f"{platform.python_version()} ({platform.python_implementation()})"
    return {
        "verdog": importlib.metadata.version("verdog-repo"),
        "python": python,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "sqlite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),
        "libgit2": pygit2.LIBGIT2_VERSION,
        "pygit2": importlib.metadata.version("pygit2"),
        "blake3": importlib.metadata.version("blake3"),
        "zstandard": importlib.metadata.version("zstandard"),
    }


@dataclass(slots=True)
class _Places:
    """The directories in which files of the project may lie."""

    directories: list[Path] = field(default_factory=list[Path])
    outputs: list[Path] = field(default_factory=list[Path])


def _read_store(project: Path, places: _Places) -> StoreFacts:
    directory = project / CONTROL_DIRECTORY / "store"
    packs = [*directory.glob("packs/*.pack")]
    files = StoreFacts(
        directory=directory,
        database_bytes=sum(_size(directory / f"store.db{suffix}") for suffix in ("", "-wal")),
        packs=len(packs),
        packs_bytes=sum(map(_size, packs)),
    )
    try:
        with Repository.open(project, read_only=True) as repository:
            return _read_runs(repository, files, places)
    except VerdogError as error:
        return replace(files, error=error)


def _read_runs(repository: Repository, files: StoreFacts, places: _Places) -> StoreFacts:
    from verdog_objects.schema import FORMAT

    listed = repository.runs()
    outputs = [locate_directory(repository.project, each.header.output_dir) for each in listed]
    places.outputs = [path.parent for path in outputs]
    running = [each for each in listed if each.header.status is RunStatus.RUNNING]
    return replace(
        files,
        format=FORMAT,
        runs=len(listed),
        missing=sum(not each.present for each in listed),
        active=tuple(each.header.run for each in running if each.active),
        interrupted=tuple(each.header.run for each in running if not each.active),
        stuck=tuple(each.header.run for each in running if not each.active and not each.restorable),
        longest_output=max((len(os.fsencode(path)) for path in outputs), default=0),
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _inspect_disks(base: Path, places: _Places) -> Iterator[tuple[str, Disk]]:
    first = inspect_disk(base)
    yield "store and output", first
    seen = {first.device}
    for directory in dict.fromkeys(places.outputs):
        try:
            device = directory.stat().st_dev
            if device not in seen:
                seen.add(device)
                yield "output", inspect_disk(directory)
        except (OSError, Unavailable):
            continue


def _try_syncs(directory: Path) -> tuple[int, ...]:
    try:
        return tuple(measure_sync(directory))
    except Unavailable:
        return ()


def _read_open_files() -> tuple[int, int]:
    if sys.platform == "win32":
        return -1, -1
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)


def _find_held(locks: Path) -> Iterator[Held]:
    if not locks.is_dir():
        return
    for path in sorted(locks.iterdir()):
        try:
            if is_locked(path):
                yield Held(name=path.name, owner=read_owner(path))
        except VerdogError:
            continue


def _find_leftovers(places: _Places) -> Iterator[Path]:
    here = [*places.directories, *places.outputs]
    here += [each for each in _children(places.directories[-1]) if each.is_dir() and not each.is_symlink()]
    for directory in dict.fromkeys(here):
        yield from _staged(directory)
        for path in _children(directory):
            if _LEFTOVER.fullmatch(path.name) and _is_left(path):
                yield path


def _staged(directory: Path) -> list[Path]:
    """Return what killed checkouts and forks left in a directory."""
    try:
        return list_left_behind(directory)
    except OSError:
        return []


def _children(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def _is_left(path: Path) -> bool:
    """Return whether nobody writes a file any more; it takes far less than a minute."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_mtime < time.time() - _WRITTEN_S

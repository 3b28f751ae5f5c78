"""The directory of an export: a bare Git repository that says which store it was made from."""

import contextlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

from verdog_objects import durable
from verdog_objects.errors import Corrupt, FormatUnsupported, InvalidInput
from verdog_objects.locking import FileLock, acquire
from verdog_repo.gitpack import recover_packs
from verdog_repo.gitrefs import UNBORN, point_head

EXPORT_FORMAT: Final = 1

_MARKER: Final = "verdog.json"
_LOCK: Final = "verdog.lock"
_CONFIG: Final = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_DIRECTORY_MODE: Final = 0o777
_FILE_MODE: Final = 0o644
_LEFT_BEHIND: Final = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
"""What `durable.write_file` leaves when it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """What the repository remembers of how it was made.

    Attributes:
        store: the uuid of the store.
        files: its trees hold the artifacts, not the records.
        names: the branches and tags that an export made.
    """

    store: str
    files: bool
    names: tuple[str, ...] = ()


class ExportDirectory:
    """A repository that this process holds to export into. Use it as a context manager.

    Attributes:
        path: where it is.
        marker: what it remembers.
    """

    def __init__(self, path: Path, marker: Marker, lock: FileLock) -> None:
        self.path = path
        self.marker = marker
        self._lock = lock

    @property
    def packs(self) -> Path:
        """The directory of its packs."""
        return self.path / "objects" / "pack"

    def remember(self, names: Iterable[str]) -> None:
        """Note which branches and tags are the export's own, before they are made and after some are removed.

        Durability: once the call returned.
        """
        wanted = tuple(sorted(names))
        if wanted != self.marker.names:
            self.marker = Marker(store=self.marker.store, files=self.marker.files, names=wanted)
            _write_marker(self.path, self.marker)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._lock.release()


def open_export_directory(path: Path, *, store: str, files: bool) -> ExportDirectory:
    """Take a directory to export into: absent, empty, or an earlier export of the same kind and store.

    What a killed export left behind is finished or removed.

    Raises:
        InvalidInput: the directory is something else.
        Busy: another process exports into it.
        Unavailable: the disk refused.

    Durability: an empty repository, once the call returned.
    """
    _require_ours(path)
    with durable.translated(path):
        durable.make_directory(path, _DIRECTORY_MODE, parents=True)
    lock = acquire(path / _LOCK, owner=f"export into {path}")
    try:
        _require_ours(path)
        marker = _read_marker(path)
        if marker is None:
            marker = Marker(store=store, files=files)
            _write_marker(path, marker)
        _require_same(path, marker, store, files)
        _complete(path)
    except BaseException:
        lock.release()
        raise
    return ExportDirectory(path, marker, lock)


def _require_ours(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise InvalidInput(f"{path} is in the way: it is not a directory")
    with durable.translated(path):
        names = {each.name for each in path.iterdir()}
    if _MARKER in names:
        return
    strange = sorted(name for name in names if name != _LOCK and not _LEFT_BEHIND.fullmatch(name))
    if strange:
        raise InvalidInput(f"{path} is neither empty nor an export: it holds {strange[0]!r}")


def _require_same(path: Path, marker: Marker, store: str, files: bool) -> None:
    if marker.store != store:
        raise InvalidInput(f"{path} is the export of another project")
    if marker.files != files:
        kind = ("an export without files", "an export with files")[marker.files]
        raise InvalidInput(f"{path} is {kind}, and one repository holds one kind")
    if (path / "reftable").exists():
        raise InvalidInput(f"{path} keeps its names in a reftable, which verdog cannot write")


def _complete(path: Path) -> None:
    """Make what an empty repository has, as far as it is absent."""
    for name in ("objects/pack", "objects/info", "refs/heads", "refs/tags"):
        durable.make_directory(path / name, _DIRECTORY_MODE, parents=True)
    for directory in (path, path / "refs/heads", path / "refs/tags"):
        with durable.translated(directory):
            for each in [each for each in directory.iterdir() if _LEFT_BEHIND.fullmatch(each.name)]:
                durable.unlink(each, missing_ok=True)
    recover_packs(path / "objects" / "pack")
    if not (path / "config").exists():
        durable.write_file(path / "config", _CONFIG, _FILE_MODE)
    if not (path / "HEAD").exists():
        point_head(path, UNBORN, ())


def _write_marker(path: Path, marker: Marker) -> None:
    document = {
        "format": EXPORT_FORMAT,
        "store": marker.store,
        "files": marker.files,
        "names": list(marker.names),
    }
    durable.write_file(path / _MARKER, json.dumps(document, indent=1).encode() + b"\n", _FILE_MODE)


def _read_marker(path: Path) -> Marker | None:
    try:
        text = (path / _MARKER).read_bytes()
    except FileNotFoundError:
        return None
    with contextlib.suppress(ValueError, RecursionError):
        value: object = json.loads(text)
        if isinstance(value, dict):
            found = cast("dict[str, object]", value)
            version, store, files = found.get("format"), found.get("store"), found.get("files")
            names = found.get("names")
            if isinstance(version, int) and version > EXPORT_FORMAT:
                raise FormatUnsupported(
                    f"{path} is an export of format {version}; this version knows format {EXPORT_FORMAT}"
                )
            if isinstance(store, str) and isinstance(files, bool) and isinstance(names, list):
                return Marker(store=store, files=files, names=tuple(map(str, cast("list[object]", names))))
    raise Corrupt(f"{path / _MARKER} is not what an export writes")

"""The layout of an output directory: the names of nodes and visits in it, and what is not an artifact."""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from verdog_objects.durable import translated
from verdog_objects.errors import Unavailable
from verdog_runtime.storeerrors import RunStoreError
from verdog_runtime.trace import TRACE_LOG

CONTROL_DIRECTORY = ".verdog"
"""The runtime's own directory inside an output directory or a project. Never an artifact, at any depth."""

INVOCATION_MARKER = ".verdog-invocation.json"
"""The file that marks the directory of a called graph."""

_VISIT_DIGITS = 6
_REPORTS = frozenset({b"config.md", b"stats.md"})
_TAKEN = frozenset({CONTROL_DIRECTORY, INVOCATION_MARKER, TRACE_LOG, "config.md", "stats.md"})
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-~")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{name}{digit}" for name in ("com", "lpt") for digit in range(1, 10)}
)


def format_node_directory(node_id: str) -> str:
    """Return the directory name of a node: one legal file name per id, on POSIX and on Windows.

    Ids made of letters, digits, `.`, `_`, `-` and `~` are their own names, apart from the few that mean
    something to a file system, or that the runtime gives to files of its own beside the directories of nodes.
    """
    if not node_id:
        return "%00"
    if node_id in _TAKEN:
        return node_id.replace(".", "%2E", 1)
    parts = [
        char if char in _PLAIN else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in node_id
    ]
    name = "".join(parts)
    stem = name.rstrip(".")
    name = stem + "%2E" * (len(name) - len(stem))
    if name.partition(".")[0].lower() in _DEVICES:
        name = f"%5F{name}"
    return name


def format_visit(number: int) -> str:
    """Return the directory name of a visit."""
    return f"{number:0{_VISIT_DIGITS}d}"


def parse_visit(name: str) -> int | None:
    """Return the number of a visit's directory, or None when the name is not one."""
    if len(name) < _VISIT_DIGITS or not name.isascii() or not name.isdigit():
        return None
    number = int(name)
    return number if number and format_visit(number) == name else None


def format_visit_path(steps: Sequence[tuple[str, int]]) -> bytes:
    """Return the directory of a visit, relative to the output.

    Args:
        steps: the calls that lead to the visit and its node, each with the number of its directory.
    """
    names = (f"{format_node_directory(node)}/{format_visit(number)}" for node, number in steps)
    return os.fsencode("/".join(names))


def require_control_directory(output: Path) -> None:
    """Refuse an output directory whose control directory leads elsewhere.

    Raises:
        RunStoreError: it, or a directory in it, is a link (`run.control_invalid`).
        Unavailable: it cannot be looked at.
    """
    control = output / CONTROL_DIRECTORY
    for directory in (control, control / "checkpoints"):
        with translated(directory):
            is_link = directory.is_symlink()
        if is_link:
            raise RunStoreError(
                f"{directory} is a symbolic link, so it cannot keep the record of a run",
                code="run.control_invalid",
            )


def exclude_control_files(output: Path) -> Callable[[bytes, bool], bool]:
    """Return the test of which paths below an output directory are not artifacts.

    These are every `.verdog` directory, the trace log, and the reports that the runtime itself keeps in the
    root and in each directory of a called graph.

    Returns:
        a function of a path relative to the output (bytes, `/`-separated) and whether it is a directory.
    """
    root = os.fsencode(output)
    control, marker, trace = (os.fsencode(name) for name in (CONTROL_DIRECTORY, INVOCATION_MARKER, TRACE_LOG))

    def excluded(path: bytes, is_dir: bool) -> bool:
        directory, _, name = path.rpartition(b"/")
        if is_dir or name == control:
            return name == control and (is_dir or not directory)
        if name in _REPORTS:
            return not directory or os.path.lexists(b"/".join((root, directory, marker)))
        return path == trace

    return excluded


class VisitDirectory(NamedTuple):
    """The directory of one visit.

    Attributes:
        path: relative to the output, POSIX form.
        directory: absolute.
        number: the visit's number, which is the directory's name.
    """

    path: str
    directory: Path
    number: int


class _Parent:
    """What is remembered of a node's directory between two visits."""

    __slots__ = ("highest", "identity")

    def __init__(self, highest: int, identity: tuple[int, int]) -> None:
        self.highest = highest
        self.identity = identity


class VisitDirectories:
    """Allocates the directories of visits below one output directory. Used by one thread."""

    def __init__(self, output: Path) -> None:
        """Allocate below an existing directory, given as an absolute path."""
        self._root = str(output)
        self._parents: dict[str, _Parent] = {}

    def allocate(self, scope: str, node_id: str, known: int = 0) -> VisitDirectory:
        """Create the directory of a node's next visit: a new, empty one with the next free number.

        Args:
            scope: the directory of the node's graph, relative to the output; empty for the root graph.
            node_id: the node.
            known: the highest number that the run remembers. A number is never given twice, whether its
                directory is still there or not.

        Raises:
            ValueError: the place is outside the output, because an artifact became a symbolic link.
            Unavailable: the file system refused, or the path is too long.

        Cost: one mkdir and one lstat; the node's directory is listed only the first time it is seen.
        """
        name = format_node_directory(node_id)
        relative = f"{scope}/{name}" if scope else name
        full = f"{self._root}/{relative}"
        try:
            parent = self._enter(relative, full)
            number = max(parent.highest, known)
            while True:
                number += 1
                visit = format_visit(number)
                try:
                    os.mkdir(f"{full}/{visit}")  # noqa: PTH102
                    break
                except FileExistsError:
                    continue
        except OSError as error:
            raise _explain(error, f"{relative}/{format_visit(max(known, 1))}", full) from error
        parent.highest = number
        return VisitDirectory(f"{relative}/{visit}", Path(f"{full}/{visit}"), number)

    def _enter(self, relative: str, full: str) -> _Parent:
        """Make sure that a node's directory exists inside the output, and return what is known of it."""
        parent = self._parents.get(relative)
        created = False
        if parent is None:
            try:
                os.mkdir(full)  # noqa: PTH102
                created = True
            except FileExistsError:
                pass
        try:
            status = os.lstat(full)
        except FileNotFoundError:
            os.mkdir(full)  # noqa: PTH102
            status = os.lstat(full)
        identity = (status.st_dev, status.st_ino)
        if parent is None:
            self._check_inside(relative, full)
            parent = self._parents[relative] = _Parent(0 if created else _highest_visit(full), identity)
        elif parent.identity != identity or not stat.S_ISDIR(status.st_mode):
            self._check_inside(relative, full)
            parent.identity = identity
        return parent

    def _check_inside(self, relative: str, full: str) -> None:
        real = os.path.realpath(full)
        if real != f"{os.path.realpath(self._root)}/{relative}":
            raise ValueError(f"{relative} in {self._root} must be a real directory, but it leads to {real}")


def _highest_visit(directory: str) -> int:
    with os.scandir(directory) as entries:
        return max((parse_visit(entry.name) or 0 for entry in entries), default=0)


def _explain(error: OSError, relative: str, full: str) -> Unavailable:
    if error.errno == errno.ENAMETOOLONG:
        longest = max(len(os.fsencode(part)) for part in relative.split("/"))
        limit = "a name of 255 bytes" if longest > 255 else "a path of about 4096 bytes"
        return Unavailable(
            f"the visit directory {relative} cannot be made: its path has {len(os.fsencode(full)) + 7} bytes "
            f"at depth {relative.count('/') // 2 + 1} of nested calls, and the file system allows {limit}",
            paths=[os.fsencode(relative)],
        )
    reason = error.strerror
    return Unavailable(
        f"the visit directory {relative} cannot be made: {reason}", paths=[os.fsencode(relative)]
    )

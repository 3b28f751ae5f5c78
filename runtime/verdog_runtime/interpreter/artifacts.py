"""The artifact tree of a run while it executes: what each checkpoint records of the output directory."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from verdog_objects.capture import Captured, Problem, capture_tree
from verdog_objects.directories import Excluded
from verdog_objects.manifest import Entry, EntryKind, empty, lookup, path_key, update
from verdog_objects.oid import Oid
from verdog_objects.paths import escape_path
from verdog_objects.signatures import Signatures
from verdog_objects.store import ObjectWriter
from verdog_objects.sweep import Swept, sweep
from verdog_objects.verify import format_difference
from verdog_runtime.storeerrors import OutputLost

SWEEP_SHARE = 20
"""A sweep is due when this many times its own last duration has passed: it takes less than 5 % of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """What a checkpoint says of the output directory.

    Attributes:
        late: files and links that were written outside the completed visit and are recorded from here on.
        problems: one line for each path because of which the checkpoint cannot be restored.
        files: how many files this checkpoint adds.
        size_bytes: the sizes of added files and links together.
    """

    root: Oid
    swept: bool
    late: tuple[bytes, ...]
    problems: tuple[str, ...]
    files: int
    size_bytes: int


class ArtifactTree:
    """The manifest of an output directory as of the last checkpoint. Used by one thread.

    A path that cannot be captured, or a recorded one that was edited or removed, is a problem that stands
    until a sweep finds it put right.
    """

    def __init__(
        self,
        output: Path,
        root: Oid | None,
        *,
        excluded: Excluded,
        signatures: Signatures | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Go on from a recorded tree, or begin with none.

        Args:
            output: absolute.
            root: what the last checkpoint recorded.
            excluded: which paths are no artifacts.
            signatures: what is known of the recorded files on disk.
            clock_ns: a monotonic clock.
        """
        self._output = output
        self._identity = _identify(output)
        self._root = root
        self._excluded = excluded
        self._signatures = signatures if signatures is not None else Signatures()
        self._clock_ns = clock_ns
        self._standing: dict[bytes, str] = {}
        self._sweep_due_ns: int | None = None

    def take(self, writer: ObjectWriter, visit: str, *, last: bool) -> Artifacts:
        """Record the directory of the completed visit, and everything else when a sweep is due.

        Args:
            writer: where content and manifest nodes go.
            visit: the visit's run-relative directory.
            last: no other checkpoint may follow, so look at everything.

        Raises:
            OutputLost: the output directory is not the one that it was when this tree was made.

        Cost: O(content of the visit), and O(paths of the output) at a sweep.
        """
        self._require_same_output()
        captured = capture_tree(
            writer,
            self._output,
            (visit.encode("utf-8", "surrogateescape"),),
            excluded=self._excluded,
            memory=self._signatures,
        )
        root = empty(writer) if self._root is None else self._root
        root = self._add_captured(writer, root, captured)
        files, size_bytes, late, swept = captured.files, captured.size_bytes, (), False
        if last or self._sweep_due_ns is None or self._clock_ns() >= self._sweep_due_ns:
            found = self._sweep(writer, root)
            root = update(writer, root, _keyed(found.late))
            late = tuple(path for path, entry in found.late.items() if entry.kind is not EntryKind.DIRECTORY)
            files, size_bytes, swept = files + found.files, size_bytes + found.size_bytes, True
        self._root = root
        return Artifacts(
            root=root,
            swept=swept,
            late=late,
            problems=tuple(self._standing.values()),
            files=files,
            size_bytes=size_bytes,
        )

    def _require_same_output(self) -> None:
        found = _identify(self._output)
        if found == self._identity:
            return
        if not found:
            what = "is gone: it was moved or removed"
        elif self._output.is_symlink():
            what = "is a symbolic link now: it was replaced"
        elif not self._output.is_dir():
            what = "is no directory now: it was replaced"
        else:
            what = "is another directory now: it was replaced"
        raise OutputLost(f"the output directory {self._output} {what} while the run was going on")

    def _add_captured(self, writer: ObjectWriter, root: Oid, captured: Captured) -> Oid:
        entries = captured.entries
        if captured.reread:
            entries = dict(entries)
            for path in captured.reread:
                recorded = lookup(writer, root, path_key(path))
                if recorded is not None and recorded != entries.pop(path):
                    self._standing[path] = f"{escape_path(path)}: changed after it was recorded"
        for path in captured.missing:
            self._standing[path] = f"{escape_path(path)}: removed after it was recorded"
        self._note(captured.problems)
        return update(writer, root, _keyed(entries))

    def _sweep(self, writer: ObjectWriter, root: Oid) -> Swept:
        begun_ns = self._clock_ns()
        found = sweep(
            writer,
            self._output,
            self._signatures,
            lambda path: lookup(writer, root, path_key(path)),
            excluded=self._excluded,
        )
        self._standing.clear()
        for difference in found.changed:
            self._standing[difference.path] = format_difference(difference)
        for path in found.missing:
            self._standing[path] = f"{escape_path(path)}: removed after it was recorded"
        self._note(found.problems)
        ended_ns = self._clock_ns()
        self._sweep_due_ns = ended_ns + SWEEP_SHARE * (ended_ns - begun_ns)
        return found

    def _note(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._standing[problem.path] = f"{escape_path(problem.path)} {problem.reason}"


def _identify(output: Path) -> tuple[int, ...]:
    """Return what tells a directory, and a link to one, from any other; nothing if it is gone."""
    try:
        here, there = os.lstat(output), os.stat(output)  # noqa: PTH116
    except OSError:
        return ()
    return here.st_dev, here.st_ino, there.st_dev, there.st_ino


def _keyed(entries: dict[bytes, Entry]) -> dict[bytes, Entry | None]:
    return {path_key(path): entry for path, entry in entries.items()}

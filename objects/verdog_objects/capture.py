"""Directories on disk read into the entries of an artifact tree."""

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from pathlib import Path

from verdog_objects.directories import (
    Descent,
    Excluded,
    describe_format,
    join_path,
    list_directory,
    read_format,
    split_path,
    translate_os_error,
)
from verdog_objects.errors import VerdogError
from verdog_objects.filereader import MODE_BITS, FileUnstable, store_file, store_link
from verdog_objects.manifest import path_key
from verdog_objects.nodes import EMPTY_OID, MAX_KEY_BYTES, Entry, EntryKind
from verdog_objects.signatures import UNSETTLED, Signature, Signatures, compute_signature
from verdog_objects.store import ObjectWriter


@unique
class ProblemCode(StrEnum):
    """Why a path could not be captured."""

    SPECIAL = "special"
    """A FIFO, socket or device. It was not opened."""
    UNREADABLE = "unreadable"
    UNSTABLE = "unstable"
    """It changed during every attempt to read it."""
    BLOCKED = "blocked"
    """A part of the way to a directory is no directory."""
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A path that could not be captured.

    Attributes:
        path: the whole path below the output, as bytes.
        reason: what is wrong with it, to follow its name.
    """

    path: bytes
    reason: str
    code: ProblemCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What was read.

    Attributes:
        entries: each path read, with its entry.
        problems: what could not be read.
        reread: the paths among `entries` that were recorded before; compare them with what was recorded.
        missing: paths recorded before that are gone from the directories that were read.
        files: how many files are among the entries.
        size_bytes: the sizes of files and links together.
    """

    entries: dict[bytes, Entry] = field(default_factory=dict[bytes, Entry])
    problems: tuple[Problem, ...] = ()
    reread: tuple[bytes, ...] = ()
    missing: tuple[bytes, ...] = ()
    files: int = 0
    size_bytes: int = 0


def capture_tree(
    writer: ObjectWriter,
    output: Path,
    directories: Sequence[bytes],
    *,
    excluded: Excluded,
    memory: Signatures | None = None,
) -> Captured:
    """Read everything in some directories of an output.

    The entries of each directory itself and of the directories above it are added too. A path that is gone
    adds nothing; one that is no directory is captured as what it is. What `memory` proves unchanged is
    skipped.

    Args:
        writer: where the content goes.
        output: the root of the tree.
        directories: paths relative to it; the empty path is everything.
        excluded: which paths are left out.
        memory: what was recorded before; it is told what was read.

    Raises:
        NotFound: there is no output directory.
        InvalidInput: a path leads out of it.
        Unavailable: the store refused.

    Cost: O(content of the directories); nothing else of the output is looked at.
    """
    with Descent(output) as descent:
        collector = Collector(writer, descent, excluded, memory)
        for path in _check_paths(directories):
            if collector.take_parents(path):
                _capture_path(collector, path)
        return collector.captured()


def capture_directories(
    writer: ObjectWriter, output: Path, directories: Sequence[bytes], *, memory: Signatures | None = None
) -> Captured:
    """Add the entries of directories alone, and of those above them, without looking at what they hold."""
    with Descent(output) as descent:
        collector = Collector(writer, descent, _exclude_nothing, memory)
        for path in _check_paths(directories):
            if collector.take_parents(path):
                collector.take_directory(path)
        return collector.captured()


def _check_paths(paths: Sequence[bytes]) -> Sequence[bytes]:
    for path in paths:
        if path:
            path_key(path)
    return paths


def _exclude_nothing(path: bytes, is_directory: bool) -> bool:
    return False


def _capture_path(collector: "Collector", path: bytes) -> None:
    """Capture a directory with all it holds, or whatever has taken its place."""
    pending = [path]
    while pending:
        directory = pending.pop()
        opened = collector.take_directory(directory)
        if opened is not None:
            pending += _capture_listing(collector, directory, opened)


def _capture_listing(collector: "Collector", directory: bytes, opened: int) -> list[bytes]:
    """Capture what a directory holds directly and return the directories in it, last first."""
    known = collector.memory.names_in(directory)
    gone = set(known)
    inner: list[bytes] = []
    try:
        listing = list_directory(opened)
    except OSError as error:
        collector.add_failure(directory, error)
        return inner
    for each in listing:
        name = each.name
        path = join_path(directory, os.fsencode(name))
        gone.discard(name)
        is_directory = each.is_dir(follow_symlinks=False)
        if collector.excluded(path, is_directory):
            continue
        if is_directory:
            inner.append(path)
        elif not known or not _is_unchanged(each, known.get(name)):
            collector.take_name(opened, path, read_format(each), known)
    for name in sorted(gone):
        collector.miss(join_path(directory, os.fsencode(name)))
    inner.reverse()
    return inner


def _is_unchanged(found: "os.DirEntry[str]", signature: Signature | None) -> bool:
    if not signature:
        return False
    try:
        return compute_signature(found.stat(follow_symlinks=False)) == signature
    except OSError:
        return False


class Collector:
    """Gathers entries and problems while directories are walked."""

    def __init__(
        self, writer: ObjectWriter, descent: Descent, excluded: Excluded, memory: Signatures | None
    ) -> None:
        self.memory = memory if memory is not None else Signatures()
        self.excluded = excluded
        self._writer = writer
        self._descent = descent
        self._entries: dict[bytes, Entry] = {}
        self._problems: list[Problem] = []
        self._reread: list[bytes] = []
        self._missing: list[bytes] = []
        self._files = 0
        self._size_bytes = 0

    def captured(self) -> Captured:
        """Return what was gathered."""
        return Captured(
            entries=self._entries,
            problems=tuple(self._problems),
            reread=tuple(self._reread),
            missing=tuple(self._missing),
            files=self._files,
            size_bytes=self._size_bytes,
        )

    def take_parents(self, path: bytes) -> bool:
        """Add the entries of the directories above a path; return whether all of them can be entered."""
        position = path.find(b"/")
        while position >= 0:
            parent = path[:position]
            if self.take_directory(parent) is None:
                if parent in self._entries and self._entries[parent].kind is not EntryKind.DIRECTORY:
                    self.add_problem(parent, "is in the way of a directory", ProblemCode.BLOCKED)
                return False
            position = path.find(b"/", position + 1)
        return True

    def take_directory(self, path: bytes) -> int | None:
        """Add a directory's entry and return a descriptor of it, or None when it cannot be opened or is none.

        Something else in its place is added as what it is. Something that is gone adds nothing.
        """
        try:
            opened = self._descent.open(path)
            if path:
                self.add_directory(path, os.fstat(opened))
            return opened
        except OSError as error:
            self._take_unopened(path, error)
            return None

    def add_directory(self, path: bytes, status: os.stat_result) -> None:
        """Add a directory's entry, unless it is recorded with this mode."""
        directory, name = split_path(path)
        known = self.memory.names_in(directory)
        text = os.fsdecode(name)
        before = known.get(text)
        if before == (status.st_mode,) or self._is_too_long(path):
            return
        if before is not None:
            self._reread.append(path)
        self._entries[path] = Entry(EntryKind.DIRECTORY, status.st_mode & MODE_BITS, 0, EMPTY_OID)
        self._remember(known, text, status, 0)

    def take_name(self, parent: int, path: bytes, file_format: int, known: dict[str, Signature]) -> None:
        """Add a file or link of an open directory, or the problem with it."""
        if self._is_too_long(path):
            return
        name = split_path(path)[1]
        text = os.fsdecode(name)
        try:
            if file_format == stat.S_IFREG:
                entry, status, read_ns = store_file(self._writer, parent, name, self.memory.clock)
            elif file_format == stat.S_IFLNK:
                entry, status, read_ns = store_link(self._writer, parent, name, self.memory.clock)
            else:
                reason = f"is {describe_format(file_format)}, which cannot be stored"
                self.add_problem(path, reason, ProblemCode.SPECIAL)
                return
        except FileUnstable as error:
            self.add_problem(path, str(error), ProblemCode.UNSTABLE)
            return
        except FileNotFoundError:
            if text in known:
                self.miss(path)
            return
        except OSError as error:
            self.add_failure(path, error)
            return
        before = known.get(text)
        if before is not None:
            self._reread.append(path)
            if len(before) == 1:
                self.miss_below(path)
        self._entries[path] = entry
        self._files += entry.kind is EntryKind.FILE
        self._size_bytes += entry.size
        self._remember(known, text, status, read_ns)

    def miss(self, path: bytes) -> None:
        """Note that a recorded path is gone, with all that was recorded below it."""
        self._missing.append(path)
        self.miss_below(path)

    def miss_below(self, path: bytes) -> None:
        """Note that everything that was recorded below a path is gone."""
        self._missing += self.memory.iter_below(path)

    def add_problem(self, path: bytes, reason: str, code: ProblemCode) -> None:
        """Note a path that could not be captured."""
        self._problems.append(Problem(path=path, reason=reason, code=code))

    def add_failure(self, path: bytes, error: OSError) -> None:
        """Note a path that the system would not let us read.

        Raises:
            VerdogError: the error says nothing about the path: it is the store's, or descriptors ran out.
        """
        if isinstance(error, VerdogError):
            raise error
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise translate_os_error(error, path) from error
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            self.add_problem(path, "was replaced while it was read", ProblemCode.UNSTABLE)
        else:
            self.add_problem(path, f"cannot be read: {error.strerror}", ProblemCode.UNREADABLE)

    def _remember(self, known: dict[str, Signature], name: str, status: os.stat_result, read_ns: int) -> None:
        """Note what was read; what was recorded before may differ, which the next sweep has to find again."""
        if name in known:
            known[name] = UNSETTLED
        else:
            self.memory.remember_in(known, name, status, read_ns)

    def _take_unopened(self, path: bytes, error: OSError) -> None:
        directory, name = split_path(path)
        known = self.memory.names_in(directory)
        try:
            parent = self._descent.open(directory)
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            if os.fsdecode(name) in known:
                self.miss(path)
            return
        except OSError as worse:
            self.add_failure(path, worse)
            return
        if stat.S_ISDIR(status.st_mode):
            self.add_directory(path, status)
            self.add_failure(path, error)
        else:
            self.take_name(parent, path, stat.S_IFMT(status.st_mode), known)

    def _is_too_long(self, path: bytes) -> bool:
        if len(path) <= MAX_KEY_BYTES:
            return False
        self.add_problem(path, f"has a path of over {MAX_KEY_BYTES} bytes", ProblemCode.TOO_LONG)
        return True

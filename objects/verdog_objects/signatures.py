"""Stat signatures of recorded files: which of them certainly were not written to since they were read."""

import os
import stat
import time
from collections.abc import Callable, Iterator

from verdog_objects.directories import join_path, split_path

Signature = tuple[int, ...]
"""Of a file or link: mode, size, mtime_ns, ctime_ns, inode. Of a directory: its mode."""

UNSETTLED: Signature = ()
"""The signature of a path that is recorded but whose stat cannot be trusted yet: read it again."""

FINE_MARGIN_NS = 100_000_000
"""Where timestamps have fractions of seconds: the kernel's clock tick (at most 10 ms) with room to spare."""
COARSE_MARGIN_NS = 2_100_000_000
"""Where they are whole seconds (FAT counts in twos)."""


def is_settled(status: os.stat_result, read_ns: int) -> bool:
    """Return whether a write after `read_ns` would have to show in the stat of a file read at that time.

    A file written twice within one tick of the file system's clock has one timestamp for both writes. So a
    timestamp about as old as the reading proves nothing: the second write may have come after it.
    """
    ctime_ns = status.st_ctime_ns
    margin_ns = FINE_MARGIN_NS if ctime_ns % 1_000_000_000 else COARSE_MARGIN_NS
    # A time in the future was set by hand or by a clock since put back; a write would replace it.
    return abs(read_ns - ctime_ns) > margin_ns and abs(read_ns - status.st_mtime_ns) > margin_ns


def compute_signature(status: os.stat_result) -> Signature:
    """Return the signature of a path from its stat."""
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode,)
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Signatures:
    """The paths that are recorded, each with the stat it had when it was read.

    It lives in memory with a run and is told what was recorded by `capture`, `sweep` and `verify`; a commit
    that fails after a capture makes it wrong, so it is thrown away with the failed run. Used by one thread.

    Cost: about 350 bytes a path.
    """

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        """Begin with nothing known.

        Args:
            clock: the time now in nanoseconds since the epoch, by the clock that stamps files.
        """
        self.clock = clock
        self._directories: dict[bytes, dict[str, Signature]] = {}

    def names_in(self, directory: bytes) -> dict[str, Signature]:
        """Return the live mapping of the names known in a directory (text as `os.scandir` gives it)."""
        known = self._directories.get(directory)
        if known is None:
            known = self._directories[directory] = {}
        return known

    def knows(self, path: bytes) -> bool:
        """Return whether the path is recorded."""
        directory, name = split_path(path)
        return os.fsdecode(name) in self._directories.get(directory, ())

    def remember(self, path: bytes, status: os.stat_result, read_ns: int) -> None:
        """Note that a path is recorded as it was at `read_ns`, when it had this stat."""
        directory, name = split_path(path)
        self.remember_in(self.names_in(directory), os.fsdecode(name), status, read_ns)

    def remember_in(
        self, known: dict[str, Signature], name: str, status: os.stat_result, read_ns: int
    ) -> None:
        """Do as `remember` does, for a name in a mapping that `names_in` gave."""
        if stat.S_ISDIR(status.st_mode):
            known[name] = (status.st_mode,)
        else:
            known[name] = compute_signature(status) if is_settled(status, read_ns) else UNSETTLED

    def doubt(self, path: bytes) -> None:
        """Note that a path is recorded and has to be read again whatever its stat says."""
        directory, name = split_path(path)
        self.names_in(directory)[os.fsdecode(name)] = UNSETTLED

    def forget(self, path: bytes) -> None:
        """Note that a path and everything below it is recorded no longer."""
        directory, name = split_path(path)
        self._directories.get(directory, {}).pop(os.fsdecode(name), None)
        below = path + b"/"
        for each in [each for each in self._directories if each == path or each.startswith(below)]:
            del self._directories[each]

    def iter_below(self, directory: bytes) -> Iterator[bytes]:
        """Yield every known path below a directory, sorted within each directory.

        Cost: O(known directories).
        """
        below = directory + b"/" if directory else b""
        for each in sorted(self._directories):
            if each == directory or each.startswith(below):
                for name in sorted(self._directories[each]):
                    yield join_path(each, os.fsencode(name))

    def __len__(self) -> int:
        return sum(len(known) for known in self._directories.values())

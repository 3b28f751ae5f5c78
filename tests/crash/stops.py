"""A command that is stopped before any change of the disk, and what it changes when nothing stops it.

Changes are those that go through `durable.Disk`, SQLite's through a VFS, and every other one that Python
tells its audit hooks of. A hook cannot be taken away, so each command runs in a process of its own.
"""
# Names are bytes here, which pathlib does not take.

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.crash.images import WatchedVfs
from verdog_objects import durable

STOPPED = 99
_AUDITED = {
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.symlink",
    "os.link",
    "os.truncate",
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Stopper(durable.Disk):
    """Counts changes, and ends the process before one of them."""

    def __init__(self, stop: int | None, tell: Callable[[str], None]) -> None:
        self._left = stop
        self._tell = tell
        self._inside = False

    def before(self, change: str) -> None:
        if self._inside:
            return
        self._inside = True
        if self._left == 0:
            os._exit(STOPPED)
        if self._left is not None:
            self._left -= 1
        self._tell(change)
        self._inside = False

    def audit(self, event: str, arguments: Sequence[object]) -> None:
        if event in _AUDITED:
            self.before(f"{event} {arguments[0]!r}")
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
            self.before(f"open {arguments[0]!r}")

    def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
        self.before("write")
        return super().write(fd, buffers, offset)

    # Nothing here loses what was not synced, so no test need wait for it.

    def fsync(self, fd: int) -> None:
        self.before("sync")

    def fdatasync(self, fd: int) -> None:
        self.before("sync")

    def syncfs(self, fd: int) -> None:
        self.before("sync everything")

    # What WatchedVfs says

    def synced_file(self, path: Path) -> None:
        pass

    def synced_directory(self, path: Path) -> None:
        pass


def run_stopped(action: Callable[[], int], stop: int | None = None) -> tuple[int, list[str]]:
    """Do something in a child of this process.

    Args:
        action: returns an exit code.
        stop: so many changes are made and no more; None stops nothing.

    Returns:
        The exit code, `STOPPED` if it was stopped, and the changes that were made.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        code = 98
        try:
            os.close(read_end)

            def tell(change: str) -> None:
                os.write(write_end, change.encode("utf-8", "backslashreplace") + b"\0")

            stopper = Stopper(stop, tell)
            watched = WatchedVfs(stopper)  # type: ignore[arg-type]  # unregistered once nothing names it
            sys.addaudithook(stopper.audit)
            with durable.replaced(stopper):
                code = action()
            watched.unregister()
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        changes = pipe.read().decode().split("\0")[:-1]
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), changes

"""Locks on open files, for exclusive use among processes."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

from verdog_objects.errors import Busy


class _Unavailable(Busy):
    """Somebody else holds the lock."""


@contextmanager
def locked_file(stream: BinaryIO, *, blocking: bool) -> Generator[None]:
    """Hold an exclusive lock on an open binary file inside the block.

    The system ends the lock when the process dies.

    Args:
        stream: the open file.
        blocking: wait for the lock; otherwise a lock that is held is an error, a `Busy`.
    """
    _lock(stream, blocking)
    try:
        yield
    finally:
        _unlock(stream)


if sys.platform == "win32":
    import msvcrt
    import time

    _PAUSE_S = 0.05

    def _lock(stream: BinaryIO, blocking: bool) -> None:
        while True:
            stream.seek(0)
            try:
                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if not blocking:
                    raise _Unavailable("the file is locked by another process") from error
            time.sleep(_PAUSE_S)

    def _unlock(stream: BinaryIO) -> None:
        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(stream: BinaryIO, blocking: bool) -> None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise _Unavailable("the file is locked by another process") from error

    def _unlock(stream: BinaryIO) -> None:
        fcntl.flock(stream, fcntl.LOCK_UN)

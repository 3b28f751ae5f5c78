"""Control files: what verdog keeps beside artifacts, in places where a visit may have left anything."""

import os
import stat
from pathlib import Path

from verdog_objects.errors import InvalidInput, Unavailable

_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_control_file(path: Path, flags: int, mode: int = 0o600) -> int:
    """Return a descriptor of a regular file. No link is followed, and no FIFO or device is waited for.

    Raises:
        FileNotFoundError: there is none, and `flags` do not make it.
        InvalidInput: something else has its name.
        Unavailable: the system does not open it.
    """
    try:
        fd = os.open(path, flags | _FLAGS, mode)
    except FileNotFoundError:
        raise
    except OSError as error:
        if _is_in_the_way(path):
            raise _refusal(path) from error
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _refusal(path)
    return fd


def read_control_file(path: Path) -> bytes:
    """Return the content of a regular file. Raises as `open_control_file`."""
    with open(open_control_file(path, os.O_RDONLY), "rb") as file:
        try:
            return file.read()
        except OSError as error:
            raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def _is_in_the_way(path: Path) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _refusal(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is no regular file; verdog keeps a file of its own there")

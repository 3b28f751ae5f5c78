"""Advisory locks on files, each with a record of its owner.

The lock is the kernel's (`flock`): it ends with its process, so a dead owner never blocks. The record in the
file is only for the message that a second comer gets.
"""

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from verdog_objects.errors import Busy, InvalidInput, Unavailable

_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_RECORD_LIMIT = 4096
_ATTEMPTS = 4
_PAUSE_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who holds a lock.

    Attributes:
        boot: the id of the host's current boot; an owner of another boot is dead.
        since_ns: when the lock was taken, in nanoseconds since the epoch.
        text: what the owner said about itself.
    """

    pid: int
    host: str
    boot: str
    since_ns: int
    text: str


class FileLock:
    """A held lock. Release it once; a second release does nothing."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd: int | None = fd
        self._pid = os.getpid()

    @property
    def held(self) -> bool:
        """Whether this process still holds the lock."""
        return self._fd is not None and self._pid == os.getpid()

    def release(self) -> None:
        """Give the lock up. In a forked child this only lets go of the inherited descriptor."""
        fd, self._fd = self._fd, None
        if fd is None:
            return
        try:
            if self._pid == os.getpid():
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, 0)
                fcntl.flock(fd, fcntl.LOCK_UN)
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.release()


def acquire(path: Path, *, owner: str = "") -> FileLock:
    """Take the lock on a file, which is made if it is absent.

    Raises:
        Busy: somebody else holds it, naming the owner and since when.
        InvalidInput: the path is a symbolic link or no regular file.
        Unavailable: the file cannot be opened.
    """
    for attempt in range(_ATTEMPTS):
        fd = _open_lock(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_current(path, fd):
                _write_owner(fd, owner)
                return FileLock(path, fd)
        except BlockingIOError as error:
            found = _read_owner(fd)
            if attempt == _ATTEMPTS - 1:
                os.close(fd)
                raise _busy(path, found) from error
            time.sleep(_PAUSE_S)  # a probe by is_locked is over in microseconds
        except OSError as error:
            os.close(fd)
            raise Unavailable(f"cannot lock {path}: {error.strerror}") from error
        os.close(fd)
    raise Busy(f"{path} is replaced again and again")


def is_locked(path: Path) -> bool:
    """Return whether somebody holds the lock at this moment.

    Raises:
        InvalidInput: the path is a symbolic link or no regular file.
        Unavailable: the file cannot be opened.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        _require_regular(path, fd)
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise Unavailable(f"cannot look at the lock {path}: {error.strerror}") from error
    finally:
        os.close(fd)
    return False


def read_owner(path: Path) -> Owner | None:
    """Return the owner that a lock file names, or None. It may be dead: see `is_locked`."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        return _read_owner(fd)
    finally:
        os.close(fd)


def read_boot_id() -> str:
    """Return the id of this host's current boot, or an empty text where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _open_lock(path: Path) -> int:
    try:
        fd = os.open(path, _OPEN_FLAGS, 0o600)
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        _require_regular(path, fd)
    except InvalidInput:
        os.close(fd)
        raise
    return fd


def _require_regular(path: Path, fd: int) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise InvalidInput(f"{path} is no regular file, so it cannot be a lock")


def _refusal(path: Path, error: OSError) -> InvalidInput | Unavailable:
    if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
        return InvalidInput(f"{path} is no regular file, so it cannot be a lock")
    return Unavailable(f"cannot open the lock {path}: {error.strerror}")


def _is_current(path: Path, fd: int) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)  # noqa: PTH116
    except FileNotFoundError:
        return False
    here = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _write_owner(fd: int, text: str) -> None:
    record = Owner(
        pid=os.getpid(),
        host=os.uname().nodename,
        boot=read_boot_id(),
        since_ns=time.time_ns(),
        text=text,
    )
    with contextlib.suppress(OSError):  # a full disk must not stop whoever already holds the lock
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(asdict(record)).encode()[:_RECORD_LIMIT], 0)


def _read_owner(fd: int) -> Owner | None:
    try:
        fields = json.loads(os.pread(fd, _RECORD_LIMIT, 0))
        return Owner(
            pid=int(fields["pid"]),
            host=str(fields["host"]),
            boot=str(fields["boot"]),
            since_ns=int(fields["since_ns"]),
            text=str(fields["text"]),
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _busy(path: Path, owner: Owner | None) -> Busy:
    if owner is None:
        return Busy(f"{path} is locked by another process")
    who = f"process {owner.pid} on {owner.host}"
    if owner.text:
        who += f" ({owner.text})"
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(owner.since_ns // 1_000_000_000))
    return Busy(f"{path} is locked by {who} since {since}", owner=who, since_ns=owner.since_ns)

"""A directory filled beside its destination under another name, and given its own name when it is whole."""

import contextlib
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Generator
from pathlib import Path

from blake3 import blake3

from verdog_objects import durable
from verdog_objects.directories import (
    OPEN_DIRECTORY,
    Descent,
    join_path,
    list_directory,
    split_path,
    translate_os_error,
)
from verdog_objects.errors import InvalidInput, Unavailable, VerdogError
from verdog_objects.paths import escape_path

_ATTEMPTS = 20
_STAGING_NAME = re.compile(r"\.verdog-partial-[0-9a-f]{16}-[0-9a-f]{8}")


class Staging:
    """A staging directory that this process holds.

    Attributes:
        path: where it is now.
        destination: what it becomes.
        created_mode: the mode that a new directory gets here, which shows the umask and inherited bits.
    """

    def __init__(self, path: Path, destination: Path, final_mode: int | None) -> None:
        self.path = path
        self.destination = destination
        self.created_mode = stat.S_IMODE(path.lstat().st_mode)
        self._final_mode = self.created_mode if final_mode is None else final_mode
        self._settled = False
        path.chmod(0o700)
        self._lock = _lock_directory(path)
        if self._lock is None:
            raise FileExistsError(path)

    def settle(self) -> None:
        """Make everything in the directory durable, so that only its name is left to be given.

        Raises:
            Unavailable: the disk is full.
        """
        if self._lock is not None and not self._settled:
            os.fchmod(self._lock, self._final_mode)
            durable.sync_tree(self.path)
            self._settled = True

    def publish(self) -> None:
        """Give the directory its own name.

        Durability: once the call returned, everything in it; before, nothing has the destination's name.

        Raises:
            Unavailable: the disk is full, or the destination is no longer absent or empty.
        """
        if self._lock is None:
            return
        self.settle()
        durable.rename(self.path, self.destination)

    def close(self) -> None:
        """Let go of the directory; whatever is still under the staging name counts as left behind."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@contextlib.contextmanager
def stage(destination: Path) -> Generator[Staging, None, None]:
    """Hold a new directory beside a destination; it is removed if it was not published.

    What killed processes left behind in the same directory is removed first. Missing directories above the
    destination are made, and removed again on failure.

    Raises:
        InvalidInput: the destination is neither absent nor an empty directory.
        Unavailable: the disk refused.
    """
    made: list[Path] = []
    staging: Staging | None = None
    try:
        final_mode = _check_destination(destination)
        _make_parents(destination, made)
        place = destination.parent.resolve() / destination.name
        remove_left_behind(place.parent)
        staging = _begin(place, final_mode)
        yield staging
    except BaseException as error:
        _undo(staging, made)
        if isinstance(error, OSError) and not isinstance(error, VerdogError):
            raise translate_os_error(error, os.fsencode(destination)) from error
        raise
    finally:
        if staging is not None:
            staging.close()


def remove_left_behind(directory: Path) -> None:
    """Remove the staging directories in a directory that this user made and no process holds any more."""
    for path in list_left_behind(directory):
        lock = _lock_directory(path)
        if lock is not None:
            try:
                with contextlib.suppress(OSError):
                    remove_tree(path)
            finally:
                os.close(lock)


def list_left_behind(directory: Path) -> list[Path]:
    """Return the staging directories in a directory that this user made and no process holds any more."""
    found: list[Path] = []
    for name in sorted(filter(_STAGING_NAME.fullmatch, os.listdir(directory))):  # noqa: PTH208
        path = directory / name
        lock = _lock_directory(path)
        if lock is not None:
            if os.fstat(lock).st_uid == os.geteuid():
                found.append(path)
            os.close(lock)
    return found


def remove_tree(path: Path) -> None:
    """Remove a directory and everything in it, whatever the modes and however deep; no link is followed."""
    order: list[bytes] = []
    with Descent(path) as descent:
        pending = [b""]
        while pending:
            directory = pending.pop()
            order.append(directory)
            opened = _open_forced(descent, directory)
            for each in list_directory(opened):
                name = os.fsencode(each.name)
                if each.is_dir(follow_symlinks=False):
                    pending.append(join_path(directory, name))
                else:
                    os.unlink(name, dir_fd=opened)
        for directory in reversed(order[1:]):
            parent, name = split_path(directory)
            os.rmdir(name, dir_fd=descent.open(parent))
    durable.current_disk().rmdir(path)


def _open_forced(descent: Descent, directory: bytes) -> int:
    """Open a directory whose mode may forbid it, and make it writable."""
    try:
        opened = descent.open(directory)
    except PermissionError:
        parent, name = split_path(directory)
        os.chmod(name, 0o700, dir_fd=descent.open(parent))
        opened = descent.open(directory)
    os.fchmod(opened, 0o700)
    return opened


def _check_destination(destination: Path) -> int | None:
    """Return the mode of an empty directory at the destination, or None when there is nothing."""
    text = escape_path(os.fsencode(destination))
    if destination.name in ("", ".."):
        raise InvalidInput(f"{text} cannot be a destination: it has no name of its own")
    try:
        status = destination.lstat()
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise InvalidInput(f"{text}: something above it is not a directory") from error
    if not stat.S_ISDIR(status.st_mode):
        raise InvalidInput(f"{text} is in the way: it is not a directory")
    if os.listdir(destination):  # noqa: PTH208
        raise InvalidInput(f"{text} is not empty")
    return stat.S_IMODE(status.st_mode)


def _make_parents(destination: Path, made: list[Path]) -> None:
    """Make the missing directories above a destination and add them to `made`."""
    missing: list[Path] = []
    parent = destination.parent
    while not parent.exists():
        missing.append(parent)
        parent = parent.parent
    for each in reversed(missing):
        if durable.make_directory(each, 0o777):
            made.append(each)


def _undo(staging: Staging | None, made: list[Path]) -> None:
    """Remove what was not published and the directories made for it, as far as they are empty."""
    with contextlib.suppress(OSError):
        if staging is not None:
            remove_tree(staging.path)
        for each in reversed(made):
            durable.current_disk().rmdir(each)


def _begin(destination: Path, final_mode: int | None) -> Staging:
    prefix = _staging_prefix(destination)
    for _ in range(_ATTEMPTS):
        path = destination.parent / f"{prefix}{secrets.token_hex(4)}"
        try:
            durable.current_disk().mkdir(path, 0o777)
            return Staging(path, destination, final_mode)
        except (
            FileExistsError
        ):  # the name is taken, or another process took the directory for one left behind
            continue
    raise Unavailable(f"{escape_path(os.fsencode(destination))}: no name is free beside it")


def _staging_prefix(destination: Path) -> str:
    return f".verdog-partial-{blake3(os.fsencode(destination.name)).hexdigest(length=8)}-"


def _lock_directory(path: Path) -> int | None:
    """Return a descriptor of a directory that nobody else holds, or None."""
    try:
        opened = os.open(path, OPEN_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(opened), os.lstat(path)):
            return opened
    except OSError:
        pass
    os.close(opened)
    return None

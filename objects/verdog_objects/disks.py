"""What the disk below a directory is and offers: its kind, its room, and how long a sync takes there."""

import fcntl
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from verdog_objects import durable
from verdog_objects.errors import Unavailable
from verdog_objects.filesystems import find_type, is_frozen, is_network_type, is_writable

_FICLONE: Final = 0x40049409
"""Linux: share the blocks of a whole file."""

_BLOCK: Final = b"\xa5" * 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The file system of a directory.

    Attributes:
        device: the same for directories of the same file system.
        type: what the system calls it; empty where it does not say.
        network: other hosts may change it.
        frozen: it is mounted for reading only; `writable` says whether this process may make files.
        free_bytes: what this process may still use; so `free_inodes`, which is None where there is no limit.
        reflinks: files can share blocks; None where that was not tried.
        longest_path: how many bytes a path may have, and `longest_name` a name.
    """

    path: Path
    device: int
    type: str
    network: bool
    frozen: bool
    writable: bool
    size_bytes: int
    free_bytes: int
    inodes: int
    free_inodes: int | None
    reflinks: bool | None
    longest_path: int
    longest_name: int


def inspect_disk(directory: Path) -> Disk:
    """Return what is known of the file system of a directory.

    Two unnamed files are made in it, if it can be written, and are gone afterwards.

    Raises:
        Unavailable: the directory cannot be looked at.
    """
    with durable.translated(directory):
        status = os.statvfs(directory)
        kind = _read_type(directory)
        writable = is_writable(directory) and not is_frozen(directory)
        return Disk(
            path=directory,
            device=directory.stat().st_dev,
            type=kind,
            network=is_network_type(kind),
            frozen=is_frozen(directory),
            writable=writable,
            size_bytes=status.f_blocks * status.f_frsize,
            free_bytes=status.f_bavail * status.f_frsize,
            inodes=status.f_files,
            free_inodes=status.f_favail if status.f_files else None,
            reflinks=_try_reflink(directory) if writable else None,
            longest_path=os.pathconf(directory, "PC_PATH_MAX"),
            longest_name=os.pathconf(directory, "PC_NAME_MAX"),
        )


def measure_sync(directory: Path, count: int = 20) -> list[int]:
    """Append to an unnamed file and sync it, some times over; return the nanoseconds that took, in order.

    Raises:
        Unavailable: the directory cannot be written, or is full.
    """
    with durable.translated(directory), tempfile.TemporaryFile(dir=directory) as file:
        taken: list[int] = []
        for number in range(count):
            begun = time.perf_counter_ns()
            os.pwrite(file.fileno(), _BLOCK, number * len(_BLOCK))
            durable.sync_file(file.fileno())
            taken.append(time.perf_counter_ns() - begun)
    return sorted(taken)


def _read_type(directory: Path) -> str:
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return ""
    return find_type(os.fsencode(directory.resolve()), mounts)


def _try_reflink(directory: Path) -> bool | None:
    if not hasattr(os, "O_TMPFILE"):  # elsewhere than on Linux the call has another name
        return None
    try:
        with (
            tempfile.TemporaryFile(dir=directory) as source,
            tempfile.TemporaryFile(dir=directory) as target,
        ):
            os.pwrite(source.fileno(), _BLOCK, 0)
            fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
            return os.pread(target.fileno(), len(_BLOCK), 0) == _BLOCK
    except (OSError, Unavailable):
        return False

"""Helpers for tests of trees on disk: what a directory holds, and recording it."""
# Names are bytes here, which pathlib does not take.
# ruff: noqa: PTH101, PTH115, PTH118, PTH123

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from verdog_objects import durable, manifest
from verdog_objects.capture import Captured, capture_tree
from verdog_objects.manifest import Entry
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Oid
from verdog_objects.signatures import Signatures
from verdog_objects.store import ObjectWriter

NOBODY = 65534


def exclude_nothing(path: bytes, is_directory: bool) -> bool:
    return False


def exclude_verdog(path: bytes, is_directory: bool) -> bool:
    return is_directory and path.rpartition(b"/")[2] == b".verdog"


class UnsyncedDisk(durable.Disk):
    """Leaves out what makes a test wait for everybody's writes; what was written is there all the same."""

    def syncfs(self, fd: int) -> None:
        os.fstat(fd)

    def fsync(self, fd: int) -> None:
        os.fstat(fd)

    def fdatasync(self, fd: int) -> None:
        os.fstat(fd)


def build(writer: ObjectWriter, entries: dict[bytes, Entry]) -> Oid:
    return manifest.build(writer, sorted((manifest.path_key(path), entry) for path, entry in entries.items()))


def capture_all(writer: ObjectWriter, output: Path, memory: Signatures | None = None) -> Captured:
    return capture_tree(writer, output, [b""], excluded=exclude_nothing, memory=memory)


def record(output: Path, memory: Signatures | None = None) -> tuple[ObjectWriter, Oid]:
    """Capture a directory without problems into a new store."""
    writer = MemoryStore([]).writer()
    captured = capture_all(writer, output, memory)
    assert captured.problems == ()
    return writer, build(writer, captured.entries)


def snapshot(directory: Path) -> dict[bytes, tuple[int, bytes]]:
    """Return every path below a directory with its mode (and type) and content or link target."""
    found: dict[bytes, tuple[int, bytes]] = {}
    base = os.fsencode(directory)
    for at, directories, files in os.walk(base):
        for name in directories + files:
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            content = b""
            if stat.S_ISLNK(mode):
                content = os.readlink(path)
            elif stat.S_ISREG(mode):
                with open(path, "rb") as file:
                    content = file.read()
            found[path[len(base) + 1 :]] = (mode, content)
    return found


@contextlib.contextmanager
def unprivileged() -> Iterator[Path]:
    """Yield a new directory, and be its ordinary owner while the block runs."""
    directory = Path(tempfile.mkdtemp())
    was_root = os.geteuid() == 0
    try:
        if was_root:
            os.chown(directory, NOBODY, NOBODY)
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        yield directory
    finally:
        if was_root:
            os.seteuid(0)
            os.setegid(0)
        for at, _, _ in os.walk(directory):
            os.chmod(at, 0o700)
        shutil.rmtree(directory)


def run_script(script: str, *arguments: str | bytes, environment: dict[str, str] | None = None) -> str:
    """Run Python code in a process of its own, and return what it printed."""
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout

"""The trace log: one appended line for the start of each visit and one for its end."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from verdog_objects.errors import Unavailable
from verdog_runtime.controlfiles import open_control_file

TRACE_LOG = "trace.log"
"""The name of the log in the root of an output directory."""

_MODE = 0o666


class TraceLog:
    """The `trace.log` of a run, open for appending. Several processes may append to one file.

    A line is one write to a file opened for appending, so lines of several processes never mix. A last line
    that was cut short (by a power cut) is ended before the first new one.

    Durability: none. A killed process leaves a start without an end.
    """

    __slots__ = ("_fd", "_monotonic", "_origin", "_path", "_second", "_stamp", "_wall")

    def __init__(
        self,
        path: Path,
        *,
        origin_s: float | None = None,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the log, creating it if it is absent.

        Args:
            path: the file.
            origin_s: the reading of `monotonic` that counts as zero; the present one when None.
            wall: the clock for the local time of each line, in seconds since the epoch.
            monotonic: the clock for the elapsed time of each line.

        Raises:
            InvalidInput: something else than a regular file has its name.
            Unavailable: the file cannot be opened.
        """
        self._path = path
        self._wall = wall
        self._monotonic = monotonic
        self._origin = monotonic() if origin_s is None else origin_s
        self._second = -1
        self._stamp = ""
        self._fd = -1
        self._fd = open_control_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _MODE)
        try:
            size = os.fstat(self._fd).st_size
            if size and os.pread(self._fd, 1, size - 1) != b"\n":
                self._append(b"\n")
        except OSError as error:
            self.close()
            raise Unavailable(f"cannot open the trace log {path}: {error.strerror}") from error

    @property
    def origin_s(self) -> float:
        """The reading of the monotonic clock that counts as zero; hand it to the log of a child process."""
        return self._origin

    def start(self, visit_path: str) -> None:
        """Append that a visit started.

        Args:
            visit_path: the visit's directory relative to the output, POSIX form.
        """
        self._append(f"{self._prefix()}START {visit_path}\n".encode("utf-8", "surrogateescape"))

    def end(self, visit_path: str, status: str, duration_s: float) -> None:
        """Append that a visit ended.

        Args:
            visit_path: the visit's directory relative to the output, POSIX form.
            status: `succeeded`, `failed` or `cancelled`.
            duration_s: how long the visit took.
        """
        line = f"{self._prefix()}END {visit_path} status={status} duration={duration_s:.6f}s\n"
        self._append(line.encode("utf-8", "surrogateescape"))

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    def _prefix(self) -> str:
        now = self._wall()
        second = int(now // 1)
        if second != self._second:
            self._stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
            self._second = second
        return f"[{self._stamp} +{self._monotonic() - self._origin:10.3f}s] "

    def _append(self, line: bytes) -> None:
        if self._fd < 0:
            raise ValueError("the trace log is closed")
        try:
            written = os.write(self._fd, line)
            while written < len(line):
                line = line[written:]
                written = os.write(self._fd, line)
        except OSError as error:
            raise Unavailable(f"cannot append to the trace log {self._path}: {error.strerror}") from error

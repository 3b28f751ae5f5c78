"""Acknowledgements: one line in the output directory for each checkpoint that is durable in the store.

The lines let a later process notice that a store was put back to an older state. The store is the truth; the
file can be rebuilt from it.
"""

import os
from io import FileIO
from pathlib import Path

from verdog_objects.errors import Unavailable
from verdog_repo.acknowledged import INDEX, TAIL_BYTES, format_line
from verdog_repo.checkpoint import Checkpoint
from verdog_runtime.controlfiles import open_control_file
from verdog_runtime.layout import require_control_directory

_MODE = 0o666


class AcknowledgementLog:
    """Appends lines to the index of one output directory. Used by one thread.

    Durability: none. A line that is lost takes no checkpoint with it.
    """

    def __init__(self, output: Path) -> None:
        """Open the index, making it if there is none. A last line that was cut short is ended first.

        Raises:
            InvalidInput: something else has its name.
            Unavailable: it cannot be opened.
        """
        path = output / INDEX
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = open_control_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _MODE)
        self._file = FileIO(fd, "ab")
        tail = read_acknowledged(output)
        if tail and not tail.endswith(b"\n"):
            self._file.write(b"\n")

    def append(self, checkpoint: Checkpoint) -> None:
        """Write that a checkpoint is durable."""
        try:
            self._file.write(format_line(checkpoint))
        except OSError as error:
            raise Unavailable(f"cannot append to {INDEX}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._file.close()


def read_acknowledged(output: Path) -> bytes:
    """Return the end of an output directory's index: enough for the last line; empty when there is none.

    Raises:
        InvalidInput: something else has its name.
        RunStoreError: its directory is a link (`run.control_invalid`).
        Unavailable: it cannot be opened.
    """
    require_control_directory(output)
    try:
        with open(open_control_file(output / INDEX, os.O_RDONLY), "rb") as file:  # noqa: PTH123
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""

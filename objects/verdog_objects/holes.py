"""Holes: the parts of a file that have no data on disk and read as zeros."""

import errno
import os


class Holes:
    """Finds the holes of an open file as somebody reads it forward. Used by one thread.

    A file system that does not tell its holes has none here. What is written into a hole after it was found
    changes the file's times, as any write does.
    """

    def __init__(self, file: int) -> None:
        """Look at a file, whose position this moves.

        Cost: one `fstat`; a file that takes as much room as it is long has no holes to look for.
        """
        status = os.fstat(file)
        self._file = file
        self._size_bytes = status.st_size
        self._data = 0  # the last extent of data that was found: from here
        self._end = 0  # to here
        if status.st_blocks * 512 >= status.st_size or not hasattr(os, "SEEK_DATA"):
            self._end = self._size_bytes

    def end_of_hole(self, position: int) -> int:
        """Return where the hole at a position ends; the position itself where there is data.

        Cost: two seeks for each extent of data.
        """
        if position >= self._size_bytes:
            return position
        if position >= self._end:
            self._find_data(position)
        return max(position, min(self._data, self._size_bytes))

    def _find_data(self, position: int) -> None:
        try:
            self._data = os.lseek(self._file, position, os.SEEK_DATA)
            self._end = os.lseek(self._file, self._data, os.SEEK_HOLE)
        except OSError as error:
            # Either there is no data any more, or this file system cannot tell.
            self._data = self._size_bytes if error.errno == errno.ENXIO else position
            self._end = self._size_bytes

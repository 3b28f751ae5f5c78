"""Pack health: whether the pack that is to hold an object is there, as far as its length tells."""

import os
from pathlib import Path

from verdog_objects import objecttable
from verdog_objects.connections import Database
from verdog_objects.oid import Oid
from verdog_objects.packs import pack_path


class PackHealth:
    """Tells one writer which objects need not be stored again. Used by one thread.

    An object whose bytes lie beyond the end of its pack, or in a pack that is gone, is one that the writer
    has to store again; what is wrong within a pack shows when it is read.
    """

    def __init__(self, directory: Path) -> None:
        """Look at the packs of a directory, each once while nothing is wrong with it."""
        self._directory = directory
        self._lengths: dict[int, int] = {}
        self._lost: set[Oid] = set()

    def is_stored(self, connection: Database, oid: Oid, size_bytes: int) -> bool:
        """Return whether an object of this length is stored, sound, and not out of reach.

        Cost: one read of its row, and one `stat` of each pack that holds such objects.
        """
        found = objecttable.find_object(connection, oid)
        if found is None or found.size != size_bytes or found.codec < 0:
            return False
        if found.pack is None:
            return True
        end = (found.start or 0) + (found.length or 0)
        if end <= self._lengths.get(found.pack, -1):
            return True
        self._lengths[found.pack] = length = self._measure(connection, found.pack)
        if end <= length:
            return True
        self._lost.add(oid)
        return False

    def forget_lost(self, connection: Database) -> None:
        """Mark what was lost as unsound, in the transaction that stores it again."""
        for oid in self._lost:
            objecttable.quarantine_object(connection, oid)
        self._lost.clear()

    def _measure(self, connection: Database, number: int) -> int:
        name = objecttable.read_pack_name(connection, number)
        try:
            return -1 if name is None else os.stat(pack_path(self._directory, name)).st_size  # noqa: PTH116
        except OSError:
            return -1

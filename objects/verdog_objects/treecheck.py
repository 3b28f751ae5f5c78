"""The shape of artifact trees: the entries that cannot be where they are recorded."""

from collections.abc import Iterator
from typing import NamedTuple

from verdog_objects import manifest
from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_objects.paths import is_reserved
from verdog_objects.store import ObjectReader
from verdog_objects.treediff import diff

_NO_PATH = "is recorded as a path, and no path is like that"
_NO_PLACE = "is recorded below what is no directory"
_VALUE = "is recorded as a value among files"
_NO_TARGET = "is recorded with a target that no link has"
_RESERVED = "is recorded where verdog keeps files of its own"


class Misplaced(NamedTuple):
    """An entry that no capture makes and no checkout writes.

    Attributes:
        key: the entry's.
        reason: what is wrong with it, to follow its path.
    """

    key: bytes
    reason: str

    @property
    def path(self) -> bytes:
        """The path to show, though it may be none."""
        return self.key.replace(b"\x00", b"/")


class TreeCheck:
    """Checks trees one after another, and of each only what it does not share with the one before it."""

    def __init__(self, reader: ObjectReader, *, read_targets: bool = False) -> None:
        """Begin with no tree checked.

        Args:
            reader: where the trees are; best one that keeps nodes, for they are read again and again.
            read_targets: read the targets of links, too; one that cannot be read is not judged.
        """
        self._reader = reader
        self._read_targets = read_targets
        self._known: dict[Oid, tuple[Misplaced, ...]] = {}

    def check(self, root: Oid, before: Oid | None) -> tuple[Misplaced, ...]:
        """Return the entries of a tree that cannot be where they are.

        Args:
            root: the tree; all its nodes can be read.
            before: a tree that it was made from, or None.

        Raises:
            NotFound: a node is not stored.
            Corrupt: a node is damaged.

        Cost: O(changes * log N) if the tree before was checked, else O(N).
        """
        found = self._known.get(root)
        if found is None:
            known = self._known.get(before) if before is not None else None
            if before is None or known is None:
                suspects = manifest.iterate(self._reader, root)
            else:
                suspects = self._list_suspects(root, before, known)
            judge = _Judge(self._reader, root, read_targets=self._read_targets)
            found = tuple(each for key, entry in suspects for each in judge.judge(key, entry))
            self._known[root] = found
        return found

    def _list_suspects(
        self, root: Oid, before: Oid, known: tuple[Misplaced, ...]
    ) -> Iterator[tuple[bytes, Entry]]:
        """Yield once each entry that is new, was wrong before, or has lost its directory."""
        suspects: dict[bytes, Entry] = {}
        for change in diff(self._reader, before, root):
            if change.after is not None:
                suspects[change.key] = change.after
            if _is_directory(change.before) and not _is_directory(change.after):
                suspects.update(manifest.list_directory(self._reader, root, change.key))
        for key, _ in known:
            entry = manifest.lookup(self._reader, root, key)
            if entry is not None:
                suspects[key] = entry
        yield from sorted(suspects.items())


class _Judge:
    """Judges the entries of one tree."""

    def __init__(self, reader: ObjectReader, root: Oid, *, read_targets: bool) -> None:
        self._reader = reader
        self._root = root
        self._read_targets = read_targets
        self._directories: dict[bytes, bool] = {b"": True}

    def judge(self, key: bytes, entry: Entry) -> Iterator[Misplaced]:
        """Yield what is wrong with an entry, at most one thing."""
        reason = self._find_reason(key, entry)
        if reason is not None:
            yield Misplaced(key, reason)

    def _find_reason(self, key: bytes, entry: Entry) -> str | None:
        try:
            path = manifest.key_path(key)
        except Corrupt:
            return _NO_PATH
        is_directory = entry.kind is EntryKind.DIRECTORY
        if is_directory:
            self._directories[key] = True
        if entry.kind is EntryKind.VALUE:
            return _VALUE
        if not self._has_directory(key.rpartition(b"\x00")[0]):
            return _NO_PLACE
        if is_reserved(path, is_directory=is_directory):
            return _RESERVED
        return _NO_TARGET if entry.kind is EntryKind.SYMLINK and not self._has_target(entry) else None

    def _has_target(self, entry: Entry) -> bool:
        if not entry.size or not self._read_targets:
            return bool(entry.size)
        try:
            return b"\x00" not in self._reader.get(Kind.BLOB, entry.oid)
        except (NotFound, Corrupt):
            return True

    def _has_directory(self, key: bytes) -> bool:
        found = self._directories.get(key)
        if found is None:
            found = _is_directory(manifest.lookup(self._reader, self._root, key))
            self._directories[key] = found
        return found


def _is_directory(entry: Entry | None) -> bool:
    return entry is not None and entry.kind is EntryKind.DIRECTORY

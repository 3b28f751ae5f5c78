"""What two artifact manifests differ in, with the directories of the same visit laid over each other."""

from collections.abc import Container, Iterator, Mapping, Sequence
from enum import StrEnum, unique
from typing import NamedTuple

from verdog_objects.cursor import Cursor
from verdog_objects.manifest import iterate, key_path, path_key
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Oid
from verdog_objects.store import ObjectReader
from verdog_objects.treediff import Change, diff


@unique
class FileStatus(StrEnum):
    """What happened to a path, by Git's letters."""

    ADDED = "A"
    REMOVED = "D"
    MODIFIED = "M"
    RENAMED = "R"
    RETYPED = "T"


class FileChange(NamedTuple):
    """One file, directory or link that two manifests differ in.

    Attributes:
        before_path: its path on the left, or None when it was added.
        after_path: its path on the right, or None when it was removed.
        similarity: of a renamed file, how much of it stayed, in percent.
    """

    before_path: bytes | None
    after_path: bytes | None
    before: Entry | None
    after: Entry | None
    similarity: int | None = None

    @property
    def path(self) -> bytes:
        """The path on the right, or on the left when it was removed."""
        return self.after_path or self.before_path or b""

    @property
    def status(self) -> FileStatus:
        """What happened to it."""
        if self.similarity is not None:
            return FileStatus.RENAMED
        if self.before is None:
            return FileStatus.ADDED
        if self.after is None:
            return FileStatus.REMOVED
        return FileStatus.MODIFIED if self.before.kind is self.after.kind else FileStatus.RETYPED

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory and nothing else."""
        return all(each is None or each.kind is EntryKind.DIRECTORY for each in (self.before, self.after))


def diff_manifests(reader: ObjectReader, before: Oid | None, after: Oid | None) -> Iterator[Change]:
    """Yield the differences of two manifests in key order; None is the one that holds nothing.

    Cost: O(changes * log N) nodes read.
    """
    if before is not None and after is not None:
        yield from diff(reader, before, after)
    elif after is not None:
        yield from (Change(key, None, entry) for key, entry in iterate(reader, after))
    elif before is not None:
        yield from (Change(key, entry, None) for key, entry in iterate(reader, before))


def compare_artifacts(
    reader: ObjectReader, before: Oid | None, after: Oid | None, moved: Mapping[bytes, bytes]
) -> list[FileChange]:
    """Return what differs, in the order of the paths on the left.

    Args:
        reader: where the nodes are.
        before: the manifest on the left; None holds nothing.
        after: the manifest on the right; None holds nothing.
        moved: directories on the right that stand for a directory of another name on the left. What is below
            the one is compared with what is below the other; the longest name decides.

    Cost: O(changes * log N), and O(entries) below directories that moved.
    """
    pairs = {path_key(right): path_key(left) for right, left in moved.items()}
    if not pairs:
        return [_make_change(*change) for change in diff_manifests(reader, before, after)]
    taken = set(pairs.values())
    affected = taken | pairs.keys()
    left: dict[_Name, tuple[bytes, Entry]] = {}
    right: dict[_Name, tuple[bytes, Entry]] = {}
    for change in diff_manifests(reader, before, after):
        if _find_owner(change.key, affected) is None:
            _put(left, (change.key, _BOTH), change.key, change.before)
            _put(right, (change.key, _BOTH), change.key, change.after)
    tops = _outermost(affected)
    for key, entry in _iter_below(reader, before, tops):
        side = _BOTH if _find_owner(key, taken) is not None else _LEFT
        left[key, side] = key, entry
    for key, entry in _iter_below(reader, after, tops):
        owner = _find_owner(key, pairs)
        name = (key, _RIGHT) if owner is None else (pairs[owner] + key[len(owner) :], _BOTH)
        right[name] = key, entry
    return list(_match(left, right))


_Name = tuple[bytes, int]
"""What an entry is matched by: its key on the left, and which sides can have it."""

_BOTH, _LEFT, _RIGHT = 0, 1, 2


def _match(
    left: Mapping[_Name, tuple[bytes, Entry]], right: Mapping[_Name, tuple[bytes, Entry]]
) -> Iterator[FileChange]:
    for name in sorted(left.keys() | right.keys()):
        before_key, before = left.get(name, (None, None))
        after_key, after = right.get(name, (None, None))
        if before != after:
            yield FileChange(
                key_path(before_key) if before_key is not None else None,
                key_path(after_key) if after_key is not None else None,
                before,
                after,
            )


def _make_change(key: bytes, before: Entry | None, after: Entry | None) -> FileChange:
    path = key_path(key)
    return FileChange(path if before else None, path if after else None, before, after)


def _put(side: dict[_Name, tuple[bytes, Entry]], name: _Name, key: bytes, entry: Entry | None) -> None:
    if entry is not None:
        side[name] = key, entry


def _find_owner(key: bytes, directories: Container[bytes]) -> bytes | None:
    """Return the longest of the directories that a key is, or is below."""
    end = len(key)
    while end > 0:
        if key[:end] in directories:
            return key[:end]
        end = key.rfind(b"\x00", 0, end)
    return None


def _outermost(directories: set[bytes]) -> list[bytes]:
    """Return the directories that are below no other one of them."""
    return sorted(
        each
        for each in directories
        if b"\x00" not in each or _find_owner(each[: each.rfind(b"\x00")], directories) is None
    )


def _iter_below(
    reader: ObjectReader, root: Oid | None, directories: Sequence[bytes]
) -> Iterator[tuple[bytes, Entry]]:
    """Yield directories, given in order, each with everything below it, in one passage over the manifest."""
    if root is None:
        return
    cursor = Cursor(reader, root)
    for directory in directories:
        cursor.seek(directory)
        below = directory + b"\x00"
        while not cursor.at_end and (cursor.key == directory or cursor.key.startswith(below)):
            yield cursor.key, cursor.entry
            cursor.advance()
            cursor.descend()

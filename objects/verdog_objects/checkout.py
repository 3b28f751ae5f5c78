"""A recorded tree written into a directory: all of it, verified, or nothing."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from verdog_objects import manifest
from verdog_objects.chunking import INLINE_LIMIT
from verdog_objects.directories import Descent
from verdog_objects.errors import Corrupt, InvalidInput, NotFound
from verdog_objects.filewriter import FileWriter, Objects, get_object, read_objects
from verdog_objects.nodes import Entry, EntryKind, Totals
from verdog_objects.oid import Kind, Oid
from verdog_objects.paths import escape_path
from verdog_objects.staging import Staging, stage
from verdog_objects.store import ObjectReader, ObjectWriter

GROUP_ENTRIES = 500
GROUP_BYTES = 8 << 20
"""How much is read from the store at a time."""

_Named = tuple[bytes, Entry]


class StagedTree(NamedTuple):
    """A tree that was written beside its destination, with other link targets.

    Attributes:
        totals: what was written.
        changed: the paths whose link target is another one than recorded, with their new entries.
        publish: gives the directory its own name; durable once the call returned.
    """

    totals: Totals
    changed: dict[bytes, Entry]
    publish: Callable[[], None]


def materialise(
    reader: ObjectReader,
    root: Oid,
    destination: Path,
    *,
    preserve_special: bool,
    max_bytes: int | None = None,
    only: Sequence[bytes] = (),
) -> Totals:
    """Write a tree, or some paths of it, to a directory that is absent or empty.

    Args:
        reader: where the tree is; a `get_many` of it is used.
        root: the tree.
        destination: the directory. It is written under another name beside it and renamed when it is whole.
        preserve_special: keep setuid and setgid, which are dropped otherwise.
        max_bytes: refuse, before anything is written, what is larger.
        only: files and directories to write, with the directories above them; everything when empty.

    Returns:
        What was written.

    Raises:
        InvalidInput: the destination is in the way, or the tree is larger than `max_bytes`.
        NotFound: a path of `only` is not in the tree.
        Corrupt: the tree cannot be written safely, or an object is missing or damaged.
        Unavailable: the disk refused. Nothing is left of what was written, on any error.

    Durability: all of it once the call returned; before, nothing has the destination's name.
    """
    selection = _Selection(reader, root, only)
    totals = selection.count()
    _check_size(totals, max_bytes)
    with stage(destination) as staging:
        _fill(reader, selection, staging, preserve_special, None)
        staging.publish()
    return totals


@contextmanager
def staged_rebased(
    writer: ObjectWriter,
    root: Oid,
    destination: Path,
    *,
    old_prefix: bytes,
    new_prefix: bytes,
    max_bytes: int | None = None,
) -> Generator[StagedTree]:
    """Write a whole tree beside its destination, keeping all mode bits, with links moved to another place.

    A link whose target is `old_prefix` or below it gets the same place at `new_prefix` as its target. What is
    not published in the block is removed at its end.

    Args:
        writer: where the tree is; the new targets are put there.
        root: the tree.
        destination: the directory, absent or empty.
        old_prefix: the absolute path that links may point to.
        new_prefix: the absolute path that they point to instead.
        max_bytes: refuse, before anything is written, what is larger.

    Raises:
        InvalidInput: as for `materialise`, or a prefix is not absolute.
        Corrupt: as for `materialise`.
        Unavailable: as for `materialise`.

    Durability: all of it when the block begins, under another name until it is published.
    """
    old, new = old_prefix.rstrip(b"/"), new_prefix.rstrip(b"/")
    if old[:1] != b"/" or new[:1] != b"/":
        raise InvalidInput("links are rebased from one absolute path to another")
    changed: dict[bytes, Entry] = {}

    def rebase(path: bytes, entry: Entry, target: bytes) -> tuple[Entry, bytes]:
        if target != old and not target.startswith(old + b"/"):
            return entry, target
        moved = new + target[len(old) :]
        changed[path] = entry._replace(size=len(moved), oid=writer.put(Kind.BLOB, moved))
        return changed[path], moved

    selection = _Selection(writer, root, ())
    totals = selection.count()
    _check_size(totals, max_bytes)
    with stage(destination) as staging:
        _fill(writer, selection, staging, True, rebase)
        staging.settle()
        yield StagedTree(totals, changed, staging.publish)


_Rebase = Callable[[bytes, Entry, bytes], tuple[Entry, bytes]]


class _Selection:
    """The entries to write, in key order."""

    def __init__(self, reader: ObjectReader, root: Oid, only: Sequence[bytes]) -> None:
        self._reader = reader
        self._root = root
        paths = [path.rstrip(b"/") for path in only]
        self._keys = [] if b"" in paths else sorted({manifest.path_key(path) for path in paths})

    def count(self) -> Totals:
        """Return what will be written. Cost: O(1) for a whole tree, else O(selected entries)."""
        if not self._keys:
            return manifest.totals(self._reader, self._root)
        entries = files = size_bytes = 0
        for _, entry in self.iterate():
            entries += 1
            files += entry.kind is EntryKind.FILE
            size_bytes += entry.size
        return Totals(entries, files, size_bytes)

    def iterate(self) -> Iterator[_Named]:
        """Yield each path with its entry."""
        keyed = self._select() if self._keys else _read(manifest.iterate(self._reader, self._root))
        for key, entry in keyed:
            yield manifest.key_path(key), entry

    def _select(self) -> Iterator[_Named]:
        given = b""  # the key last given: what is below it was given too
        parents: set[bytes] = set()
        for key in self._keys:
            entry = self._look_up(key)
            if given and key.startswith(given + b"\x00"):
                continue
            for end in _find_all(key):
                if key[:end] not in parents:
                    parents.add(key[:end])
                    yield key[:end], self._look_up_parent(key, end)
            yield key, entry
            if entry.kind is EntryKind.DIRECTORY:
                given = key
                yield from _read(manifest.iterate_under(self._reader, self._root, key))

    def _look_up(self, key: bytes) -> Entry:
        try:
            entry = manifest.lookup(self._reader, self._root, key)
        except NotFound as error:
            raise Corrupt(f"the tree is damaged: {error}") from error
        if entry is None:
            path = manifest.key_path(key)
            raise NotFound(f"{escape_path(path)}: not in this tree", paths=(path,))
        return entry

    def _look_up_parent(self, key: bytes, end: int) -> Entry:
        try:
            entry = self._look_up(key[:end])
        except NotFound:
            entry = None
        if entry is None or entry.kind is not EntryKind.DIRECTORY:
            path = manifest.key_path(key)
            raise Corrupt(f"{escape_path(path)}: recorded below what is no directory", paths=(path,))
        return entry


def _read(entries: Iterator[_Named]) -> Iterator[_Named]:
    """Yield entries; a node that is not stored is damage here, no absent name."""
    try:
        yield from entries
    except NotFound as error:
        raise Corrupt(f"the tree is damaged: {error}") from error


def _find_all(key: bytes) -> Iterator[int]:
    position = key.find(b"\x00")
    while position >= 0:
        yield position
        position = key.find(b"\x00", position + 1)


def _check_size(totals: Totals, max_bytes: int | None) -> None:
    if max_bytes is not None and totals.size_bytes > max_bytes:
        raise InvalidInput(f"the tree holds {totals.size_bytes} bytes; {max_bytes} are allowed")


def _fill(
    reader: ObjectReader,
    selection: _Selection,
    staging: Staging,
    preserve_special: bool,
    rebase: _Rebase | None,
) -> None:
    with Descent(staging.path) as descent:
        files = FileWriter(reader, descent, staging.created_mode, preserve_special=preserve_special)
        for group in _group(selection.iterate()):
            objects = _read_group(reader, group)
            for path, entry in group:
                if rebase is not None and entry.kind is EntryKind.SYMLINK:
                    target = get_object(path, Kind.BLOB, entry.oid, entry.size, objects)
                    entry, target = rebase(path, entry, target)
                    files.write(path, entry, {entry.oid: (Kind.BLOB, target)})
                else:
                    files.write(path, entry, objects)
        files.finish()


def _group(entries: Iterable[_Named]) -> Iterator[list[_Named]]:
    """Yield the entries in groups whose blobs are read together."""
    group: list[_Named] = []
    group_bytes = 0
    for named in entries:
        group.append(named)
        group_bytes += min(named[1].size, INLINE_LIMIT)
        if len(group) >= GROUP_ENTRIES or group_bytes >= GROUP_BYTES:
            yield group
            group = []
            group_bytes = 0
    if group:
        yield group


def _read_group(reader: ObjectReader, group: Iterable[_Named]) -> Objects:
    wanted: dict[Oid, Kind] = {}
    for _, entry in group:
        kind = manifest.object_kind(entry)
        if kind is not None:
            wanted[entry.oid] = kind
    try:
        return read_objects(reader, wanted)
    except Corrupt as error:
        paths = [path for path, entry in group if entry.oid in error.paths]
        if not paths:
            raise
        raise Corrupt(f"{escape_path(paths[0])}: {error}", paths=paths) from error

"""Writing the commits of an export: with their records, as they are, or with their artifacts."""

import zlib
from typing import Final, NamedTuple, Protocol

import pygit2

from verdog_objects.chunking import INLINE_LIMIT
from verdog_objects.content import iter_content
from verdog_objects.errors import Corrupt
from verdog_objects.manifest import iterate, key_path
from verdog_objects.nodecache import NodeCache
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Oid
from verdog_objects.treediff import Change, diff
from verdog_repo import gittree
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.commitbytes import compute_git_id, derive_tree, encode_commit, format_message
from verdog_repo.exportdir import ExportDirectory
from verdog_repo.gitpack import BLOB, COMMIT, KIND_NAMES, TREE, PackWriter
from verdog_repo.gitrefs import HEADS, read_names
from verdog_repo.gittree import Directory, Edit
from verdog_repo.names import CommitId, RunId, format_commit_id
from verdog_repo.record import CheckpointRecord

REFUSED: Final = "git refuses the name"
EMPTY: Final = "an empty directory"
ATTRIBUTES: Final = "git refuses a .gitattributes that is that large, or has lines that long"

_DELTA_DEPTH: Final = 50
_DELTA_BYTES: Final = 512
"""Smaller trees are not worth a delta."""


class Point(NamedTuple):
    """A commit in the export.

    Attributes:
        name: its id there.
        directory: its files, if they are written at all.
        artifacts: the manifest that they were made from; None when they have to be made from nothing.
    """

    name: CommitId
    directory: Directory | None = None
    artifacts: Oid | None = None


class CommitWriter(Protocol):
    """Writes commits, each after its parent, into packs.

    Attributes:
        objects: how many objects were written; so `size_bytes`, the length of the packs.
        left_out: the paths that Git cannot hold, and why.
        unrecorded: how many commits got the files of their parent, since theirs were not recorded.
    """

    objects: int
    size_bytes: int
    left_out: dict[bytes, str]
    unrecorded: int

    def find(self, checkpoint: Checkpoint) -> Point | None:
        """Return a commit that the export had before, with all that it needs."""
        ...

    def write(
        self,
        checkpoint: Checkpoint,
        record: CheckpointRecord,
        payload: bytes,
        raw: bytes,
        parent: Point | None,
    ) -> Point:
        """Write a commit whose bytes in the store's history are `raw`."""
        ...

    def take_published(self) -> bool:
        """Return whether a pack was published since the last call; it has all commits but the last one."""
        ...

    def finish(self) -> None:
        """Publish what was written.

        Durability: once the call returned.
        """
        ...

    def close(self) -> None:
        """Drop what was not published. Safe to call twice."""
        ...


class _Packing:
    """What both kinds have in common: the pack being written, and the objects that were there before."""

    def __init__(self, catalog: Catalog, target: ExportDirectory) -> None:
        self.objects = 0
        self.size_bytes = 0
        self.left_out: dict[bytes, str] = {}
        self.unrecorded = 0
        self._catalog = catalog
        self._target = target
        self._before = pygit2.Odb(str(target.path / "objects"))
        self._pack = PackWriter(target.packs)
        self._published = False

    def take_published(self) -> bool:
        """Return whether a pack was published since the last call."""
        published, self._published = self._published, False
        return published

    def finish(self) -> None:
        """Publish what was written."""
        self._publish()

    def close(self) -> None:
        """Drop what was not published."""
        self._pack.close()

    def _publish(self) -> None:
        self.objects += len(self._pack)
        self.size_bytes += self._pack.publish()

    def _roll(self) -> None:
        """Publish the pack if it is full."""
        if self._pack.full:
            self._publish()
            self._pack = PackWriter(self._target.packs)
            self._published = True

    def _has(self, name: bytes) -> bool:
        return self._before.exists(pygit2.Oid(raw=name))

    def _read(self, name: bytes, kind: int) -> bytes:
        found = self._read_loose(name)
        if found is None:
            try:
                number, data = self._before.read(pygit2.Oid(raw=name))
            except (KeyError, pygit2.GitError) as error:
                raise self._damaged(name) from error
            found = int(number), data
        if found[0] != kind:
            raise self._damaged(name)
        return found[1]

    def _read_loose(self, name: bytes) -> tuple[int, bytes] | None:
        """Return what Git made a file of its own, or None: libgit2 never ends reading one that is cut off."""
        path = self._target.path / "objects" / name.hex()[:2] / name.hex()[2:]
        try:
            head, _, data = zlib.decompress(path.read_bytes()).partition(b"\0")
        except FileNotFoundError:
            return None
        except (OSError, zlib.error) as error:
            raise self._damaged(name) from error
        kind = next((number for number, each in KIND_NAMES.items() if head.startswith(each + b" ")), 0)
        if compute_git_id(KIND_NAMES.get(kind, b""), data) != name:
            raise self._damaged(name)
        return kind, data

    def _damaged(self, name: bytes) -> Corrupt:
        return Corrupt(f"{self._target.path}: object {name.hex()} is missing or damaged; git fsck says more")


class HistoryWriter(_Packing):
    """A `CommitWriter` of the commits as they are.

    A commit that is there has all that it needs: packs are published whole, a parent never after its child,
    and Git's own cleaning keeps what recent objects need.
    """

    def find(self, checkpoint: Checkpoint) -> Point | None:
        """Return a commit that the export had before."""
        return Point(checkpoint.commit) if self._has(checkpoint.commit) else None

    def write(
        self,
        checkpoint: Checkpoint,
        record: CheckpointRecord,
        payload: bytes,
        raw: bytes,
        parent: Point | None,
    ) -> Point:
        """Write record, tree and commit."""
        self._roll()
        self._pack.add(BLOB, payload)
        self._pack.add(TREE, derive_tree(payload))
        self._pack.add(COMMIT, raw)
        return Point(checkpoint.commit)


class _Trail(NamedTuple):
    """A commit in the export that says which checkpoint it is."""

    run: str
    sequence: int
    commit: CommitId
    name: CommitId
    parent: CommitId | None
    tree: bytes


class FilesWriter(_Packing):
    """A `CommitWriter` of commits that hold the artifacts."""

    def __init__(self, catalog: Catalog, target: ExportDirectory) -> None:
        super().__init__(catalog, target)
        self._reader = NodeCache().reader(catalog.store)
        self._tips = read_names(target.path)
        self._trails: dict[RunId, list[_Trail]] = {}
        self._blobs: dict[Oid, bytes] = {}
        self._depths: dict[bytes, int] = {}

    def find(self, checkpoint: Checkpoint) -> Point | None:
        """Return a commit that the export had before: looked for behind the name of its run.

        Cost: reads the commits between, each once.
        """
        trail = self._trails.get(checkpoint.run)
        if trail is None:
            tip = self._tips.get(HEADS + checkpoint.run)
            first = None if tip is None else self._read_trail(tip)
            trail = self._trails[checkpoint.run] = [] if first is None else [first]
        if not trail or checkpoint.sequence > trail[0].sequence:
            return None
        while trail[-1].sequence > checkpoint.sequence:
            parent = trail[-1].parent
            before = None if parent is None else self._read_trail(parent)
            if before is None or before.run != checkpoint.run:
                return None
            trail.append(before)
        index = trail[0].sequence - checkpoint.sequence
        if index >= len(trail) or trail[index].commit != checkpoint.commit:
            return None
        found = trail[index]
        artifacts = self._catalog.record(checkpoint).artifacts
        if artifacts is None:
            return Point(found.name, Directory(), None)
        directory = gittree.parse_tree(self._read(found.tree, TREE))
        directory.name = found.tree
        return Point(found.name, directory, artifacts)

    def write(
        self,
        checkpoint: Checkpoint,
        record: CheckpointRecord,
        payload: bytes,
        raw: bytes,
        parent: Point | None,
    ) -> Point:
        """Write the files that changed, their directories, and the commit."""
        before = parent.directory if parent is not None and parent.directory is not None else Directory()
        directory, artifacts = before, None if parent is None else parent.artifacts
        if record.artifacts is None:
            self.unrecorded += 1
        else:
            if artifacts is None:
                before = Directory()
            directory = self._write_files(before, artifacts, record.artifacts)
            artifacts = record.artifacts
        if not directory.name:
            directory.name = self._write_tree(b"".join(directory.lines), None)
        message = f"{format_message(record)}Commit: {format_commit_id(checkpoint.commit)}\n"
        made = encode_commit(
            directory.name, None if parent is None else parent.name, checkpoint.committed_s, message
        )
        return Point(CommitId(self._add(COMMIT, made)), directory, artifacts)

    def _write_files(self, before: Directory, old: Oid | None, new: Oid) -> Directory:
        if old == new:
            return before
        edit = Edit(before, lambda name: self._read(name, TREE), self._write_tree)
        changes = (
            diff(self._reader, old, new)
            if old is not None
            else (Change(key, None, entry) for key, entry in iterate(self._reader, new))
        )
        for change in changes:
            path, entry = key_path(change.key), change.after
            refused = _find_refused(path)
            if refused is not None:
                if entry is not None:
                    self.left_out[refused] = REFUSED
            elif entry is None:
                edit.remove(path)
            elif entry.kind is EntryKind.DIRECTORY:
                edit.make_directory(path)
            else:
                self._put(edit, path, entry)
        directory = edit.finish()
        self.left_out |= dict.fromkeys(edit.empty, EMPTY)
        return directory

    def _put(self, edit: Edit, path: bytes, entry: Entry) -> None:
        if entry.kind is EntryKind.SYMLINK:
            edit.put(path, gittree.LINK_MODE, self._write_blob(path, entry))
            return
        if gittree.judge_name(path.rpartition(b"/")[2]) == "attributes" and not (
            entry.size <= INLINE_LIMIT
            and gittree.can_be_attributes(b"".join(iter_content(self._reader, path, entry)))
        ):
            self.left_out[path] = ATTRIBUTES
            edit.remove(path)
            return
        mode = gittree.PROGRAM_MODE if entry.mode & 0o100 else gittree.FILE_MODE
        edit.put(path, mode, self._write_blob(path, entry))

    def _write_blob(self, path: bytes, entry: Entry) -> bytes:
        known = self._blobs.get(entry.oid)
        if known is not None:
            return known
        content = iter_content(self._reader, path, entry)
        if entry.size <= INLINE_LIMIT:
            name = self._add(BLOB, b"".join(content))
        else:
            start = self._pack.size_bytes
            name = self._pack.add_stream(entry.size, content)
            if self._has(name):
                self._pack.forget(start)
        self._roll()
        self._blobs[entry.oid] = name
        return name

    def _write_tree(self, raw: bytes, before: Directory | None) -> bytes:
        name = compute_git_id(b"tree", raw)
        if name in self._pack or self._has(name):
            return name
        if before is not None and before.name in self._pack and len(raw) > _DELTA_BYTES:
            depth = self._depths.get(before.name, 0) + 1  # of a tree in an earlier pack, too high: no harm
            delta = gittree.encode_delta(b"".join(before.lines), raw)
            if depth <= _DELTA_DEPTH and 4 * len(delta) < len(raw):
                self._pack.add_delta(name, before.name, delta)
                self._depths[name] = depth
                return name
        return self._pack.add(TREE, raw)

    def _add(self, kind: int, payload: bytes) -> bytes:
        name = compute_git_id(KIND_NAMES[kind], payload)
        if not self._has(name):
            self._pack.add(kind, payload)
        return name

    def _read_trail(self, name: CommitId) -> _Trail | None:
        """Return what a commit of the export says of itself, or None when it was not made by this class."""
        lines = self._read(name, COMMIT).decode("utf-8", "replace").split("\n")
        said: dict[str, str] = {}
        for line in [*lines[:2], *lines[-6:]]:
            key, _, value = line.partition(" ")
            said[key] = value
        try:
            return _Trail(
                run=said["Run:"],
                sequence=int(said["Checkpoint:"]),
                commit=CommitId(bytes.fromhex(said["Commit:"])),
                name=name,
                parent=CommitId(bytes.fromhex(said["parent"])) if "parent" in said else None,
                tree=bytes.fromhex(said["tree"]),
            )
        except (KeyError, ValueError):
            return None


def _find_refused(path: bytes) -> bytes | None:
    """Return the part of a path down to the first name that Git refuses, or None."""
    end = 0
    for name in path.split(b"/"):
        end += len(name)
        if gittree.judge_name(name) == "refused":
            return path[:end]
        end += 1
    return None

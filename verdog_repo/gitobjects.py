"""Git objects written by libgit2, in a scratch object database that lives for one commit."""

from collections.abc import Iterator
from typing import Final

import pygit2

from verdog_repo.commitbytes import IDENTITY_MAIL, IDENTITY_NAME, RECORD_NAME
from verdog_repo.deferral import deferred_signals
from verdog_repo.names import CommitId

_COMMIT: Final = 1
_TREE: Final = 2
"""The numbers that libgit2 gives commits and trees."""
_FILE_MODE: Final = 0o100644


class _Scratch(pygit2.OdbBackend):
    """Objects in a dictionary. libgit2 calls the methods whose names end in `_cb`."""

    def __init__(self) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.objects: dict[bytes, tuple[int, bytes]] = {}

    def read_cb(self, oid: pygit2.Oid) -> tuple[int, bytes]:
        return self.objects[oid.raw]

    def read_header_cb(self, oid: pygit2.Oid) -> tuple[int, int]:
        kind, payload = self.objects[oid.raw]
        return kind, len(payload)

    def read_prefix_cb(self, oid: pygit2.Oid) -> tuple[int, bytes, pygit2.Oid]:
        raise KeyError(oid)

    def exists_cb(self, oid: pygit2.Oid) -> bool:
        return oid.raw in self.objects

    def exists_prefix_cb(self, oid: pygit2.Oid) -> pygit2.Oid:
        raise KeyError(oid)

    def write_cb(self, oid: pygit2.Oid, payload: bytes, kind: int) -> None:
        self.objects[oid.raw] = (kind, payload)

    def refresh_cb(self) -> None:
        return None

    def __iter__(self) -> Iterator[pygit2.Oid]:
        return iter([pygit2.Oid(raw=raw) for raw in self.objects])


def write_commit(
    record_payload: bytes, message: str, parent: tuple[CommitId, bytes] | None, committed_s: int
) -> tuple[CommitId, bytes]:
    """Return the id and the bytes of the commit that Git makes of a record.

    Args:
        record_payload: the content of the tree's only file.
        message: the whole commit message.
        parent: the id and the bytes of the commit it follows.
        committed_s: seconds since 1970.

    Durability: none; nothing is written anywhere.
    """
    with deferred_signals():
        return _write(record_payload, message, parent, committed_s)


def _write(
    record_payload: bytes, message: str, parent: tuple[CommitId, bytes] | None, committed_s: int
) -> tuple[CommitId, bytes]:
    scratch = _Scratch()
    database = pygit2.Odb()
    database.add_backend(scratch, 1)
    repository = pygit2.Repository()
    repository.set_odb(database)
    parents: list[pygit2.Oid] = []
    if parent is not None:
        scratch.objects[parent[0]] = (_COMMIT, parent[1])
        parents.append(pygit2.Oid(raw=parent[0]))
    blob = repository.create_blob(record_payload)
    # Not by a `TreeBuilder`: it would read the user's git configuration, for each commit.
    tree = database.write(_TREE, b"%o %b\0%b" % (_FILE_MODE, RECORD_NAME.encode(), blob.raw))
    who = pygit2.Signature(IDENTITY_NAME, IDENTITY_MAIL, committed_s, 0, "utf-8")
    made = repository.create_commit(None, who, who, message, tree, parents)
    return CommitId(made.raw), scratch.objects[made.raw][1]

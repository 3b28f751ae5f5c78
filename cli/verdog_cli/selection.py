"""What the words of a command line stand for: runs, checkpoints and the files in them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from verdog_cli.render import escape
from verdog_objects.errors import NotFound

if TYPE_CHECKING:
    from verdog_objects.nodes import Entry
    from verdog_objects.oid import Oid
    from verdog_objects.treediff import Change
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.names import RunId
    from verdog_repo.repository import Repository


class Tree(NamedTuple):
    """A checkpoint's artifacts, or the part of them that a revision's path names.

    Attributes:
        root: the manifest of all artifacts.
        path: the directory or file that was named, empty for everything.
        entry: that path's entry, or None for everything.
    """

    checkpoint: "Checkpoint"
    root: "Oid"
    path: bytes
    entry: "Entry | None"


def select_run(repository: "Repository", text: str | None) -> "RunId":
    """Return the run that was named; without a name, the only one of the project.

    Raises:
        NotFound: there is no such run, or none at all.
        Ambiguous: there are several.
    """
    return repository.resolve_run(text or "")


def select_checkpoint(repository: "Repository", text: str) -> "Checkpoint":
    """Return the checkpoint of a revision that names no file."""
    revision = repository.resolve(text)
    if revision.path is not None:
        raise NotFound(f"{escape(text)} names a file, and a checkpoint is needed")
    return revision.checkpoint


def select_tree(repository: "Repository", text: str) -> Tree:
    """Return the artifacts that `REV` or `REV:PATH` names.

    Raises:
        NotFound: there is no such revision, or no such path in it, or its files were not recorded.
    """
    from verdog_objects.manifest import lookup, path_key

    revision = repository.resolve(text)
    checkpoint = revision.checkpoint
    root = repository.record(checkpoint).artifacts
    if root is None:
        raise NotFound(
            f"the files of checkpoint {checkpoint.sequence} of run {checkpoint.run} were not recorded"
        )
    path = (revision.path or b"").rstrip(b"/")
    if not path:
        return Tree(checkpoint, root, b"", None)
    entry = lookup(repository.store, root, path_key(path))
    if entry is None:
        raise NotFound(f"checkpoint {checkpoint.sequence} of run {checkpoint.run} has no {escape(path)}")
    return Tree(checkpoint, root, path, entry)


def iter_changes(repository: "Repository", checkpoint: "Checkpoint") -> Iterator["Change"]:
    """Yield what differs between the files of a checkpoint and of its parent, in the order of paths."""
    from verdog_objects.manifest import iterate
    from verdog_objects.treediff import Change, diff

    after = repository.record(checkpoint).artifacts
    if after is None:
        return
    parent = repository.parent(checkpoint)
    before = repository.record(parent).artifacts if parent is not None else None
    if before is not None:
        yield from diff(repository.store, before, after)
        return
    for key, entry in iterate(repository.store, after):
        yield Change(key, None, entry)


def touches(repository: "Repository", checkpoint: "Checkpoint", paths: Sequence[bytes]) -> bool:
    """Return whether a checkpoint changed one of these files, or something below one of these directories."""
    from verdog_objects.manifest import path_key

    keys = [path_key(path) for path in paths]
    return any(
        change.key == key or change.key.startswith(key + b"\x00")
        for change in iter_changes(repository, checkpoint)
        for key in keys
    )

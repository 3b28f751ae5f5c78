"""What two contents of a file differ in, as text for people."""

from typing import Final, NamedTuple

from verdog_objects.content import iter_content
from verdog_objects.nodes import EntryKind
from verdog_objects.store import ObjectReader
from verdog_repo.artifactdiff import FileChange
from verdog_repo.csvdiff import compare_csv, find_delimiter
from verdog_repo.jsondiff import compare_json
from verdog_repo.parts import PartChange

TEXT_BYTES: Final = 1 << 20
"""Longer contents are not looked into."""

_PROBE_BYTES: Final = 8000
"""Content with a NUL among its first bytes is no text; Git looks as far."""


class Patch(NamedTuple):
    """A unified diff without the names of the files: `@@` lines, and lines with ` `, `-`, `+` before them."""

    lines: tuple[bytes, ...]


class Parts(NamedTuple):
    """Changed keys of a document, or changed rows of a table."""

    changes: tuple[PartChange, ...]


class Opaque(NamedTuple):
    """Nothing that could be shown; `reason` says why."""

    reason: str


ContentDiff = Patch | Parts | Opaque


def compare_file(reader: ObjectReader, change: FileChange) -> ContentDiff | None:
    """Return how the content of a file or link changed.

    Returns:
        None when there are not two contents of one kind, or when they are equal.

    Cost: reads both contents, unless one is longer than `TEXT_BYTES`.
    """
    before, after = change.before, change.after
    if before is None or after is None or before.kind is not after.kind or before.oid == after.oid:
        return None
    if before.kind not in (EntryKind.FILE, EntryKind.SYMLINK):
        return None
    if max(before.size, after.size) > TEXT_BYTES:
        return Opaque("too large")
    old = b"".join(iter_content(reader, change.before_path or b"", before))
    new = b"".join(iter_content(reader, change.path, after))
    return compare_contents(change.path, old, new)


def compare_contents(path: bytes, before: bytes, after: bytes) -> ContentDiff:
    """Return how a file's contents differ: by key, by row, or line by line.

    Args:
        path: its name says what it holds.
        before: one version, at most `TEXT_BYTES` long.
        after: the other one.

    Cost: in proportion to the contents, apart from what libgit2 needs to find the shortest patch.
    """
    if max(len(before), len(after)) > TEXT_BYTES:
        return Opaque("too large")
    if is_binary(before) or is_binary(after):
        return Opaque("binary")
    changes: list[PartChange] | None = None
    delimiter = find_delimiter(path)
    if path.lower().endswith(b".json"):
        changes = compare_json(before, after)
    elif delimiter is not None:
        changes = compare_csv(before, after, delimiter)
    return Parts(tuple(changes)) if changes is not None else make_patch(before, after)


def is_binary(content: bytes) -> bool:
    """Return whether a content is not text, as Git decides it."""
    return b"\0" in content[:_PROBE_BYTES]


def make_patch(before: bytes, after: bytes) -> Patch | Opaque:
    """Return the unified diff of two texts, by libgit2; an empty one for equal texts."""
    import pygit2

    made = pygit2.Patch.create_from(before, after)
    if made.delta.is_binary:
        return Opaque("binary")
    lines = made.data.removesuffix(b"\n").split(b"\n")
    first = next((index for index, line in enumerate(lines) if line.startswith(b"@@")), len(lines))
    return Patch(tuple(lines[first:]))

"""Two checkpoints compared, down to the fields of their values. Nothing of a workflow is imported or run."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from verdog_objects.nodes import Entry
from verdog_objects.oid import Kind
from verdog_objects.treediff import Change
from verdog_repo.diff import FRAME_KEYS, Comparison, compare
from verdog_runtime.fingerprint import compare_recorded, decode_environment
from verdog_runtime.layout import format_visit_path
from verdog_runtime.values import Neutral, decode_neutral
from verdog_runtime.values.compare import ABSENT, Absent, Difference, compare_values, rebase_paths

_NUMBERED = ("['output']", "['visits']")
"""The parts of a frame that are numbers of directories. A visit that was repeated changes them."""

if TYPE_CHECKING:
    from verdog_objects.store import ObjectReader
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.repository import Repository


def compare_checkpoints(
    repository: "Repository", left: "Checkpoint | None", right: "Checkpoint"
) -> Comparison:
    """Compare two checkpoints; without a left one, everything on the right is new.

    Paths in values that lead below the directory of the same visit are the same, whatever its number, and so
    are states that differ only in such numbers.
    """
    return compare(repository.catalog, left, right, format_visit_path, _is_same)


def compare_code(repository: "Repository", left: "Checkpoint | None", right: "Checkpoint") -> tuple[str, ...]:
    """Return in what code and environment two checkpoints were made with differ, one sentence each.

    Nothing is said where a side has no fingerprint, or where there is no left side.
    """
    sides = [] if left is None else [repository.record(each).environments for each in (left, right)]
    if not all(sides) or len({each[0] for each in sides}) < 2:
        return ()
    before, after = (decode_environment(repository.store.get(Kind.ENVIRONMENT, each[0])) for each in sides)
    return compare_recorded(before, after)


def iter_differences(
    reader: "ObjectReader", change: Change, moved: Mapping[bytes, bytes]
) -> Iterator[Difference]:
    """Yield the smallest parts that the two values of an address of the state differ in.

    Args:
        reader: where the values are.
        change: one of `Comparison.state`.
        moved: `Comparison.moved`.
    """
    before, after = _read(reader, change.before), _read(reader, change.after)
    if isinstance(before, Absent) or isinstance(after, Absent):
        yield Difference("", before, after)
        return
    yield from _compare(change.key, before, after, moved)


def _read(reader: "ObjectReader", entry: Entry | None) -> Neutral | Absent:
    return ABSENT if entry is None else decode_neutral(reader.get(Kind.VALUE, entry.oid))


def _compare(
    key: bytes, before: Neutral, after: Neutral, moved: Mapping[bytes, bytes]
) -> Iterator[Difference]:
    """Yield what differs by more than the numbers of the directories of visits that stand for each other."""
    if not moved:
        yield from compare_values(before, after)
        return
    for difference in compare_values(before, rebase_paths(after, _as_texts(moved))):
        if not (key.startswith(FRAME_KEYS) and difference.path.startswith(_NUMBERED)):
            yield difference


def _is_same(key: bytes, before: bytes, after: bytes, moved: Mapping[bytes, bytes]) -> bool:
    return next(_compare(key, decode_neutral(before), decode_neutral(after), moved), None) is None


def _as_texts(moved: Mapping[bytes, bytes]) -> dict[str, str]:
    return {
        right.decode("utf-8", "surrogateescape"): left.decode("utf-8", "surrogateescape")
        for right, left in moved.items()
    }

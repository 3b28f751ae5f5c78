"""Two checkpoints compared, down to the fields of their values. Nothing of a workflow is imported or run."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from verdog_objects.nodes import Entry
from verdog_objects.oid import Kind
from verdog_objects.treediff import Change
from verdog_repo.diff import Comparison, compare
from verdog_runtime.fingerprint import compare_recorded, decode_environment
from verdog_runtime.layout import format_visit_path
from verdog_runtime.values import Neutral, decode_neutral
from verdog_runtime.values.compare import ABSENT, Absent, Difference, compare_values, identify, rebase_paths

if TYPE_CHECKING:
    from verdog_objects.store import ObjectReader
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.repository import Repository


def compare_checkpoints(
    repository: "Repository", left: "Checkpoint | None", right: "Checkpoint"
) -> Comparison:
    """Compare two checkpoints; without a left one, everything on the right is new.

    Paths in values that lead below the directory of the same visit are the same, whatever its number.
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
    yield from compare_values(before, rebase_paths(after, _as_texts(moved)) if moved else after)


def _read(reader: "ObjectReader", entry: Entry | None) -> Neutral | Absent:
    return ABSENT if entry is None else decode_neutral(reader.get(Kind.VALUE, entry.oid))


def _is_same(before: bytes, after: bytes, moved: Mapping[bytes, bytes]) -> bool:
    rebased = rebase_paths(decode_neutral(after), _as_texts(moved))
    return identify(decode_neutral(before)) == identify(rebased)


def _as_texts(moved: Mapping[bytes, bytes]) -> dict[str, str]:
    return {
        right.decode("utf-8", "surrogateescape"): left.decode("utf-8", "surrogateescape")
        for right, left in moved.items()
    }

"""What a run of the soak test's workflow must have recorded, and what is recorded."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.long.flow import Chain, Leaf, Plan, advance, tick_leaves, work_leaves
from verdog_objects import manifest
from verdog_objects.nodes import EntryKind
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.record import CheckpointKind
from verdog_repo.repository import Repository


class Shape(NamedTuple):
    """What is compared of a path; `digest` is left out where only the manifest is looked at."""

    kind: EntryKind
    mode: int
    size: int
    digest: str = ""


class Visit(NamedTuple):
    """A completed visit and the paths below its directory."""

    node: str
    paths: dict[bytes, Shape]


@cache
def expect(plan: Plan) -> tuple[Visit, ...]:
    """Return the visits of a run that nobody disturbs."""
    visits = [Visit("enter", {}), Visit("start", {})]
    chain = Chain()
    for left_over in range(plan.turns, -1, -1):
        chain = advance(chain, plan.flavour)
        visits.append(Visit("work", _shapes(work_leaves(chain, plan.flavour))))
        if left_over:
            visits.append(Visit("tick", _shapes(tick_leaves(left_over - 1))))
    return tuple(visits)


def _shapes(leaves: dict[bytes, Leaf]) -> dict[bytes, Shape]:
    return {name: _shape(leaf) for name, leaf in leaves.items()}


def _shape(leaf: Leaf) -> Shape:
    if leaf.content is None:
        return Shape(EntryKind.DIRECTORY, 0o755, 0)
    digest = hashlib.sha256(leaf.content).hexdigest()
    if leaf.mode is None:
        return Shape(EntryKind.SYMLINK, 0o777, len(leaf.content), digest)
    return Shape(EntryKind.FILE, leaf.mode, len(leaf.content), digest)


@dataclass(frozen=True, kw_only=True)
class Point:
    """A checkpoint with those before it, over fork points, without those that only say `fork`."""

    checkpoint: Checkpoint
    history: tuple[Checkpoint, ...]

    @property
    def position(self) -> int:
        """How many visits are completed."""
        return len(self.history)

    @property
    def directories(self) -> list[bytes]:
        """The directories of the completed visits."""
        return [f"{each.place}/{each.visit:06d}".encode() for each in self.history]


def read_point(repository: Repository, checkpoint: Checkpoint) -> Point:
    """Return a checkpoint with its history."""
    found = repository.history(checkpoint.commit, limit=checkpoint.generation)
    history = [each for each in reversed(found) if each.kind is not CheckpointKind.FORK]
    return Point(checkpoint=checkpoint, history=tuple(history))


def check_recorded(repository: Repository, point: Point, plan: Plan) -> int:
    """Compare what a checkpoint records with the model; return how many paths no completed visit has.

    Those are of attempts that were killed, and stay.
    """
    visits = expect(plan)[: point.position]
    assert [each.place for each in point.history] == [visit.node for visit in visits]
    root = repository.record(point.checkpoint).artifacts
    assert root is not None
    paths = {
        manifest.key_path(key): Shape(entry.kind, entry.mode, entry.size)
        for key, entry in manifest.iterate(repository.store, root)
    }
    return check_paths(paths, point, plan)


def check_paths(paths: dict[bytes, Shape], point: Point, plan: Plan) -> int:
    """Compare paths with the model; see `check_recorded`."""
    directories = point.directories
    assert len(set(directories)) == len(directories)
    found: dict[bytes, dict[bytes, Shape]] = {directory: {} for directory in directories}
    others = 0
    for path, shape in paths.items():
        parts = path.split(b"/", 2)
        if len(parts) < 3:
            assert shape.kind is EntryKind.DIRECTORY, f"{path!r} is no directory"
            others += len(parts) == 2 and path not in found
            continue
        below = found.get(b"/".join(parts[:2]))
        if below is None:
            others += 1
        else:
            below[parts[2]] = shape
    for directory, visit in zip(directories, expect(plan), strict=False):
        with_digest = any(shape.digest for shape in found[directory].values())
        expected = visit.paths if with_digest else _without_digests(visit.paths)
        assert found[directory] == expected, f"what is in {directory!r}"
    return others


def _without_digests(paths: dict[bytes, Shape]) -> dict[bytes, Shape]:
    return {path: shape._replace(digest="") for path, shape in paths.items()}


def read_directory(root: Path) -> dict[bytes, Shape]:
    """Return every path of an output directory, but what verdog keeps there itself."""
    return dict(_walk(os.fsencode(root), b""))


def _walk(directory: bytes, prefix: bytes) -> Iterator[tuple[bytes, Shape]]:
    for entry in os.scandir(directory):
        path = prefix + entry.name
        if path in (b".verdog", b"trace.log", b"config.md", b"stats.md"):
            continue
        status = entry.stat(follow_symlinks=False)
        mode = status.st_mode & 0o7777
        if entry.is_symlink():
            target = os.readlink(entry.path)  # noqa: PTH115
            yield path, Shape(EntryKind.SYMLINK, mode, len(target), hashlib.sha256(target).hexdigest())
        elif entry.is_dir():
            yield path, Shape(EntryKind.DIRECTORY, mode, 0)
            yield from _walk(entry.path, path + b"/")
        else:
            with open(entry.path, "rb") as file:  # noqa: PTH123
                content = file.read()
            yield path, Shape(EntryKind.FILE, mode, len(content), hashlib.sha256(content).hexdigest())


def count_changes(before: tuple[Plan, int], after: tuple[Plan, int]) -> dict[str, int]:
    """Return how many paths a comparison of two points must call changed, by the letter it gives them."""
    sides = [_aligned(expect(plan)[:position]) for plan, position in (before, after)]
    letters = {"A": len(sides[1].keys() - sides[0].keys()), "D": len(sides[0].keys() - sides[1].keys())}
    letters["M"] = sum(sides[0][key] != sides[1][key] for key in sides[0].keys() & sides[1].keys())
    return {letter: count for letter, count in letters.items() if count}


def _aligned(visits: tuple[Visit, ...]) -> dict[tuple[str, int, bytes], Shape]:
    ordinals: dict[str, int] = {}
    found: dict[tuple[str, int, bytes], Shape] = {}
    for visit in visits:
        ordinals[visit.node] = ordinals.get(visit.node, 0) + 1
        found |= {(visit.node, ordinals[visit.node], path): shape for path, shape in visit.paths.items()}
    return found

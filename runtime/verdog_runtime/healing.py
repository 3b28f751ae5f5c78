"""Damaged content that a run's directory still has, stored anew."""

from collections.abc import Iterable, Iterator

from verdog_objects.capture import capture_tree
from verdog_objects.directories import split_path
from verdog_objects.errors import VerdogError
from verdog_objects.manifest import lookup, path_key
from verdog_objects.oid import Oid
from verdog_repo.fsck import Finding
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.resume import locate_output


def heal_from_outputs(repository: Repository, findings: Iterable[Finding]) -> tuple[Oid, ...]:
    """Store damaged content anew from files that still are as they were recorded.

    Args:
        repository: open for writing, and what was found by reading it: that marked what is damaged.
        findings: of `check` with `read_data`.

    Returns:
        The objects that are whole again. No row is changed, and nothing is deleted.

    Durability: each object once it is returned.
    """
    healed: dict[Oid, None] = {}
    for finding in findings:
        if finding.oid is None or finding.run is None or finding.oid in healed:
            continue
        for sequence in finding.sequences[-1:]:
            if any(_store_anew(repository, finding.run, sequence, path) for path in finding.paths):
                healed[finding.oid] = None
    return tuple(healed)


def _store_anew(repository: Repository, run: RunId, sequence: int, path: bytes) -> bool:
    """Put a file's content in the store if it is what a checkpoint recorded; return whether it is."""

    def elsewhere(found: bytes, is_directory: bool) -> bool:
        return found != path and found not in _above(path)

    try:
        root = repository.record(repository.checkpoint_at(run, sequence)).artifacts
        recorded = lookup(repository.store, root, path_key(path)) if root is not None else None
        output = locate_output(repository, repository.header(run))
        with repository.store.writer() as writer:
            captured = capture_tree(writer, output, [split_path(path)[0]], excluded=elsewhere, memory=None)
            found = captured.entries.get(path)
            if found is None or recorded is None or found.oid != recorded.oid:
                return False
            repository.store.apply(writer)
    except VerdogError:  # the file or what leads to it is gone, or damaged as well
        return False
    return True


def _above(path: bytes) -> Iterator[bytes]:
    while path:
        path = split_path(path)[0]
        yield path

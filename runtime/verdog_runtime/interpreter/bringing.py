"""Bringing an output directory to what a checkpoint recorded, or refusing to go on from it."""

import os
from pathlib import Path

from verdog_objects.checkout import materialise
from verdog_objects.locking import read_boot_id
from verdog_objects.oid import Oid
from verdog_objects.restore import discard_staged, restore_tree
from verdog_objects.signatures import Signatures
from verdog_objects.store import ObjectReader
from verdog_objects.verify import Difference, format_difference, verify_tree
from verdog_repo.lease import Lease
from verdog_runtime.interpreter.openbooks import claim_output
from verdog_runtime.layout import CONTROL_DIRECTORY
from verdog_runtime.storeerrors import IntegrityError


def bring_artifacts(
    reader: ObjectReader, root: Oid, output: Path, signatures: Signatures, *, restore: bool
) -> tuple[bytes, ...]:
    """Check every recorded file of an output directory, or write them all if the directory is gone or empty.

    Args:
        reader: where the tree is.
        root: the artifacts of the checkpoint that goes on.
        output: the run's directory.
        signatures: is told what is recorded and how it is on disk.
        restore: put back what differs instead of refusing it.

    Returns:
        The paths that were put back.

    Raises:
        IntegrityError: naming each path that is missing, changed or has other permissions.
    """
    if not os.path.lexists(output) or _is_empty(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        materialise(reader, root, output, preserve_special=True)
    differences = verify_tree(reader, root, output, signatures=signatures)
    restored: tuple[bytes, ...] = ()
    if differences and restore:
        restored = put_back(reader, root, output, differences)
        differences = verify_tree(reader, root, output, signatures=signatures)
    if differences:
        listed = "".join(f"\n  {format_difference(difference)}" for difference in differences)
        raise IntegrityError(
            f"recorded files in {output} are not as they were recorded:{listed}",
            paths=dict.fromkeys(difference.path for difference in differences),
        )
    discard_staged(output / CONTROL_DIRECTORY)
    claim_output(output)
    return restored


def _is_empty(output: Path) -> bool:
    """Return whether a directory holds nothing, as one does that a killed fork was about to fill."""
    try:
        with os.scandir(output) as entries:
            return next(entries, None) is None
    except NotADirectoryError:
        return False


def put_back(
    reader: ObjectReader, root: Oid, output: Path, differences: list[Difference]
) -> tuple[bytes, ...]:
    """Put recorded content, modes and links of an output directory back where they differ.

    Returns:
        The paths that were put back.

    Durability: all of it once the call returned.
    """
    claim_output(output)
    return restore_tree(reader, root, output, differences, staging=output / CONTROL_DIRECTORY)


def lost_power(lease: Lease) -> bool:
    """Return whether the host was booted since the run was last held.

    Files of visits are not synced one by one: after a power cut, what a checkpoint recorded may be cut short
    on disk while the store has it whole.
    """
    return lease.previous_boot is not None and lease.previous_boot != read_boot_id()

"""Compatibility: the code and environment of a checkpoint against those of this process."""

from collections.abc import Sequence
from pathlib import Path

from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectReader
from verdog_runtime.environment import check_environment
from verdog_runtime.fingerprint import decode_environment
from verdog_runtime.refusals import Incompatible


def require_same_environment(
    reader: ObjectReader, recorded: Sequence[Oid], project: Path, workflow_file: Path | None, *, allow: bool
) -> tuple[str, ...]:
    """Return what differs from a checkpoint's code and environment, if that is allowed.

    Raises:
        Incompatible: something differs and it is not allowed; the error names each file with both hashes.
    """
    if not recorded:
        return ()
    before = decode_environment(reader.get(Kind.ENVIRONMENT, recorded[0]))
    differences = check_environment(before, project, workflow_file)
    if differences and not allow:
        listed = "".join(f"\n  {difference}" for difference in differences)
        raise Incompatible(
            f"the code or environment changed since the checkpoint was made:{listed}", differences
        )
    return differences

"""Rebuilding the index: the rows of the checkpoints table from the records alone."""

from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.oid import Kind, Oid, format_oid
from verdog_objects.store import ObjectReader
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.derive import derive_checkpoint
from verdog_repo.record import decode_record


def derive_history(reader: ObjectReader, record: Oid) -> list[Checkpoint]:
    """Return the checkpoints that lead to a record, oldest first, over fork points, from the records alone.

    A record names the one before it, and record and parent decide every byte of a commit; so a run's whole
    index follows from the record that its ref names.

    Raises:
        Corrupt: a record is missing, or does not continue the one before it.

    Cost: reads every record twice.
    """
    oids: list[Oid] = []
    here: Oid | None = record
    while here is not None:
        oids.append(here)
        here = decode_record(_read(reader, here)).previous
    checkpoints: list[Checkpoint] = []
    parent: Checkpoint | None = None
    for oid in reversed(oids):
        payload = _read(reader, oid)
        decoded = decode_record(payload)
        follows = parent is not None and parent.run == decoded.run
        if decoded.sequence != (parent.sequence + 1 if parent is not None and follows else 1):
            raise Corrupt(
                f"run {decoded.run}: checkpoint {decoded.sequence} does not continue what is before it"
            )
        parent, _ = derive_checkpoint(decoded, oid, payload, parent)
        checkpoints.append(parent)
    return checkpoints


def _read(reader: ObjectReader, oid: Oid) -> bytes:
    try:
        return reader.get(Kind.RECORD, oid)
    except NotFound as error:
        raise Corrupt(f"the record {format_oid(oid)} is missing") from error

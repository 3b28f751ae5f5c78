"""Reading stored objects: nothing leaves here whose bytes do not hash to its id."""

from collections.abc import Sequence

import apsw

from verdog_objects import objecttable
from verdog_objects.compression import decompress
from verdog_objects.connections import Connections
from verdog_objects.errors import Corrupt, Missing, VerdogError
from verdog_objects.objecttable import StoredObject
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid
from verdog_objects.packs import PackReader


class StoredReader:
    """Reads objects from rows and packs, checks them, and quarantines those that are damaged."""

    def __init__(self, connections: Connections, packs: PackReader) -> None:
        self._connections = connections
        self._packs = packs

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return the payload of one object of a kind."""
        found = objecttable.find_object(self._connections.get(), oid)
        if found is None:
            raise Missing(f"object {format_oid(oid)} is missing", paths=[oid])
        stored, payload = self._read(found)
        if stored is not kind:
            raise Corrupt(f"object {format_oid(oid)} is a {stored.name}, not a {kind.name}", paths=[oid])
        return payload

    def get_many(self, oids: Sequence[Oid]) -> dict[Oid, tuple[Kind, bytes]]:
        """Return kind and payload of those objects that exist."""
        found = objecttable.find_objects(self._connections.get(), oids)
        return {each.oid: self._read(each) for each in found}

    def _read(self, found: StoredObject) -> tuple[Kind, bytes]:
        reason = "its bytes do not match its id"
        quarantined = False
        try:
            kind = Kind(found.kind)
            quarantined = found.codec < 0
            codec = -1 - found.codec if quarantined else found.codec
            payload = decompress(codec, self._read_stored(found), found.size)
            if compute_oid(kind, payload) == found.oid:
                return kind, payload
        except Corrupt as error:
            reason = str(error)
        except (TypeError, ValueError):
            reason = "its row is malformed"
        if not quarantined:
            self._quarantine(found.oid)
        raise Corrupt(f"object {format_oid(found.oid)} is damaged: {reason}", paths=[found.oid])

    def _read_stored(self, found: StoredObject) -> bytes:
        if found.pack is None:
            return found.data or b""
        name = objecttable.read_pack_name(self._connections.get(), found.pack)
        if name is None or found.start is None or found.length is None:
            raise Corrupt("its location names no pack")
        try:
            return self._packs.read(name, found.start, found.length)
        except FileNotFoundError as error:  # perhaps it was rewritten into another pack meanwhile
            moved = objecttable.find_object(self._connections.get(), found.oid)
            if moved is not None and moved.pack != found.pack:
                return self._read_stored(moved)
            raise Corrupt(f"pack {name} is missing") from error

    def _quarantine(self, oid: Oid) -> None:
        """Have the next writer that has the object store it again. Where we cannot write, nothing happens."""
        if self._connections.read_only:
            return
        try:
            with self._connections.transaction() as connection:
                objecttable.quarantine_object(connection, oid)
        except (apsw.Error, VerdogError):
            return

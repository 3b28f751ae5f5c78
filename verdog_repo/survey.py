"""The survey: which objects that manifests need are missing or damaged, each looked at once."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from verdog_objects.chunking import decode_chunks
from verdog_objects.cursor import limit_of, read_child, read_root
from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.manifest import object_kind
from verdog_objects.nodecache import CachedReader, NodeCache
from verdog_objects.nodes import Entry, EntryKind, Node
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectStore

Damage = Literal["missing", "damaged"]


class Wound(NamedTuple):
    """One object that something needs and cannot have.

    Attributes:
        oid: the object; of a node, everything below it is out of reach.
        damage: what is wrong with it.
        key: the key of the manifest's entry that needs it, or None for a node.
        is_path: the key is a path of an artifact, not an address of a state.
    """

    oid: Oid
    damage: Damage
    key: bytes | None
    is_path: bool


class Survey:
    """What was found so far.

    Attributes:
        objects: how many objects were looked at.
        reader: of the same store, which keeps the nodes that were looked at last.
    """

    def __init__(self, store: ObjectStore, *, read_data: bool) -> None:
        self.reader = CachedReader(store, NodeCache())
        self._store = store
        self._read_data = read_data
        self._nodes: dict[Oid, tuple[Wound, ...]] = {}
        self._damage: dict[Oid, Damage | None] = {}

    @property
    def objects(self) -> int:
        """How many objects were looked at."""
        return len(self._nodes) + len(self._damage)

    def look_at_object(self, kind: Kind, oid: Oid) -> Damage | None:
        """Return what is wrong with an object; it is read, so its hash is checked."""
        if oid not in self._damage:
            try:
                self._store.get(kind, oid)
            except NotFound:
                self._damage[oid] = "missing"
            except Corrupt:
                self._damage[oid] = "damaged"
            else:
                self._damage[oid] = None
        return self._damage[oid]

    def look_at_manifest(self, root: Oid) -> tuple[Wound, ...]:
        """Return what a manifest needs and cannot have.

        Cost: the nodes and objects that no manifest before had.
        """
        known = self._nodes.get(root)
        if known is not None:
            return known
        try:
            node = read_root(self.reader, root)
        except NotFound:
            found: tuple[Wound, ...] = (Wound(root, "missing", None, False),)
        except Corrupt:
            found = (Wound(root, "damaged", None, False),)
        else:
            found = self._look_below(node, None)
        self._nodes[root] = found
        return found

    def _look_below(self, node: Node, limit: bytes | None) -> tuple[Wound, ...]:
        found: list[Wound] = []
        self._look_at_entries(node.entries)
        for key, entry in zip(node.keys, node.entries, strict=bool(node.entries)):
            damage = self._damage.get(entry.oid)
            if damage is not None and object_kind(entry) is not None:
                found.append(Wound(entry.oid, damage, key, entry.kind is not EntryKind.VALUE))
        for index, link in enumerate(node.links):
            known = self._nodes.get(link.oid)
            if known is None:
                known = self._look_at_child(node, index, limit)
                self._nodes[link.oid] = known
            found += known
        return tuple(found)

    def _look_at_child(self, node: Node, index: int, limit: bytes | None) -> tuple[Wound, ...]:
        oid = node.links[index].oid
        try:
            child = read_child(self.reader, node, index, limit)
        except NotFound:
            return (Wound(oid, "missing", None, False),)
        except Corrupt:
            return (Wound(oid, "damaged", None, False),)
        return self._look_below(child, limit_of(node, index, limit))

    def _look_at_entries(self, entries: Iterable[Entry]) -> None:
        wanted: dict[Oid, Kind] = {}
        for entry in entries:
            kind = object_kind(entry)
            if kind is Kind.CHUNKS:
                self._look_at_chunks(entry)
            elif kind is not None:
                wanted[entry.oid] = kind
        self._look_at_many(wanted)

    def _look_at_chunks(self, entry: Entry) -> None:
        if entry.oid in self._damage:
            return
        try:
            chunks = decode_chunks(self._store.get(Kind.CHUNKS, entry.oid), entry.size)
        except NotFound:
            self._damage[entry.oid] = "missing"
            return
        except Corrupt:
            self._damage[entry.oid] = "damaged"
            return
        self._look_at_many({oid: Kind.CHUNK for oid, _ in chunks})
        worst = {self._damage[oid] for oid, _ in chunks}
        self._damage[entry.oid] = (
            "missing" if "missing" in worst else "damaged" if "damaged" in worst else None
        )

    def _look_at_many(self, wanted: dict[Oid, Kind]) -> None:
        unknown = {oid: kind for oid, kind in wanted.items() if oid not in self._damage}
        if self._read_data:
            for oid, kind in unknown.items():
                self.look_at_object(kind, oid)
            return
        stored = self._store.has_many(unknown)
        for oid in unknown:
            self._damage[oid] = None if oid in stored else "missing"

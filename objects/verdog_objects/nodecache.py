"""Decoded nodes kept between changes, so that a loop of commits reads and decodes each node once."""

from collections import OrderedDict
from threading import Lock

from verdog_objects.nodes import Node, decode_node
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectReader, ObjectWriter


class NodeCache:
    """The nodes used last, up to a number of encoded bytes. May be shared by threads.

    A node is named by its hash, so a cached one is never stale. It may belong to a change that was
    abandoned: update only from roots that are stored, or staged with the same writer.
    """

    def __init__(self, capacity_bytes: int = 8 * 1024 * 1024) -> None:
        self._capacity_bytes = capacity_bytes
        self._held_bytes = 0
        self._nodes: OrderedDict[Oid, Node] = OrderedDict()  # a dict takes long to find its oldest key
        self._lock = Lock()

    def find(self, oid: Oid) -> Node | None:
        """Return a node if it is held."""
        return self._nodes.get(oid)

    def add(self, oid: Oid, node: Node) -> None:
        """Hold a node, at the cost of those added first."""
        with self._lock:
            if oid in self._nodes:
                return
            self._nodes[oid] = node
            self._held_bytes += node.size_bytes
            while self._held_bytes > self._capacity_bytes:
                self._held_bytes -= self._nodes.popitem(last=False)[1].size_bytes

    def reader(self, objects: ObjectReader) -> "CachedReader":
        """Return a reader of the same objects that decodes nodes through this cache."""
        return CachedReader(objects, self)

    def writer(self, objects: ObjectWriter) -> "CachedWriter":
        """Return a writer to the same place that decodes nodes through this cache."""
        return CachedWriter(objects, self)


class CachedReader:
    """An `ObjectReader` whose nodes come from a cache where it has them."""

    def __init__(self, objects: ObjectReader, cache: NodeCache) -> None:
        self._objects = objects
        self.cache = cache

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return an object's payload from the reader below."""
        return self._objects.get(kind, oid)


class CachedWriter(CachedReader):
    """An `ObjectWriter` whose nodes come from a cache where it has them."""

    def __init__(self, objects: ObjectWriter, cache: NodeCache) -> None:
        super().__init__(objects, cache)
        self._writer = objects

    def put(self, kind: Kind, payload: bytes) -> Oid:
        """Stage one object with the writer below."""
        return self._writer.put(kind, payload)


def read_node(reader: ObjectReader, oid: Oid) -> Node:
    """Return a node, decoded and checked in itself.

    Raises:
        NotFound: no object of this id.
        Corrupt: it is no node.
    """
    if not isinstance(reader, CachedReader):
        return decode_node(reader.get(Kind.NODE, oid))
    node = reader.cache.find(oid)
    if node is None:
        node = decode_node(reader.get(Kind.NODE, oid))
        reader.cache.add(oid, node)
    return node


def write_node(writer: ObjectWriter, node: Node, payload: bytes) -> Oid:
    """Stage a node and return its id."""
    oid = writer.put(Kind.NODE, payload)
    if isinstance(writer, CachedReader):
        writer.cache.add(oid, node)
    return oid

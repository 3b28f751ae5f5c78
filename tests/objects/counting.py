"""An object writer on a dictionary that counts, and can be made to lie."""

from verdog_objects.errors import NotFound
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid


class CountingObjects:
    """Keeps payloads under their ids, counts reads and new objects, and checks nothing when read."""

    def __init__(self) -> None:
        self.payloads: dict[Oid, bytes] = {}
        self.reads = 0
        self.writes = 0

    def get(self, kind: Kind, oid: Oid) -> bytes:
        self.reads += 1
        try:
            return self.payloads[oid]
        except KeyError:
            raise NotFound(f"no {kind.name} {format_oid(oid)}") from None

    def put(self, kind: Kind, payload: bytes) -> Oid:
        oid = compute_oid(kind, payload)
        self.writes += oid not in self.payloads
        self.payloads[oid] = payload
        return oid

    def reset(self) -> None:
        self.reads = self.writes = 0


def make_file(content: bytes, mode: int = 0o644) -> Entry:
    """Return the entry of a small file."""
    return Entry(EntryKind.FILE, mode, len(content), compute_oid(Kind.BLOB, content))


DIRECTORY = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)


def make_tree(count: int) -> dict[bytes, Entry]:
    """Return a map like that of a run: so many visits of two nodes, each a directory with a file."""
    items = {b"tick": DIRECTORY, b"work": DIRECTORY}
    for number in range(count):
        directory = b"%s\x00%06d" % (b"tick" if number % 2 else b"work", number)
        items[directory] = DIRECTORY
        items[directory + b"\x00out.bin"] = make_file(b"%d" % number)
    return items

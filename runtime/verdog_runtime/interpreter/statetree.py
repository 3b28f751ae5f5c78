"""The state tree: a run's snapshots as a manifest of small values that shares what did not change."""

from collections.abc import Mapping
from dataclasses import dataclass

from verdog_objects.manifest import Entry, EntryKind, empty, update
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectWriter
from verdog_runtime.interpreter.snapshot import format_key
from verdog_runtime.interpreter.validation import require_immutable_state
from verdog_runtime.values import Anchors, UnserializableValue, encode_value


@dataclass(frozen=True, slots=True, kw_only=True)
class StateWritten:
    """A snapshot as objects.

    Attributes:
        root: the state manifest; it leaves out each value that could not be encoded.
        problems: one sentence for each value that could not be encoded.
    """

    root: Oid
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Slot:
    """What a key held at the last snapshot. `settled` values can never encode differently."""

    value: object
    settled: bool
    entry: Entry | None
    problem: str | None


class StateTree:
    """The state manifest of the last snapshot, and what was written into it.

    A value that is the very object of the last snapshot, and immutable all through, is not encoded again.
    """

    def __init__(self, root: Oid | None, anchors: Anchors, main_module: str | None) -> None:
        """Go on from a manifest that the store holds, or begin with none."""
        self._root = root
        self._anchors = anchors
        self._main_module = main_module
        self._slots: dict[str, _Slot] = {}
        self._stale = root is not None

    def write(self, writer: ObjectWriter, values: Mapping[str, object]) -> StateWritten:
        """Stage the values that changed, and the manifest over all of them.

        Cost: O(values) to look, O(changed values) to encode and store.
        """
        changes: dict[bytes, Entry | None] = {}
        for key, value in values.items():
            slot = self._slots.get(key)
            if slot is not None and slot.settled and slot.value is value:
                continue
            fresh = self._encode(writer, key, value)
            if slot is None or slot.entry != fresh.entry:
                changes[encode_key(key)] = fresh.entry
            self._slots[key] = fresh
        for key in self._slots.keys() - values.keys():
            del self._slots[key]
            changes[encode_key(key)] = None
        base = self._root if self._root is not None and not self._stale else empty(writer)
        self._stale = False
        self._root = update(writer, base, changes) if changes else base
        problems = tuple(slot.problem for slot in self._slots.values() if slot.problem is not None)
        return StateWritten(root=self._root, problems=problems)

    def _encode(self, writer: ObjectWriter, key: str, value: object) -> _Slot:
        try:
            encoded = encode_value(
                value, anchors=self._anchors, main_module=self._main_module, path=format_key(key)
            )
        except UnserializableValue as error:
            return _Slot(value=value, settled=False, entry=None, problem=str(error))
        oid = writer.put(Kind.VALUE, encoded.payload)
        entry = Entry(kind=EntryKind.VALUE, mode=0, size=len(encoded.payload), oid=oid)
        return _Slot(value=value, settled=_is_settled(value), entry=entry, problem=None)


def encode_key(key: str) -> bytes:
    """Return the manifest key of a state address."""
    return key.encode("utf-8", "surrogatepass")


def decode_key(key: bytes) -> str:
    """Return the state address of a manifest key."""
    return key.decode("utf-8", "surrogatepass")


def _is_settled(value: object) -> bool:
    try:
        require_immutable_state(value)
    except TypeError:
        return False
    return True

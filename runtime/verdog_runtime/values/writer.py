"""The writer: the bytes of a value while they are being made."""

from collections.abc import Callable, Mapping
from typing import Any

from verdog_objects.varint import append_varint
from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchors
from verdog_runtime.values.blobs import dump_blob, type_name
from verdog_runtime.values.errors import UnserializableValue
from verdog_runtime.values.tags import append_text

Encoder = Callable[["Writer", Any, int], None]
"""Appends a value, tag and all, given how deep it is nested."""


class TooDeep(UnserializableValue):
    """A value nested deeper than the format allows, or one that contains itself."""


class Writer:
    """Where the parts of a value are appended.

    Attributes:
        out: what was written so far. Encoders of unordered values exchange it for the time being.
        encoders: by exact type, how values are appended.
        other: how values of all other types are appended.
        blobs: whether any part became a blob.
        guard: the depth from which on `stop` must be asked about a container.
        within: the exceptions that are being written.
    """

    __slots__ = ("_cyclic", "anchors", "blobs", "encoders", "guard", "main_module", "other", "out", "within")

    def __init__(
        self,
        encoders: Mapping[type, Encoder],
        other: Encoder,
        anchors: Anchors,
        main_module: str | None,
        cyclic: frozenset[int] | None = None,
    ) -> None:
        """Begin an empty value.

        Args:
            encoders: by exact type, how values are appended.
            other: how values of all other types are appended.
            anchors: what absolute paths are relative to.
            main_module: the name of the module `__main__` in references.
            cyclic: the identities of containers that contain themselves, or None when nobody looked yet.
        """
        self.out = bytearray()
        self.encoders = encoders
        self.other = other
        self.anchors = anchors
        self.main_module = main_module
        self.blobs = False
        self.guard = tags.MAX_DEPTH if cyclic is None else 0
        self.within: set[int] = set()
        self._cyclic = cyclic or frozenset()

    def stop(self, value: object, depth: int) -> bool:
        """Whether a container was written as a blob, because it contains itself.

        Raises:
            TooDeep: it is nested too deep.
        """
        if id(value) in self._cyclic:
            put_blob(self, value)
            return True
        if depth >= tags.MAX_DEPTH:
            raise TooDeep(f"values may be nested {tags.MAX_DEPTH} deep at most")
        return False

    def check_size(self) -> None:
        """Refuse to grow without end.

        Raises:
            UnserializableValue: the value unfolds to more than the format allows.
        """
        if len(self.out) > tags.MAX_PAYLOAD_BYTES:
            raise UnserializableValue(f"the value takes more than {tags.MAX_PAYLOAD_BYTES >> 20} MiB")


def put(writer: Writer, value: object, depth: int) -> None:
    """Append a value of any type."""
    writer.encoders.get(type(value), writer.other)(writer, value, depth)


def put_blob(writer: Writer, value: object) -> None:
    """Append what only cloudpickle can write."""
    data = dump_blob(value)
    out = writer.out
    out.append(tags.BLOB)
    append_text(out, type_name(type(value)))
    append_varint(out, len(data))
    out += data
    writer.blobs = True
    writer.check_size()

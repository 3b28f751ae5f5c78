"""Encoding: a Python value to bytes, the same bytes for the same value in any process."""

from dataclasses import dataclass
from typing import Final

from verdog_runtime.values import tags
from verdog_runtime.values.anchors import Anchors
from verdog_runtime.values.containers import CONTAINERS
from verdog_runtime.values.cycles import find_cycles
from verdog_runtime.values.errors import UnserializableValue
from verdog_runtime.values.instances import put_instance
from verdog_runtime.values.leaves import LEAVES
from verdog_runtime.values.parse import decode_neutral
from verdog_runtime.values.show import find_blobs
from verdog_runtime.values.writer import TooDeep, Writer, put

_ENCODERS: Final = {**LEAVES, **CONTAINERS}
_NO_ANCHORS: Final = Anchors()
_SAFE: Final = bytes([tags.VERSION, 0])
_UNSAFE: Final = bytes([tags.VERSION, tags.HAS_BLOB])


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded value.

    Attributes:
        payload: the bytes.
        unsafe: where in the value cloudpickle blobs are, as `input.items[3].callback`. Empty when safe.
    """

    payload: bytes
    unsafe: tuple[str, ...] = ()


def encode_value(
    value: object, *, anchors: Anchors = _NO_ANCHORS, main_module: str | None = None, path: str = "value"
) -> Encoded:
    """Return a value's bytes.

    What the format does not know, and what contains itself, has hooks for pickling or attributes beside its
    fields, becomes a blob of cloudpickle. Sharing inside a value is not kept.

    Args:
        value: what to encode.
        anchors: the directories that absolute paths of the value are stored relative to.
        main_module: the name under which types of module `__main__` are stored. Without it they are blobs.
        path: the name of the value in messages.

    Raises:
        UnserializableValue: naming the part that neither the format nor cloudpickle can hold.
    """
    try:
        writer = _write(value, anchors, main_module)
    except UnserializableValue as error:
        raise error.below(path) from error.__cause__
    if not writer.blobs:
        return Encoded(_SAFE + writer.out)
    payload = _UNSAFE + writer.out
    return Encoded(payload, tuple(find_blobs(decode_neutral(payload), path)))


def _write(value: object, anchors: Anchors, main_module: str | None) -> Writer:
    writer = Writer(_ENCODERS, put_instance, anchors, main_module)
    try:
        put(writer, value, 0)
    except TooDeep:
        writer = Writer(_ENCODERS, put_instance, anchors, main_module, find_cycles(value))
        put(writer, value, 0)
    except RecursionError:
        raise UnserializableValue("the value is nested too deep for the interpreter's stack") from None
    return writer

"""Blobs: what only cloudpickle can write."""

from collections.abc import Callable
from typing import cast

from verdog_runtime.values.errors import TypeMismatch, UnserializableValue

_PROTOCOL = 5


def type_name(cls: type) -> str:
    """Return the name of a type for readers, as `module:Class`."""
    return f"{cls.__module__}:{cls.__qualname__}"


def dump_blob(value: object) -> bytes:
    """Return a value as cloudpickle writes it. Its bytes may differ from process to process.

    Raises:
        UnserializableValue: cloudpickle cannot write it.
    """
    import cloudpickle

    try:
        dumps = cast("Callable[[object, int], bytes]", cloudpickle.dumps)  # pyright: ignore[reportUnknownMemberType]
        return dumps(value, _PROTOCOL)
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise UnserializableValue(f"{type_name(type(value))} cannot be kept: {reason}") from error


def load_blob(name: str, data: bytes) -> object:
    """Return the value of a blob. This runs whatever code the blob holds.

    Args:
        name: the name of the value's type.
        data: what `dump_blob` returned.

    Raises:
        TypeMismatch: it does not load here.
    """
    import cloudpickle

    try:
        return cloudpickle.loads(data)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise TypeMismatch(name, f"the stored object does not load here ({reason})") from error

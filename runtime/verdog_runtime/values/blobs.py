"""Blobs: what only cloudpickle can write."""

from collections.abc import Callable
from typing import cast

from verdog_runtime.values.errors import TypeMismatch, UnrestorableValue, UnserializableValue

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
        TypeMismatch: a module or a name that it refers to is not there.
        UnrestorableValue: its own code raises.
    """
    import cloudpickle

    try:
        return cloudpickle.loads(data)
    except (Exception, SystemExit) as error:
        trace = error.__traceback__
        if isinstance(error, ImportError) or (
            isinstance(error, AttributeError) and trace is not None and trace.tb_next is None
        ):
            raise TypeMismatch(name, f"the stored object does not load here ({error})") from error
        raise UnrestorableValue(name, error) from error

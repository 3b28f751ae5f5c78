"""Immutability: which values may be a node's state."""

import dataclasses
from collections.abc import Iterable
from enum import Enum
from pathlib import PurePath
from typing import cast

from verdog_runtime.declarations.state import WorkflowState

_ATOMS = (type(None), bool, int, float, complex, str, bytes, Enum, PurePath, WorkflowState)


def require_immutable_state(value: object, /) -> None:
    """Check that nothing in a value can be changed in place.

    Accepted are None, numbers, text, bytes, enum members, paths, workflow states, and tuples, frozensets and
    frozen dataclasses of accepted values. Cycles end the descent, and depth is not limited.

    Raises:
        TypeError: something else is in it; the message has the way to it.
    """
    pending: list[tuple[object, str]] = [(value, "")]
    seen: set[int] = set()
    while pending:
        current, path = pending.pop()
        if isinstance(current, _ATOMS) or id(current) in seen:
            continue
        seen.add(id(current))
        pending.extend(_parts(current, path))


def _parts(value: object, path: str) -> Iterable[tuple[object, str]]:
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return [(item, f"{path}[{position}]") for position, item in enumerate(items)]
    if isinstance(value, frozenset):
        return [(item, f"{path}{{...}}") for item in cast("frozenset[object]", value)]
    if is_frozen_dataclass(type(value)):
        fields = dataclasses.fields(value)  # pyright: ignore[reportArgumentType]
        return [(getattr(value, field.name, None), f"{path}.{field.name}") for field in fields]
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    where = f" at {path}" if path else ""
    raise TypeError(f"state must be immutable, and {kind}{where} is not")


def is_frozen_dataclass(kind: type) -> bool:
    """Return whether a class is a dataclass whose fields cannot be assigned."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)

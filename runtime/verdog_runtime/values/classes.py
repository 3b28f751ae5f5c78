"""Classes: how the instances of a class are written, decided once per class."""

import copyreg
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, Flag
from functools import lru_cache
from typing import Any, cast

from verdog_objects.varint import append_varint
from verdog_runtime.values import tags
from verdog_runtime.values.tags import append_text

MAIN = "__main__"
TYPING_NOTE = "__orig_class__"
"""The attribute that `typing` adds to an object made by `Class[int](...)`. It is not part of the value."""

_HEAP_TYPE = 1 << 9
_HOOKS = (
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__getattribute__",
)
_GENERATORS = frozenset({"dataclasses", "collections"})
_POINTER_BYTES = 8
_MOST_CLASSES = 4096

BUILTIN_ATTRIBUTES: dict[type[BaseException], tuple[str, ...]] = {
    AttributeError: ("name",),
    ImportError: ("msg", "name", "path"),
    NameError: ("name",),
    OSError: ("errno", "strerror", "filename", "filename2"),
    StopIteration: ("value",),
    SyntaxError: ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"),
    SystemExit: ("code",),
    UnicodeDecodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeEncodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeTranslateError: ("object", "start", "end", "reason"),
}
"""What built-in exceptions keep outside their arguments and their dictionary, and let us set again."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassPlan:
    """How instances of one class are written.

    Attributes:
        tag: DATACLASS, NAMEDTUPLE, ENUM, FLAG, EXCEPTION or TYPE.
        header: the tag and the reference to the class, with the number of fields if there are any.
        fields: the names of the fields in their order, or of what a built-in exception keeps by itself.
        prefixes: each field's name as it is written before the field's value.
        names: the fields, for comparing with an instance's dictionary.
        hidden: slots that are no fields. An object that uses one is not what its fields say; for an exception
            they are attributes.
    """

    tag: int
    header: bytes
    fields: tuple[str, ...] = ()
    prefixes: tuple[bytes, ...] = ()
    names: frozenset[str] = frozenset()
    hidden: tuple[str, ...] = ()


@lru_cache(maxsize=_MOST_CLASSES)
def plan_class(cls: type[Any], main_module: str | None) -> ClassPlan | None:
    """Return how instances of a class are written, or None when only cloudpickle can do that.

    Args:
        cls: the exact type of a value.
        main_module: the name that stands for the module `__main__`, or None when none does.
    """
    if issubclass(cls, type):
        return ClassPlan(tags.TYPE, bytes([tags.TYPE]))
    reference = refer_to(cls, main_module)
    if reference is None:
        return None
    if issubclass(cls, Enum):
        tag = tags.FLAG if issubclass(cls, Flag) else tags.ENUM
        return ClassPlan(tag, _format_header(tag, reference))
    if _has_hooks(cls):
        return None
    if issubclass(cls, BaseException):
        header = _format_header(tags.EXCEPTION, reference)
        return ClassPlan(tags.EXCEPTION, header, builtin_attributes(cls), hidden=list_slots(cls))
    names = namedtuple_fields(cls)
    if names is not None:
        return _plan_fields(tags.NAMEDTUPLE, reference, names, ())
    names = dataclass_fields(cls)
    if names is None:
        return None
    hidden = tuple(slot for slot in list_slots(cls) if slot not in names)
    return _plan_fields(tags.DATACLASS, reference, names, hidden)


def refer_to(cls: type[Any], main_module: str | None) -> tuple[str, str] | None:
    """Return the module and qualified name by which a class can be found again, or None."""
    module, qualname = cls.__module__, cls.__qualname__
    if find_class(sys.modules.get(module), qualname) is not cls:
        return None
    if module == MAIN:
        return None if main_module is None else (main_module, qualname)
    return module, qualname


def find_class(module: object, qualname: str) -> object:
    """Return what a dotted name means in a module, or None."""
    found = module
    for part in qualname.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def solid_base(cls: type[Any]) -> type:
    """Return the nearest base that is built into the interpreter: the one that lays out instances."""
    return next(base for base in cls.__mro__ if not base.__flags__ & _HEAP_TYPE)


def namedtuple_fields(cls: type[Any]) -> tuple[str, ...] | None:
    """Return the fields of a named tuple's class, or None for any other class."""
    names: object = getattr(cls, "_fields", None)
    if solid_base(cls) is not tuple or not isinstance(names, tuple):
        return None
    checked = tuple(name for name in cast("tuple[object, ...]", names) if isinstance(name, str))
    return checked if len(checked) == len(cast("tuple[object, ...]", names)) else None


def dataclass_fields(cls: type[Any]) -> tuple[str, ...] | None:
    """Return the fields of a dataclass whose instances are nothing but a dictionary and slots, or None."""
    if not is_dataclass(cls) or solid_base(cls) is not object:
        return None
    most = object.__basicsize__ + _POINTER_BYTES * (len(list_slots(cls)) + 2)
    if cls.__basicsize__ > most or cls.__itemsize__:
        return None
    return tuple(field.name for field in fields(cls))


def builtin_attributes(cls: type[BaseException]) -> tuple[str, ...]:
    """Return what instances of an exception's class keep outside arguments, dictionary and slots."""
    return next((names for base, names in BUILTIN_ATTRIBUTES.items() if issubclass(cls, base)), ())


def _plan_fields(
    tag: int, reference: tuple[str, str], names: tuple[str, ...], hidden: tuple[str, ...]
) -> ClassPlan:
    header = bytearray(_format_header(tag, reference))
    append_varint(header, len(names))
    prefixes: list[bytes] = []
    for name in names:
        prefix = bytearray()
        append_text(prefix, name)
        prefixes.append(bytes(prefix))
    return ClassPlan(tag, bytes(header), names, tuple(prefixes), frozenset(names), hidden)


def _format_header(tag: int, reference: tuple[str, str]) -> bytes:
    header = bytearray([tag])
    append_text(header, reference[0])
    append_text(header, reference[1])
    return bytes(header)


def _has_hooks(cls: type[Any]) -> bool:
    """Whether a class says itself how to pickle its instances or how to read their attributes."""
    if cls in copyreg.dispatch_table:
        return True
    for base in cls.__mro__:
        if not base.__flags__ & _HEAP_TYPE:
            continue
        for hook in _HOOKS:
            own: object = vars(base).get(hook)
            if own is not None and getattr(own, "__module__", None) not in _GENERATORS:
                return True
    return False


def list_slots(cls: type[Any]) -> tuple[str, ...]:
    """Return the attributes that a class and its bases keep in slots, by the names to read them with."""
    found: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        slots: object = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else tuple(_texts(slots)):
            if slot in ("__dict__", "__weakref__"):
                continue
            private = slot.startswith("__") and not slot.endswith("__")
            owner = base.__name__.lstrip("_")
            found[f"_{owner}{slot}" if private and owner else slot] = None
    return tuple(found)


def _texts(slots: object) -> list[str]:
    try:
        return [slot for slot in cast("Iterable[object]", slots) if isinstance(slot, str)]
    except TypeError:
        return []

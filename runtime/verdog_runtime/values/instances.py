"""Instances: how objects of classes are written by reference to their class."""

import sys
from enum import Enum, Flag
from typing import cast

from verdog_objects.varint import append_varint
from verdog_runtime.values import tags
from verdog_runtime.values.classes import TYPING_NOTE, ClassPlan, plan_class, refer_to
from verdog_runtime.values.errors import UnserializableValue
from verdog_runtime.values.tags import append_int, append_text
from verdog_runtime.values.writer import Writer, put, put_blob

_read = object.__getattribute__


def put_instance(writer: Writer, value: object, depth: int) -> None:
    """Append a value whose exact type the format does not know by itself."""
    plan = plan_class(type(value), writer.main_module)
    if plan is None:
        _put_zone_or_blob(writer, value)
        return
    if depth >= writer.guard and writer.stop(value, depth):
        return
    if plan.tag == tags.DATACLASS:
        done = _put_dataclass(writer, value, depth, plan)
    elif plan.tag == tags.ENUM:
        done = _put_member(writer, cast("Enum", value), plan)
    elif plan.tag == tags.FLAG:
        done = _put_flag(writer, cast("Flag", value), plan)
    elif plan.tag == tags.NAMEDTUPLE:
        done = _put_namedtuple(writer, cast("tuple[object, ...]", value), depth, plan)
    elif plan.tag == tags.EXCEPTION:
        done = _put_exception(writer, cast("BaseException", value), depth, plan)
    else:
        done = _put_class(writer, cast("type", value), plan)
    if not done:
        put_blob(writer, value)


def _put_dataclass(writer: Writer, value: object, depth: int, plan: ClassPlan) -> bool:
    try:
        parts = [_read(value, name) for name in plan.fields]
    except AttributeError:
        return False
    own: dict[str, object] | None = getattr(value, "__dict__", None)
    if own and not plan.names.issuperset(own) and not plan.names.issuperset(own.keys() - {TYPING_NOTE}):
        return False
    if plan.hidden and _read_slots(value, plan.hidden):
        return False
    _put_fields(writer, parts, depth, plan)
    return True


def _read_slots(value: object, names: tuple[str, ...]) -> dict[str, object]:
    """Return the slots that are in use."""
    used: dict[str, object] = {}
    for name in names:
        try:
            used[name] = _read(value, name)
        except AttributeError:
            continue
    return used


def _put_namedtuple(writer: Writer, value: tuple[object, ...], depth: int, plan: ClassPlan) -> bool:
    if len(value) != len(plan.fields) or getattr(value, "__dict__", None):
        return False
    _put_fields(writer, list(value), depth, plan)
    return True


def _put_fields(writer: Writer, parts: list[object], depth: int, plan: ClassPlan) -> None:
    out = writer.out
    out += plan.header
    encoders, other = writer.encoders, writer.other
    depth += 1
    index = 0
    try:
        for part in parts:
            out += plan.prefixes[index]
            encoders.get(type(part), other)(writer, part, depth)
            index += 1
    except UnserializableValue as error:
        raise error.below(f".{plan.fields[index]}") from error.__cause__
    writer.check_size()


def _put_member(writer: Writer, value: Enum, plan: ClassPlan) -> bool:
    name = value.name
    if type(value).__members__.get(name) is not value:
        return False
    writer.out += plan.header
    append_text(writer.out, name)
    return True


def _put_flag(writer: Writer, value: Flag, plan: ClassPlan) -> bool:
    number: object = value.value
    if type(number) is not int:
        return False
    writer.out += plan.header
    append_int(writer.out, number)
    return True


def _put_class(writer: Writer, value: type, plan: ClassPlan) -> bool:
    reference = refer_to(value, writer.main_module)
    if reference is None:
        return False
    writer.out += plan.header
    append_text(writer.out, reference[0])
    append_text(writer.out, reference[1])
    return True


def _put_exception(writer: Writer, value: BaseException, depth: int, plan: ClassPlan) -> bool:
    attributes: dict[str, object] = {}
    for name in plan.fields:
        attribute: object = getattr(value, name, None)
        if attribute is not None:
            attributes[name] = attribute
    attributes.update(_read_slots(value, plan.hidden))
    attributes.update(value.__dict__)
    writer.out += plan.header
    writer.within.add(id(value))
    depth += 1
    step = ".args"
    try:
        put(writer, value.args, depth)
        step = ""
        _put_attributes(writer, attributes, depth)
        writer.out.append(value.__suppress_context__)
        step = ".__cause__"
        cause = value.__cause__
        put(writer, None if id(cause) in writer.within else cause, depth)
        _put_context(writer, value.__context__, depth)
    except UnserializableValue as error:
        raise error.below(step) from error.__cause__
    finally:
        writer.within.discard(id(value))
    return True


def _put_attributes(writer: Writer, attributes: dict[str, object], depth: int) -> None:
    append_varint(writer.out, len(attributes))
    name = ""
    try:
        for name, part in attributes.items():
            append_text(writer.out, name)
            put(writer, part, depth)
    except UnserializableValue as error:
        raise error.below(f".{name}") from error.__cause__


def _put_context(writer: Writer, context: BaseException | None, depth: int) -> None:
    """Append what was being handled when an exception was raised, if that can be done safely.

    The context is a hint for readers, like the traceback, which is not kept at all. It must not make a value
    unsafe.
    """
    if context is None or id(context) in writer.within:
        writer.out.append(tags.NONE)
        return
    mark, blobs = len(writer.out), writer.blobs
    writer.blobs = False
    try:
        put(writer, context, depth)
        safe = not writer.blobs
    except UnserializableValue:
        safe = False
    if not safe:
        del writer.out[mark:]
        writer.out.append(tags.NONE)
    writer.blobs = blobs


def _put_zone_or_blob(writer: Writer, value: object) -> None:
    zoneinfo = sys.modules.get("zoneinfo")
    if zoneinfo is not None and type(value) is zoneinfo.ZoneInfo:
        key: object = getattr(value, "key", None)
        if isinstance(key, str):
            writer.out.append(tags.ZONE)
            append_text(writer.out, key)
            return
    put_blob(writer, value)

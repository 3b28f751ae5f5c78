"""Restoring: a recorded state turned back into a frame of this process."""

from collections.abc import Iterator
from dataclasses import dataclass

from verdog_objects.manifest import iterate
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectReader
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.interpreter.frame import Frame
from verdog_runtime.interpreter.params import Registry, require_declared
from verdog_runtime.interpreter.plan import Plan
from verdog_runtime.interpreter.snapshot import format_key, restore_snapshot
from verdog_runtime.interpreter.state import stateful_nodes
from verdog_runtime.interpreter.statetree import decode_key
from verdog_runtime.values import Anchors, Resolver, decode_value
from verdog_runtime.values.errors import Located


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A machine's position as it was recorded.

    Attributes:
        remaining: transitions left in the budget of the whole run.
    """

    frame: Frame
    remaining: int
    registry: Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How stored values become objects here.

    Attributes:
        anchors: the directories that stored paths are put below.
        main_module: the name that stands for `__main__`, or None.
        trusted: values that may run code when they are decoded are allowed.
    """

    anchors: Anchors
    main_module: str | None
    trusted: bool


def restore_state_tree(
    reader: ObjectReader, root: Oid, plan: Plan, definition: AnyWorkflow, decoding: Decoding
) -> Restored:
    """Decode a recorded state for a graph.

    Raises:
        ValueError: an address, a type or a value does not fit the graph.
        TypeError: a node's value is not exactly of its declared state type.
        TypeMismatch: the class of a value is not what it was.
        UnrestorableValue: the code of a value raises while it is made again.
        UntrustedValue: a value could run code, and is not trusted.
        Corrupt: an object is missing or damaged.
    """
    resolver = Resolver(
        _declared_types(plan, definition),
        project=decoding.anchors.project,
        main_module=decoding.main_module,
        trusted=decoding.trusted,
    )
    values: dict[str, object] = {}
    for key, entry in iterate(reader, root):
        address, payload = decode_key(key), reader.get(Kind.VALUE, entry.oid)
        try:
            values[address] = decode_value(payload, anchors=decoding.anchors, resolver=resolver)
        except Located as error:
            raise error.below(format_key(address)) from error.__cause__
    frame, remaining, registry = restore_snapshot(plan, values)
    require_declared(definition.params_types, registry, definition.id)
    return Restored(frame=frame, remaining=remaining, registry=registry)


def _declared_types(plan: Plan, definition: AnyWorkflow) -> Iterator[type]:
    for node in stateful_nodes(plan.graph):
        yield node.state_type
    for declared in (definition.input_type, *definition.params_types.values()):
        if isinstance(declared, type):
            yield declared

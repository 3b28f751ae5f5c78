from dataclasses import KW_ONLY, InitVar, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.runtime.pieces import GRAPH, graph
from verdog_runtime.declarations import NodeDefinition, Python
from verdog_runtime.interpreter import validate_graph


def node(**fields: Any) -> NodeDefinition[Any, Any]:
    return NodeDefinition(
        **{"id": "odd", "name": "Odd", "operation": Python(), "state_type": Plain, **fields}
    )


class Color(Enum):
    RED = 1


@dataclass(frozen=True, slots=True)
class Plain:
    number: int = 0
    text: str = "x"
    path: Path | None = None
    color: Color = Color.RED
    pair: tuple[int, ...] = (1, 2)

    def doubled(self) -> int:
        return self.number * 2


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordOnly:
    number: int = 0
    other: int = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True)
class PartlyKeywordOnly:
    _: KW_ONLY
    number: int = 0


@dataclass(frozen=True, slots=True, weakref_slot=True)
class WeaklyReferable:
    number: int = 0


@dataclass(frozen=True)
class HandSlotted:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Nested:
    inner: Plain = Plain()


@pytest.mark.parametrize(
    "kind", [Plain, Empty, KeywordOnly, PartlyKeywordOnly, WeaklyReferable, HandSlotted, Nested]
)
def test_a_flat_frozen_record_of_defaults_is_a_state_type(kind: Any) -> None:
    validate_graph(graph(nodes=(*GRAPH.nodes, node(state_type=kind))))


class NoDataclass:
    pass


@dataclass(slots=True)
class NotFrozen:
    number: int = 0


@dataclass(frozen=True)
class NotSlotted:
    number: int = 0


@dataclass(frozen=True, slots=True)
class Inheriting(Plain):
    more: int = 0


class UndecoratedChild(Plain):
    __slots__ = ()


class Mixin:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Mixed(Mixin):
    number: int = 0


@dataclass(frozen=True, slots=True, init=False)
class NoInit:
    number: int = 0


@dataclass(frozen=True, slots=True)
class OwnInit:
    number: int = 0

    def __init__(self, number: int = 0) -> None:
        object.__setattr__(self, "number", number)


@dataclass(frozen=True, slots=True)
class WithInitVar:
    number: int = 0
    seed: InitVar[int] = 0


@dataclass(frozen=True, slots=True)
class WithClassVar:
    number: int = 0
    shared: ClassVar[int] = 0


@dataclass(frozen=True)
class WithDict:
    __slots__ = ("__dict__",)


@dataclass(frozen=True)
class WithMoreSlots:
    __slots__ = "extra"


@dataclass(frozen=True, slots=True)
class NoDefault:
    number: int


@dataclass(frozen=True, slots=True)
class Factory:
    items: tuple[int, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class NoFieldInit:
    number: int = field(default=0, init=False)


@dataclass(frozen=True, slots=True)
class NoFieldRepr:
    number: int = field(default=0, repr=False)


@dataclass(frozen=True, slots=True)
class NoFieldCompare:
    number: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FieldHash:
    number: int = field(default=0, hash=True)


@dataclass(frozen=True, slots=True)
class FieldMetadata:
    number: int = field(default=0, metadata={"unit": "s"})


@dataclass(frozen=True, slots=True)
class MutableDefault:
    items: Any = range(3)


@dataclass(frozen=True, slots=True)
class DeepMutableDefault:
    items: Any = ((), (bytearray(),))


@dataclass(frozen=True, slots=True)
class Raising:
    number: int = 0

    def __post_init__(self) -> None:
        raise LookupError("never")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (NoDataclass, "dataclass"),
        (int, "dataclass"),
        (Plain(), "dataclass"),
        (None, "dataclass"),
        (UndecoratedChild, "dataclass"),
        (NotFrozen, "frozen"),
        (NotSlotted, "slots"),
        (WithDict, "slots"),
        (WithMoreSlots, "slots"),
        (Inheriting, "inherit"),
        (Mixed, "inherit"),
        (NoInit, "__init__"),
        (OwnInit, "__init__"),
        (WithInitVar, "plain fields"),
        (WithClassVar, "plain fields"),
        (NoDefault, "'number' a default"),
        (Factory, "factory"),
        *(
            (kind, "customise")
            for kind in (NoFieldInit, NoFieldRepr, NoFieldCompare, FieldHash, FieldMetadata)
        ),
        (MutableDefault, "immutable default"),
        (DeepMutableDefault, "immutable default"),
        (Raising, "without arguments: never"),
    ],
)
def test_any_other_state_type_is_a_type_error(kind: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=f"node 'odd'.*{reason}"):
        validate_graph(graph(nodes=(*GRAPH.nodes, node(state_type=kind))))


def test_a_node_class_may_do_without_slots() -> None:
    class Relaxed(NodeDefinition[Any, Any]):
        slotted_state = False

    def with_state(kind: Any) -> Any:
        odd = Relaxed(id="odd", name="Odd", operation=Python(), state_type=kind)
        return graph(nodes=(*GRAPH.nodes, odd))

    validate_graph(with_state(NotSlotted))
    validate_graph(with_state(Plain))
    for kind in (WithDict, NotFrozen, NoDefault):
        with pytest.raises(TypeError):
            validate_graph(with_state(kind))

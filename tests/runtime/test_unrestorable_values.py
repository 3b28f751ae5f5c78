"""Values whose own code raises when a checkpoint is restored."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.runtime.graphs import WORK, Count, edge, graph, workflow
from tests.runtime.recorded import fork, opened, refused, run
from verdog_objects.errors import NotRestorable
from verdog_runtime.declarations import NodeDefinition, Python, Success
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.values import Resolver, TypeMismatch, UnrestorableValue, decode_value, encode_value


class Switch:
    """Whether the code of the values below raises, and what."""

    error: ClassVar[BaseException | None] = None

    @classmethod
    def check(cls) -> None:
        if cls.error is not None:
            raise cls.error


@pytest.fixture(autouse=True)
def switch(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Lets the code of the values below raise from now on."""
    return lambda error: monkeypatch.setattr(Switch, "error", error)


class Stateful:
    def __init__(self) -> None:
        self.x = 1

    def __getstate__(self) -> dict[str, int]:
        return {"x": 1}

    def __setstate__(self, state: dict[str, int]) -> None:
        Switch.check()


class Reducing:
    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return remake, ()


def remake() -> object:
    Switch.check()
    return Reducing()


@dataclass(frozen=True)
class Hashed:
    n: int = 1

    def __hash__(self) -> int:
        Switch.check()
        return 1


VALUES: dict[str, Callable[[], object]] = {
    "__setstate__": Stateful,
    "__reduce__": Reducing,
    "__hash__ in a set": lambda: frozenset({Hashed()}),
    "__hash__ of a key": lambda: {Hashed(): 1},
}


def stopped(project: Path, make: Callable[[], object]) -> Any:
    """A run that failed with such a value in transit."""

    def first(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output={"parts": [1, make()]}, state=state)

    def second(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        raise ValueError("boom")

    more: NodeDefinition[Any, Any] = NodeDefinition(
        id="more", name="More", operation=Python(), state_type=Count
    )
    definition = workflow(
        graph(
            edge("enter", "work", first),
            edge("work", "more", second),
            edge("more", "exit"),
            nodes=(WORK, more),
        )
    )
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    return definition


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("raised", [RuntimeError("no\nway"), SystemExit(3)], ids=repr)
def test_resume_names_the_part_whose_code_raises_and_changes_nothing(
    project: Path, switch: Callable[[BaseException], None], name: str, raised: BaseException
) -> None:
    definition = stopped(project, VALUES[name])
    switch(raised)
    error = refused(project, definition, UnrestorableValue)
    assert isinstance(error, NotRestorable)
    assert error.code == "checkpoint.value_unrestorable"
    assert error.path == "transit['parts'][1]"
    assert str(error).startswith("transit['parts'][1]: the stored ")
    assert type(raised).__name__ in str(error)
    assert "\n" not in str(error)


def test_fork_names_it_too_and_leaves_nothing(project: Path, switch: Callable[[BaseException], None]) -> None:
    definition = stopped(project, Stateful)
    switch(RuntimeError("no way"))
    with pytest.raises(UnrestorableValue, match=r"transit\['parts'\]\[1\]"):
        fork(project, definition, 2)
    assert not (project / "forked").exists()
    with opened(project) as repository:
        assert len(list(repository.runs())) == 1


def test_once_the_code_is_mended_the_run_goes_on(
    project: Path, switch: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = stopped(project, Stateful)
    switch(RuntimeError("no way"))
    refused(project, definition, UnrestorableValue)
    monkeypatch.setattr(Switch, "error", None)
    with pytest.raises(ValueError, match="boom"):
        Dispatcher(project_root=project).resume(definition, output_dir=project / "out")


def test_a_class_that_is_gone_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = encode_value({"a": (Hashed(), 2)}).payload
    monkeypatch.delitem(globals(), "Hashed")
    with pytest.raises(TypeMismatch, match=r"^\['a'\]\[0\]: .*:Hashed: ") as caught:
        decode_value(payload, resolver=Resolver(trusted=True))
    assert caught.value.path == "['a'][0]"


def test_an_enumeration_whose_code_raises_is_named(switch: Callable[[BaseException], None]) -> None:
    class Bits(enum.Flag):
        ONE = 1

        @classmethod
        def _missing_(cls, value: object) -> Any:
            Switch.check()
            return super()._missing_(value)

    Bits.__qualname__, Bits.__module__ = "Bits", __name__
    globals()["Bits"] = Bits
    try:
        payload = encode_value([Bits(0)]).payload
        del Bits._value2member_map_[0]
        switch(RuntimeError("no way"))
        with pytest.raises(UnrestorableValue, match=r"\[0\]: .*Bits.* RuntimeError: no way"):
            decode_value(payload, resolver=Resolver(trusted=True))
    finally:
        del globals()["Bits"]

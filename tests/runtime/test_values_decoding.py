import random
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, make_dataclass
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.valuetypes import Access, Colour, Pair, Plain, Point
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_runtime.values import (
    Anchors,
    Resolver,
    TypeMismatch,
    UntrustedValue,
    decode_neutral,
    decode_value,
    encode_value,
    format_neutral,
)


@dataclass(frozen=True)
class Changing:
    first: int
    second: int


@pytest.fixture
def module() -> Iterator[ModuleType]:
    made = ModuleType("values_made_for_a_test")
    sys.modules[made.__name__] = made
    yield made
    sys.modules.pop(made.__name__, None)


def plant(module: ModuleType, name: str, *fields: str) -> type:
    made = make_dataclass(name, fields, frozen=True)
    made.__module__ = module.__name__
    setattr(module, name, made)
    return made


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (("a",), "without b"),
        (("a", "b", "c"), "with the new c"),
        (("a", "c"), "without b and with the new c"),
        (("b", "a"), "in the order b, a"),
    ],
)
def test_a_dataclass_whose_fields_changed_is_named(
    module: ModuleType, fields: tuple[str, ...], problem: str
) -> None:
    payload = encode_value([plant(module, "Changed", "a", "b")(1, 2)]).payload
    plant(module, "Changed", *fields)
    with pytest.raises(
        TypeMismatch, match=f"values_made_for_a_test:Changed: its fields were a, b; now it is {problem}"
    ):
        decode_value(payload)


def test_a_type_that_is_gone_is_named(module: ModuleType) -> None:
    payload = encode_value(plant(module, "Gone", "a")(1)).payload
    del module.Gone
    with pytest.raises(TypeMismatch, match="values_made_for_a_test:Gone"):
        decode_value(payload)


def test_a_type_that_became_something_else_is_named(module: ModuleType) -> None:
    payload = encode_value(plant(module, "Other", "a")(1)).payload
    module.Other = type("Other", (), {})  # type: ignore[attr-defined]
    with pytest.raises(TypeMismatch, match="it is no dataclass"):
        decode_value(payload)


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        (Colour.RED, b"\x03RED", b"\x03TED"),
        (Access.READ, b"\x01\x01", b"\x01\x10"),
        (Colour.RED, b"Colour", b"Access"),
        (Pair(1), b"Pair", b"Base"),
        (Point(1), b"Point", b"Plain"),
        (ValueError(1), b"ValueError", b"memoryview"),
        (ValueError(1), b"ValueError", b"zip_string"),
    ],
)
def test_what_a_reference_no_longer_fits_is_a_mismatch(value: object, old: bytes, new: bytes) -> None:
    payload = encode_value(value).payload.replace(old, new)
    with pytest.raises(TypeMismatch):
        decode_value(payload)


def test_a_blob_is_refused_without_trust() -> None:
    payload = encode_value([Plain(1)]).payload
    with pytest.raises(UntrustedValue, match="cloudpickle"):
        decode_value(payload)
    assert decode_value(payload, resolver=Resolver(trusted=True)) == [Plain(1)]


def test_a_blob_that_does_not_load_is_named(module: ModuleType) -> None:
    module.Vanishing = type("Vanishing", (), {"__module__": module.__name__})  # type: ignore[attr-defined]
    payload = encode_value(module.Vanishing()).payload
    del module.Vanishing
    with pytest.raises(TypeMismatch, match="does not load here"):
        decode_value(payload, resolver=Resolver(trusted=True))


def test_looking_at_a_blob_runs_nothing() -> None:
    payload = encode_value(Plain(1)).payload.replace(b"Plain", b"Pwned")
    assert "cloudpickle of" in format_neutral(decode_neutral(payload))


def reference_to(module: str, name: str) -> bytes:
    return encode_value(int).payload.replace(
        b"\x08builtins\x03int", bytes([len(module)]) + module.encode() + bytes([len(name)]) + name.encode()
    )


def test_a_module_outside_the_project_is_not_imported_without_trust() -> None:
    payload = reference_to("this", "Thing")
    assert "this" not in sys.modules
    with pytest.raises(UntrustedValue, match="outside the project"):
        decode_value(payload)
    assert "this" not in sys.modules


def test_a_module_of_the_project_is_imported_when_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lazy_values.py").write_text("class Thing:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path / "src")
    payload = reference_to("lazy_values", "Thing")
    with pytest.raises(UntrustedValue):
        decode_value(payload, resolver=Resolver(project=str(tmp_path / "elsewhere")))
    found = decode_value(payload, resolver=Resolver(project=str(tmp_path)))
    assert isinstance(found, type)
    assert found.__module__ == "lazy_values"
    monkeypatch.delitem(sys.modules, "lazy_values")


def test_a_module_that_does_not_import_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_values.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(TypeMismatch, match=r"broken_values:Thing.*ZeroDivisionError"):
        decode_value(reference_to("broken_values", "Thing"), resolver=Resolver(project=str(tmp_path)))


def test_a_declared_type_comes_before_what_modules_hold() -> None:
    declared = type("Point", (Point,), {"__module__": Point.__module__, "__qualname__": "Point"})
    back = decode_value(encode_value(Point(1)).payload, resolver=Resolver([declared]))
    assert type(back) is declared


def test_a_script_and_its_module_read_each_others_values(tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text(
        "import sys\n"
        "from dataclasses import dataclass\n"
        "from verdog_runtime.values import *\n"
        "@dataclass(frozen=True)\n"
        "class State:\n"
        "    n: int\n"
        "if __name__ == '__main__':\n"
        "    payload = encode_value(State(1), main_module='flow').payload\n"
        "    assert decode_value(payload, resolver=Resolver(main_module='flow')) == State(1)\n"
        "    sys.stdout.buffer.write(payload)\n"
    )
    run = [
        sys.executable,
        "-c",
        "import flow, sys; from verdog_runtime.values import *; "
        "sys.stdout.buffer.write(encode_value(flow.State(1)).payload)",
    ]
    by_script = subprocess.run(
        [sys.executable, "flow.py"], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    by_module = subprocess.run(run, cwd=tmp_path, capture_output=True, check=True).stdout
    assert by_script == by_module
    assert format_neutral(decode_neutral(by_script)) == "State(n=1)"


def test_paths_move_with_the_run_and_the_project() -> None:
    here = Anchors(output="/a/project/out", project="/a/project")
    there = Anchors(output="/elsewhere/out2", project="/b")
    value = [
        Path("/a/project/out"),
        Path("/a/project/out/x/y"),
        Path("/a/project/src/m.py"),
        Path("/a/project"),
        Path("/a/projection"),
        Path("/a/project/out/../other"),
        Path("relative"),
        PurePosixPath("/a/project/out/pure"),
        "/a/project/out/text",
    ]
    payload = encode_value(value, anchors=here).payload
    assert decode_value(payload, anchors=here) == value
    assert decode_value(payload, anchors=there) == [
        Path("/elsewhere/out2"),
        Path("/elsewhere/out2/x/y"),
        Path("/b/src/m.py"),
        Path("/b"),
        Path("/a/projection"),
        Path("/a/project/out/../other"),
        Path("relative"),
        PurePosixPath("/a/project/out/pure"),
        "/a/project/out/text",
    ]
    assert encode_value(decode_value(payload, anchors=there), anchors=there).payload == payload


def test_the_root_directory_can_be_an_anchor() -> None:
    anchors = Anchors(output="/", project="")
    payload = encode_value([Path("/"), Path("/x")], anchors=anchors).payload
    assert decode_value(payload, anchors=anchors) == [Path("/"), Path("/x")]
    assert decode_value(payload, anchors=Anchors(output="/o")) == [Path("/o"), Path("/o/x")]


def test_a_path_whose_anchor_is_not_known_is_refused() -> None:
    payload = encode_value(Path("/o/x"), anchors=Anchors(output="/o")).payload
    with pytest.raises(InvalidInput, match="output"):
        decode_value(payload)


class Everything(NamedTuple):
    parts: object


RICH = encode_value(
    (
        {"a": [1, -(2**70), 1.5, None, True], "b": {1, 2, 3}},
        Point(Colour.RED, Access.READ),
        Everything(Path("x")),
        ValueError("x"),
        Plain(1),
        b"bytes" * 10,
        "text" * 10,
    )
).payload


def attempt(payload: bytes) -> None:
    """Decode what may be damaged: either a value or one of the errors that say so."""
    try:
        decode_neutral(payload)
        decode_value(payload)
    except (Corrupt, TypeMismatch, UntrustedValue):
        pass


@given(st.binary(max_size=200))
def test_random_bytes_are_corrupt(data: bytes) -> None:
    attempt(data)
    attempt(b"\x01\x00" + data)


def test_a_payload_cut_short_is_corrupt() -> None:
    for size in range(len(RICH)):
        with pytest.raises(Corrupt):
            decode_neutral(RICH[:size])


def test_more_bytes_than_the_value_are_corrupt() -> None:
    with pytest.raises(Corrupt, match="ends at byte"):
        decode_neutral(RICH + b"\0")


def test_a_changed_byte_is_corrupt_or_another_value() -> None:
    source = random.Random(5)
    for position in range(len(RICH)):
        for _ in range(8):
            damaged = bytearray(RICH)
            damaged[position] = source.randrange(256)
            attempt(bytes(damaged))


def test_a_huge_length_takes_no_memory() -> None:
    lengths = (b"\xff" * 8 + b"\x7f", b"\xff\xff\xff\xff\x07", b"\xff" * 30)
    tracemalloc.start()
    try:
        for tag in range(256):
            for length in lengths:
                with pytest.raises(Corrupt):
                    decode_neutral(b"\x01\x00" + bytes([tag]) + length + b"\0" * 10)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("tag", [0x10, 0x11, 0x13, 0x18, 0x34])
def test_deep_nesting_is_corrupt(tag: int) -> None:
    with pytest.raises(Corrupt):
        decode_neutral(b"\x01\x00" + bytes([tag, 1]) * 100_000)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"\x03\x02\x00\x01", "shortest"),
        (b"\x06\x81\x00a", "longer than it needs"),
        (b"\x06\x01\xff", "UTF-8"),
        (b"\x12\x02\x03\x01\x02\x03\x01\x01", "out of order"),
        (b"\x20\x041.e5", "decimal"),
        (b"\x21\x01\x02\x01\x04", "not reduced"),
        (b"\x21\x01\x02\x01\x00", "denominator"),
        (b"\x22\x01\x00\x01\x01\x01\x00", "step"),
        (b"\x24\x00\x01\x00", "anchor"),
        (b"\x24\x02\x01\x05/etc/", "anchor"),
        (b"\x24\x02\x01\x04../x", "anchor"),
        (b"\x25\x00\x00\x01\x01", "no such date"),
        (b"\x26\x19\x00\x00\x00\x00\x00\x00\x00", "no such time"),
        (b"\x28\x01\x00\x01\xff\x01\x00", "duration"),
        (b"\x29\x00\x00", "time zone"),
        (b"\x14\x03\x01\x01\x02\x00\x00", "over its size"),
        (b"\x14\x03\x01\xff\x00", "odd size"),
        (b"\x30\x01m\x01n\x02\x01a\x00\x01a\x00", "twice"),
        (b"\x40\x01n\x00", "flags"),
        (b"\xee", "unknown tag"),
    ],
)
def test_a_value_written_in_another_way_is_corrupt(body: bytes, problem: str) -> None:
    with pytest.raises(Corrupt, match=problem):
        decode_neutral(b"\x01\x00" + body)


@pytest.mark.parametrize(
    "body",
    [
        b"\x12\x02\x03\x01\x01\x03\x01\x01",
        b"\x18\x02\x03\x01\x01\x00\x03\x01\x01\x00",
        b"\x18\x02\x03\x01\x01\x00\x02\x00",
        b"\x26\x01\x00\x00\x00\x00\x00\x00\x02",
    ],
)
def test_what_no_value_encodes_to_is_corrupt_when_it_is_built(body: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_value(b"\x01\x00" + body)


def test_an_unhashable_element_is_a_clear_error() -> None:
    with pytest.raises(TypeMismatch, match="hashed"):
        decode_value(b"\x01\x00\x12\x01\x11\x00")


def test_an_attribute_of_an_exception_cannot_change_its_class() -> None:
    payload = encode_value(ValueError()).payload
    hostile = payload.replace(
        b"\x10\x00\x00\x00\x00\x00",
        b"\x10\x00\x01\x09__class__" + encode_value(KeyError).payload[2:] + b"\0\0\0",
    )
    assert hostile != payload
    back = decode_value(hostile)
    assert type(back) is ValueError


def test_nan_keeps_its_bits() -> None:
    nan = struct.unpack(">d", b"\x7f\xf8\x00\x00\x00\x00\x12\x34")[0]
    back = decode_value(encode_value(nan).payload)
    assert struct.pack(">d", back) == b"\x7f\xf8\x00\x00\x00\x00\x12\x34"

import datetime as dt
import os
import subprocess
import sys
import threading
import uuid
import zoneinfo
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType

import pytest

from tests.runtime.valuetypes import (
    EXAMPLES_OF_MAPPINGS,
    Access,
    Bits,
    Box,
    Coded,
    Colour,
    Derived,
    Hooked,
    Level,
    Loose,
    LoosePair,
    Mood,
    MyDict,
    MyInt,
    MyList,
    MyStr,
    Outer,
    Pair,
    Plain,
    Point,
    Reduced,
    Slotted,
    SlottedError,
    Stateful,
    Strange,
    Unequal,
    same,
)
from verdog_runtime.values import (
    Resolver,
    UnserializableValue,
    decode_neutral,
    decode_value,
    encode_value,
    find_blobs,
    format_neutral,
)

TRUSTED = Resolver(trusted=True)


def roundtrip(value: object) -> object:
    return decode_value(encode_value(value).payload, resolver=TRUSTED)


SAFE = [
    None,
    True,
    False,
    0,
    -1,
    127,
    128,
    -128,
    -129,
    2**80,
    -(2**80),
    10**5000,
    0.0,
    -0.0,
    float("nan"),
    float("inf"),
    -float("inf"),
    5e-324,
    1 + 2j,
    complex(-0.0, float("nan")),
    "",
    "é\0\U0001f600",
    "lone \udcff and \ud83d\ude00 apart",
    b"",
    bytes(range(256)) * 3,
    (),
    (1, (2, ("3",))),
    [],
    [[], [None]],
    {},
    set(),
    {1, "1", (1,), b"1", None, 1.5},
    frozenset({frozenset({1}), frozenset()}),
    deque([1, 2, 3], maxlen=3),
    deque(["a"]),
    *EXAMPLES_OF_MAPPINGS,
    Counter(),
    OrderedDict(),
    MappingProxyType({}),
    Decimal("1.10"),
    Decimal("-0"),
    Decimal("NaN123"),
    Decimal("-sNaN"),
    Decimal("-Infinity"),
    Decimal("1E+99999"),
    Fraction(-3, 7),
    Fraction(2**90, 3),
    range(5),
    range(10, -(2**70), -3),
    uuid.UUID(int=7),
    uuid.UUID(int=2**127, is_safe=uuid.SafeUUID.unsafe),
    PurePosixPath("/a/../b"),
    PurePosixPath("."),
    PureWindowsPath(r"C:\a\b"),
    Path("/tmp/with space/\udcff"),
    Path("relative/./x"),
    Path("//two"),
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
    dt.time(1, 2, 3, 4),
    dt.time(1, 2, fold=1, tzinfo=dt.UTC),
    dt.datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
    dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=-5, seconds=1))),
    dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET")),
    dt.datetime.max,
    dt.timedelta.min,
    dt.timedelta.max,
    dt.timedelta(microseconds=-1),
    dt.UTC,
    zoneinfo.ZoneInfo("UTC"),
    Colour.RED,
    Colour.ALSO_RED,
    Mood.WILD,
    Level.HIGH,
    Access.READ | Access.WRITE,
    Access(0),
    Bits.ONE | 8,
    Point(1, Point("x")),
    Slotted("s", (1,)),
    Loose([1, 2]),
    Box(3),
    Derived(1, 2),
    Outer.Inner(1),
    Pair(1, [2]),
    Pair,
    int,
    Outer.Inner,
    type,
    Colour,
    ValueError("x", 1),
    KeyError("k"),
    OSError(2, "gone", "file"),
    FileNotFoundError(2, "gone", "a", None, "b"),
    ImportError("no", name="n", path="p"),
    ModuleNotFoundError("no", name="n"),
    SyntaxError("bad", ("f", 1, 2, "text")),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad byte"),
    StopIteration(5),
    SystemExit(3),
    KeyboardInterrupt(),
    ExceptionGroup("two", [ValueError(1), ExceptionGroup("in", [KeyError(2)])]),
    Coded("boom", code=7),
    SlottedError(("a", 1)),
    Strange(5, more="text"),
]


@pytest.mark.parametrize("value", SAFE, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_with_its_types(value: object) -> None:
    encoded = encode_value(value)
    assert encoded.unsafe == ()
    back = decode_value(encoded.payload)
    assert same(back, value)
    assert isinstance(value, int | Decimal) or str(back) == str(value) or isinstance(value, set | frozenset)
    assert encode_value(back).payload == encoded.payload


def test_what_built_in_exceptions_keep_by_themselves_comes_back() -> None:
    back = roundtrip(FileNotFoundError(2, "gone", "a", None, "b"))
    assert isinstance(back, FileNotFoundError)
    assert (back.errno, back.strerror, back.filename, back.filename2) == (2, "gone", "a", "b")


def test_an_exception_comes_back_without_its_init() -> None:
    back = roundtrip(Coded("boom", code=7))
    assert isinstance(back, Coded)
    assert (back.args, back.code, str(back)) == (("boom",), 7, "boom")


def test_slots_of_an_exception_come_back() -> None:
    back = roundtrip(SlottedError("there"))
    assert isinstance(back, SlottedError)
    assert (back.place, back.reveal()) == ("there", None)


def test_notes_and_causes_come_back() -> None:
    error = ValueError("outer")
    error.add_note("first")
    error.add_note("second")
    error.__cause__ = Coded("inner", code=1)
    back = roundtrip(error)
    assert isinstance(back, ValueError)
    assert back.__notes__ == ["first", "second"]
    assert same(back.__cause__, error.__cause__)
    assert back.__suppress_context__


def test_a_context_that_cannot_be_kept_safely_is_left_out() -> None:
    error, kept = ValueError("outer"), KeyError("kept")
    error.__context__ = kept
    kept.__context__ = ValueError(threading.Lock())
    back = roundtrip(error)
    assert isinstance(back, ValueError)
    assert isinstance(back.__context__, KeyError)
    assert back.__context__.__context__ is None


def test_exceptions_that_lead_in_a_circle_end() -> None:
    one, two = ValueError(1), ValueError(2)
    one.__context__, two.__context__, one.__cause__, two.__cause__ = two, one, two, one
    back = roundtrip(one)
    assert isinstance(back, ValueError)
    assert isinstance(back.__cause__, ValueError)
    assert back.__cause__.__cause__ is None


@pytest.mark.parametrize(
    "value",
    [MyInt(3), MyStr("s"), MyDict(a=1), MyList([1]), Plain(1), Reduced(4), bytearray(b"x"), ...],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_a_blob_and_not_narrowed(value: object) -> None:
    encoded = encode_value(value)
    assert encoded.unsafe == ("value",)
    back = decode_value(encoded.payload, resolver=TRUSTED)
    assert type(back) is type(value)
    assert back == value


def test_an_objects_own_getstate_is_honoured() -> None:
    encoded = encode_value(Stateful(1))
    assert encoded.unsafe == ("value",)
    assert decode_value(encoded.payload, resolver=TRUSTED) == Stateful(2)


def test_an_exceptions_own_reduce_is_honoured() -> None:
    assert encode_value(Hooked()).unsafe == ("value",)


def test_attributes_beside_the_fields_make_a_blob() -> None:
    value = Loose([1])
    value.__dict__["more"] = 5
    encoded = encode_value((value,))
    assert encoded.unsafe == ("value[0]",)
    back = decode_value(encoded.payload, resolver=TRUSTED)
    assert isinstance(back, tuple)
    assert back[0].__dict__ == {"items": [1], "total": 1, "more": 5}


@pytest.mark.parametrize("value", [LoosePair(1), Counter("a"), OrderedDict(a=1)])
def test_attributes_beside_the_items_make_a_blob(value: object) -> None:
    assert encode_value(value).unsafe == ()
    value.__dict__["more"] = 5  # type: ignore[index]
    assert encode_value(value).unsafe == ("value",)


def test_a_missing_field_makes_a_blob() -> None:
    value = Loose([1])
    del value.__dict__["items"]
    assert encode_value(value).unsafe == ("value",)


def test_what_typing_notes_in_an_object_is_not_part_of_it() -> None:
    assert encode_value(Box[int](3)) == encode_value(Box(3))
    assert encode_value(Counter[str]("a")) == encode_value(Counter("a"))


def test_a_class_that_cannot_be_found_by_name_makes_a_blob() -> None:
    hidden = type("Hidden", (ValueError,), {})
    assert encode_value(hidden("x")).unsafe == ("value",)
    assert encode_value(hidden).unsafe == ("value",)


def test_a_cycle_makes_a_blob_where_it_begins() -> None:
    cycle: list[object] = [1]
    cycle.append(cycle)
    encoded = encode_value({"deep": Point(1, cycle)})
    assert encoded.unsafe == ("value['deep'].y",)
    back = decode_value(encoded.payload, resolver=TRUSTED)
    assert isinstance(back, dict)
    assert back["deep"].y[1] is back["deep"].y


def test_sharing_inside_a_value_is_not_kept() -> None:
    shared: list[object] = [1]
    back = roundtrip([shared, shared])
    assert isinstance(back, list)
    assert back == [[1], [1]]
    assert back[0] is not back[1]


def test_elements_that_look_equal_stay_apart_in_a_set() -> None:
    back = roundtrip(frozenset({Unequal(1), Unequal(1), float("nan"), float("nan")}))
    assert isinstance(back, frozenset)
    assert len(back) == 4


def test_a_blob_names_its_place() -> None:
    value = {"items": [1, 2, 3, Point(lambda: 1)]}
    encoded = encode_value(value, path="input")
    assert encoded.unsafe == ("input['items'][3].x",)
    assert tuple(find_blobs(decode_neutral(encoded.payload), "input")) == encoded.unsafe


def test_what_cannot_be_kept_names_its_place_and_reason() -> None:
    value = Slotted("s", Point([0, {"k": threading.Lock()}]))
    with pytest.raises(UnserializableValue, match="lock") as caught:
        encode_value(value, path="input")
    assert caught.value.path == "input.value.x[1]['k']"


def test_a_part_of_an_exception_that_cannot_be_kept_names_its_place() -> None:
    error = ValueError(1)
    error.response = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(UnserializableValue) as caught:
        encode_value(error, path="error")
    assert caught.value.path == "error.response"


def test_an_element_of_a_set_that_cannot_be_kept_is_named() -> None:
    with pytest.raises(UnserializableValue, match=r"lock"):
        encode_value({threading.Lock()})


def test_nesting_too_deep_is_one_clear_error() -> None:
    value: object = ()
    for _ in range(10_000):
        value = (value,)
    with pytest.raises(UnserializableValue, match="200 deep"):
        encode_value(value)


def test_the_deepest_allowed_nesting_comes_back() -> None:
    value: object = dt.time(1, tzinfo=dt.timezone(dt.timedelta(hours=1), "x"))
    for _ in range(200):
        value = [value]
    assert same(roundtrip(value), value)


def test_a_value_that_unfolds_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verdog_runtime.values.tags.MAX_PAYLOAD_BYTES", 1 << 16)
    value: object = (b"seed",)
    for _ in range(60):
        value = (value, value)
    with pytest.raises(UnserializableValue, match="more than"):
        encode_value(value)


def test_dictionaries_keep_their_order() -> None:
    assert encode_value({"a": 1, "b": 2}).payload != encode_value({"b": 2, "a": 1}).payload


def test_equal_numbers_of_other_types_are_other_values() -> None:
    payloads = {encode_value(value).payload for value in (1, True, 1.0, 1 + 0j, Fraction(1), Decimal(1))}
    assert len(payloads) == 6


def test_bytes_are_the_same_in_every_process() -> None:
    script = (
        "import sys\n"
        "from decimal import Decimal\n"
        "from verdog_runtime.values import encode_value\n"
        "words = ['w%d' % i for i in range(50)]\n"
        "value = (set(words), frozenset(map(Decimal, range(50))), {w: {w} for w in words}, {str, int})\n"
        "sys.stdout.buffer.write(encode_value(value).payload)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1,), "(1,)"),
        ({"a": [None, set()]}, "{'a': [None, set()]}"),
        (Point(Colour.RED, Bits.ONE), "Point(x=Colour.RED, y=Bits(1))"),
        (deque([1], maxlen=2), "deque([1], maxlen=2)"),
        (frozenset({1}), "frozenset({1})"),
        (Path("a"), "Path('a')"),
        (int, "<class builtins:int>"),
        (ValueError("x"), "ValueError('x',)"),
    ],
)
def test_a_value_reads_like_python(value: object, text: str) -> None:
    assert format_neutral(decode_neutral(encode_value(value).payload)) == text


def test_a_number_too_long_for_python_to_write_is_shown_in_hexadecimal() -> None:
    assert format_neutral(decode_neutral(encode_value(10**5000).payload)) == hex(10**5000)


def test_showing_a_large_value_can_be_limited() -> None:
    neutral = decode_neutral(encode_value(list(range(10_000))).payload)
    assert format_neutral(neutral, limit_chars=10) == "[0, 1, 2,…"


def test_a_blob_is_shown_without_being_loaded() -> None:
    text = format_neutral(decode_neutral(encode_value(Plain(1)).payload))
    assert text.startswith("<cloudpickle of tests.runtime.valuetypes:Plain, ")

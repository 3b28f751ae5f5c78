"""The bytes of values, frozen by format 1. A change here breaks every store that exists."""

import datetime as dt
import uuid
import zoneinfo
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType

import pytest

from tests.runtime.valuetypes import Access, Coded, Colour, Pair, Slotted
from verdog_runtime.values import Anchors, Resolver, decode_value, encode_value

ANCHORS = Anchors(output="/work/out", project="/work")
MODULE = (b"\x18" + b"tests.runtime.valuetypes").hex()


def caused() -> Coded:
    error = Coded("boom", code=7)
    error.__cause__ = KeyError("k")
    return error


GOLDEN: list[tuple[object, str]] = [
    (None, "00"),
    (False, "01"),
    (True, "02"),
    (0, "030100"),
    (-1, "0301ff"),
    (127, "03017f"),
    (128, "03020080"),
    (-128, "0302ff80"),
    (2**80, "030b0100000000000000000000"),
    (1.5, "043ff8000000000000"),
    (-0.0, "048000000000000000"),
    (float("nan"), "047ff8000000000000"),
    (1 - 2j, "053ff0000000000000c000000000000000"),
    ("aé\udcff", "060661c3a9edb3bf"),
    ("x" * 200, "06c801" + "78" * 200),
    (b"\x00\xff", "070200ff"),
    ((1, None), "100203010100"),
    ([True], "110102"),
    ({2, 1}, "1202030101030102"),
    (frozenset({"b", "a"}), "1302060161060162"),
    (deque([None], maxlen=3), "14030103" + "0100"),
    (deque([None]), "14000100"),
    ({"b": 1, "a": 2}, "18020601620301010601610301" + "02"),
    (OrderedDict(a=1), "1901060161030101"),
    (Counter(a=-1), "1a010601610301ff"),
    (MappingProxyType({1: 2}), "1b01030101030102"),
    (Decimal("-1.10"), "20052d312e3130"),
    (Fraction(-1, 3), "2101ff0103"),
    (range(0, 10, 3), "220100010a0103"),
    (uuid.UUID(int=1), "2300" + "00" * 15 + "01"),
    (PurePosixPath("/a"), "240000022f61"),
    (PureWindowsPath("a"), "2401000161"),
    (Path("/work/out/a"), "2402010161"),
    (Path("/work"), "24020200"),
    (Path("/else"), "240200052f656c7365"),
    (dt.date(2026, 1, 31), "2507ea011f"),
    (dt.time(1, 2, 3, 4, fold=1), "260102030000040100"),
    (dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC), "2707ea011f0c000000000000292801000100010000"),
    (dt.timedelta(days=-1, microseconds=1), "2801ff01000101"),
    (dt.timezone(dt.timedelta(hours=1), "CET"), "29280100020e1001000603434554"),
    (zoneinfo.ZoneInfo("UTC"), "2a03555443"),
    (Slotted("s", 1), f"30{MODULE}07536c6f74746564" + "02046e616d650601730576616c7565030101"),
    (Pair(1, 2), f"31{MODULE}0450616972" + "02046c656674030101057269676874030102"),
    (Colour.ALSO_RED, f"32{MODULE}06436f6c6f7572" + "03524544"),
    (Access.READ | Access.WRITE, f"33{MODULE}06416363657373" + "0103"),
    (
        caused(),
        f"34{MODULE}05436f646564"
        "1001" + "0604626f6f6d"
        "0104636f6465030107"
        "01"
        "34086275696c74696e73084b65794572726f72" + "100106016b" + "00000000"
        "00",
    ),
    (Slotted, f"35{MODULE}07536c6f74746564"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "body"), GOLDEN, ids=lambda each: type(each).__name__)
def test_a_value_has_its_frozen_bytes(value: object, body: str) -> None:
    encoded = encode_value(value, anchors=ANCHORS)
    assert encoded.payload.hex() == f"0100{body}"


def test_a_blob_of_format_1_is_read_for_ever() -> None:
    payload = bytes.fromhex(
        "010140126275696c74696e733a627974656172726179178005950c0000000000000096010000000000000078942e"
    )
    assert decode_value(payload, resolver=Resolver(trusted=True)) == bytearray(b"x")

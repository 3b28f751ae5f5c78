import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.objects.counting import DIRECTORY, make_file
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.nodes import (
    EMPTY_OID,
    MAX_KEY_BYTES,
    MAX_LEVEL,
    MAX_NODE_BYTES,
    TARGET_ENTRIES,
    Entry,
    EntryKind,
    Link,
    Totals,
    decode_node,
    exceeds,
    is_boundary,
    make_inner,
    make_leaf,
    weigh,
)
from verdog_objects.oid import Oid
from verdog_objects.varint import MAX_VARINT, encode_varint

_OIDS = st.binary(min_size=32, max_size=32).map(Oid)
_SIZES = st.integers(0, 2**50)
ENTRIES = st.one_of(
    st.builds(Entry, st.just(EntryKind.FILE), st.integers(0, 0o7777), _SIZES, _OIDS),
    st.builds(Entry, st.just(EntryKind.DIRECTORY), st.integers(0, 0o7777), st.just(0), st.just(EMPTY_OID)),
    st.builds(Entry, st.just(EntryKind.SYMLINK), st.just(0o777), _SIZES, _OIDS),
    st.builds(Entry, st.just(EntryKind.VALUE), st.just(0), _SIZES, _OIDS),
)
_LINKS = st.builds(
    lambda oid, entries, files, size: Link(oid, Totals(entries, min(entries, files), size)),
    _OIDS,
    st.integers(1, 2**40),
    st.integers(0, 2**40),
    _SIZES,
)
_KEYS = st.binary(min_size=1, max_size=12) | st.text("ab\0", min_size=1, max_size=9).map(str.encode)
OID = Oid(bytes(range(32)))


@given(st.dictionaries(_KEYS, ENTRIES, max_size=12))
def test_a_leaf_decodes_from_its_payload(items: dict[bytes, Entry]) -> None:
    keys = sorted(items)
    node, payload = make_leaf(keys, [items[key] for key in keys])
    assert decode_node(payload) == node


@given(st.integers(1, MAX_LEVEL), st.dictionaries(_KEYS, _LINKS, min_size=1, max_size=12))
def test_a_node_above_decodes_from_its_payload(level: int, items: dict[bytes, Link]) -> None:
    keys = sorted(items)
    node, payload = make_inner(level, keys, [items[key] for key in keys])
    assert decode_node(payload) == node


def check_canonical(payload: bytes) -> None:
    """Check that a payload is corrupt, or the encoding of a node in order."""
    try:
        node = decode_node(payload)
    except Corrupt:
        return
    assert all(before < after for before, after in pairwise(node.keys))
    if node.level:
        assert make_inner(node.level, node.keys, node.links) == (node, payload)
    else:
        assert make_leaf(node.keys, node.entries) == (node, payload)


@given(st.integers(0, 2), st.integers(0, 3), st.binary(max_size=120))
def test_any_bytes_are_the_only_encoding_of_a_node_or_corrupt(level: int, count: int, rest: bytes) -> None:
    check_canonical(rest)
    check_canonical(bytes([level, count]) + rest)


@given(st.dictionaries(_KEYS, ENTRIES, min_size=1, max_size=6), st.data())
def test_a_damaged_payload_is_the_only_encoding_of_a_node_or_corrupt(
    items: dict[bytes, Entry], data: st.DataObject
) -> None:
    keys = sorted(items)
    payload = bytearray(make_leaf(keys, [items[key] for key in keys])[1])
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    check_canonical(bytes(payload))


def test_every_truncation_and_extension_is_corrupt() -> None:
    leaf = make_leaf([b"a", b"a\0b"], [DIRECTORY, make_file(b"1")])[1]
    inner = make_inner(1, [b"a", b"b"], [Link(OID, Totals(2, 1, 1)), Link(OID, Totals(1, 1, 200))])[1]
    for payload in (leaf, inner):
        for damaged in [payload[:length] for length in range(len(payload))] + [payload + b"\0"]:
            with pytest.raises(Corrupt):
                decode_node(damaged)


def leaf_of(*keys: tuple[int, bytes]) -> bytes:
    """Return a leaf's payload with keys as (shared length, rest), whatever their order."""
    columns = b"".join(bytes([shared, len(rest)]) + rest for shared, rest in keys)
    return bytes([0, len(keys)]) + columns + b"\x21\xed" * len(keys)


def test_the_hand_made_payload_is_right() -> None:
    assert leaf_of((0, b"a"), (1, b"b")) == make_leaf([b"a", b"ab"], [DIRECTORY, DIRECTORY])[1]


@pytest.mark.parametrize(
    "payload",
    [
        leaf_of((0, b"b"), (0, b"a")),
        leaf_of((0, b"a"), (0, b"a")),
        leaf_of((0, b"ab"), (0, b"ac")),  # shares one byte and says none
        leaf_of((0, b"ab"), (1, b"a")),
        leaf_of((0, b"ab"), (1, b"b")),
        leaf_of((0, b"a"), (2, b"b")),
        leaf_of((1, b"a")),
        leaf_of((0, b"")),
        leaf_of((0, b"a"), (1, b"")),
    ],
)
def test_keys_that_do_not_rise_or_share_less_than_they_could_are_corrupt(payload: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_node(payload)


@pytest.mark.parametrize("tag", [0x0000, 0x01ED, 0x31EC, 0x4001, 0x51ED, 0xF1ED])
def test_a_kind_or_mode_that_no_entry_has_is_corrupt(tag: int) -> None:
    with pytest.raises(Corrupt):
        decode_node(b"\x00\x01\x00\x01a" + tag.to_bytes(2, "big") + b"\x05" + OID)


def inner_of(level: int, *links: tuple[bytes, int, int, int]) -> bytes:
    """Return the payload of a node above the leaves with any totals."""
    keys = b"".join(bytes([0, len(key)]) + key for key, *_ in links)
    columns = b"".join(encode_varint(link[column]) for column in (1, 2, 3) for link in links)
    return bytes([level, len(links)]) + keys + columns + OID * len(links)


@pytest.mark.parametrize(
    "payload",
    [
        inner_of(1),
        inner_of(MAX_LEVEL + 1, (b"a", 1, 1, 1)),
        inner_of(255, (b"a", 1, 1, 1)),
        inner_of(1, (b"a", 0, 0, 0)),
        inner_of(1, (b"a", 1, 2, 0)),
        inner_of(1, (b"a", MAX_VARINT, 0, 0), (b"b", 1, 0, 0)),
        inner_of(1, (b"a", 1, 1, MAX_VARINT), (b"b", 1, 1, MAX_VARINT)),
    ],
)
def test_levels_and_totals_out_of_range_are_corrupt(payload: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_node(payload)


def test_sizes_that_add_up_beyond_the_range_are_corrupt_and_refused() -> None:
    huge = Entry(EntryKind.FILE, 0o644, MAX_VARINT, OID)
    one = make_leaf([b"a"], [huge])[1]
    assert decode_node(one).totals.size_bytes == MAX_VARINT
    payload = b"\x00\x02\x00\x01a\x00\x01b\x11\xa4\x11\xa4" + encode_varint(MAX_VARINT) * 2 + OID * 2
    with pytest.raises(Corrupt):
        decode_node(payload)
    with pytest.raises(InvalidInput):
        make_leaf([b"a", b"b"], [huge, huge])


def test_a_payload_beyond_the_limit_is_corrupt() -> None:
    with pytest.raises(Corrupt):
        decode_node(bytes(MAX_NODE_BYTES + 1))


def test_long_shared_prefixes_do_not_multiply_into_memory() -> None:
    count = 13_000
    first = encode_varint(0) + encode_varint(MAX_KEY_BYTES - 1) + bytes(MAX_KEY_BYTES - 1)
    more = b"".join(encode_varint(MAX_KEY_BYTES - 1) + b"\x01" + bytes([byte]) for byte in range(1, 255))
    payload = (b"\x00" + encode_varint(count) + first + more)[:MAX_NODE_BYTES].ljust(MAX_NODE_BYTES, b"\1")
    tracemalloc.start()
    try:
        with pytest.raises(Corrupt):
            decode_node(payload)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "entry",
    [
        Entry(EntryKind.FILE, 0o10000, 1, OID),
        Entry(EntryKind.FILE, -1, 1, OID),
        Entry(EntryKind.FILE, 0o644, -1, OID),
        Entry(EntryKind.FILE, 0o644, 2**63, OID),
        Entry(EntryKind.FILE, 0o644, 1, Oid(b"short")),
        Entry(EntryKind.DIRECTORY, 0o755, 1, EMPTY_OID),
        Entry(EntryKind.DIRECTORY, 0o755, 0, OID),
        Entry(EntryKind.SYMLINK, 0o755, 1, OID),
        Entry(EntryKind.VALUE, 0o644, 1, OID),
        Entry(7, 0, 1, OID),  # type: ignore[arg-type]
    ],
)
def test_an_entry_that_cannot_be_read_back_is_refused(entry: Entry) -> None:
    with pytest.raises(InvalidInput):
        make_leaf([b"a"], [entry])


def test_the_heaviest_nodes_fit_in_the_limit() -> None:
    for length in (1, 9, 200, MAX_KEY_BYTES):
        keys: list[bytes] = []
        weight = 0
        while not exceeds(weight):
            keys.append(len(keys).to_bytes(2, "big").rjust(length, b"k")[:length] or b"k")
            weight += weigh(keys[-1])
        keys.pop()
        if length == 1:
            keys = [bytes([byte]) for byte in range(256)]
        link = Link(OID, Totals(MAX_VARINT // 1000, MAX_VARINT // 1000, MAX_VARINT // 1000))
        assert len(make_inner(1, sorted(set(keys)), [link] * len(set(keys)))[1]) <= MAX_NODE_BYTES
        assert len(keys) >= 3


def test_boundaries_come_once_in_the_target_and_differ_between_levels() -> None:
    keys = [b"work\0%06d" % number for number in range(20_000)]
    for level in (0, 1, 5):
        share = sum(is_boundary(level, key) for key in keys) * TARGET_ENTRIES / len(keys)
        assert 0.9 < share < 1.1
    both = sum(is_boundary(0, key) and is_boundary(1, key) for key in keys)
    assert 0.7 < both * TARGET_ENTRIES**2 / len(keys) < 1.3

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verdog_objects.chunking import MAX_BYTES, MIN_BYTES, Chunker, decode_chunks, encode_chunks
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.oid import Kind, Oid, compute_oid

_RANDOM = random.Random(5).randbytes(2_000_000)
_MIXED = _RANDOM[:400_000] + bytes(600_000) + b"line of a log\n" * 30_000 + _RANDOM[400_000:700_000]


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    chunker = Chunker()
    chunks: list[bytes] = []
    position = 0
    for size in sizes:
        chunks += chunker.feed(data[position : position + size])
        position += size
    chunks += chunker.feed(data[position:])
    return chunks + chunker.finish()


@settings(max_examples=25)
@given(
    st.sampled_from([_RANDOM, _MIXED]), st.lists(st.integers(0, 300_000), max_size=12), st.integers(0, 10**6)
)
def test_the_cuts_do_not_depend_on_the_buffers(data: bytes, sizes: list[int], skipped: int) -> None:
    content = data[skipped:]
    assert cut(content, sizes) == cut(content, [])


@settings(max_examples=25)
@given(st.integers(0, 300_000), st.integers(0, 4_000_000), st.integers(0, 300_000))
def test_zeros_are_cut_as_if_they_had_been_fed(before: int, zeros: int, after: int) -> None:
    head, tail = _RANDOM[:before], _RANDOM[before : before + after]
    chunker = Chunker()
    chunks = chunker.feed(head) + chunker.feed_zeros(zeros) + chunker.feed(tail) + chunker.finish()
    assert chunks == cut(head + bytes(zeros) + tail, [])


def test_many_zeros_are_few_objects() -> None:
    chunks = Chunker().feed_zeros(1 << 34)
    assert len(chunks) > 60_000
    assert len({id(each) for each in chunks}) < 10


def test_tiny_buffers_give_the_same_cuts() -> None:
    content = _RANDOM[:400_000]
    assert cut(content, [7] * 50_000) == cut(content, [])


def test_the_chunks_are_the_content() -> None:
    for content in (_RANDOM, _MIXED, b"", b"a", _RANDOM[:MAX_BYTES], _RANDOM[: MAX_BYTES + 1]):
        assert b"".join(cut(content, [])) == content


def test_chunks_keep_their_bounds_and_average() -> None:
    chunks = cut(_RANDOM, [])
    assert all(MIN_BYTES <= len(chunk) <= MAX_BYTES for chunk in chunks[:-1])
    assert 0 < len(chunks[-1]) <= MAX_BYTES
    assert 32 * 1024 < len(_RANDOM) / len(chunks) < 128 * 1024


def test_an_edit_changes_the_chunks_around_it_alone() -> None:
    edited = _RANDOM[:1_000_000] + b"an insertion" + _RANDOM[1_000_000:]
    before, after = set(cut(_RANDOM, [])), set(cut(edited, []))
    assert len(after - before) <= 3


def test_a_chunker_can_be_used_again() -> None:
    chunker = Chunker()
    first = chunker.feed(_MIXED) + chunker.finish()
    assert chunker.feed(_MIXED) + chunker.finish() == first
    assert chunker.finish() == []


def test_a_chunker_holds_less_than_the_longest_chunk() -> None:
    chunker = Chunker()
    fed = returned = 0
    for start in range(0, len(_RANDOM), 50_000):
        fed += 50_000
        returned += sum(map(len, chunker.feed(_RANDOM[start : start + 50_000])))
        assert fed - returned < MAX_BYTES


def list_chunks(lengths: list[int]) -> list[tuple[Oid, int]]:
    return [(compute_oid(Kind.CHUNK, b"%d" % index), length) for index, length in enumerate(lengths)]


@given(st.lists(st.integers(1, MAX_BYTES), max_size=20))
def test_a_list_of_chunks_decodes_from_its_encoding(lengths: list[int]) -> None:
    chunks = list_chunks(lengths)
    assert decode_chunks(encode_chunks(chunks)) == chunks
    assert decode_chunks(encode_chunks(chunks), sum(lengths)) == chunks


@given(st.binary(max_size=80))
def test_any_bytes_are_a_list_of_chunks_or_corrupt(payload: bytes) -> None:
    try:
        chunks = decode_chunks(payload)
    except Corrupt:
        return
    assert encode_chunks(chunks) == payload


def test_a_list_with_bytes_missing_or_left_over_is_corrupt() -> None:
    payload = encode_chunks(list_chunks([70_000, 20_000]))
    for damaged in [payload[:length] for length in range(len(payload))] + [payload + b"\x00"]:
        with pytest.raises(Corrupt):
            decode_chunks(damaged)


def test_lengths_that_miss_the_size_of_the_file_are_corrupt() -> None:
    payload = encode_chunks(list_chunks([70_000, 20_000]))
    for size in (0, 89_999, 90_001):
        with pytest.raises(Corrupt):
            decode_chunks(payload, size)


@pytest.mark.parametrize(
    "payload", [b"\x01\x00" + bytes(32), b"\x01\x81\x80\x10" + bytes(32), b"\xff" * 8 + b"\x7f"]
)
def test_a_length_that_no_chunk_has_is_corrupt(payload: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_chunks(payload)


@pytest.mark.parametrize("length", [0, -1, MAX_BYTES + 1])
def test_a_length_that_no_chunk_has_is_refused(length: int) -> None:
    with pytest.raises(InvalidInput):
        encode_chunks(list_chunks([length]))

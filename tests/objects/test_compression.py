import random
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.compression import STORED, ZSTD, compress, decompress
from verdog_objects.errors import Corrupt

_TEXT = b"a line of a log, much like the others\n" * 100


@given(
    st.binary(max_size=200) | st.builds(lambda piece, times: piece * times, st.binary(), st.integers(0, 9999))
)
def test_a_payload_decompresses_to_itself_and_never_takes_more(payload: bytes) -> None:
    codec, data = compress(payload)
    assert len(data) <= len(payload)
    assert decompress(codec, data, len(payload)) == payload


@given(st.integers(0, 1), st.binary(max_size=60), st.integers(0, 2**63))
def test_any_bytes_give_a_payload_of_the_recorded_size_or_corrupt(codec: int, data: bytes, size: int) -> None:
    try:
        payload = decompress(codec, data, size)
    except Corrupt:
        return
    assert len(payload) == size


@given(st.data())
def test_a_damaged_frame_gives_the_recorded_size_or_corrupt(data: st.DataObject) -> None:
    frame = bytearray(compress(_TEXT)[1])
    for _ in range(data.draw(st.integers(1, 3))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    try:
        payload = decompress(ZSTD, bytes(frame), len(_TEXT))
    except Corrupt:
        return
    assert len(payload) == len(_TEXT)


def test_what_compresses_is_compressed() -> None:
    codec, data = compress(_TEXT)
    assert codec == ZSTD
    assert len(data) < len(_TEXT) // 10


@pytest.mark.parametrize("size", [0, 1, 31, 100, 5_000, 300_000])
def test_random_bytes_are_stored_as_they_are(size: int) -> None:
    payload = random.Random(1).randbytes(size)
    assert compress(payload) == (STORED, payload)


def test_a_long_payload_with_a_random_middle_is_not_compressed() -> None:
    payload = b"a" * 100_000 + random.Random(1).randbytes(8_192) + b"a" * 100_000
    assert compress(payload)[0] == STORED


def test_every_truncation_of_a_frame_is_corrupt() -> None:
    data = compress(_TEXT)[1]
    for length in range(len(data)):
        with pytest.raises(Corrupt):
            decompress(ZSTD, data[:length], len(_TEXT))


def test_bytes_after_a_frame_are_corrupt() -> None:
    data = compress(_TEXT)[1]
    for more in (b"\x00", data, compress(b"b" * 100)[1], b"\x50\x2a\x4d\x18\x00\x00\x00\x00"):
        with pytest.raises(Corrupt):
            decompress(ZSTD, data + more, len(_TEXT))


def test_a_skippable_frame_is_no_payload() -> None:
    for size in (0, 4):
        with pytest.raises(Corrupt):
            decompress(ZSTD, b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd", size)


@pytest.mark.parametrize("size", [0, 1, 100, 0x63636363060606_6C, 0x6363636306060606 + 256, 2**63 - 1])
def test_a_frame_that_claims_exabytes_allocates_nothing(size: int) -> None:
    with pytest.raises(Corrupt):
        decompress(ZSTD, bytes.fromhex("28b52ffde06c06060663636363"), size)


def test_a_frame_that_claims_its_recorded_exabytes_allocates_nothing() -> None:
    frame = bytes.fromhex("28b52ffde06c06060663636363")
    size = zstandard.frame_content_size(frame)
    assert size > 2**60
    with pytest.raises(Corrupt):
        decompress(ZSTD, frame, size)


def test_a_small_frame_that_claims_its_recorded_gibibyte_allocates_nothing() -> None:
    frame = bytes.fromhex("28b52ffda000000040") + bytes.fromhex("6363636363")
    assert zstandard.frame_content_size(frame) == 2**30
    tracemalloc.start()
    try:
        with pytest.raises(Corrupt):
            decompress(ZSTD, frame, 2**30)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("says_its_size", [True, False])
def test_a_frame_that_holds_much_more_than_was_recorded_is_not_unpacked(says_its_size: bool) -> None:
    size = 256 << 20
    compressor = zstandard.ZstdCompressor().compressobj(size=size if says_its_size else -1)
    zeros = bytes(1 << 20)
    frame = b"".join([*(compressor.compress(zeros) for _ in range(size >> 20)), compressor.flush()])
    assert len(frame) < 100_000
    tracemalloc.start()
    try:
        for recorded in (0, 10, 5_000, len(frame), size if not says_its_size else size - 1):
            with pytest.raises(Corrupt):
                decompress(ZSTD, frame, recorded)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_another_size_than_the_recorded_one_is_corrupt() -> None:
    codec, data = compress(_TEXT)
    for size in (0, len(_TEXT) - 1, len(_TEXT) + 1):
        with pytest.raises(Corrupt):
            decompress(codec, data, size)
        with pytest.raises(Corrupt):
            decompress(STORED, _TEXT, size + (size == len(_TEXT)))


def test_a_frame_without_its_size_is_corrupt() -> None:
    data = zstandard.ZstdCompressor(write_content_size=False).compress(_TEXT)
    with pytest.raises(Corrupt):
        decompress(ZSTD, data, len(_TEXT))


@pytest.mark.parametrize("codec", [-1, 2, 255])
def test_an_unknown_codec_is_corrupt(codec: int) -> None:
    with pytest.raises(Corrupt):
        decompress(codec, b"abc", 3)


def test_threads_compress_at_the_same_time() -> None:
    payloads = [random.Random(seed).randbytes(10) * 10_000 for seed in range(40)]

    def round_trip(payload: bytes) -> bytes:
        codec, data = compress(payload)
        return decompress(codec, data, len(payload))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(round_trip, payloads)) == payloads


def test_a_payload_beyond_the_window_passes() -> None:
    payload = random.Random(1).randbytes(1000) * 12_000
    codec, data = compress(payload)
    assert codec == ZSTD
    assert decompress(codec, data, len(payload)) == payload

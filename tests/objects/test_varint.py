import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.errors import Corrupt
from verdog_objects.varint import MAX_VARINT, append_varint, encode_varint, read_varint


@given(st.integers(0, MAX_VARINT), st.binary(max_size=3), st.binary(max_size=3))
def test_a_number_reads_back_from_between_other_bytes(value: int, before: bytes, after: bytes) -> None:
    out = bytearray(before)
    append_varint(out, value)
    assert out[len(before) :] == encode_varint(value)
    assert read_varint(bytes(out) + after, len(before)) == (value, len(out))


@given(st.binary(max_size=12))
def test_any_bytes_are_the_only_encoding_of_a_number_or_corrupt(data: bytes) -> None:
    try:
        value, end = read_varint(data, 0)
    except Corrupt:
        return
    assert encode_varint(value) == data[:end]


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"\xff" * 8, b"\x80\x00", b"\xff\x80\x00", b"\xff" * 9 + b"\x01", b"\xff" * 10_000]
)
def test_a_number_cut_off_padded_or_too_large_is_corrupt(data: bytes) -> None:
    with pytest.raises(Corrupt):
        read_varint(data, 0)


def test_the_largest_number_takes_nine_bytes() -> None:
    assert encode_varint(MAX_VARINT) == b"\xff" * 8 + b"\x7f"

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.filewriter import BLOCK_BYTES, write_sparse


def write_pieces(path: Path, pieces: list[bytes]) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        offset = 0
        for piece in pieces:
            write_sparse(file, piece, offset, sum(map(len, pieces)))
            offset += len(piece)
    finally:
        os.close(file)


RUNS = st.lists(
    st.tuples(st.sampled_from([b"\0", b"x"]), st.sampled_from([1, 100, 4095, 4096, 4097, 9000])), max_size=8
)


@given(runs=RUNS, cuts=st.lists(st.integers(0, 40_000), max_size=4))
def test_whatever_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[bytes, int]], cuts: list[int]
) -> None:
    data = b"".join(byte * count for byte, count in runs)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    path = tmp_path_factory.getbasetemp() / "sparse"
    write_pieces(path, [data[begin:end] for begin, end in pairwise(edges)])
    assert path.read_bytes() == data


def test_blocks_of_zeros_take_no_room(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_pieces(path, [bytes(1 << 20), b"x" * BLOCK_BYTES, bytes(3 << 20)])
    status = path.stat()
    assert status.st_size == (4 << 20) + BLOCK_BYTES
    assert status.st_blocks * 512 <= 4 * BLOCK_BYTES

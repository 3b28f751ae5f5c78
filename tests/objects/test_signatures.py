import os
from pathlib import Path

from verdog_objects.signatures import (
    COARSE_MARGIN_NS,
    FINE_MARGIN_NS,
    UNSETTLED,
    Signatures,
    compute_signature,
    is_settled,
)

SECOND = 1_000_000_000


def with_times(path: Path, ctime_ns: int, mtime_ns: int) -> os.stat_result:
    """Return the stat of a path as if it had these times."""
    status = path.stat()
    values = list(status)
    names = {"st_atime_ns": status.st_atime_ns, "st_mtime_ns": mtime_ns, "st_ctime_ns": ctime_ns}
    return os.stat_result(values, names)


def test_a_file_written_about_when_it_was_read_is_not_settled(tmp_path: Path) -> None:
    time_ns = 1_700_000_000 * SECOND + 5
    status = with_times(tmp_path, time_ns, time_ns)
    assert not is_settled(status, time_ns)
    assert not is_settled(status, time_ns + FINE_MARGIN_NS)
    assert is_settled(status, time_ns + FINE_MARGIN_NS + 1)


def test_whole_seconds_ask_for_a_larger_margin(tmp_path: Path) -> None:
    time_ns = 1_700_000_000 * SECOND
    status = with_times(tmp_path, time_ns, time_ns)
    assert not is_settled(status, time_ns + COARSE_MARGIN_NS)
    assert is_settled(status, time_ns + COARSE_MARGIN_NS + 1)


def test_an_old_mtime_set_by_hand_does_not_settle_a_fresh_file(tmp_path: Path) -> None:
    time_ns = 1_700_000_000 * SECOND + 5
    assert not is_settled(with_times(tmp_path, time_ns, 7), time_ns + 1000)


def test_a_time_in_the_future_settles(tmp_path: Path) -> None:
    time_ns = 1_700_000_000 * SECOND + 5
    assert is_settled(with_times(tmp_path, time_ns, time_ns + 10**18), time_ns + SECOND)


def test_an_unsettled_path_is_known_but_equals_no_signature(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x")
    status = file.stat()
    signatures = Signatures()
    signatures.remember(b"d/f", status, status.st_ctime_ns)
    assert signatures.knows(b"d/f")
    assert signatures.names_in(b"d") == {"f": UNSETTLED}
    signatures.remember(b"d/f", status, status.st_ctime_ns + 10 * SECOND)
    assert signatures.names_in(b"d") == {"f": compute_signature(status)}
    signatures.doubt(b"d/f")
    assert signatures.names_in(b"d") == {"f": UNSETTLED}


def test_forgetting_a_directory_forgets_what_is_below_it(tmp_path: Path) -> None:
    status = tmp_path.stat()
    signatures = Signatures()
    for path in (b"a", b"a/b", b"a/b/c", b"ab", b"ab/c"):
        signatures.remember(path, status, 0)
    assert list(signatures.iter_below(b"a")) == [b"a/b", b"a/b/c"]
    signatures.forget(b"a")
    assert list(signatures.iter_below(b"")) == [b"ab", b"ab/c"]
    assert len(signatures) == 2
    assert not signatures.knows(b"a/b")

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verdog_objects import locking
from verdog_objects.errors import Busy, InvalidInput, Unavailable

HOLD = """
import sys, time
from pathlib import Path
from verdog_objects import locking
lock = locking.acquire(Path(sys.argv[1]), owner="another process")
print("held", flush=True)
time.sleep(60)
"""


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not locking.is_locked(path)
    with locking.acquire(path) as lock:
        assert lock.held
        assert locking.is_locked(path)
        with pytest.raises(Busy):
            locking.acquire(path)
    assert not lock.held
    assert not locking.is_locked(path)
    lock.release()
    locking.acquire(path).release()


def test_a_second_comer_learns_who_holds_the_lock_and_since_when(tmp_path: Path) -> None:
    before = time.time_ns()
    with locking.acquire(tmp_path / "lock", owner="resume of run a"):
        with pytest.raises(Busy, match="resume of run a") as caught:
            locking.acquire(tmp_path / "lock")
        owner = locking.read_owner(tmp_path / "lock")
    assert owner is not None
    assert (owner.pid, owner.text, owner.boot) == (os.getpid(), "resume of run a", locking.read_boot_id())
    assert caught.value.owner is not None
    assert str(os.getpid()) in caught.value.owner
    assert caught.value.since_ns is not None
    assert before <= caught.value.since_ns <= time.time_ns()


def test_a_released_lock_names_no_owner(tmp_path: Path) -> None:
    assert locking.read_owner(tmp_path / "lock") is None
    locking.acquire(tmp_path / "lock", owner="me").release()
    assert locking.read_owner(tmp_path / "lock") is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"pid": "x"}', b'{"pid": Infinity}', b"[" * 100_000, b"\xff", b"null"]
)
def test_a_garbled_owner_record_is_an_unknown_owner(tmp_path: Path, content: bytes) -> None:
    with locking.acquire(tmp_path / "lock"):
        (tmp_path / "lock").write_bytes(content)
        with pytest.raises(Busy) as caught:
            locking.acquire(tmp_path / "lock")
    assert caught.value.owner is None


def test_a_killed_owner_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert locking.is_locked(path)
        with pytest.raises(Busy, match="another process") as caught:
            locking.acquire(path)
        assert caught.value.owner is not None
        assert str(process.pid) in caught.value.owner
        process.kill()
    locking.acquire(path).release()


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("lock", "dangling"):
        with pytest.raises(InvalidInput):
            locking.acquire(tmp_path / name)
        with pytest.raises(InvalidInput):
            locking.is_locked(tmp_path / name)
    assert (tmp_path / "target").read_bytes() == b"precious"
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_or_fifo_is_refused(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for name in ("directory", "fifo"):
        with pytest.raises(InvalidInput):
            locking.acquire(tmp_path / name)


def test_a_missing_directory_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        locking.acquire(tmp_path / "missing" / "lock")
    assert not locking.is_locked(tmp_path / "missing" / "lock")


def test_a_lock_file_that_was_removed_does_not_lock_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locking.acquire(path):
        path.unlink()
        with locking.acquire(path, owner="successor") as second:
            assert second.held


def test_a_program_that_is_started_does_not_inherit_the_lock(tmp_path: Path) -> None:
    lock = locking.acquire(tmp_path / "lock")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        lock.release()
        locking.acquire(tmp_path / "lock").release()
        process.kill()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_cannot_release_its_parents_lock(tmp_path: Path) -> None:
    lock = locking.acquire(tmp_path / "lock")
    child = os.fork()
    if child == 0:
        lock.release()
        os._exit(0)
    os.waitpid(child, 0)
    assert locking.is_locked(tmp_path / "lock")
    lock.release()

import threading
from pathlib import Path

import pytest

from verdog_objects.errors import Busy
from verdog_runtime.locking import locked_file


def test_a_second_holder_is_refused_while_the_block_runs(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("ab") as one, path.open("ab") as other:
        with locked_file(one, blocking=False), pytest.raises(Busy), locked_file(other, blocking=False):
            pass
        with locked_file(other, blocking=False):
            pass


def test_the_lock_ends_with_an_error_in_the_block(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("ab") as one, path.open("ab") as other:
        with pytest.raises(ValueError), locked_file(one, blocking=True):
            raise ValueError
        with locked_file(other, blocking=False):
            pass


def test_a_blocking_holder_waits_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    order: list[str] = []

    def second() -> None:
        with path.open("ab") as stream, locked_file(stream, blocking=True):
            order.append("second")

    with path.open("ab") as stream, locked_file(stream, blocking=True):
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]

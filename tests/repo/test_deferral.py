import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from verdog_repo.deferral import deferred_signals
from verdog_repo.gitobjects import write_commit


class Stopped(BaseException):
    """What the handler raises."""


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGALRM], ids=lambda number: number.name)
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal whose handler raises."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped

    before = signal.signal(request.param, stop)
    yield request.param
    signal.signal(request.param, before)


@contextmanager
def called(name: str, action: Callable[[], object]) -> Iterator[None]:
    """Do something once, as soon as a function of this name begins, and in it."""
    done: list[str] = []

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name == name and not done:
            done.append(name)
            action()

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
        assert done


@pytest.mark.parametrize("callback", ["write_cb", "exists_cb"])
def test_a_signal_in_a_callback_of_libgit2_is_raised_as_what_it_is(
    number: signal.Signals, callback: str
) -> None:
    first = write_commit(b"{}", "first", None, 1)
    with pytest.raises(Stopped), called(callback, lambda: signal.raise_signal(number)):
        write_commit(b"{}", "second", first, 2)
    assert write_commit(b"{}", "first", None, 1) == first


@pytest.mark.parametrize("callback", ["write_cb", "exists_cb"])
def test_so_is_one_that_comes_by_way_of_another_thread(number: signal.Signals, callback: str) -> None:
    first, over = write_commit(b"{}", "first", None, 1), threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()

    def send() -> None:
        os.kill(os.getpid(), number)  # this thread has it blocked, so the other one gets it
        while not over.is_set():
            time.sleep(0.001)

    try:
        with pytest.raises(Stopped), called(callback, send):
            write_commit(b"{}", "second", first, 2)
    finally:
        over.set()
        thread.join()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_a_handler_runs_at_the_end_of_the_block(number: signal.Signals) -> None:
    done = False
    with pytest.raises(Stopped), deferred_signals():
        signal.raise_signal(number)
        done = True
    assert done
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_an_error_in_the_block_is_not_lost_behind_a_signal(number: signal.Signals) -> None:
    with pytest.raises(Stopped) as caught, deferred_signals():
        signal.raise_signal(number)
        raise ValueError("in the block")
    assert isinstance(caught.value.__context__, ValueError)

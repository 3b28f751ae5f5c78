import math
import signal
import subprocess
import sys
import threading
import time

import pytest

from verdog_runtime import CancellationToken, ExecutionCancelled


def test_a_new_token_is_neither_cancelled_nor_expired() -> None:
    token = CancellationToken()
    assert (token.deadline, token.expired, token.cancelled) == (None, False, False)
    token.raise_if_cancelled()


@pytest.mark.parametrize("deadline", [math.inf, -math.inf, math.nan, 10**400])
def test_a_deadline_must_be_finite(deadline: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        CancellationToken(deadline=deadline)


@pytest.mark.parametrize("timeout", [math.inf, math.nan, -0.001, 10**400])
def test_a_timeout_must_be_finite_and_not_negative(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        CancellationToken.with_timeout(timeout)
    with pytest.raises(ValueError, match="maximum"):
        CancellationToken().wait(timeout)
    with pytest.raises(ValueError, match="maximum"):
        CancellationToken().remaining(timeout)


def test_a_timeout_of_zero_has_expired() -> None:
    token = CancellationToken.with_timeout(0)
    assert token.expired
    assert token.cancelled
    assert token.remaining() == 0
    assert token.remaining(5) == 0


def test_with_timeout_makes_the_subclass() -> None:
    class Token(CancellationToken):
        pass

    assert type(Token.with_timeout(1)) is Token


def test_a_deadline_is_a_point_on_the_monotonic_clock() -> None:
    deadline = time.monotonic() + 1000
    token = CancellationToken(deadline=deadline)
    assert token.deadline == deadline
    assert not token.expired
    left = token.remaining()
    assert left is not None
    assert 0 < left <= 1000


def test_cancelling_twice_is_cancelling_once() -> None:
    token = CancellationToken()
    token.cancel()
    token.cancel()
    assert token.cancelled
    assert not token.expired


def test_the_remaining_time_is_bounded_by_maximum_and_deadline() -> None:
    assert CancellationToken().remaining() is None
    assert CancellationToken().remaining(3) == 3
    assert CancellationToken.with_timeout(1000).remaining(3) == 3
    left = CancellationToken.with_timeout(1).remaining(3)
    assert left is not None
    assert left <= 1


def test_waiting_without_timeout_needs_a_deadline() -> None:
    with pytest.raises(ValueError, match="deadline"):
        CancellationToken().wait(None)
    assert CancellationToken.with_timeout(0.01).wait(None)


def test_waiting_ends_at_the_timeout() -> None:
    assert not CancellationToken().wait(0)
    assert not CancellationToken().wait(0.01)


def test_waiting_ends_at_the_deadline() -> None:
    assert CancellationToken.with_timeout(0.02).wait(3600)


def test_a_timeout_beyond_what_locks_can_wait_is_accepted() -> None:
    token = CancellationToken()
    token.cancel()
    assert token.wait(1e300)
    waiter = CancellationToken()
    threading.Timer(0.01, waiter.cancel).start()
    assert waiter.wait(1e300)


def test_cancelling_wakes_every_waiter() -> None:
    token = CancellationToken()
    ready = threading.Barrier(9)
    woken: list[bool] = []

    def wait() -> None:
        ready.wait()
        woken.append(token.wait(3600))

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    ready.wait()
    token.cancel()
    for thread in threads:
        thread.join(timeout=60)
    assert woken == [True] * 8


def test_many_threads_may_cancel_and_wait_at_once() -> None:
    for _ in range(50):
        token = CancellationToken()
        ready = threading.Barrier(8)
        outcomes: list[bool] = []

        def act(cancels: bool, token: CancellationToken, ready: threading.Barrier, out: list[bool]) -> None:
            ready.wait()
            if cancels:
                token.cancel()
            out.append(token.wait(3600))

        threads = [
            threading.Thread(target=act, args=(number % 2 == 0, token, ready, outcomes))
            for number in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert outcomes == [True] * 8


def test_a_signal_handler_may_cancel_while_its_thread_waits() -> None:
    code = (
        "import os, signal, threading\n"
        "from verdog_runtime import CancellationToken\n"
        "token = CancellationToken()\n"
        "signal.signal(signal.SIGUSR1, lambda *_: token.cancel())\n"
        "threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()\n"
        "assert token.wait(3600)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == 0
    assert signal.SIGUSR1


def test_an_explicit_cancellation_is_reported_before_the_deadline() -> None:
    token = CancellationToken.with_timeout(0)
    with pytest.raises(ExecutionCancelled) as expired:
        token.raise_if_cancelled()
    token.cancel()
    with pytest.raises(ExecutionCancelled) as cancelled:
        token.raise_if_cancelled()
    assert "deadline" in str(expired.value)
    assert "cancelled" in str(cancelled.value)
    assert "deadline" not in str(cancelled.value)


def test_an_authored_except_exception_does_not_swallow_a_cancellation() -> None:
    assert issubclass(ExecutionCancelled, BaseException)
    assert not issubclass(ExecutionCancelled, Exception)


def test_importing_the_top_level_is_cheap() -> None:
    code = (
        "import sys, verdog_runtime\n"
        "heavy = {'tyro', 'cloudpickle', 'pygit2', 'apsw', 'rich', 'verdog_objects', 'verdog_repo'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert not [name for name in sys.modules if name.startswith('verdog_runtime.declarations')]\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)

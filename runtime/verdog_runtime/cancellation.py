"""Cancellation tokens: one sticky request to stop, with an optional deadline."""

import math
import threading
import time
from contextlib import suppress
from typing import Self

# A waiter that is interrupted just when it got the gate cannot hand it on: the others look again after this.
_SLICE_S = 5.0


class ExecutionCancelled(BaseException):
    """The run was asked to stop, or ran out of time.

    It is no `Exception`, so that an authored `except Exception` cannot swallow it.
    """


class CancellationToken:
    """A request to stop that any thread, or a signal handler, may make and any thread may wait for.

    A waiter blocks on a lock that is taken at construction; cancelling opens it, and every waiter that gets
    it hands it on. Unlike `threading.Event`, whose lock is not reentrant, a signal handler may therefore
    cancel while the interrupted thread is itself inside `wait`.
    """

    __slots__ = ("_deadline", "_gate", "_requested")

    def __init__(self, *, deadline: float | None = None) -> None:
        """Make a token.

        Args:
            deadline: a point on `time.monotonic()`, or None for none.

        Raises:
            ValueError: the deadline is not finite.
        """
        if deadline is not None and not _is_finite(deadline):
            raise ValueError("a deadline must be a finite number of seconds")
        self._deadline = deadline
        self._requested = False
        self._gate = threading.Lock()
        self._gate.acquire()

    @classmethod
    def with_timeout(cls, timeout: float, /) -> Self:
        """Return a token that expires `timeout` seconds from now; 0 gives one that has expired already.

        Raises:
            ValueError: the timeout is negative or not finite.
        """
        return cls(deadline=time.monotonic() + _checked_duration(timeout, "timeout"))

    @property
    def deadline(self) -> float | None:
        """The point on `time.monotonic()` at which the token expires, or None."""
        return self._deadline

    @property
    def expired(self) -> bool:
        """Whether the deadline has been reached."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    @property
    def cancelled(self) -> bool:
        """Whether somebody cancelled, or the deadline has been reached."""
        return self._requested or self.expired

    def cancel(self) -> None:
        """Ask for a stop: idempotent, for ever, from any thread or signal handler; wakes all waiters."""
        if not self._requested:
            self._requested = True
            self._open()

    def remaining(self, maximum: float | None = None, /) -> float | None:
        """Return the smaller of `maximum` and the time left to the deadline; None if there is neither.

        Raises:
            ValueError: `maximum` is negative or not finite.
        """
        if maximum is not None:
            _checked_duration(maximum, "maximum")
        if self._deadline is None:
            return maximum
        left = max(0.0, self._deadline - time.monotonic())
        return left if maximum is None else min(left, maximum)

    def wait(self, timeout: float | None, /) -> bool:
        """Block until cancelled, expired, or `timeout` seconds have passed.

        Args:
            timeout: seconds; None waits for the deadline, which must exist then.

        Returns:
            Whether the token is cancelled or expired.

        Raises:
            ValueError: the timeout is negative or not finite, or None without a deadline.
        """
        now = time.monotonic()
        left = self.remaining(timeout)
        if left is None:
            raise ValueError("waiting without a deadline needs a timeout")
        end = now + left
        while not self._requested and left > 0:
            if self._gate.acquire(timeout=min(left, _SLICE_S)):
                self._open()
                break
            left = end - time.monotonic()
        return self.cancelled

    def raise_if_cancelled(self) -> None:
        """Raise `ExecutionCancelled` if cancelled (reported first) or expired."""
        if self._requested:
            raise ExecutionCancelled("the execution was cancelled")
        if self.expired:
            raise ExecutionCancelled("the execution passed its deadline")

    def _open(self) -> None:
        # Two threads may open it at once; after the first one nobody ever closes it for good.
        with suppress(RuntimeError):
            self._gate.release()


def _checked_duration(seconds: float, name: str) -> float:
    if not _is_finite(seconds) or seconds < 0:
        raise ValueError(f"{name} must be a finite number of seconds that is not negative")
    return seconds


def _is_finite(seconds: float) -> bool:
    try:
        return math.isfinite(seconds)
    except OverflowError:  # an integer beyond every float
        return False

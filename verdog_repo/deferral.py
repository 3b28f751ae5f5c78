"""Signals that wait while foreign code calls back into Python."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_DEFERRED: Final = frozenset(
    (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGALRM,
        signal.SIGUSR1,
        signal.SIGUSR2,
    )
)


@contextmanager
def deferred_signals() -> Generator[None]:
    """Let signals come to this thread after the block, not in it.

    What a handler raises in a callback comes out of foreign code as something else: libgit2 makes a
    `SystemError` of Ctrl+C. A signal can still come by way of another thread; what was raised then is told
    from the error that was made of it.

    Cost: three system calls.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)
        yield
    except SystemError as error:
        raise (error if error.__cause__ is None else error.__cause__) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

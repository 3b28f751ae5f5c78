"""The signals that ask a command to stop."""

import _thread
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_AGAIN_S: Final = 0.01


@contextmanager
def heeded_signals() -> Generator[None]:
    """Let SIGTERM raise KeyboardInterrupt in this thread, as SIGINT does, until one of them was not in vain.

    A signal is handled between any two steps of the main thread. When that is inside a finaliser or a
    callback, Python prints what was raised and goes on as if no signal had come; here it comes again.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    thread, report = _thread.get_ident(), sys.unraisablehook

    def come_again() -> None:
        time.sleep(_AGAIN_S)
        signal.pthread_kill(thread, signal.SIGTERM)

    def hook(raised: "sys.UnraisableHookArgs") -> None:
        if isinstance(raised.exc_value, KeyboardInterrupt):
            _thread.start_new_thread(come_again, ())
        else:
            report(raised)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = report


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt

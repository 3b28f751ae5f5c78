"""Forked children: a process that a visit forked must never go on with the run."""

import contextlib
import os
import sys
import traceback
from typing import NoReturn


def end_forked_child() -> NoReturn:
    """End this process, a copy of the one that executes the run, as it is about to leave the visit.

    The way back would lead it through the locks, the store and the record of a run that is not its own. What
    it was leaving with decides its exit code, as at the end of any Python program: `sys.exit` names it, an
    exception is printed and makes it 1, and so does returning, which can only be a mistake.
    """
    error = sys.exception()
    code = 1
    with contextlib.suppress(BaseException):
        if isinstance(error, SystemExit):
            code = _code_of(error)
        elif error is not None:
            traceback.print_exception(error)
        else:
            sys.stderr.write("a process that a visit forked returned from it; it ends here\n")
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _code_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return (end.code or 0) & 0xFF
    sys.stderr.write(f"{end.code}\n")
    return 1

"""Command lines in processes of their own that can be killed, without a second of imports before each.

A shell is a process that has imported the whole command line; it forks one process for each.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

HANGS_S = 600.0
"""A command that takes longer hangs: each takes fractions of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command line ended.

    Attributes:
        code: what it exited with; the negative number of the signal that ended it.
        hung: it was killed because it did not end.
    """

    code: int
    out: bytes
    err: str
    hung: bool

    @property
    def cut_short(self) -> bool:
        """Whether a signal ended it: at once, or by its own way out."""
        return self.code in (-signal.SIGKILL, -signal.SIGTERM, 130)


class Shell:
    """Runs one command line at a time in a project directory."""

    def __init__(self, project: Path, scratch: Path) -> None:
        self._scratch = scratch
        scratch.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(project), str(scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def start(self, arguments: list[str], after_s: float | None = None, number: int = signal.SIGKILL) -> None:
        """Begin a command line.

        Args:
            arguments: what follows `verdog`.
            after_s: send a signal after this time; None never does.
            number: the signal.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([arguments, after_s, number]) + "\n")
        self._process.stdin.flush()

    def finish(self) -> Ended:
        """Wait for the command line that was begun."""
        assert self._process.stdout is not None
        code, hung = json.loads(self._process.stdout.readline())
        out, err = (self._scratch / name for name in ("out", "err"))
        return Ended(code=code, out=out.read_bytes(), err=err.read_text("utf-8", "replace"), hung=hung)

    def run(self, *arguments: str) -> Ended:
        """Run a command line to its end."""
        self.start(list(arguments))
        return self.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._process.communicate()


def _serve(scratch: Path) -> None:
    for line in sys.stdin:
        arguments, after_s, number = json.loads(line)
        for name in ("out", "err"):
            (scratch / name).write_bytes(b"")
        child = os.fork()
        if child == 0:
            _become(arguments, scratch)
        watched = os.pidfd_open(child)
        hung = False
        if not select.select([watched], [], [], HANGS_S if after_s is None else after_s)[0]:
            hung = after_s is None
            os.kill(child, signal.SIGKILL if hung else number)
        if not select.select([watched], [], [], HANGS_S)[0]:
            hung = True
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(watched)
        print(json.dumps([code, hung]), flush=True)


def _become(arguments: list[str], scratch: Path) -> None:
    from verdog_cli.application import run_application

    code = 70
    try:
        for descriptor, name in ((0, os.devnull), (1, "out"), (2, "err")):
            os.dup2(os.open(scratch / name, os.O_RDWR), descriptor)
        code = run_application(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    import verdog_cli.commands

    for found in pkgutil.iter_modules(verdog_cli.commands.__path__, "verdog_cli.commands."):
        importlib.import_module(found.name)
    for heavy in (
        "pygit2",
        "tyro",
        "verdog_repo.gitobjects",
        "verdog_runtime.authoring",
        "verdog_runtime.lifecycle",
    ):
        importlib.import_module(heavy)
    os.chdir(sys.argv[1])
    with contextlib.suppress(KeyboardInterrupt):
        _serve(Path(sys.argv[2]))

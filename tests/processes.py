"""Processes that tests start, each forked from one that has imported verdog already.

A process that begins anew spends a third of a second on imports. For a test of what comes after them it is as
good to begin with them done: the process has its own memory, directory, environment, output and signals.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import IO, Any

from tests.commandline import Result

TIMEOUT_S = 60
_PRELOADED = (
    "verdog_cli.main",
    "verdog_cli.commands.run",
    "verdog_repo.gitobjects",
    "verdog_runtime.authoring",
    "verdog_runtime.lifecycle",
    "tyro",
)


class Process:
    """A command line that was started.

    Attributes:
        pid: its process id.
    """

    def __init__(self, starter: "Starter", pid: int) -> None:
        self.pid = pid
        self._starter = starter

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait for its end, and return its exit code or minus the signal that ended it."""
        return self._starter.ask({"wait": self.pid})


class Printing(Process):
    """A command line that was started and prints into files."""

    def __init__(self, starter: "Starter", pid: int, printed: tuple[IO[bytes], IO[bytes]]) -> None:
        super().__init__(starter, pid)
        self._printed = printed

    def finish(self) -> Result:
        """Wait for its end, and return what it exited with and printed."""
        code = self.wait()
        texts: list[str] = []
        for file in self._printed:
            with file:
                file.seek(0)
                texts.append(file.read().decode("utf-8", "surrogateescape"))
        return Result(code, *texts)


class Starter:
    """Starts command lines of verdog."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Start the process that is forked; its environment decides how Python reads and writes names."""
        self._environment = dict(environment)
        self._socket, other = socket.socketpair()
        self._socket.settimeout(TIMEOUT_S)
        self._answers = self._socket.makefile("rb")
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from tests.processes import serve; serve({other.fileno()})"],
                cwd=Path(__file__).parents[1],
                env={**os.environ, **self._environment},
                pass_fds=[other.fileno()],
            )

    def start_on(
        self, arguments: Sequence[str], streams: Sequence[int], cwd: Path, environment: Mapping[str, str]
    ) -> Process:
        """Start a command line in a session of its own, with other standard streams."""
        request = {
            "arguments": [_pack(each) for each in arguments],
            "directory": _pack(str(cwd)),
            "environment": {_pack(name): _pack(value) for name, value in environment.items()},
        }
        return Process(self, self.ask(request, streams))

    def start(
        self, *arguments: str, cwd: Path | None = None, environment: Mapping[str, str] = os.environ
    ) -> Printing:
        """Start a command line, by default in the current directory and with this process's environment."""
        printed = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        with Path(os.devnull).open("rb") as nothing:
            streams = [nothing.fileno(), *(file.fileno() for file in printed)]
            changed = {**environment, **self._environment}
            started = self.start_on(arguments, streams, cwd or Path.cwd(), changed)
        return Printing(self, started.pid, printed)

    def run(
        self, *arguments: str, cwd: Path | None = None, environment: Mapping[str, str] = os.environ
    ) -> Result:
        """Run a command line to its end."""
        return self.start(*arguments, cwd=cwd, environment=environment).finish()

    def run_until(self, *arguments: str, lines: int, cwd: Path) -> Result:
        """Run a command line to its end whose reader goes away after some lines of output."""
        read_end, write_end = os.pipe()
        with Path(os.devnull).open("rb") as nothing, tempfile.TemporaryFile() as errors:
            streams = (nothing.fileno(), write_end, errors.fileno())
            with os.fdopen(read_end) as told:
                process = self.start_on(arguments, streams, cwd, os.environ)
                os.close(write_end)
                seen = [told.readline() for _ in range(lines)]
            code = process.wait()
            errors.seek(0)
            return Result(code, "".join(seen), errors.read().decode())

    def ask(self, request: Mapping[str, object], files: Sequence[int] = ()) -> int:
        """Send a request to the process that is forked, and return its answer."""
        socket.send_fds(self._socket, [json.dumps(request).encode() + b"\n"], files)
        try:
            return int(self._answers.readline())
        except BaseException:
            self._process.kill()
            raise

    def close(self) -> None:
        self._answers.close()
        self._socket.close()
        self._process.wait(TIMEOUT_S)


C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""In which Python knows no letter outside ASCII."""


@cache
def shared_starter(*, in_c_locale: bool = False) -> Starter:
    """Return the starter of everybody, or of everybody who needs the C locale."""
    starter = Starter(C_LOCALE if in_c_locale else {})
    atexit.register(starter.close)
    return starter


def _pack(text: str) -> str:
    """Return the bytes that a system call would get for a text, as a text that every locale reads alike."""
    return os.fsencode(text).decode("latin-1")


def _unpack(packed: str) -> str:
    return os.fsdecode(packed.encode("latin-1"))


def serve(file: int) -> None:
    """Fork a process for each request, until nobody can send any more."""
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(fileno=file) as requests:
        while True:
            data, files, _, _ = socket.recv_fds(requests, 1 << 16, 3)
            while data and not data.endswith(b"\n"):
                data += requests.recv(1 << 16)
            if not data:
                return
            request = json.loads(data)
            if "wait" in request:
                answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
            else:
                answer = os.fork()
                if answer == 0:
                    break
            for each in files:
                os.close(each)
            requests.sendall(b"%d\n" % answer)
    _become(request, files)


def _become(request: dict[str, Any], files: list[int]) -> None:
    """Be the process that was asked for."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    _open_streams()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update({_unpack(name): _unpack(value) for name, value in request["environment"].items()})
    directory = _unpack(request["directory"])
    os.chdir(directory)
    sys.path[0] = directory
    sys.argv = ["verdog", *map(_unpack, request["arguments"])]
    code = 1
    try:
        runpy.run_module("verdog_cli", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    os._exit(_finish(code))


def _finish(code: int) -> int:
    """Do what Python does at its end, but not take everything apart: that takes longer than most commands."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = 120
    return code


def _open_streams() -> None:
    """Open the standard streams as Python does when it begins: what they lead to decides how they behave."""
    for name, file, mode, buffering, newline in (
        ("stdin", 0, "r", -1, None),
        ("stdout", 1, "w", -1, "\n"),
        ("stderr", 2, "w", 1, "\n"),
    ):
        before = getattr(sys, name)
        stream = open(file, mode, buffering, before.encoding, before.errors, newline, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)


def forking_context(module: str) -> ForkServerContext:
    """Return what starts the functions of a module in processes that are forked when it is imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
    return context

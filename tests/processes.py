"""Processes that tests start, each forked from one that has imported verdog already.

A process that begins anew spends a third of a second on imports. For a test of what comes after them it is as
good to begin with them done: the process has its own memory, directory, environment, output and signals.
"""

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
from collections.abc import Mapping
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

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

    def __init__(self, starter: "Starter", pid: int, printed: tuple[IO[bytes], IO[bytes]]) -> None:
        self.pid = pid
        self._starter = starter
        self._printed = printed

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> Result:
        """Wait for its end; return its exit code, or minus the signal that ended it, and what it printed."""
        code = self._starter.ask({"wait": self.pid})
        texts: list[str] = []
        for file in self._printed:
            with file:
                file.seek(0)
                texts.append(file.read().decode())
        return Result(code, *texts)


class Starter:
    """Starts command lines of verdog."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Start the process that is forked; its environment decides how Python reads and writes names."""
        self._environment = dict(environment or {})
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

    def start(self, *arguments: str) -> Process:
        """Start a command line in the current directory, with the environment of this process."""
        environment = {**os.environ, **self._environment}
        request = {
            "arguments": [_pack(each) for each in arguments],
            "directory": _pack(str(Path.cwd())),
            "environment": {_pack(name): _pack(value) for name, value in environment.items()},
        }
        printed = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        return Process(self, self.ask(request, [file.fileno() for file in printed]), printed)

    def run(self, *arguments: str) -> Result:
        """Run a command line to its end."""
        return self.start(*arguments).wait()

    def ask(self, request: Mapping[str, object], files: list[int] | None = None) -> int:
        """Send a request to the process that is forked, and return its answer."""
        socket.send_fds(self._socket, [json.dumps(request).encode() + b"\n"], files or [])
        try:
            return int(self._answers.readline())
        except BaseException:
            self._process.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._answers.close()
        self._socket.close()
        self._process.wait(TIMEOUT_S)


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
            data, files, _, _ = socket.recv_fds(requests, 1 << 16, 2)
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
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, file in enumerate(files, 1):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update({_unpack(name): _unpack(value) for name, value in request["environment"].items()})
    directory = _unpack(request["directory"])
    os.chdir(directory)
    sys.path[0] = directory
    sys.argv = ["verdog", *map(_unpack, request["arguments"])]
    runpy.run_module("verdog_cli", run_name="__main__", alter_sys=True)


def forking_context(module: str) -> ForkServerContext:
    """Return what starts the functions of a module in processes that are forked when it is imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
    return context

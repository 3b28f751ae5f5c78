"""A terminal for tests: a command line run on a pseudo-terminal of some size."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])")
"""What moves the cursor, or colours what follows."""

_FORGOTTEN = ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS", "LINES", "PAGER", "LESS")


class Shown(NamedTuple):
    """What a command line exited with, and what it sent to the terminal."""

    code: int
    text: str

    @property
    def lines(self) -> list[str]:
        """The lines without colours."""
        return ESCAPES.sub("", self.text).splitlines()


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a person who has set nothing, and what is set beyond that."""
    kept = {name: value for name, value in os.environ.items() if name not in _FORGOTTEN}
    return kept | {"TERM": "xterm-256color", "PAGER": "cat"} | changes


class Terminal:
    """A command that is running on a pseudo-terminal."""

    def __init__(
        self, *arguments: str, cwd: Path, columns: int = 80, variables: Mapping[str, str] | None = None
    ) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, columns))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "verdog_cli", *arguments],
            cwd=cwd,
            env=environment(**(variables or {})),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def read(self, until: bytes | None = None) -> str:
        """Return what is shown up to some text, or to the end."""
        shown = b""
        while until is None or until not in shown:
            try:
                piece = os.read(self._master, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            shown += piece
        return shown.decode().replace("\r\n", "\n")

    def kill(self) -> None:
        """End the command without letting it say anything."""
        self.process.send_signal(signal.SIGKILL)
        self.close()

    def close(self) -> int:
        """Wait for the end and return the exit code."""
        code = self.process.wait()
        os.close(self._master)
        return code


def show(*arguments: str, cwd: Path, columns: int = 80, variables: Mapping[str, str] | None = None) -> Shown:
    """Run a command line on a terminal."""
    terminal = Terminal(*arguments, cwd=cwd, columns=columns, variables=variables)
    text = terminal.read()
    return Shown(terminal.close(), text)


def pipe(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command line whose output a program reads."""
    return subprocess.run(
        [sys.executable, "-m", "verdog_cli", *arguments],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )

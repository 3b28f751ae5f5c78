"""A terminal for tests: a command line run on a pseudo-terminal of some size."""

import os
import pty
import re
import signal
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.commandline import Result
from tests.processes import shared_starter

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
        self.process = shared_starter().start_on(
            arguments, [slave, slave, slave], cwd, environment(**(variables or {}))
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


def pipe(*arguments: str, cwd: Path, **variables: str) -> Result:
    """Run a command line whose output a program reads."""
    return shared_starter().run(*arguments, cwd=cwd, environment=environment(**variables))

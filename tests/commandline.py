"""The command line as tests call it."""

from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    """What a command line exited with and printed."""

    code: int
    out: str
    err: str


Verdog = Callable[..., Result]
"""Runs one command line: `verdog("log", "first")`."""

"""Operations measured in the same minute: one of each, over and over, so that all see the same machine."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, kw_only=True)
class Samples:
    """How long an operation took, each time it was done, in seconds."""

    taken: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.taken)

    @property
    def p99(self) -> float:
        return sorted(self.taken)[max(0, len(self.taken) * 99 // 100 - 1)]


def measure(*operations: Callable[[int], object], rounds: int, settle: bool = False) -> list[Samples]:
    """Do every operation once in each round, in turns first, and return the times of each.

    Args:
        operations: called with the number of the round.
        rounds: how many.
        settle: write everything to disk before each operation, so that none pays for the one before.
    """
    taken: list[list[float]] = [[] for _ in operations]
    for number in range(rounds):
        order = list(enumerate(operations))
        for index, operation in order if number % 2 else reversed(order):
            if settle:
                os.sync()
            begun = time.perf_counter()
            operation(number)
            taken[index].append(time.perf_counter() - begun)
    return [Samples(taken=tuple(each)) for each in taken]


class Appender:
    """The cheapest durable act: 10 KB appended to a file, and `fdatasync`."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._block = os.urandom(10 * 1024)

    def append(self) -> float:
        """Do it once and return how long it took, in seconds."""
        begun = time.perf_counter()
        os.write(self._fd, self._block)
        os.fdatasync(self._fd)
        return time.perf_counter() - begun

    def close(self) -> None:
        os.close(self._fd)


def run(command: Sequence[str | Path], *, environment: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it printed; it must succeed."""
    done = subprocess.run(
        [str(each) for each in command],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} exited with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout

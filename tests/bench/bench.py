"""What the rows share: sizes, a scratch directory, and runs that several rows look at."""

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.bench.loops import Loop, record_loop
from tests.bench.table import Row


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is measured.

    Attributes:
        commits: of the loop whose commits are paired with appends.
        visits: of the long loop.
        files: of a tree, each of 10 KB.
        big_bytes: of the big file.
        runs: of the project with many.
        rounds: of pairs that take seconds.
        shots: of pairs that take fractions of one.
        transitions: of the loop that records nothing.
    """

    commits: int = 2000
    visits: int = 10_000
    files: int = 10_000
    big_bytes: int = 1 << 30
    runs: int = 1000
    rounds: int = 5
    shots: int = 25
    transitions: int = 2000


QUICK = Sizes(
    commits=200, visits=400, files=300, big_bytes=16 << 20, runs=30, rounds=1, shots=3, transitions=200
)


class Bench:
    """One measurement of the whole table or a part of it."""

    def __init__(self, sizes: Sizes, scratch: Path) -> None:
        self.sizes = sizes
        self.scratch = scratch
        self.rows: list[Row] = []
        self.load = 0.0
        self.made = 0

    def directory(self, name: str) -> Path:
        """Make a new directory in the scratch directory."""
        self.made += 1
        path = self.scratch / f"{name}-{self.made}"
        path.mkdir()
        return path

    def remove(self, path: Path) -> None:
        """Remove a directory of the scratch directory again."""
        shutil.rmtree(path)

    def begin(self) -> None:
        """Note how busy the machine is."""
        self.load = os.getloadavg()[0]

    def add(self, **cells: object) -> None:
        """Add a row to the table."""
        self.rows.append(Row(load=self.load, **cells))  # type: ignore[arg-type]

    @cached_property
    def long_loop(self) -> Loop:
        """A recorded loop of many visits, paired with appends in its first and last hundred commits."""
        visits = self.sizes.visits
        window = min(100, visits // 4)
        paired = range(window), range(visits - 2 * window, visits * 2)
        return record_loop(
            self.directory("long"), visits, lambda number: any(number in each for each in paired)
        )

    @cached_property
    def short_loop(self) -> Loop:
        """The same loop with a hundred visits."""
        return record_loop(self.directory("short"), 100, lambda number: False)

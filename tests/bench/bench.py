"""What the rows share: sizes, a scratch directory, and runs that several rows look at."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.bench.loops import Loop, WaitingRun, record_loop
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
    """One measurement of the whole table or a part of it.

    Trees are removed at the end only: ext4 looks at each inode that was freed in the last minutes, for every
    file that is made.
    """

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

    def begin(self) -> None:
        """Note how busy the machine is."""
        self.load = os.getloadavg()[0]

    def add(self, **cells: object) -> None:
        """Add a row to the table."""
        self.rows.append(Row(load=self.load, **cells))  # type: ignore[arg-type]

    @property
    def window(self) -> int:
        """How many commits at the end of the long loop are compared with others."""
        return min(100, self.sizes.visits // 8)

    @cached_property
    def long_loop(self) -> Loop:
        """A recorded loop of many visits.

        Its last commits alternate with those of other runs: first with one that is just beginning, then with
        one that has done five times as many commits as are compared.
        """
        window = self.window
        young = WaitingRun(self.directory("young"), 2 * window, 0)
        grown = WaitingRun(self.directory("grown"), 8 * window, 5 * window)
        bases = iter([young.commit] * window + [grown.commit] * window)

        def base() -> float:
            return next(bases)()

        try:
            return record_loop(self.directory("long"), self.sizes.visits, base, 2 * window)
        finally:
            young.end()
            grown.end()

    @cached_property
    def short_loop(self) -> Loop:
        """The same loop with a hundred visits."""
        return record_loop(self.directory("short"), 100)

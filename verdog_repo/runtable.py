"""The runs table: which runs there are, their numbers and the objects of their headers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.oid import Kind, Oid, format_oid
from verdog_objects.store import PAGE_ROWS, Guard, ObjectStore, PutRow, Query, Row
from verdog_repo.names import CommitId, RunId
from verdog_repo.tables import RUN_NUMBERS, RUNS

if TYPE_CHECKING:
    from verdog_repo.runs import RunHeader

FIRST_BEYOND = "\U0010ffff"
"""A text that sorts behind every name with the same beginning."""


class RunRow(NamedTuple):
    """One row of the runs table."""

    run: RunId
    number: int
    header: Oid
    output_dir: str
    fork_point: CommitId | None

    @property
    def guard(self) -> Guard:
        """The condition that the row is as it was read."""
        return Guard(table=RUNS, key=(self.run,), expected=tuple(self))

    @property
    def write(self) -> PutRow:
        """The write that stores the row."""
        return PutRow(table=RUNS, row=tuple(self))


class RunTable:
    """The runs of a store. What number stands for which run never changes, so it is remembered."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._names: dict[int, RunId] = {}
        self._numbers: dict[RunId, int] = {}

    def find(self, run: str) -> RunRow | None:
        """Return a run's row."""
        rows = self._store.select(Query(table=RUNS, equal=(("run", run),), limit=1))
        return self._remember(rows[0]) if rows else None

    def get(self, run: RunId) -> RunRow:
        """Return a run's row. Raises `NotFound` when there is no such run."""
        row = self.find(run)
        if row is None:
            raise NotFound(f"no run {run} in this project")
        return row

    def name(self, number: int) -> RunId:
        """Return the run that a number stands for. Raises `Corrupt` when it stands for none."""
        known = self._names.get(number)
        if known is None:
            rows = self._store.select(Query(table=RUN_NUMBERS, equal=(("number", number),), limit=1))
            if not rows:
                raise Corrupt(f"no run has the number {number} that a row names")
            known = self._names[number] = RunId(cast("str", rows[0][1]))
        return known

    def number(self, run: RunId) -> int:
        """Return the number that stands for a run. Raises `NotFound` when there is no such run."""
        known = self._numbers.get(run)
        return known if known is not None else self.get(run).number

    def next_number(self) -> int:
        """Return a number that was not given yet, though another process may take it."""
        rows = self._store.select(Query(table=RUN_NUMBERS, descending=True, limit=1))
        return cast("int", rows[0][0]) + 1 if rows else 1

    def beginning_with(self, prefix: str, limit: int) -> list[RunId]:
        """Return the runs whose id begins with a text, in order."""
        query = Query(table=RUNS, at_least=("run", prefix), below=("run", prefix + FIRST_BEYOND), limit=limit)
        return [self._remember(row).run for row in self._store.select(query)]

    def forked_from(self, commit: CommitId) -> list[RunRow]:
        """Return the runs whose fork point is a commit, in the order in which they were made."""
        found = self._store.select(Query(table=RUNS, equal=(("fork_point", commit),)))
        return sorted((self._remember(row) for row in found), key=lambda row: row.number)

    def pages(self) -> Iterator[list[RunRow]]:
        """Yield all runs in the order of their ids, a page at a time."""
        after = ""
        while True:
            query = Query(table=RUNS, at_least=("run", after), limit=PAGE_ROWS)
            page = [self._remember(row) for row in self._store.select(query)]
            if page:
                yield page
            if len(page) < PAGE_ROWS:
                return
            after = page[-1].run + "\0"

    def header(self, row: RunRow) -> "RunHeader":
        """Return the header of a run."""
        from verdog_repo.runs import decode_header

        header = decode_header(self._store.get(Kind.HEADER, row.header))
        return self._check(row, header)

    def headers(self, page: list[RunRow]) -> "list[RunHeader]":
        """Return the headers of some runs. Raises `Corrupt` naming the first run whose header is gone."""
        from verdog_repo.runs import decode_header

        found = self._store.get_many([row.header for row in page])
        headers: list[RunHeader] = []
        for row in page:
            kind, payload = found.get(row.header, (None, b""))
            if kind is not Kind.HEADER:
                raise Corrupt(f"run {row.run}: its header {format_oid(row.header)} is missing")
            headers.append(self._check(row, decode_header(payload)))
        return headers

    @staticmethod
    def _check(row: RunRow, header: "RunHeader") -> "RunHeader":
        if header.run != row.run:
            raise Corrupt(f"run {row.run}: its header is that of run {header.run}")
        return header

    def _remember(self, row: Row) -> RunRow:
        found = RunRow._make(cast("tuple[RunId, int, Oid, str, CommitId | None]", row))
        self._names[found.number] = found.run
        self._numbers[found.run] = found.number
        return found

"""The index of checkpoints: found by commit, by run and number, by place, and without libgit2."""

from collections.abc import Iterator
from typing import cast

from verdog_objects.errors import Corrupt, NotFound
from verdog_objects.store import PAGE_ROWS, ObjectStore, Query, Row, Value
from verdog_repo.checkpoint import Checkpoint, decode_row, decode_visit
from verdog_repo.names import CommitId, format_commit_id, prefix_bounds
from verdog_repo.runtable import RunTable
from verdog_repo.tables import CHECKPOINTS


class Index:
    """The checkpoints table, read.

    A checkpoint's parent has the number before its own in the same run, or, for number 1, is in another run
    or absent. Two checkpoints of a run share a number only after an undone operation; then one of them is off
    the history that leads to the run's ref, and the parents decide.
    """

    def __init__(self, store: ObjectStore, runs: RunTable) -> None:
        self._store = store
        self._runs = runs

    def find(self, commit: CommitId) -> Checkpoint | None:
        """Return the checkpoint of a commit."""
        found = self._select(Query(table=CHECKPOINTS, equal=(("git_id", commit),), limit=1))
        return found[0] if found else None

    def get(self, commit: CommitId) -> Checkpoint:
        """Return the checkpoint of a commit. Raises `NotFound` when there is none."""
        found = self.find(commit)
        if found is None:
            raise NotFound(f"no commit {format_commit_id(commit)}")
        return found

    def parent(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Return the checkpoint before this one, perhaps of another run, or None for a root."""
        if checkpoint.parent is None:
            return None
        found = self.find(checkpoint.parent)
        if found is None:
            raise _missing(checkpoint, checkpoint.parent)
        if found.generation != checkpoint.generation - 1:  # so that no damaged table leads in circles
            raise Corrupt(f"run {checkpoint.run}: checkpoint {checkpoint.sequence} has the wrong generation")
        return found

    def beginning_with(self, digits: str, limit: int) -> list[Checkpoint]:
        """Return the checkpoints whose commit id begins with these hexadecimal digits."""
        first, beyond = prefix_bounds(digits)
        query = Query(
            table=CHECKPOINTS,
            at_least=("git_id", first),
            below=("git_id", beyond) if beyond is not None else None,
            order=("git_id",),
            limit=limit,
        )
        return self._select(query)

    def at(self, run: int, sequence: int) -> list[Checkpoint]:
        """Return the checkpoints with a number of a run: one, or more where operations were undone."""
        return self._select(Query(table=CHECKPOINTS, equal=(("run", run), ("sequence", sequence))))

    def page(self, run: int, first: int) -> list[Checkpoint]:
        """Return a page of a run's checkpoints from a number on, oldest first, undone ones too."""
        return self._select(Query(table=CHECKPOINTS, equal=(("run", run),), at_least=("sequence", first)))

    def own_ancestor(self, checkpoint: Checkpoint, run: int, sequence: int) -> Checkpoint:
        """Return the checkpoint of this number on the way back from another one of the same run.

        Args:
            checkpoint: where to start.
            run: the run's number.
            sequence: from 1 to the start's own.

        Cost: one lookup, unless operations were undone.
        """
        if sequence == checkpoint.sequence:
            return checkpoint
        found = self.at(run, sequence)
        if len(found) == 1:
            return found[0]
        for each in self.walk_own(checkpoint, run):
            if each.sequence == sequence:
                return each
        raise Corrupt(f"run {checkpoint.run}: checkpoint {sequence} is not in the checkpoints table")

    def walk_own(self, tip: Checkpoint, run: int, page_rows: int = PAGE_ROWS) -> Iterator[Checkpoint]:
        """Yield a checkpoint and those before it in the same run, newest first.

        Cost: nothing for the first; the others are read a page at a time.
        """
        yield tip
        expected, sequence = tip.parent, tip.sequence - 1
        while expected is not None and sequence > 0:
            page = self._select(
                Query(
                    table=CHECKPOINTS,
                    equal=(("run", run),),
                    below=("sequence", sequence + 1),
                    order=("sequence",),
                    descending=True,
                    limit=page_rows,
                )
            )
            started = sequence
            for each in page:
                if each.commit == expected:
                    yield each
                    expected, sequence = each.parent, each.sequence - 1
            if (
                sequence == started and expected is not None
            ):  # more undone checkpoints share the number than fit a page
                found = self.find(expected)
                if found is None or found.sequence != sequence:
                    raise _missing(tip, expected)
                yield found
                expected, sequence = found.parent, sequence - 1

    def is_linear(self, run: int) -> bool:
        """Return whether no two checkpoints of a run share a number."""
        last = self._select(
            Query(table=CHECKPOINTS, equal=(("run", run),), order=("sequence",), descending=True, limit=1)
        )
        return not last or self._store.count(CHECKPOINTS, {"run": run}) == last[0].sequence

    def completed_at(self, run: int, place: str, *, up_to: int, inside: bool = False) -> Iterator[Checkpoint]:
        """Yield a run's checkpoints at which a node had been completed, oldest first.

        Args:
            run: the run's number.
            place: the node, with the calls that lead to it.
            up_to: the last number that counts.
            inside: what was completed is in a call of this place (`call#`), whatever its node.

        Cost: reads every row of the run's checkpoints in the database, and returns few.
        """
        name = self._runs.name(run)
        for row in self._completed_rows(run, None if inside else place, up_to):
            checkpoint = decode_row(row, name)
            if not inside or (checkpoint.place or "").startswith(place):
                yield checkpoint

    def completed_visits(self, run: int, place: str, *, up_to: int) -> Iterator[tuple[int, int | None]]:
        """Yield the checkpoint's number and the visit for each completed one of a node, oldest first.

        What a fork begins with is no visit of its own.

        Cost: as `completed_at`, without making checkpoints of the rows.
        """
        for row in self._completed_rows(run, place, up_to):
            visit = decode_visit(row)
            if visit is not None:
                yield visit

    def given_up(self, run: int, tip: Checkpoint) -> list[range]:
        """Return the numbers of the checkpoints, up to `tip`, that a resumed run left behind."""
        query = Query(
            table=CHECKPOINTS,
            equal=(("run", run),),
            at_least=("resumed_from", 0),
            order=("sequence",),
        )
        return [
            range(each.resumed_from + 1, each.sequence)
            for each in self._select(query)
            if each.resumed_from is not None and each.sequence <= tip.sequence
        ]

    def _completed_rows(self, run: int, place: str | None, up_to: int) -> Iterator[Row]:
        conditions: tuple[tuple[str, Value], ...] = (("run", run),)
        if place is not None:
            conditions = (*conditions, ("place", place))
        after = 0
        while True:
            page = self._store.select(
                Query(
                    table=CHECKPOINTS,
                    equal=conditions,
                    at_least=("sequence", after),
                    below=("sequence", up_to + 1),
                    order=("sequence",),
                )
            )
            yield from page
            if len(page) < PAGE_ROWS:
                return
            after = cast("int", page[-1][1]) + 1

    def _select(self, query: Query) -> list[Checkpoint]:
        name = self._runs.name
        return [decode_row(row, name(cast("int", row[0]))) for row in self._store.select(query)]


def _missing(checkpoint: Checkpoint, commit: CommitId) -> Corrupt:
    return Corrupt(
        f"run {checkpoint.run}: commit {format_commit_id(commit)}, before checkpoint {checkpoint.sequence}, "
        "is not in the checkpoints table"
    )

"""Row repair: the checkpoints table written anew where it does not say what the records say."""

from verdog_objects.errors import Conflict, VerdogError
from verdog_objects.store import Guard, PutRow, Query, RemoveRow, Row, Write
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint, encode_row
from verdog_repo.names import CommitId, RunId
from verdog_repo.rebuild import derive_history
from verdog_repo.refs import name_run_ref, read_ref
from verdog_repo.tables import CHECKPOINTS


def repair_rows(catalog: Catalog) -> tuple[Checkpoint, ...]:
    """Write the rows anew that are missing or differ from what the records say, and return their checkpoints.

    A run's ref is sealed and names the latest record, and records decide every row of the history that leads
    to it. What cannot be derived, because a ref or a record is damaged itself, stays as it is.

    Durability: each row once the call returned.

    Cost: reads the records of every run twice.
    """
    repaired: dict[CommitId, Checkpoint] = {}
    done: set[CommitId] = set()
    for page in catalog.runs.pages():
        for row in page:
            for checkpoint in _derive(catalog, row.run):
                if checkpoint.commit not in done:
                    done.add(checkpoint.commit)
                    if _repair(catalog, checkpoint):
                        repaired[checkpoint.commit] = checkpoint
    return tuple(repaired.values())


def _derive(catalog: Catalog, run: RunId) -> list[Checkpoint]:
    try:
        ref = read_ref(catalog.store, name_run_ref(run))
        if ref is None or ref.record is None:
            return []
        history = derive_history(catalog.store, ref.record)
    except VerdogError:
        return []
    return history if history[-1].commit == ref.commit else []


def _repair(catalog: Catalog, checkpoint: Checkpoint) -> bool:
    """Make a checkpoint's row the only one that has its commit or its record; return whether it was not."""
    try:
        number = catalog.runs.number(checkpoint.run)
        wanted = encode_row(checkpoint, number)
        found = _find_rows(catalog, checkpoint, number)
        if found == [wanted]:
            return False
        here = next((row for row in found if row[:3] == wanted[:3]), None)
        strays = [row for row in found if row[:3] != wanted[:3]]
        guards = [Guard(table=CHECKPOINTS, key=row[:3], expected=row) for row in strays]
        guards.append(Guard(table=CHECKPOINTS, key=wanted[:3], expected=here))
        writes: list[Write] = [RemoveRow(table=CHECKPOINTS, key=row[:3]) for row in strays]
        catalog.store.apply(guards=guards, writes=[*writes, PutRow(table=CHECKPOINTS, row=wanted)])
    except Conflict:  # somebody else repairs, too
        return False
    except VerdogError:  # its run is gone, or its rows cannot be read
        return False
    return True


def _find_rows(catalog: Catalog, checkpoint: Checkpoint, number: int) -> list[Row]:
    """Return the rows that have a checkpoint's commit, or its number and its record."""
    at = (("run", number), ("sequence", checkpoint.sequence))
    rows = catalog.store.select(Query(table=CHECKPOINTS, equal=(("git_id", checkpoint.commit),)))
    same = catalog.store.select(Query(table=CHECKPOINTS, equal=at))
    return rows + [row for row in same if row not in rows and row[5] == checkpoint.record]

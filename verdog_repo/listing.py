"""Listing runs: each with its latest checkpoint, and whether it is active and its directory present."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import BRANCHABLE, FORK_FRESH, RESTORABLE
from verdog_repo.filenames import parse_filename
from verdog_repo.names import CommitId, RunId
from verdog_repo.refs import RUN_PREFIX, iter_refs
from verdog_repo.runs import RunHeader, RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListing:
    """A run in a list.

    Attributes:
        number: rises with the order in which the runs were made.
        commit: its latest checkpoint, or None when it has none.
        sequence: that checkpoint's number, or None.
        restorable: the run can go on from its latest checkpoint; so too `branchable` and `fork_fresh`.
        active: a process holds its lease.
        present: its output directory exists.
    """

    header: RunHeader
    number: int
    commit: CommitId | None
    sequence: int | None
    restorable: bool
    branchable: bool
    fork_fresh: bool
    active: bool
    present: bool

    @property
    def status(self) -> RunStatus:
        """The status to show: a run that says it is running, but is not active, was interrupted."""
        if self.header.status is RunStatus.RUNNING and not self.active:
            return RunStatus.INTERRUPTED
        return self.header.status


def iter_runs(catalog: Catalog, project: Path, locks: Path | None) -> Iterator[RunListing]:
    """Yield every run, in the order of their ids.

    Cost: one read of each header and ref, whatever the number of checkpoints; one `stat` per run.
    """
    refs = {ref.run_number: ref for ref in iter_refs(catalog.store, RUN_PREFIX)}
    for page in catalog.runs.pages():
        for row, header in zip(page, catalog.runs.headers(page), strict=True):
            ref = refs.get(row.number)
            flags = ref.flags if ref is not None else 0
            yield RunListing(
                header=header,
                number=row.number,
                commit=ref.commit if ref is not None else None,
                sequence=ref.sequence if ref is not None else None,
                restorable=bool(flags & RESTORABLE),
                branchable=bool(flags & BRANCHABLE),
                fork_fresh=bool(flags & FORK_FRESH),
                active=header.status is RunStatus.RUNNING and _is_leased(locks, row.run),
                present=os.path.isdir(os.path.join(project, parse_filename(header.output_dir))),  # noqa: PTH112, PTH118
            )


def _is_leased(locks: Path | None, run: RunId) -> bool:
    from verdog_repo.lease import is_leased  # few runs are running, and most lists hold none

    return is_leased(locks, run)

"""A store that was put back to an older state: said in one line by what reads it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verdog_cli.messages import tell
from verdog_cli.render import escape, plural

if TYPE_CHECKING:
    from verdog_repo.names import RunId
    from verdog_repo.repository import Repository


def warn_of_losses(repository: "Repository", runs: "Iterable[RunId] | None" = None) -> None:
    """Say on standard error that the store lost checkpoints of runs, if it did.

    Args:
        repository: the runs'.
        runs: those that matter to a command; the newest when None.
    """
    from verdog_repo.acknowledged import find_losses

    losses = list(find_losses(repository.catalog, repository.project, runs))
    if losses:
        more = f", and so did {plural(len(losses) - 1, 'more run')}" if len(losses) > 1 else ""
        tell(
            f"warning: the store was put back to an older state: {escape(losses[0])}{more}; see: verdog fsck"
        )

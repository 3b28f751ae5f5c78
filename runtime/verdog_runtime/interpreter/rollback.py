"""A store that was put back to an older state, noticed where a new run is made of a run in it."""

import logging

from verdog_repo.acknowledged import find_losses
from verdog_repo.names import RunId
from verdog_repo.repository import Repository

_LOG = logging.getLogger("verdog.run")


def warn_of_loss(repository: Repository, run: RunId) -> None:
    """Log that the store has an older state of a run than the run's own directory.

    Going on with that run is refused. A new run writes nothing that the run has, so it is a way to go on when
    the newer store is lost for good; but what it begins from is not the latest.
    """
    for loss in find_losses(repository.catalog, repository.project, [run]):
        _LOG.warning("the store was put back to an older state: %s; see: verdog fsck", loss)

"""The clock of a run's records."""

import time

from verdog_repo.instants import format_instant


def read_instant() -> str:
    """Return the time now as RFC 3339 text in UTC, in microseconds."""
    return format_instant(time.time_ns() // 1000)

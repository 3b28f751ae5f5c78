"""The tally: how often each node was visited and for how long, read from the lines of a trace."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_LINE = re.compile(
    r"\[[^+\]]*\+ *([0-9]+\.[0-9]+)s\] "
    r"(?:START \S+|END (\S+)/[0-9]+ status=[a-z]+ duration=([0-9]+\.[0-9]+)s)$"
)


@dataclass(slots=True)
class Visits:
    """What was counted of one node."""

    count: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Tally:
    """What a trace says.

    Attributes:
        seconds: how long the run was executed, over all its resumptions.
        nodes: per directory of a node of the root graph, its visits that ended, whatever they ended as.
    """

    seconds: float = 0.0
    nodes: dict[str, Visits] = field(default_factory=dict[str, Visits])


def count_visits(lines: Iterable[str]) -> Tally:
    """Return what the lines of a trace say. A line that is none of the trace's counts for nothing."""
    tally = Tally()
    elapsed = 0.0  # in the execution that the lines belong to: each one begins at 0 again
    for line in lines:
        found = _LINE.match(line.rstrip("\n"))
        if found is None:
            continue
        at_s, place, duration_s = float(found[1]), found[2], found[3]
        if at_s < elapsed:
            tally.seconds += elapsed
        elapsed = at_s
        if place is not None and "/" not in place:
            visits = tally.nodes.setdefault(place, Visits())
            visits.count += 1
            visits.seconds += float(duration_s)
    tally.seconds += elapsed
    return tally

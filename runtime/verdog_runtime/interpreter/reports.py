"""Reports: `config.md` and `stats.md`, which tell people with what a run was executed and what it took."""

import logging
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from verdog_objects.errors import VerdogError
from verdog_runtime.controlfiles import open_control_file
from verdog_runtime.declarations.graph import AnyGraph, FeatureNodeDefinition
from verdog_runtime.interpreter.frame import Frame
from verdog_runtime.interpreter.parameters import list_rows
from verdog_runtime.interpreter.tally import Tally, Visits, count_visits
from verdog_runtime.layout import format_node_directory
from verdog_runtime.trace import TRACE_LOG

CONFIG = "config.md"
STATS = "stats.md"

_MODE = 0o666
_NOTHING = "—"
_NO_USAGE = ("0", _NOTHING, _NOTHING, _NOTHING, _NOTHING)
_TOTAL_USAGE = ("0", "0", "0", "0", "0")
_USAGE = ("Agent calls", "Input tokens", "Cached input", "Output tokens", "Est. USD")

_LOG = logging.getLogger("verdog.run")


class Reports:
    """Writes the reports of one execution. A report that cannot be written is logged and stops nothing.

    Durability: none. They can be made again from the run.
    """

    def __init__(self, output: Path, frame: Frame) -> None:
        self._output = output
        self._frame = frame

    def begin(self, options: object, *, entered: bool) -> None:
        """Write with what the graph is executed.

        Args:
            options: the runtime options, if any were given.
            entered: the run begins; one that goes on keeps the report that it has.
        """
        path = self._output / CONFIG
        if entered or not os.path.lexists(path):
            frame = self._frame
            given = (("input", frame.input), ("runtime", options), ("params", frame.params))
            shown = [(name, value) for name, value in given if name != "runtime" or value is not None]
            _write(path, format_config(row for name, value in shown for row in list_rows(name, value)))

    def end(self) -> None:
        """Write how often each node was visited and for how long, in all executions of the run so far.

        Cost: reads the trace.
        """
        try:
            opened = open_control_file(self._output / TRACE_LOG, os.O_RDONLY)
            with os.fdopen(opened, encoding="utf-8", errors="replace") as lines:
                tally = count_visits(lines)
        except (OSError, VerdogError) as error:
            _LOG.warning("%s was not written: %s", STATS, error)
            return
        _write(self._output / STATS, format_stats(self._frame.project_path, self._frame.plan.graph, tally))


def format_config(rows: Iterable[tuple[str, str]]) -> str:
    """Return the text of `config.md`."""
    return f"# Configuration\n\n{_format_table(('Parameter', 'Value'), list(rows))}\n"


def format_stats(project_path: str, graph: AnyGraph, tally: Tally) -> str:
    """Return the text of `stats.md`."""
    by_type: dict[str, Visits] = {}
    nodes: list[tuple[str, ...]] = []
    for node, kind in _list_nodes(graph):
        visits = tally.nodes.get(format_node_directory(node))
        if visits is None:
            continue
        of_type = by_type.setdefault(kind, Visits())
        of_type.count += visits.count
        of_type.seconds += visits.seconds
        nodes.append((project_path, graph.id, node, kind, *_format_visits(visits), *_NO_USAGE))
    total = ("Total", "", f"{tally.seconds:.6f}", *_TOTAL_USAGE)
    types = [(kind, *_format_visits(by_type[kind]), *_NO_USAGE) for kind in sorted(by_type)]
    counted = ("Visits", "Seconds", *_USAGE)
    summary = _format_table(("Type", *counted), [total, *types])
    each = _format_table(("Project", "Graph", "Node", "Type", *counted), sorted(nodes))
    return f"## Summary\n\n{summary}\n\n## Nodes\n\n{each}\n"


def _list_nodes(graph: AnyGraph) -> Iterable[tuple[str, str]]:
    """Yield ports and nodes, each with its type."""
    yield graph.enter.id, "enter"
    yield graph.exit.id, "exit"
    yield graph.failure.id, "failure"
    for node in graph.nodes:
        yield node.id, "feature" if isinstance(node, FeatureNodeDefinition) else "python"


def _format_visits(visits: Visits) -> tuple[str, str]:
    return str(visits.count), f"{visits.seconds:.6f}"


def _format_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate  # no run needs it before its end

    cells = [[_format_cell(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=headers, tablefmt="pipe", disable_numparse=True)


def _format_cell(text: str) -> str:
    """Return text as a cell: nothing in it ends the cell or the line, or is taken for a tag."""
    harmless = escape(text, quote=False).replace("|", "&#124;")
    return "<br>".join(harmless.splitlines()) if harmless.strip() else harmless


def _write(path: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    try:
        opened = open_control_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE)
        with os.fdopen(opened, "wb") as file:
            file.write(data)
    except (OSError, VerdogError) as error:
        _LOG.warning("%s was not written: %s", path.name, error)

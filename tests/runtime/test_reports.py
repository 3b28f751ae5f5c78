"""`config.md` and `stats.md`: with what a run was executed, and what it took."""

import logging
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import Count, Params, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import AUTO, Stop, artifacts_of, fail_in, fork, last, resume, run
from verdog_runtime.cancellation import CancellationToken, ExecutionCancelled
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.interpreter.parameters import list_rows
from verdog_runtime.interpreter.tally import count_visits as count_in_trace

USAGE = ["0", "—", "—", "—", "—"]


@dataclass(frozen=True)
class Inner:
    a: int = 1
    b: str = "two"


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    path: Path = Path("x/y")
    secret: str = field(default="hunter2", repr=False)
    none: None = None
    empty: Any = None


@dataclass(frozen=True)
class Nothing:
    pass


@dataclass
class Knot:
    other: Any


class Sly:
    def __str__(self) -> str:
        raise ValueError("no")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def tables(output: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each table of `stats.md`, without headers."""
    text = (output / "stats.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)\n\n", text, flags=re.MULTILINE)[1:]
    return {
        name: [cells(line) for line in part.strip().splitlines()[2:]]
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    }


def visits(output: Path) -> dict[str, int]:
    return {row[2]: int(row[4]) for row in tables(output)["Nodes"]}


def test_the_configuration_shows_input_options_and_parameters(project: Path) -> None:
    definition = workflow(line_graph())
    params = {(".", "toy.loop.main"): Params(step=7)}
    run(project, definition, Outer(empty=Nothing()), runtime_options=Inner(b="a|b <i>\nnext"), params=params)
    assert (project / "out/config.md").read_text(encoding="utf-8") == (
        "# Configuration\n"
        "\n"
        "| Parameter     | Value                      |\n"
        "|:--------------|:---------------------------|\n"
        "| input.inner.a | 1                          |\n"
        "| input.inner.b | two                        |\n"
        "| input.path    | x/y                        |\n"
        "| input.secret  | [redacted]                 |\n"
        "| input.none    | None                       |\n"
        "| runtime.a     | 1                          |\n"
        "| runtime.b     | a&#124;b &lt;i&gt;<br>next |\n"
        "| params.step   | 7                          |\n"
    )


def test_a_value_that_is_no_dataclass_is_one_row() -> None:
    assert list(list_rows("input", 3)) == [("input", "3")]
    assert list(list_rows("input", Nothing())) == []
    assert list(list_rows("input", Inner)) == [("input", str(Inner))]


def test_nothing_that_a_value_does_when_it_is_shown_is_an_error() -> None:
    knot = Knot(None)
    knot.other = Knot(knot)
    lacking = Knot(None)
    del lacking.other
    assert list(list_rows("k", knot)) == [("k.other.other", "[cycle]")]
    assert list(list_rows("k", lacking)) == [("k.other", "[unavailable]")]
    assert list(list_rows("k", Knot(Sly()))) == [("k.other", "[unprintable Sly]")]
    assert list(list_rows("k", Knot(list(range(20_000))))) == [("k.other", "[list of 20,000]")]


@pytest.mark.parametrize("checkpointing", ["off", "auto"])
def test_the_statistics_count_visits_by_type_and_node(project: Path, checkpointing: Any) -> None:
    run(project, workflow(loop_graph()), 2, checkpointing=checkpointing)
    text = (project / "out/stats.md").read_text(encoding="utf-8").splitlines()
    names = ["Visits", "Seconds", "Agent calls", "Input tokens", "Cached input", "Output tokens", "Est. USD"]
    assert (text[0], cells(text[2])) == ("## Summary", ["Type", *names])
    found = tables(project / "out")
    total, *types = found["Summary"]
    assert [total[0], total[1], *total[3:]] == ["Total", "", "0", "0", "0", "0", "0"]
    assert [[row[0], row[1], *row[3:]] for row in types] == [
        ["enter", "1", *USAGE],
        ["exit", "1", *USAGE],
        ["feature", "3", *USAGE],
        ["python", "3", *USAGE],
    ]
    assert all(re.fullmatch(r"\d+\.\d{6}", row[2]) for row in found["Summary"])
    assert [row[:5] for row in found["Nodes"]] == [
        [".", "toy.loop.main", "enter", "enter", "1"],
        [".", "toy.loop.main", "exit", "exit", "1"],
        [".", "toy.loop.main", "init", "feature", "1"],
        [".", "toy.loop.main", "tick", "feature", "2"],
        [".", "toy.loop.main", "work", "python", "3"],
    ]
    assert sum(float(row[5]) for row in found["Nodes"]) <= float(total[2]) + 0.01


def test_the_statistics_of_a_resumed_run_are_of_all_its_executions(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    assert visits(project / "out") == {"enter": 1, "failure": 1, "init": 1, "tick": 1, "work": 2}
    before = (project / "out/config.md").stat().st_ino, (project / "out/trace.log").read_text()
    kept = (project / "out/work/000001/out.txt").read_text()
    resume(project, workflow(loop_graph()))
    assert visits(project / "out") == {"enter": 1, "exit": 1, "failure": 1, "init": 1, "tick": 2, "work": 4}
    assert (project / "out/config.md").stat().st_ino == before[0]
    assert (project / "out/trace.log").read_text().startswith(before[1])
    assert (project / "out/work/000001/out.txt").read_text() == kept
    assert {path.name for path in (project / "out").glob("*.md")} == {"config.md", "stats.md"}


def test_elapsed_times_of_executions_add_up() -> None:
    lines = [
        "[2026-11-30 13:07:54 +     0.002s] START enter/000001\n",
        "[2026-11-30 13:07:55 +     1.500s] END enter/000001 status=succeeded duration=1.250000s\n",
        "[2026-11-30 13:07:56 +     4.000s] START work/000001\n",
        "[2026-11-30 14:07:56 +     0.000s] START work/000002\n",
        "[2026-11-30 14:07:57 +     0.500s] END work/000002 status=failed duration=0.500000s\n",
        "[2026-11-30 14:07:57 +     0.750s] END call/000001/w/000001 status=succeeded duration=0.100000s\n",
        "something that somebody wrote\n",
        "[2026-11-30 14:07:5",
    ]
    tally = count_in_trace(lines)
    assert tally.seconds == 4.75
    assert {name: (each.count, each.seconds) for name, each in tally.nodes.items()} == {
        "enter": (1, 1.25),
        "work": (1, 0.5),
    }


def test_a_cancelled_run_and_one_that_was_stopped_have_statistics(project: Path) -> None:
    token = CancellationToken()

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        token.cancel()
        return count_visits(value, state, context)

    dispatcher = Dispatcher(project_root=project, cancellation=token)
    with pytest.raises(ExecutionCancelled):
        dispatcher.run(workflow(loop_graph(work)), 2, output_dir=project / "out", checkpointing=AUTO)
    assert visits(project / "out") == {"enter": 1, "init": 1, "work": 1}

    def stop(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        raise Stop

    with pytest.raises(Stop):
        run(project, workflow(line_graph(stop)), 1, output="stopped")
    assert visits(project / "stopped") == {"enter": 1, "work": 1}


def test_a_directory_that_is_written_again_gets_reports(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    shutil.rmtree(project / "out")
    resume(project, workflow(loop_graph()))
    assert "| input       | 2       |" in (project / "out/config.md").read_text()
    assert visits(project / "out") == {"exit": 1, "tick": 1, "work": 2}


def test_a_fork_has_reports_of_its_own(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 2)
    for name in ("config.md", "stats.md"):
        (project / "out" / name).write_text("somebody changed it")
    fork(project, definition, 3)
    assert "| input       | 2       |" in (project / "forked/config.md").read_text()
    assert visits(project / "forked") == {"exit": 1, "tick": 2, "work": 2}
    assert (project / "out/stats.md").read_text() == "somebody changed it"


def test_reports_are_not_recorded_and_may_be_changed_or_removed(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    assert not {b"config.md", b"stats.md"} & set(artifacts_of(project, last(project / "out").sequence))
    (project / "out/config.md").write_text("mine")
    (project / "out/stats.md").unlink()
    resume(project, workflow(loop_graph()))
    assert (project / "out/config.md").read_text() == "mine"
    assert visits(project / "out")["exit"] == 1
    assert not {b"config.md", b"stats.md"} & set(artifacts_of(project, last(project / "out").sequence))


def test_a_report_that_cannot_be_written_stops_nothing(
    project: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        (context.output_dir.parent.parent / "stats.md").symlink_to(elsewhere)
        return count_visits(value, state, context)

    with caplog.at_level(logging.WARNING):
        assert run(project, workflow(line_graph(work)), 1).output == 1
    assert "stats.md was not written" in caplog.text
    assert elsewhere.read_text() == "mine"

    def pipe(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        os.mkfifo(context.output_dir.parent.parent / "stats.md")
        return count_visits(value, state, context)

    assert run(project, workflow(line_graph(pipe)), 1, output="second").output == 1

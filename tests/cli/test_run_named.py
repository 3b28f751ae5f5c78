"""A run is named before its first step, so that whoever kills it, or loses it, knows what to resume."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.cli.terminal import ESCAPES, Terminal, environment
from tests.cli.workflows import countdown
from tests.commandline import Verdog
from tests.processes import shared_starter

WAITS = "import time\nwhile not Path('go').exists(): time.sleep(0.01)"


@pytest.fixture
def flow(project: Path) -> Path:
    (project / "flow.py").write_text(countdown(WAITS))
    return project


def read_name(*arguments: str, cwd: Path, errors: bool = False) -> str:
    """Start a command line, kill it when it has said its first line, and return the id in it."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end) as told, Path(os.devnull).open("w") as nothing:
        streams = (0, nothing.fileno(), write_end) if errors else (0, write_end, nothing.fileno())
        process = shared_starter().start_on(arguments, streams, cwd, environment())
        os.close(write_end)
        word, run = told.readline().split()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert word == "run"
    return run


@pytest.mark.parametrize("json", [False, True])
def test_whoever_kills_a_run_knows_what_to_resume(verdog: Verdog, flow: Path, json: bool) -> None:
    form = ("--json",) if json else ()
    run = read_name("run", "flow.py", *form, cwd=flow, errors=json)
    (flow / "go").touch()
    listed = verdog("runs", "--json").out
    assert run in listed
    again = ("resume", run) if '"checkpoint": null' not in listed else ("restart", run, "--sessions", "fresh")
    assert verdog(*again).code == 0


def test_a_terminal_shows_the_name_first(verdog: Verdog, flow: Path) -> None:
    terminal = Terminal("run", "flow.py", cwd=flow)
    first, second, *_ = terminal.read(until=b"enter/000001").splitlines()
    terminal.kill()
    run = first.removeprefix("run ")
    assert run in verdog("runs", "--json").out
    assert second.startswith("writing to .verdog/runs/countdown/")


def test_a_resumed_restarted_and_forked_run_is_named_as_well(verdog: Verdog, flow: Path) -> None:
    (flow / "go").touch()
    verdog("run", "flow.py", "--run-id", "first")
    (flow / "go").unlink()
    fork = read_name("fork", "first@4", "--sessions", "fresh", cwd=flow)
    assert read_name("resume", fork, cwd=flow) == fork
    restart = read_name("restart", "first", "--sessions", "fresh", cwd=flow)
    assert len({"first", fork, restart}) == 3
    listed = verdog("runs", "--json").out
    assert fork in listed and restart in listed


def test_a_run_that_is_refused_is_not_named(verdog: Verdog, flow: Path) -> None:
    (flow / "go").touch()
    verdog("run", "flow.py", "--run-id", "first")
    again = verdog("run", "flow.py", "--run-id", "first")
    assert again.code == 2
    assert again.out == ""
    assert verdog("resume", "first").out == ""


def test_the_document_is_alone_on_standard_output(verdog: Verdog, flow: Path) -> None:
    (flow / "go").touch()
    result = verdog("run", "flow.py", "--run-id", "first", "--json")
    assert result.out.startswith("{")
    assert result.err == "run first\n"
    assert os.linesep not in result.err.rstrip()


@pytest.mark.parametrize("columns", [20, 40, 60, 80])
def test_visits_are_one_line_each_on_any_terminal(flow: Path, columns: int) -> None:
    (flow / "go").touch()
    arguments = ("run", "flow.py", "--run-id", "a", "--", "--input.value", "1")
    terminal = Terminal(*arguments, cwd=flow, columns=columns)
    shown = ESCAPES.sub("", terminal.read())
    assert terminal.close() == 0
    lines = [line for line in re.split(r"[\r\n]+", shown) if "/00000" in line]
    assert all(len(line) <= columns for line in lines)
    assert {"1 enter/000001", "3 work/000001"} <= {" ".join(line.split()[:2]) for line in lines}

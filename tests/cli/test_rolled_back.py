"""A store that was put back to an older state: what it has lost is said, and nothing is built on it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog


@pytest.fixture
def older(verdog: Verdog, project: Path) -> Path:
    """A run whose last three checkpoints the store does not have any more."""
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 1
    assert verdog("run", "flow.py", "--run-id", "second", "--output-dir", "other").code == 1
    shutil.copytree(project / ".verdog/store", project / "kept")
    (project / "mended").touch()
    assert verdog("resume", "first").code == 0
    shutil.rmtree(project / ".verdog/store")
    (project / "kept").rename(project / ".verdog/store")
    return project


LOST = "run first ends at checkpoint 6, but checkpoint 9 had been acknowledged"


def test_fsck_names_the_run_that_lost_checkpoints(verdog: Verdog, older: Path) -> None:
    result = verdog("fsck")
    assert result.code == 1
    assert result.out.splitlines() == [f"ref: {LOST}", "1 finding"]


@pytest.mark.parametrize("command", [["resume", "first"], ["restore", "first"]])
def test_nothing_is_written_on_top_of_it(verdog: Verdog, older: Path, command: list[str]) -> None:
    (older / "out/work/000001/n.txt").write_text("mine")
    result = verdog(*command)
    assert result.code == 4
    assert LOST in result.err
    assert (older / "out/work/000001/n.txt").read_text() == "mine"


WARNING = f"warning: the store was put back to an older state: {LOST}; see: verdog fsck\n"


@pytest.mark.parametrize(
    "command",
    [
        ["runs"],
        ["runs", "--json"],
        ["log"],
        ["log", "first"],
        ["log", "second..first"],
        ["checkout", "first", "copy"],
    ],
    ids=" ".join,
)
def test_what_reads_it_says_so_in_one_line(verdog: Verdog, older: Path, command: list[str]) -> None:
    result = verdog(*command)
    assert (result.code, result.err) == (0, WARNING)
    assert result.out


@pytest.mark.parametrize(
    "command", [["fork", "first@3"], ["fork", "first@3", "--no-run"], ["restart", "first"]]
)
def test_a_new_run_of_it_is_made_and_says_so(verdog: Verdog, older: Path, command: list[str]) -> None:
    """It writes nothing that the run has: a way to go on when the newer store is lost for good."""
    result = verdog(*command, "--sessions", "fresh", "--output-dir", "new")
    assert result.code == 0
    assert result.err.startswith(WARNING)
    assert result.err.count("warning:") == 1


def test_status_says_so_and_exits_1(verdog: Verdog, older: Path) -> None:
    result = verdog("status", "first")
    assert result.code == 1
    assert f"the store was put back to an older state: {LOST}\n" in result.out
    assert "as it was recorded" not in result.out
    assert json.loads(verdog("status", "first", "--json").out)["lost"] == LOST


@pytest.mark.parametrize(
    "command",
    [["log", "second"], ["checkout", "second", "copy"], ["fork", "second@3", "--sessions", "fresh"]],
)
def test_nothing_is_said_of_a_run_that_is_whole(verdog: Verdog, older: Path, command: list[str]) -> None:
    result = verdog(*command)
    assert result.code == 0
    assert "warning" not in result.err


def test_lines_that_a_loss_of_power_took_away_are_no_loss(verdog: Verdog, older: Path) -> None:
    index = older / "out/.verdog/checkpoints/index.jsonl"
    index.write_bytes(b"".join(index.read_bytes().splitlines(keepends=True)[:4]))
    assert verdog("log", "first").err == ""
    assert verdog("status", "first").out.count("older state") == 0


def test_several_runs_are_one_line(verdog: Verdog, older: Path) -> None:
    index = older / "other/.verdog/checkpoints/index.jsonl"
    lines = index.read_text().splitlines()
    last = json.loads(lines[-1])
    index.write_text("\n".join([*lines, json.dumps(last | {"sequence": 9})]) + "\n")
    (line,) = verdog("runs").err.splitlines()
    assert line.endswith(", and so did 1 more run; see: verdog fsck")


@pytest.mark.parametrize("in_the_way", ["a pipe", "a link", "garbage"])
def test_an_index_that_cannot_be_read_says_nothing(verdog: Verdog, older: Path, in_the_way: str) -> None:
    index = older / "out/.verdog/checkpoints/index.jsonl"
    kept = index.rename(index.with_name("kept"))
    if in_the_way == "a pipe":
        os.mkfifo(index)
    elif in_the_way == "a link":
        index.symlink_to(kept)
    else:
        index.write_bytes(b"\xff{}\n[1]\n")
    assert verdog("runs").err == ""


def test_the_other_runs_are_as_they_were(verdog: Verdog, older: Path) -> None:
    assert verdog("resume", "second").code == 0
    assert verdog("restore", "second").code == 0

"""Colours: on a terminal and not in a pipe, unless somebody says otherwise."""

import shutil
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.cli.terminal import ESCAPES, pipe, show
from verdog_cli.palette import wants_colours
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus

COLOURED = (
    ("log",),
    ("log", "--graph", "--all"),
    ("log", "--oneline"),
    ("runs",),
    ("show", "first@2"),
    ("checkpoints", "first"),
    ("status", "first"),
    ("diff", "first@1", "first@2"),
)


@pytest.fixture
def runs(repository: Repository, project: Path) -> Path:
    first = HandMade(repository, "first")
    first.checkpoint("plan", files={b"plan/1/plan.txt": b"plan"})
    first.checkpoint("survey", files={b"survey/1/rows.csv": b"a,b\n"}, reason="holds a lock")
    first.finish(RunStatus.FAILED)
    parent = Lineage(
        run=first.run, operation=LineageKind.FORK, checkpoint=1, arguments=ArgumentsKind.CHECKPOINT
    )
    HandMade(repository, "second", parent=parent).checkpoint("plan")
    return project


@pytest.mark.parametrize("command", COLOURED, ids=" ".join)
def test_a_terminal_gets_colours_and_the_same_text_as_a_pipe(runs: Path, command: tuple[str, ...]) -> None:
    shown = show(*command, cwd=runs)
    piped = pipe(*command, cwd=runs)
    assert ESCAPES.search(shown.text)
    assert not ESCAPES.search(piped.out + piped.err)
    assert "\n".join(shown.lines) == (piped.out + piped.err).rstrip("\n")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CLICOLOR": "0"}])
def test_a_terminal_that_wants_no_colours_gets_none(runs: Path, variables: dict[str, str]) -> None:
    for command in COLOURED:
        assert "\x1b" not in show(*command, cwd=runs, variables=variables).text


@pytest.mark.parametrize("variables", [{"CLICOLOR_FORCE": "1"}, {"FORCE_COLOR": "1"}])
def test_a_pipe_gets_colours_when_they_are_asked_for(runs: Path, variables: dict[str, str]) -> None:
    assert ESCAPES.search(pipe("log", cwd=runs, **variables).out)


@pytest.mark.parametrize("place", ["before", "behind"])
def test_an_option_decides_before_the_environment(runs: Path, place: str) -> None:
    def call(choice: str) -> list[str]:
        return ["--color", choice, "log"] if place == "before" else ["log", "--color", choice]

    assert ESCAPES.search(pipe(*call("always"), cwd=runs, NO_COLOR="1").out)
    assert not ESCAPES.search(show(*call("never"), cwd=runs, variables={"FORCE_COLOR": "1"}).text)


def test_json_has_no_colours(runs: Path) -> None:
    for form in ("--json", "--jsonl"):
        assert "\x1b" not in show("log", form, cwd=runs, variables={"FORCE_COLOR": "1"}).text


def test_colours_are_not_carried_from_the_terminal_into_the_error_stream(runs: Path) -> None:
    assert "\x1b" not in pipe("log", "nope", cwd=runs).err
    assert "\x1b[1merror:\x1b[0m" in show("log", "nope", cwd=runs).text


def test_a_pager_gets_the_same_lines(runs: Path) -> None:
    unpaged = show("--no-pager", "log", cwd=runs)
    paged = show("log", cwd=runs, variables={"PAGER": "sed s/first/paged/"})
    assert paged.text == unpaged.text.replace("first", "paged")


def test_a_pager_that_can_shows_colours(runs: Path) -> None:
    if shutil.which("less") is None:
        pytest.skip("less is not installed")
    assert "\x1b[36m" in show("log", cwd=runs, variables={"PAGER": "less"}).text


def test_a_pager_without_a_mode_for_colours_gets_none(runs: Path) -> None:
    if shutil.which("less") is None:
        pytest.skip("less is not installed")
    assert "\x1b[36m" not in show("log", cwd=runs, variables={"PAGER": "less", "LESS": "FX"}).text


@pytest.mark.parametrize("pager", ["no-such-pager", "'", "head -n 1"])
def test_a_pager_that_does_nothing_good_is_no_error(runs: Path, pager: str) -> None:
    shown = show("log", "--all", cwd=runs, variables={"PAGER": pager})
    assert shown.code == 0
    assert shown.lines[0].startswith("CHECKPOINT")
    assert ESCAPES.search(shown.text)


def test_a_name_cannot_colour_a_terminal(repository: Repository, project: Path) -> None:
    HandMade(repository, "first", arguments=("\x1b[31mred",)).checkpoint(files={b"\x1b[31mred": b"x"})
    for command in (("runs",), ("ls", "first"), ("show", "first"), ("diff", "first")):
        text = show(*command, cwd=project, variables={"NO_COLOR": "1"}).text
        assert "\x1b" not in text
        assert "\\x1b[31mred" in text


@pytest.mark.parametrize(
    ("choice", "variables", "terminal", "wanted"),
    [
        ("auto", {"TERM": "xterm"}, True, True),
        ("auto", {"TERM": "xterm"}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {}, True, False),
        ("auto", {"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"CLICOLOR_FORCE": "1", "TERM": "dumb"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, False, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("auto", {"TERM": "xterm", "CLICOLOR": "0"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1", "TERM": "xterm"}, True, False),
    ],
)
def test_who_decides(choice: str, variables: dict[str, str], terminal: bool, wanted: bool) -> None:
    assert wants_colours(choice, variables, terminal=terminal) is wanted

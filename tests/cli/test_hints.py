"""Hints hold commands that can be pasted where the person is, with `-C` when that was given."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.cli.terminal import show
from tests.cli.workflows import FAILS_ONCE, HOLDS_A_LOCK, countdown
from tests.commandline import Result
from tests.processes import shared_starter
from verdog_cli.context import Context
from verdog_repo.repository import Repository

COMMAND = re.compile(r"(?:(?<=hint: )|(?<=`)|(?<=^  ))verdog [^`\n]*", re.MULTILINE)
PLACEHOLDERS = re.compile(r"\b(RUN|REV|DIR|FILE|PATH|ANOTHER_NAME)\b|\.\.\.")


def call(*arguments: str, cwd: Path) -> Result:
    return shared_starter().run(*arguments, cwd=cwd, environment={**os.environ, "COLUMNS": "80"})


def hints(result: Result) -> list[str]:
    """Return the commands that were recommended, each whole."""
    return [each for each in COMMAND.findall(result.out + result.err) if not each.endswith("--help")]


@pytest.fixture
def elsewhere(tmp_path: Path, project: Path) -> Path:
    """A directory from which the project is `../a project`."""
    project.rename(tmp_path / "a project")
    here = tmp_path / "elsewhere"
    here.mkdir()
    return here


@pytest.fixture
def there(elsewhere: Path) -> Path:
    return elsewhere.parent / "a project"


WHERE = "../a project"
GIVEN = "verdog -C '../a project' "


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        (countdown(FAILS_ONCE), ()),
        (HOLDS_A_LOCK, ()),
        (HOLDS_A_LOCK, ("--checkpointing", "required")),
        (countdown("raise KeyboardInterrupt"), ()),
    ],
)
def test_a_run_that_ended_badly_recommends_what_can_be_pasted(
    elsewhere: Path, there: Path, body: str, arguments: tuple[str, ...]
) -> None:
    (there / "flow.py").write_text(body)
    result = call("-C", WHERE, "run", "flow.py", "--run-id", "first", *arguments, cwd=elsewhere)
    assert hints(result)
    for hint in hints(result):
        assert hint.startswith(GIVEN)
        words = shlex.split(hint)[1:]
        pasted = call(*words, cwd=elsewhere)
        assert "nothing was ever run" not in pasted.err
        assert pasted.code != 2, (hint, pasted.err)


def test_paths_are_given_from_where_the_person_is(elsewhere: Path, there: Path, tmp_path: Path) -> None:
    (there / "flow.py").write_text(countdown("raise ValueError('no')"))
    result = call("-C", "a project", "run", "flow.py", "--output-dir", "out", cwd=tmp_path)
    assert "\nwriting to a project/out\n" in result.out
    assert "\n  output  a project/out\n" in result.out
    trace = re.search(r"hint: the traceback is in (.*)", result.err)
    assert trace and (tmp_path / trace[1]).is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs",),
        ("log", "nope"),
        ("log", "first:a.txt"),
        ("diff", "first:a.txt", "first"),
        ("cat", "first:d"),
        ("status", "first"),
        ("resume", "first"),
        ("resume",),
        ("fork",),
        ("restart",),
        ("runs", "register"),
        ("checkpoints",),
        ("doctor",),
        ("demo", "d"),
    ],
    ids=" ".join,
)
def test_every_hint_knows_the_directory_that_was_given(
    repository: Repository, elsewhere: Path, there: Path, arguments: tuple[str, ...]
) -> None:
    repository.close()
    if arguments != ("runs",):
        with Repository.create(there) as opened:
            first = HandMade(opened, "first")
            first.checkpoint(files={b"a.txt": b"x", b"d/b.txt": b"y"})
            HandMade(opened, "second")
            (first.output / "a.txt").unlink()
        (there / "d").mkdir()
        (there / "d" / "mine").touch()
    else:
        (there / ".verdog" / "store").rename(there / ".verdog" / "gone")
    result = call("-C", WHERE, *arguments, cwd=elsewhere)
    assert all(hint.startswith((GIVEN, "verdog -C DIR")) for hint in hints(result)), result


def test_a_hint_names_the_run_that_it_is_about(elsewhere: Path, there: Path) -> None:
    (there / "flow.py").write_text(countdown(FAILS_ONCE))
    call("-C", WHERE, "run", "flow.py", "--run-id", "first", "--output-dir", "out", cwd=elsewhere)
    (there / "out/work/000001/n.txt").write_text("changed")
    result = call("-C", WHERE, "resume", "first", cwd=elsewhere)
    assert result.code == 4
    assert not any(PLACEHOLDERS.search(hint) for hint in hints(result))
    restore = next(hint for hint in hints(result) if " restore " in hint)
    assert call(*shlex.split(restore)[1:], cwd=elsewhere).code == 0


def test_a_path_is_shown_from_where_the_person_is(elsewhere: Path) -> None:
    context = Context(start=elsewhere, directory="..")
    assert context.display(elsewhere / "sub" / "verdog-demo") == "sub/verdog-demo"
    assert context.display(elsewhere.parent / "verdog-demo") == str(elsewhere.parent / "verdog-demo")


@pytest.mark.parametrize(
    ("hint", "pasted"),
    [
        ("verdog resume x", "verdog -C 'a b' resume x"),
        ("`verdog resume x` or `verdog log`", "`verdog -C 'a b' resume x` or `verdog -C 'a b' log`"),
        ("verdog log --help", "verdog log --help"),
        ("`verdog -C DIR ...` looks elsewhere", "`verdog -C DIR ...` looks elsewhere"),
        ("it could be verdog, or not", "it could be verdog, or not"),
    ],
)
def test_a_command_in_a_hint_gets_the_directory(hint: str, pasted: str) -> None:
    assert Context(directory="a b").paste(hint) == pasted
    assert Context().paste(hint) == hint


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_no_command_of_a_hint_is_cut_on_a_terminal(
    repository: Repository, project: Path, columns: int
) -> None:
    run = HandMade(repository, "6f9619ff-8b86-4d01-b42d-00cf4fc964ff")
    run.checkpoint(files={b"a": b"x"})
    (run.output / "a").unlink()
    shown = show("status", cwd=project, columns=columns)
    assert any(line.startswith(f"hint: `verdog restore {run.run}`") for line in shown.lines)


def test_a_long_error_is_broken_between_words_on_a_terminal_only(
    repository: Repository, project: Path
) -> None:
    HandMade(repository, "first")
    shown = show("log", "nope", cwd=project, columns=40)
    lines = [line for line in shown.lines if line]
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert call("log", "nope", cwd=project).err.startswith(" ".join(line.strip() for line in lines)[:60])

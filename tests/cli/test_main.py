import gc
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from verdog_cli.application import run_application, split_arguments
from verdog_cli.group import COMMANDS
from verdog_repo.repository import Repository

UNREAD = (
    "pygit2",
    "cloudpickle",
    "rich",
    "tyro",
    "verdog_runtime",
    "verdog_objects.writer",
    "verdog_repo.transaction",
    "verdog_repo.record",
)
HEAVY = ("pygit2", "fsspec", "tyro", "rich", "cloudpickle", "apsw", "click")


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "verdog_cli", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys, runpy; sys.argv = ['verdog', '--help']\n"
        "try: runpy.run_module('verdog_cli', run_name='__main__')\n"
        "except SystemExit as end: assert end.code == 0\n"
        f"print([each for each in {HEAVY!r} if each in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_workflow_is_collected_as_usual(project: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/examples/countdown.py").read_text(encoding="utf-8")
    (project / "flow.py").write_text(
        f"{text}\n\nimport atexit, gc\natexit.register(lambda: print(gc.get_threshold()))\n"
    )
    result = run("run", "flow.py", "--", "--input.value", "1", cwd=project)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == str(gc.get_threshold())


def test_a_run_in_a_pipe_does_without_rich(project: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/examples/countdown.py").read_text(encoding="utf-8")
    said = "print([name for name in ('click', 'rich') if name in sys.modules])"
    ending = f"import atexit, sys\natexit.register(lambda: {said})"
    (project / "flow.py").write_text(f"{text}\n\n{ending}\n")
    result = run("run", "flow.py", "--", "--input.value", "1", cwd=project)
    assert result.stdout.splitlines()[-1] == "['click']", result.stderr


def test_reading_a_log_loads_nothing_that_writes(repository: Repository, project: Path) -> None:
    HandMade(repository, "first").checkpoint()
    program = (
        "import sys\n"
        "from verdog_cli.application import run_application\n"
        "assert run_application(['log', 'first', '-n', '20']) == 0\n"
        f"print([each for each in {UNREAD!r} if each in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_no_argument_prints_the_help() -> None:
    result = run()
    assert result.returncode == 0
    assert all(f"\n  {name} " in result.stdout for name in COMMANDS)


def test_a_command_line_is_cut_at_its_first_double_dash() -> None:
    assert split_arguments(["run", "x", "--", "--a", "--", "b"]) == (["run", "x"], ("--a", "--", "b"))
    assert split_arguments(["run", "x"]) == (["run", "x"], None)
    assert split_arguments(["run", "--"]) == (["run"], ())


def test_an_unknown_command_is_one_sentence_and_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_application(["lgo"]) == 2
    assert capsys.readouterr().err == "error: 'lgo' is not a verdog command\nhint: did you mean log?\n"


def test_an_unknown_option_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_application(["--colour"]) == 2
    assert "verdog has no option --colour" in capsys.readouterr().err


def test_an_argument_of_the_workflow_before_the_dashes_is_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_application(["run", "flow.py", "--input.value", "3"]) == 2
    assert "arguments follow --, as in" in capsys.readouterr().err


def test_a_directory_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_application(["-C", "/no/such/place", "runs"]) == 2
    assert "/no/such/place" in capsys.readouterr().err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_application(["--version"]) == 0
    assert capsys.readouterr().out.startswith("verdog 0.")


def test_closed_standard_streams_are_no_error(project: Path) -> None:
    result = subprocess.run(
        f"{sys.executable} -m verdog_cli runs <&- >&- 2>&-",
        shell=True,
        executable="/bin/bash",
        cwd=project,
        check=False,
    )
    assert result.returncode == 2  # nothing was ever run there


def test_a_full_device_is_one_sentence() -> None:
    result = subprocess.run(
        f"{sys.executable} -m verdog_cli log --json > /dev/full",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


def test_a_reader_that_went_away_is_no_error() -> None:
    result = subprocess.run(
        f"{sys.executable} -m verdog_cli runs --help | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    assert result.returncode == 0

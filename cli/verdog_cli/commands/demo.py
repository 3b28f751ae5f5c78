"""`verdog demo`: a real job in a new project, one run of it finished, another one killed half way."""

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.exits import RunEnded, Usage
from verdog_cli.group import TailCommand
from verdog_cli.outcome import conduct, report_outcome

if TYPE_CHECKING:
    from verdog_runtime.lifecycle import RunOutcome

FINISHED, KILLED = "finished", "killed"
"""The ids of the two runs."""

_WORKFLOW = "census.py"
_ARGUMENTS = ("--input.limit", "12")
_INDEX = ".verdog/checkpoints/index.jsonl"
"""Below an output directory: one line for each checkpoint that was acknowledged."""

_POLL_S = 0.002
_FORK_BACK = 5
"""So many checkpoints before the end lies the one that is worth forking: the graph shows both ends."""


@click.command(
    "demo",
    cls=TailCommand,
    epilog="""
    verdog demo
    verdog demo mine -- --input.source ~/my/project
    """,
)
@click.argument("name", default="verdog-demo")
@pass_context
def command(context: Context, name: str) -> int:
    """Make an example project, run it, kill a second run half way.

    The job is a code census of the Python standard library: no network, no account, a few seconds. It is
    written into the new directory NAME (verdog-demo), and commands worth trying next are printed at the end.
    ARGS are those of the job; by default the 12 largest packages are read.
    """
    arguments = _ARGUMENTS if context.tail is None else context.tail
    project = _make_project(Path(name))
    where = context.display(Path(name).absolute())
    click.echo(f"{_WORKFLOW} is now in {where}: it reads Python sources, one package per visit.\n")
    click.echo(f"$ verdog {shlex.join(_command(FINISHED, arguments))}")
    outcome = _run(context, project, arguments)
    code = report_outcome(outcome, context=context, operation="run")
    if code:
        raise RunEnded(code)
    click.echo(f"\n$ verdog {shlex.join(_command(KILLED, arguments))}")
    reached = _run_and_kill(project, arguments, outcome.checkpoints // 2)
    click.echo(f"killed with SIGKILL after checkpoint {reached}\n")
    click.echo(_advise(where, outcome.checkpoints, reached), nl=False)
    return 0


def _make_project(directory: Path) -> Path:
    """Create the directory, the workflow's file and an empty store, which marks it as a project."""
    from verdog_repo.repository import Repository

    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise Usage(f"{directory} is there already", hint="verdog demo ANOTHER_NAME")
    directory.mkdir(parents=True, exist_ok=True)
    source = resources.files("verdog_cli.demo").joinpath(_WORKFLOW)
    (directory / _WORKFLOW).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    Repository.create(directory).close()
    return directory.resolve()


def _command(run: str, arguments: Sequence[str]) -> list[str]:
    words = ["run", _WORKFLOW, "--run-id", run]
    return [*words, "--", *arguments] if arguments else words


def _run(context: Context, project: Path, arguments: Sequence[str]) -> "RunOutcome":
    from verdog_runtime.lifecycle import choose_output, run_workflow
    from verdog_runtime.sources import load_workflow

    loaded = load_workflow(_WORKFLOW, cwd=project)
    output = choose_output(project, loaded.local_id)
    with conduct(context, output) as conducted:
        return run_workflow(loaded, arguments, conducted, output_dir=output, run_id=FINISHED)


def _run_and_kill(project: Path, arguments: Sequence[str], target: int) -> int:
    """Start the job in another process, kill it after `target` checkpoints, return the last it made."""
    before = set(_indexes(project))
    child = subprocess.Popen(
        [sys.executable, "-m", "verdog_cli", *_command(KILLED, arguments)],
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    index: Path | None = None
    try:
        while child.poll() is None:
            index = index or next((path for path in _indexes(project) if path not in before), None)
            if index is not None and index.read_bytes().count(b"\n") >= target:
                break
            time.sleep(_POLL_S)
    finally:
        child.kill()
        _, errors = child.communicate()
    if index is None:
        click.echo(errors.decode(errors="replace"), err=True, nl=False)
        raise RunEnded(1)
    return _count_checkpoints(project)


def _indexes(project: Path) -> list[Path]:
    return sorted(project.glob(f".verdog/runs/*/*/{_INDEX}"))


def _count_checkpoints(project: Path) -> int:
    """Return the number of the killed run's latest checkpoint."""
    from verdog_repo.names import parse_run_id
    from verdog_repo.repository import Repository

    with Repository.open(project, read_only=True) as repository:
        tip = repository.tip(parse_run_id(KILLED))
    return tip.sequence if tip is not None else 0


def _find_command() -> str:
    """Return a line that lets the shell find this `verdog`, unless it does already."""
    own = Path(sys.executable).parent
    found = shutil.which("verdog")
    if found is not None and (own == Path(found).parent or not (own / "verdog").exists()):
        return ""
    return f'  export PATH={shlex.quote(str(own))}:"$PATH"\n'


def _advise(directory: str, checkpoints: int, reached: int) -> str:
    """Return the commands to try next, each on a line of its own, ready to paste."""
    go_on = (
        "Go on with the killed run: no package is read twice. Then compare: what is\n"
        "left over is at most the directory of the visit that was killed.\n\n"
        f"  verdog resume {KILLED}\n  verdog diff {FINISHED} {KILLED}"
    )
    if reached >= checkpoints:
        go_on = f"The second run was too quick to be killed; look at its end.\n\n  verdog show {KILLED}"
    return f"""\
Look at what is recorded:

{_find_command()}  cd {shlex.quote(directory)}
  verdog runs
  verdog log {FINISHED} -n 10
  verdog show {FINISHED}@survey#3
  verdog cat {FINISHED}:report/000001/report.txt

{go_on}

Begin a new run near the end of the finished one, and see all in one graph.
(--sessions is about conversations with agents; there are none here.)

  verdog fork {FINISHED}@{max(1, checkpoints - _FORK_BACK)} --sessions fresh
  verdog log --graph --all

When you have seen enough, remove everything: cd .. && rm -r {shlex.quote(Path(directory).name)}
"""

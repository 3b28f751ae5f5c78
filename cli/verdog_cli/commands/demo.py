"""`verdog demo`: a real job in a new project, one run of it finished, another one killed half way."""

import shlex
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.failures import RunEnded, Usage
from verdog_cli.group import Command
from verdog_cli.outcome import conduct, report_outcome
from verdog_cli.render import plural

if TYPE_CHECKING:
    from verdog_runtime.lifecycle import RunOutcome

FINISHED, KILLED = "finished", "killed"
"""The ids of the two runs."""

_WORKFLOW = "census.py"
_INDEX = ".verdog/checkpoints/index.jsonl"
"""Below an output directory: one line for each checkpoint that was acknowledged."""

_POLL_S = 0.002


@click.command("demo", cls=Command)
@click.argument("name", default="verdog-demo")
@pass_context
def command(context: Context, name: str) -> int:
    """Make an example project, run it, kill a second run half way.

    The job is a code census of the Python standard library: no network, no account, a few seconds. It is
    written into the new directory NAME (verdog-demo), and commands worth trying next are printed at the end.
    """
    project = _make_project(Path(name))
    click.echo(f"{_WORKFLOW} is now in {name}: it reads the standard library, one package per visit.\n")
    click.echo(f"$ verdog run {_WORKFLOW} --run-id {FINISHED}")
    outcome = _run(project)
    code = report_outcome(outcome, context=context, operation="run")
    if code:
        raise RunEnded(code)
    target = outcome.checkpoints // 2
    click.echo(f"\n$ verdog run {_WORKFLOW} --run-id {KILLED}   (killed with SIGKILL half way)")
    acknowledged = _run_and_kill(project, target)
    click.echo(f"killed after {plural(acknowledged, 'checkpoint')}\n")
    click.echo(_advise(name, target, finished=acknowledged >= outcome.checkpoints))
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


def _run(project: Path) -> "RunOutcome":
    from verdog_runtime.lifecycle import run_workflow
    from verdog_runtime.sources import load_workflow

    loaded = load_workflow(_WORKFLOW, cwd=project)
    with conduct(quiet=False) as conducted:
        return run_workflow(loaded, (), conducted, run_id=FINISHED)


def _run_and_kill(project: Path, target: int) -> int:
    """Start the job in another process, kill it after `target` checkpoints, return how many it made."""
    before = set(_indexes(project))
    child = subprocess.Popen(
        [sys.executable, "-m", "verdog_cli", "run", _WORKFLOW, "--run-id", KILLED],
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    index: Path | None = None
    try:
        while child.poll() is None:
            index = index or next((path for path in _indexes(project) if path not in before), None)
            if index is not None and _count_lines(index) >= target:
                break
            time.sleep(_POLL_S)
    finally:
        child.kill()
        _, errors = child.communicate()
    if index is None:
        click.echo(errors.decode(errors="replace"), err=True, nl=False)
        raise RunEnded(1)
    return _count_lines(index)


def _indexes(project: Path) -> list[Path]:
    return sorted(project.glob(f".verdog/runs/*/*/{_INDEX}"))


def _count_lines(index: Path) -> int:
    return index.read_bytes().count(b"\n")


def _advise(name: str, checkpoint: int, *, finished: bool) -> str:
    """Return the commands to try next, each on a line of its own, ready to paste."""
    go_on = f"Go on with the killed run: no package is read twice.\n\n  verdog resume {KILLED}"
    if finished:
        go_on = f"The second run was too quick to be killed; look at its end.\n\n  verdog show {KILLED}"
    return f"""\
Look at what is recorded:

  cd {shlex.quote(name)}
  verdog runs
  verdog log {FINISHED} -n 10
  verdog show {FINISHED}@survey#3
  verdog cat {FINISHED}:report/000001/report.txt

{go_on}

Begin a new run in the middle of the finished one, and see both in one graph.

  verdog fork {FINISHED}@{checkpoint} --sessions fresh
  verdog log --graph --all -n 20
"""

"""Runs that live in processes of their own and are killed at moments of the test's choice.

The nursery is a process that has imported everything. It forks one process for each life, so that a life
begins with verdog's own work and not with a second of imports.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from verdog_repo.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How a life ended.

    Attributes:
        killed: the signal came before the end did.
        status: of the run, when it came to an end; else what was raised.
    """

    killed: bool
    status: str


class Nursery:
    """Starts lives in project directories."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def live(
        self, project: Path, command: str, run: str, number: int, kill_after_s: float | None = None
    ) -> Life:
        """Do something with a run, and kill the process that does it after a time if it still lives.

        Args:
            project: where the run is.
            command: `run`, `resume`, `fork`, which makes a run of its own, `restore`, or `checkout`, whose
                directory has the run's name and `-copy`.
            run: the run.
            number: of turns, for `run`; of the checkpoint, for `fork`.
            kill_after_s: None to let it live.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(project), command, run, number, kill_after_s]) + "\n")
        self._process.stdin.flush()
        killed, status = json.loads(self._process.stdout.readline())
        return Life(killed=killed, status=status)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._process.communicate()


def _serve() -> None:
    for line in sys.stdin:
        project, command, run, number, kill_after_s = json.loads(line)
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            try:
                os.chdir(project)
                status = _live(Path(project), command, run, number)
            except BaseException as error:
                status = f"{type(error).__name__}: {error}"
            os.write(write_end, status.encode())
            os._exit(0)
        os.close(write_end)
        ended, _, _ = select.select([read_end], [], [], kill_after_s)
        if not ended:
            os.kill(child, signal.SIGKILL)
        with os.fdopen(read_end, "rb") as pipe:
            status = pipe.read().decode()
        os.waitpid(child, 0)
        print(json.dumps([not status, status]), flush=True)


def _live(project: Path, command: str, run: str, number: int) -> str:
    from verdog_repo.names import RunId
    from verdog_repo.repository import Repository
    from verdog_runtime.interpreter.observer import SilentObserver
    from verdog_runtime.lifecycle import Conduct, fork_recorded, resume_recorded, run_workflow
    from verdog_runtime.sources import load_workflow

    conduct = Conduct(observer=SilentObserver())
    if command == "run":
        loaded = load_workflow("flow.py", cwd=project, project=project)
        arguments = ["--input.value", str(number)]
        return run_workflow(loaded, arguments, conduct, output_dir=project / run, run_id=run).status
    with Repository.open(project) as repository:
        if command == "resume":
            return resume_recorded(repository, RunId(run), conduct).status
        if command in ("restore", "checkout"):
            return _write_files(repository, run, command)
        point = repository.checkpoint_at(RunId(run), number)
        return fork_recorded(repository, point, conduct, sessions="fresh").status


def _write_files(repository: "Repository", run: str, command: str) -> str:
    from verdog_objects.checkout import materialise
    from verdog_repo.names import RunId
    from verdog_runtime.outputs import restore_files

    tip = repository.tip(RunId(run))
    assert tip is not None
    artifacts = repository.record(tip).artifacts
    assert artifacts is not None
    if command == "restore":
        restore_files(repository, tip, [])
    else:
        materialise(repository.store, artifacts, repository.project / f"{run}-copy", preserve_special=True)
    return "done"


if __name__ == "__main__":
    for name in ("verdog_repo.gitobjects", "verdog_runtime.authoring", "verdog_runtime.lifecycle"):
        importlib.import_module(name)
    _serve()

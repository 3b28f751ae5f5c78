"""Scripts that run their own workflow: their classes are found again here, there and by the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher

class Color(Enum):
    RED = "red"

@dataclass(frozen=True)
class Job:
    n: int = 3
    color: Color = Color.RED
    place: Path = Path("x")

@dataclass(frozen=True)
class Done:
    n: int = 0

flow = Workflow("job", input=Job, output=Job)
work = flow.python_node("work", output=Job, state=Done)
again = flow.python_node("again", output=Job, state=Done)

@work.on(flow.enter)
def begin(value: Job, state: Done, context: Context) -> Success[Job, Done]:
    return Success(output=Job(value.n + 1, value.color, context.output_dir / "f"), state=Done(1))

@again.on(work)
def more(value: Job, state: Done, context: Context) -> Success[Job, Done]:
    assert type(value) is Job and type(state) is Done and value.color is Color.RED
    match os.environ.get("BREAK"):
        case "raise":
            raise ValueError("boom")
        case "kill":
            os._exit(9)
    return Success(output=value, state=Done(state.n + 1))

flow.exit.on(again)

def show(result):
    print(type(result.output) is Job, result.output.n, os.path.relpath(result.output.place))

if __name__ == "__main__":
    dispatcher, out, auto = Dispatcher(), Path("out"), CheckpointPolicy.AUTO
    if "run" in sys.argv:
        try:
            show(dispatcher.run(flow.definition(), Job(), output_dir=out, checkpointing=auto))
        except ValueError as error:
            print("failed", error)
            os.environ.pop("BREAK")
    if "resume" in sys.argv:
        show(dispatcher.resume(flow.definition(), output_dir=Path("out")))
"""

OTHER = """
from pathlib import Path
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.sources import load_workflow

loaded = load_workflow("script.py", cwd=Path.cwd())
result = Dispatcher().resume(loaded.definition, output_dir=Path("out"))
print(type(result.output).__module__, result.output.n)
"""


def call(project: Path, *words: str, fails: str = "", code: int = 0) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "BREAK"}
    if fails:
        environment["BREAK"] = fails
    done = subprocess.run(
        [sys.executable, *words], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def script(project: Path) -> Path:
    (project / "script.py").write_text(SCRIPT)
    return project


def test_a_script_resumes_its_own_run_in_the_same_process(script: Path) -> None:
    out = call(script, "script.py", "run", "resume", fails="raise")
    assert out.splitlines() == ["failed boom", "True 4 out/work/000001/f"]


def test_whoever_loads_the_file_resumes_the_run_of_the_script(script: Path) -> None:
    call(script, "script.py", "run", fails="kill", code=9)
    (script / "other.py").write_text(OTHER)
    assert call(script, "other.py") == "verdog_file.script 4\n"


def test_a_killed_script_is_resumed_by_another_process_wherever_the_project_is_now(script: Path) -> None:
    call(script, "script.py", "run", fails="kill", code=9)
    moved = script.parent / "moved"
    script.rename(moved)
    assert call(moved, "script.py", "resume") == "True 4 out/work/000001/f\n"


NAMES = """
import os, sys
from pathlib import Path

from tests.runtime.graphs import Count, line_graph, workflow
from tests.runtime.recorded import artifacts_of, fork, run
from verdog_runtime.declarations import Success

def work(value, state, context, /):
    for name in (b"\\xfe", b"\\xff", b"\\xc3\\xa9"):
        with open(os.fsencode(context.output_dir) + b"/" + name, "wb") as file:
            file.write(name)
    return Success(output=os.fsdecode(b"\\xc3\\xa9"), state=Count(n=1))

project = Path.cwd()
definition = workflow(line_graph(work))
run(project, definition, 1)
fork(project, definition, 2)
print(sys.getfilesystemencoding(), sorted(os.listdir(b"forked/work/000001")))
print(sorted(path for path in artifacts_of(project, 1, "forked") if b"1/" in path))
"""


def test_names_are_exact_where_the_file_system_is_taken_for_ascii(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "names.py").write_text(NAMES)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    names = [b"\xc3\xa9", b"\xfe", b"\xff"]
    assert call(project, "names.py").splitlines() == [
        f"ascii {names}",
        str([b"work/000001/" + name for name in names]),
    ]

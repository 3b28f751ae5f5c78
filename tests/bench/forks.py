"""The row about differences: two forks with many files, of which three changed."""

import os
import uuid
from dataclasses import dataclass

from tests.bench.bench import Bench
from tests.bench.pairs import measure, run
from tests.bench.trees import GIT, make_tree
from verdog_repo.repository import Repository
from verdog_runtime.authoring import Context, Success, Workflow
from verdog_runtime.comparison import compare_checkpoints
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher, SessionPolicy

TARGET_S = 0.010
CHANGED = 3


@dataclass(frozen=True)
class Files:
    """How many files to write."""

    count: int = 1


flow = Workflow("spread", input=Files, output=Files)
fill = flow.python_node("fill", output=Files)
touch = flow.python_node("touch", output=Files)


@fill.on(flow.enter)
def write_files(value: Files, state: None, context: Context) -> Success[Files, None]:
    make_tree(context.output_dir, value.count)
    return Success(output=value, state=None)


@touch.on(fill)
def write_others(value: Files, state: None, context: Context) -> Success[Files, None]:
    for number in range(CHANGED):
        (context.output_dir / f"{number}.txt").write_text(uuid.uuid4().hex)
    return Success(output=value, state=None)


flow.exit.on(touch)


def measure_diff(bench: Bench) -> None:
    """The difference of two forks, against Git's of the same trees."""
    project = bench.directory("diff")
    definition = flow.definition()
    outputs = [project / name for name in ("source", "one", "two")]
    Dispatcher(project_root=project).run(
        definition, Files(bench.sizes.files), output_dir=outputs[0], checkpointing=CheckpointPolicy.AUTO
    )
    for output in outputs[1:]:
        Dispatcher(project_root=project).fork(
            definition,
            source_output_dir=outputs[0],
            checkpoint=2,  # after `fill`
            output_dir=output,
            sessions=SessionPolicy.FRESH,
        )
    git = ["git", f"--git-dir={project / 'git'}"]
    run(["git", "init", "-q", "--bare", project / "git"], environment=GIT)
    for output in outputs[1:]:
        tree = [*git, f"--work-tree={output}", "-c", "gc.auto=0"]
        run([*tree, "add", "-A", output / "fill", output / "touch"], environment=GIT)
        run([*tree, "commit", "-q", "-m", output.name], environment=GIT)

    def ours(number: int) -> None:
        with Repository.open(project, read_only=True) as repository:
            left, right = (repository.resolve(os.fspath(output)).checkpoint for output in outputs[1:])
            comparison = compare_checkpoints(repository, left, right)
            assert comparison.files is not None and len(comparison.files) == CHANGED

    def base(number: int) -> None:
        found = run([*git, "diff", "--name-status", "HEAD^", "HEAD"]).splitlines()
        assert len(found) == CHANGED

    taken = measure(ours, base, rounds=bench.sizes.shots)
    bench.add(
        name="diff",
        what=f"diff of two forks, {bench.sizes.files:,} files, {CHANGED} changed: open, resolve, compare",
        ours=taken[0].median,
        base=taken[1].median,
        base_name="git diff --name-status",
        target="<= 10 ms",
        ok=taken[0].median <= TARGET_S,
        note="Git's time is that of a process; ours is that of the calls that the command makes",
    )

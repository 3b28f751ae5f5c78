"""An output directory that is moved, removed or replaced while its run is being executed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog
from tests.runtime.graphs import Count, count_visits, loop_graph, workflow
from tests.runtime.recorded import completed, header_of, opened, resume, run
from verdog_runtime.declarations import Success
from verdog_runtime.runs import RunStoreError
from verdog_runtime.storeerrors import OutputLost


def put_aside(output: Path) -> Path:
    return output.rename(output.with_name("aside"))


def leave_a_link(output: Path) -> None:
    output.symlink_to(put_aside(output))


def leave_an_empty_directory(output: Path) -> None:
    put_aside(output)
    output.mkdir()


def leave_a_copy(output: Path) -> None:
    shutil.copytree(put_aside(output), output)


def leave_a_file(output: Path) -> None:
    put_aside(output)
    output.touch()


WAYS: dict[str, tuple[Callable[[Path], object], str]] = {
    "moved": (put_aside, "is gone"),
    "removed": (shutil.rmtree, "is gone"),
    "a link": (leave_a_link, "is a symbolic link now"),
    "an empty directory": (leave_an_empty_directory, "is another directory now"),
    "a copy": (leave_a_copy, "is another directory now"),
    "a file": (leave_a_file, "is no directory now"),
}


def in_second_visit(action: Callable[[], object]) -> Any:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        done = count_visits(value, state, context)
        if state.n == 1 and not (context.output_dir.parents[2] / "mended").exists():
            action()
        return done

    return work


def last_sequence(project: Path) -> int:
    with opened(project) as repository:
        (listing,) = repository.runs()
    assert listing.sequence is not None
    return listing.sequence


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("checkpointing", ["auto", "required"])
def test_the_run_fails_at_the_next_checkpoint_with_one_sentence(
    project: Path, way: str, checkpointing: Any
) -> None:
    action, said = WAYS[way]
    output = project / "out"
    definition = workflow(loop_graph(in_second_visit(lambda: action(output))))
    with pytest.raises(OutputLost, match=f"^the output directory {output} {said}") as caught:
        run(project, definition, 2, checkpointing=checkpointing, run_id="mine")
    assert isinstance(caught.value, RunStoreError)
    assert caught.value.code == "run.output_lost"
    assert last_sequence(project) == 4  # enter, init, work, tick
    with opened(project) as repository:
        (listing,) = repository.runs()
    assert listing.header.status == "failed"
    assert listing.header.error is not None
    assert said in listing.header.error.message


@pytest.mark.parametrize("way", ["moved", "removed", "an empty directory", "a copy"])
def test_it_goes_on_when_it_is_resumed(project: Path, way: str) -> None:
    action, _ = WAYS[way]
    definition = workflow(loop_graph(in_second_visit(lambda: action(project / "out"))))
    with pytest.raises(OutputLost):
        run(project, definition, 2)
    (project / "mended").touch()
    resume(project, definition)
    assert header_of(project).status == "succeeded"
    assert (project / "out/work/000001/out.txt").is_file()
    assert completed(project / "out")[:4] == ["enter/1", "init/1", "work/1", "tick/1"]


def test_what_was_put_aside_is_not_touched(project: Path) -> None:
    definition = workflow(loop_graph(in_second_visit(lambda: put_aside(project / "out"))))
    with pytest.raises(OutputLost):
        run(project, definition, 2)
    (project / "mended").touch()
    before = sorted((project / "aside").rglob("*"))
    resume(project, definition)
    assert sorted((project / "aside").rglob("*")) == before


def test_a_run_whose_directory_is_a_link_when_it_is_resumed_goes_on_there(project: Path) -> None:
    """Whoever moved it to another disk, say, put the link there on purpose."""

    def fail() -> None:
        raise ValueError("boom")

    definition = workflow(loop_graph(in_second_visit(fail)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    leave_a_link(project / "out")
    (project / "mended").touch()
    resume(project, definition)
    assert (project / "aside/exit").is_dir()


def moving(leave: str) -> str:
    """Return the lines of a step that moves its project in its second visit."""
    return f"""if state.taken == 1:
    import os
    here = str(context.output_dir.parents[2])
    os.rename(here, here + "-moved")
    {leave}"""


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (
            "return Success(output=value, state=Steps(taken=2))",
            "the output directory {}/out is gone: it was moved",
        ),
        (
            "raise ValueError('boom')",
            "the project {} was moved or removed while the run was going on; the run ended",
        ),
    ],
    ids=["and succeeds", "and fails"],
)
def test_a_project_that_a_step_moves_ends_its_run_with_one_sentence(
    verdog: Verdog, project: Path, leave: str, said: str
) -> None:
    (project / "flow.py").write_text(countdown(moving(leave)))
    result = verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out")
    assert result.code == 1
    assert f"error: {said.format(project)}" in result.err
    project.with_name(f"{project.name}-moved").rename(project)
    assert "interrupted" in verdog("runs").out
    (project / "flow.py").write_text(countdown())
    assert verdog("resume", "first", "--allow-changed-code").code == 0


def test_a_project_that_a_step_moves_and_links_is_the_same_project(verdog: Verdog, project: Path) -> None:
    leave = 'os.symlink(here + "-moved", here)'
    (project / "flow.py").write_text(countdown(moving(leave)))
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 0
    assert verdog("status", "first").code == 0
    assert project.is_symlink()

"""Recorded runs compared, down to the fields of their values."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.runtime.recorded import Stop, fork, resume, run
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.diff import Comparison, Reason
from verdog_repo.repository import Repository
from verdog_runtime.authoring import Context, Success, Workflow
from verdog_runtime.comparison import compare_checkpoints, iter_differences
from verdog_runtime.declarations import WorkflowDefinition


@dataclass(frozen=True)
class Model:
    """What travels: the file of the last visit, and a number."""

    path: Path | None = None
    rate: int = 0


class Mood:
    """What the workflow is to do next, from outside."""

    stop = False
    rate = 1


def make_flow(mood: Mood) -> WorkflowDefinition:
    flow = Workflow("training", input=Model, output=Model)
    train = flow.python_node("train", output=Model)
    test = flow.python_node("test", output=Model)

    @train.on(flow.enter)
    def fit(value: Model, state: None, context: Context) -> Success[Model, None]:
        path = context.output_dir / "model.txt"
        path.write_text("weights")
        if mood.stop:
            raise Stop
        return Success(output=Model(path, mood.rate), state=None)

    @test.on(train)
    def check(value: Model, state: None, context: Context) -> Success[Model, None]:
        (context.output_dir / "score.txt").write_text(str(mood.rate))
        return Success(output=value, state=None)

    flow.exit.on(test)
    return flow.definition()


def compare(project: Path, left: str, right: str) -> tuple[Comparison, list[str]]:
    """Return the comparison of the last checkpoints of two directories, and the paths of changed fields."""
    with Repository.open(project, read_only=True) as repository:
        sides: list[Checkpoint] = [
            repository.resolver(project).resolve(f"./{name}").checkpoint for name in (left, right)
        ]
        comparison = compare_checkpoints(repository, sides[0], sides[1])
        fields = [
            f"{change.key.decode()}{each.path}"
            for change in comparison.state or ()
            for each in iter_differences(repository.store, change, comparison.moved)
        ]
    return comparison, fields


def test_two_undisturbed_runs_of_one_workflow_are_equal(project: Path) -> None:
    for name in ("one", "two"):
        run(project, make_flow(Mood()), Model(), output=name)
    comparison, fields = compare(project, "one", "two")
    assert not comparison.state_differs
    assert not comparison.files_differ
    assert fields == []


def test_a_run_that_was_stopped_and_resumed_differs_in_directories_alone(project: Path) -> None:
    mood = Mood()
    definition = make_flow(mood)
    run(project, definition, Model(), output="whole")
    mood.stop = True
    with pytest.raises(Stop):
        run(project, definition, Model(), output="stopped")
    mood.stop = False
    resume(project, definition, "stopped")
    comparison, fields = compare(project, "whole", "stopped")
    assert comparison.moved == {b"train/000002": b"train/000001"}
    assert comparison.divergence is None
    assert comparison.files is not None
    assert {each.after_path for each in comparison.files} == {b"train/000001", b"train/000001/model.txt"}
    assert comparison.state == ()
    assert fields == []


def test_numbers_in_the_frame_count_where_no_directory_stands_for_another(project: Path) -> None:
    definition = make_flow(Mood())
    run(project, definition, Model(), output="whole")
    with Repository.open(project, read_only=True) as repository:
        last = repository.resolver(project).resolve("./whole").checkpoint
        comparison = compare_checkpoints(repository, repository.parent(last), last)
        assert comparison.state is not None
        (frame,) = (each for each in comparison.state if each.key == b"frame:0")
        found = {each.path for each in iter_differences(repository.store, frame, comparison.moved)}
    assert {"['output']", "['visits']['test']"} <= found


def test_forks_that_went_other_ways_differ_from_there_on(project: Path) -> None:
    mood = Mood()
    definition = make_flow(mood)
    run(project, definition, Model(), output="source")
    for number, name in enumerate(("one", "two")):
        mood.rate = number
        fork(project, definition, 1, source="source", output=name)
    comparison, fields = compare(project, "one", "two")
    assert comparison.divergence is not None
    assert comparison.divergence.left.place == "train"
    assert comparison.divergence.reasons == (Reason.STATE,)
    assert "transit.rate" in fields
    assert comparison.files is not None
    assert [each.path for each in comparison.files] == [b"test/000001/score.txt"]

"""The failure boundary: an author's error reaches the caller as it is, and tells where it was raised."""

import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import (
    INIT,
    LEFT,
    WORK,
    Count,
    count_visits,
    edge,
    graph,
    line_graph,
    loop_graph,
    workflow,
)
from tests.runtime.recorded import AUTO, fork, header_of, last, read_tree, resume, run, summaries
from verdog_runtime.declarations import (
    FeatureSuccess,
    NumericalConditionObservation,
    NumericalFeatureCondition,
    Success,
)
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher, SessionPolicy

VISIT = "visit: project=. graph=toy.loop.main node=work edge=enter__work output=work/000001"
FAILURE = "failure: project=. graph=toy.loop.main failure=failure output=failure/000001"


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Noteless(Exception):
    __notes__ = "mine"  # type: ignore[assignment]


def raising(error: Exception) -> Any:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        helper(error)

    return work


def helper(error: Exception) -> None:
    raise error


def failed(project: Path, definition: Any, error: type[Exception] = Exception, **rest: Any) -> Any:
    with pytest.raises(error) as caught:
        run(project, definition, 1, **rest)
    return caught.value


@pytest.mark.parametrize("checkpointing", list(CheckpointPolicy))
def test_the_very_exception_reaches_the_caller_with_notes(
    project: Path, checkpointing: CheckpointPolicy
) -> None:
    error = ValueError("boom")
    assert failed(project, workflow(line_graph(raising(error))), checkpointing=checkpointing) is error
    assert error.__notes__ == [VISIT, FAILURE]
    assert error.__cause__ is None
    assert error.__context__ is None


def test_the_traceback_is_kept_with_the_notes(project: Path) -> None:
    error = failed(project, workflow(line_graph(raising(ValueError("boom")))))
    text = (project / "out/failure/000001/stacktrace.txt").read_text()
    lines = text.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-3:] == ["ValueError: boom", VISIT, FAILURE]
    assert "in helper" in text
    assert text.count("boom") >= 1
    header = header_of(project)
    assert header.status == "failed"
    assert header.error is not None
    assert (header.error.type, header.error.message) == ("ValueError", "boom")
    assert "in helper" in header.error.traceback
    assert traceback.format_exception_only(error)[0] == "ValueError: boom\n"


def count_runtime_frames(error: BaseException) -> tuple[int, str, str]:
    """Return how many frames of ours are between the first and the last of others, and those two."""
    names = [
        (frame.name, "verdog_runtime" in frame.filename)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    while names and not names[0][1]:
        caller = names.pop(0)[0]
    ours = 0
    while names and names[0][1]:
        names.pop(0)
        ours += 1
    return ours, caller, names[0][0]


def test_at_most_three_frames_of_ours_stand_between_the_caller_and_the_visit(project: Path) -> None:
    error = failed(project, workflow(line_graph(raising(ValueError("boom")))))
    ours, caller, callee = count_runtime_frames(error)
    assert (caller, callee) == ("run", "work")
    assert ours <= 3
    text = (project / "out/failure/000001/stacktrace.txt").read_text()
    assert text.count("verdog_runtime") <= 3


@pytest.mark.parametrize("operation", ["resume", "restart", "fork"])
def test_nor_do_more_after_any_other_operation(project: Path, operation: str) -> None:
    definition = workflow(line_graph(raising(ValueError("boom"))))
    failed(project, definition)
    dispatcher = Dispatcher(project_root=project)
    with pytest.raises(ValueError, match="boom") as caught:
        match operation:
            case "resume":
                resume(project, definition)
            case "fork":
                fork(project, definition, 1)
            case _:
                dispatcher.restart(
                    definition,
                    1,
                    source_output_dir=project / "out",
                    output_dir=project / "again",
                    sessions=SessionPolicy.FRESH,
                )
    assert count_runtime_frames(caught.value)[0] <= 3


def test_no_checkpoint_is_added_when_a_visit_fails(project: Path) -> None:
    failed(project, workflow(line_graph(raising(ValueError("boom")))))
    assert [each.kind for each in summaries(project / "out")] == ["entry"]


@pytest.mark.parametrize(
    ("body", "error", "code"),
    [
        (lambda value, state, context: None, RuntimeError, "[invalid_result]"),
        (lambda value, state, context: Success(output=1, state=2), RuntimeError, "[invalid_state]"),
        (lambda value, state, context: FeatureSuccess(state=state), RuntimeError, "[invalid_result]"),
        (lambda value, state, context: Success(output=1, state=Count(n=[])), TypeError, "immutable"),  # type: ignore[arg-type]
    ],
)
def test_what_a_visit_returned_is_told_like_what_it_raised(
    project: Path, body: Any, error: type[Exception], code: str
) -> None:
    found = failed(project, workflow(line_graph(body)), error)
    assert code in str(found)
    assert found.__notes__ == ["node=work", VISIT, FAILURE]


def test_an_async_visit_is_closed_and_refused(project: Path) -> None:
    async def work(value: Any, state: Any, context: Any, /) -> Any:
        return Success(output=value, state=state)

    assert "coroutine" in str(failed(project, workflow(line_graph(work)), RuntimeError))


def test_a_node_of_an_unknown_operation_fails_and_its_visit_is_not_called(project: Path) -> None:
    called: list[object] = []
    odd = replace(WORK, operation=object())  # type: ignore[arg-type]
    definition = graph(
        edge("enter", "work", lambda *given: called.append(given)), edge("work", "exit"), nodes=(odd,)
    )
    error = failed(project, workflow(definition), RuntimeError)
    assert str(error).endswith("[unsupported_operation]")
    assert error.__notes__[0] == "node=work"
    assert called == []


def test_an_edge_to_the_failure_port_says_where_it_came_from(project: Path) -> None:
    error = failed(project, workflow(line_graph(to="failure")), RuntimeError)
    assert "toy.loop.main" in str(error)
    assert error.__notes__ == [
        "source: project=. graph=toy.loop.main source=work output=work/000001",
        "edge=work__failure",
        FAILURE,
    ]
    checkpoint = last(project / "out")
    assert (checkpoint.kind, checkpoint.next, checkpoint.unavailable_code) == (
        "terminal",
        None,
        "checkpoint.failure_port",
    )
    assert (project / "out/failure/000001/stacktrace.txt").is_file()


def test_a_routing_failure_commits_nothing(project: Path) -> None:
    loop = loop_graph()
    edges = [each for each in loop.edges if each.id != "work__exit"]
    error = failed(project, workflow(graph(*edges, nodes=loop.nodes, features=(LEFT,))), RuntimeError)
    assert "[routing_failed]" in str(error)
    assert any("work" in note for note in error.__notes__)
    done = last(project / "out").completed
    assert done is not None
    assert done.node == "tick"


def test_a_condition_that_cannot_be_evaluated_names_its_edge(project: Path) -> None:
    condition = NumericalFeatureCondition(
        feature_id=LEFT.id, observation=NumericalConditionObservation.EQUAL_ZERO
    )
    definition = graph(
        edge("enter", "work", count_visits),
        edge("work", "exit", conditions=(condition,)),
        nodes=(WORK, INIT),
        features=(LEFT,),
    )
    error = failed(project, workflow(definition), ValueError)
    assert "edge=work__exit" in error.__notes__


def test_an_exception_without_text_is_told_as_well_as_it_goes(project: Path) -> None:
    error = failed(project, workflow(line_graph(raising(Unprintable()))), Unprintable)
    assert error.__notes__ == [VISIT, FAILURE]
    header = header_of(project)
    assert header.status == "failed"
    assert header.error is not None
    assert "Unprintable" in header.error.message
    assert (project / "out/failure/000001/stacktrace.txt").is_file()


def test_an_exception_that_takes_no_notes_is_still_the_one_that_is_raised(project: Path) -> None:
    error = Noteless("boom")
    assert failed(project, workflow(line_graph(raising(error))), Noteless) is error
    assert header_of(project).status == "failed"


def test_text_that_is_no_unicode_is_kept_escaped(project: Path) -> None:
    failed(project, workflow(line_graph(raising(ValueError("a\udcffb\x00")))))
    assert r"a\udcffb" in (project / "out/failure/000001/stacktrace.txt").read_text()
    error = header_of(project).error
    assert error is not None
    assert error.message == "a\\udcffb\x00"


def test_groups_and_causes_are_kept(project: Path) -> None:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ExceptionGroup("several", [ValueError("one"), TypeError("two")]) from error

    error = failed(project, workflow(line_graph(work)), ExceptionGroup)
    assert isinstance(error.__cause__, KeyError)
    text = (project / "out/failure/000001/stacktrace.txt").read_text()
    assert all(word in text for word in ("inner", "one", "two", "several"))


def test_a_failure_port_that_cannot_be_visited_is_noted_on_the_first_error(project: Path) -> None:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        (project / "out/failure").write_text("in the way")
        raise ValueError("boom")

    error = failed(project, workflow(line_graph(work)), ValueError)
    assert str(error) == "boom"
    assert error.__notes__[0] == VISIT
    assert "the failure port could not be visited" in error.__notes__[1]
    assert header_of(project).status == "failed"


def test_a_place_for_a_visit_that_leads_elsewhere_fails_the_run(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()

    def init(value: Any, state: Any, context: Any, /) -> FeatureSuccess[Any]:
        (project / "out/work").symlink_to(tmp_path / "elsewhere")
        return FeatureSuccess(state=state)

    definition = graph(
        edge("enter", "init", init),
        edge("init", "work", count_visits),
        edge("work", "exit"),
        nodes=(INIT, WORK),
    )
    error = failed(project, workflow(definition), ValueError)
    assert "leads to" in str(error)
    assert any("node=work" in note for note in error.__notes__)
    assert read_tree(tmp_path / "elsewhere") == {}


def test_a_default_state_that_cannot_be_made_is_refused_before_anything_is_written(project: Path) -> None:
    from verdog_runtime.declarations import NodeDefinition, Python

    node = NodeDefinition(id="work", name="Work", operation=Python(), state_type=int)
    definition = graph(edge("enter", "work", count_visits), edge("work", "exit"), nodes=(node,))
    with pytest.raises(TypeError):
        run(project, workflow(definition), 1, checkpointing=AUTO)
    assert not (project / "out").exists()

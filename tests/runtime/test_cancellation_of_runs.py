"""Cancelling runs: between visits, inside them, by deadline; and going on afterwards."""

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import WORK, Count, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import AUTO, completed, header_of, last, resume, run, summaries
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import CancellationToken, Dispatcher, ExecutionCancelled


def cancel_in(token: CancellationToken, visit: int) -> Any:
    """A body that cancels in its `visit`-th visit, and goes on to its end."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == visit - 1:
            token.cancel()
        return count_visits(value, state, context)

    return work


def cancelled(project: Path, definition: Any, token: CancellationToken, value: Any = 2, **rest: Any) -> Any:
    dispatcher = Dispatcher(project_root=project, cancellation=token, **rest)
    with pytest.raises(ExecutionCancelled) as caught:
        dispatcher.run(definition, value, output_dir=project / "out", checkpointing=AUTO)
    return caught.value


def test_a_cancelled_run_stops_before_the_next_visit_and_keeps_the_last(project: Path) -> None:
    token = CancellationToken()
    definition = workflow(loop_graph(cancel_in(token, 2)))
    cancelled(project, definition, token)
    assert completed(project / "out") == ["enter/1", "init/1", "work/1", "tick/1", "work/2"]
    assert not (project / "out/tick/000002").exists()
    assert header_of(project).status == "interrupted"
    assert header_of(project).error is None


def test_a_cancelled_run_does_not_visit_the_failure_port(project: Path) -> None:
    seen: list[Any] = []
    token = CancellationToken()
    cancelled(project, workflow(loop_graph(cancel_in(token, 1))), token, execution_handler=seen.append)
    assert not (project / "out/failure").exists()
    assert {each.status for each in seen} == {"running", "succeeded"}


def test_a_cancelled_run_goes_on_where_it_stopped(project: Path) -> None:
    token = CancellationToken()
    definition = workflow(loop_graph(cancel_in(token, 2)))
    cancelled(project, definition, token)
    assert resume(project, definition).state.get(WORK) == Count(n=3)
    assert completed(project / "out") == [
        "enter/1",
        "init/1",
        "work/1",
        "tick/1",
        "work/2",
        "tick/2",
        "work/3",
    ]
    assert header_of(project).status == "succeeded"


def test_a_token_cancelled_before_the_run_stops_it_at_once(project: Path) -> None:
    token = CancellationToken()
    token.cancel()
    cancelled(project, workflow(line_graph()), token)
    assert summaries(project / "out") == ()
    assert header_of(project).status == "interrupted"
    assert not (project / "out/enter").exists()


def test_a_cancelled_run_does_not_even_pass_its_exit_port(project: Path) -> None:
    token = CancellationToken()
    definition = workflow(line_graph(cancel_in(token, 1)))
    cancelled(project, definition, token)
    assert last(project / "out").kind == "terminal"
    assert header_of(project).status == "interrupted"
    assert resume(project, definition).output == 2


def test_a_deadline_that_passed_cancels(project: Path) -> None:
    error = cancelled(project, workflow(line_graph()), CancellationToken.with_timeout(0))
    explicit = CancellationToken()
    explicit.cancel()
    with pytest.raises(ExecutionCancelled) as caught:
        explicit.raise_if_cancelled()
    assert str(error) != str(caught.value)


def test_another_thread_cancels(project: Path) -> None:
    token, begun = CancellationToken(), threading.Event()

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        begun.set()
        assert token.wait(60)
        return count_visits(value, state, context)

    def supervise() -> None:
        begun.wait(60)
        token.cancel()

    supervisor = threading.Thread(target=supervise)
    supervisor.start()
    cancelled(project, workflow(loop_graph(work)), token)
    supervisor.join()
    assert completed(project / "out")[-1] == "work/1"


@pytest.mark.parametrize("error", [ExecutionCancelled, KeyboardInterrupt])
def test_a_visit_that_is_interrupted_is_repeated(project: Path, error: type[BaseException]) -> None:
    interrupts = [True]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if interrupts:
            interrupts.clear()
            raise error
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    with pytest.raises(error):
        run(project, definition, 1)
    assert header_of(project).status == "interrupted"
    assert completed(project / "out") == ["enter/1"]
    resume(project, definition)
    assert completed(project / "out") == ["enter/1", "work/2"]


def test_a_visit_cannot_swallow_a_cancellation_as_an_exception(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        try:
            token.raise_if_cancelled()
        except Exception:
            return count_visits(value, state, context)
        raise AssertionError

    token = CancellationToken()

    def handle(event: Any) -> None:
        if getattr(event, "node_id", None) == "work":
            token.cancel()

    cancelled(project, workflow(line_graph(work)), token, execution_handler=handle)
    assert completed(project / "out") == ["enter/1"]


def test_a_cancelled_token_stops_a_resumption_before_it_repeats_anything(project: Path) -> None:
    token = CancellationToken()
    definition = workflow(loop_graph(cancel_in(token, 1)))
    cancelled(project, definition, token)
    before = completed(project / "out")
    with pytest.raises(ExecutionCancelled):
        Dispatcher(project_root=project, cancellation=token).resume(definition, output_dir=project / "out")
    assert completed(project / "out") == before
    assert header_of(project).status == "interrupted"


def test_cancellation_without_checkpoints_leaves_no_record(project: Path) -> None:
    token = CancellationToken()
    token.cancel()
    dispatcher = Dispatcher(project_root=project, cancellation=token)
    with pytest.raises(ExecutionCancelled):
        dispatcher.run(workflow(line_graph()), 1, output_dir=project / "out")
    assert list(project.rglob(".verdog")) == []

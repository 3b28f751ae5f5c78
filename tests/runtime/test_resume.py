"""Resuming: what goes on where, with what was recorded, and nothing else."""

import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import (
    LEFT,
    WORK,
    Count,
    Params,
    count_visits,
    edge,
    graph,
    line_graph,
    loop_graph,
    workflow,
)
from tests.runtime.recorded import (
    AUTO,
    Stop,
    artifacts_of,
    completed,
    header_of,
    last,
    read_tree,
    record_of,
    resume,
    run,
    state_of,
    summaries,
)
from verdog_runtime.declarations import (
    NumericalConditionObservation,
    NumericalFeatureCondition,
    Success,
)
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.runs import RunStore


class Fuse:
    """A body that counts visits, and raises in the visits that are named by their overall number."""

    def __init__(self, *breaks: int, error: type[BaseException] = ValueError, leaves: bool = True) -> None:
        self.breaks = set(breaks)
        self.error = error
        self.leaves = leaves
        self.visits: list[tuple[str, Any, Count, Any]] = []

    def __call__(self, value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        self.visits.append((context.output_dir.name, value, state, context))
        if len(self.visits) in self.breaks:
            if self.leaves:
                (context.output_dir / "half.txt").write_text("unfinished\n")
            raise self.error(f"visit {len(self.visits)}")
        return count_visits(value, state, context)


def broken(project: Path, fuse: Fuse, value: Any = 2, **rest: Any) -> Any:
    """Run the loop until the fuse goes."""
    definition = workflow(loop_graph(fuse))
    with pytest.raises(fuse.error):
        run(project, definition, value, **rest)
    return definition


def test_a_failed_node_is_retried_in_the_next_numbered_directory(project: Path) -> None:
    fuse = Fuse(2)
    definition = broken(project, fuse)
    assert resume(project, definition).state.get(WORK) == Count(n=3)
    assert [name for name, *_ in fuse.visits] == ["000001", "000002", "000003", "000004"]
    assert completed(project / "out") == [
        "enter/1",
        "init/1",
        "work/1",
        "tick/1",
        "work/3",
        "tick/2",
        "work/4",
    ]


def test_completed_visits_are_not_repeated(project: Path) -> None:
    fuse = Fuse(3)
    definition = broken(project, fuse)
    resume(project, definition)
    assert [state.n for _, _, state, _ in fuse.visits] == [0, 1, 2, 2]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, Stop])
def test_files_of_an_unfinished_attempt_stay_and_join_late(project: Path, error: type[BaseException]) -> None:
    definition = broken(project, Fuse(2, error=error))
    recorded = last(project / "out").sequence
    assert b"work/000002/half.txt" not in artifacts_of(project, recorded)
    resume(project, definition)
    late = record_of(project, recorded + 1).late
    assert b"work/000002/half.txt" in late
    assert (b"failure/000001/stacktrace.txt" in late) == (error is ValueError)
    assert b"work/000002/half.txt" in artifacts_of(project, recorded + 1)
    assert all(each.restore_available for each in summaries(project / "out"))


def test_a_resumed_run_ends_in_the_state_of_an_undisturbed_one(project: Path) -> None:
    run(project, workflow(loop_graph()), 2, output="whole")
    definition = broken(project, Fuse(2, leaves=False))
    resume(project, definition)
    ends = [last(project / name).sequence for name in ("whole", "out")]
    whole, again = (state_of(project, end, name) for end, name in zip(ends, ("whole", "out"), strict=True))
    assert {key for key in whole if whole[key] != again[key]} == {b"frame:0"}  # it holds visit numbers


def test_values_counters_and_the_budget_are_restored(project: Path) -> None:
    fuse = Fuse(2)
    definition = workflow(loop_graph(fuse))
    dispatcher = Dispatcher(project_root=project, transition_limit=7)
    params = {(".", "toy.loop.main"): Params(step=9)}
    with pytest.raises(ValueError, match="visit 2"):
        dispatcher.run(definition, 2, output_dir=project / "out", checkpointing=AUTO, params=params)
    result = resume(project, definition)  # by a dispatcher whose own limit is another
    assert (result.output, result.state.get(LEFT)) == (2, 0)
    _, value, state, context = fuse.visits[2]
    assert (value, state, context.params) == (2, Count(n=1), Params(step=9))


def test_a_limit_counts_the_transitions_before_the_interruption(project: Path) -> None:
    definition = workflow(loop_graph(Fuse(2)))
    dispatcher = Dispatcher(project_root=project, transition_limit=6)
    with pytest.raises(ValueError, match="visit 2"):
        dispatcher.run(definition, 2, output_dir=project / "out", checkpointing=AUTO)
    with pytest.raises(RuntimeError, match=r"\[transition_limit\]"):
        resume(project, definition)
    with pytest.raises(RuntimeError, match=r"\[transition_limit\]"):
        resume(project, definition)
    assert last(project / "out").sequence == 6


def test_a_run_id_is_the_same_after_resuming(project: Path) -> None:
    fuse = Fuse(1)
    definition = broken(project, fuse, run_id="mine")
    resume(project, definition)
    assert {context.run_id for *_, context in fuse.visits} == {"mine"}


def test_a_run_can_be_resumed_again_and_again(project: Path) -> None:
    fuse = Fuse(2, 3, 4)
    definition = broken(project, fuse)
    for _ in range(2):
        with pytest.raises(ValueError, match="visit"):
            resume(project, definition)
    assert resume(project, definition).state.get(WORK) == Count(n=3)
    assert [name for name, *_ in fuse.visits] == [f"{number:06}" for number in range(1, 7)]


def test_a_run_that_was_interrupted_before_its_exit_port_only_passes_that(project: Path) -> None:
    def stop(event: Any) -> None:
        if getattr(event, "node_id", None) == "exit":
            raise Stop

    fuse = Fuse()
    definition = workflow(line_graph(fuse))
    dispatcher = Dispatcher(project_root=project, execution_handler=stop)
    with pytest.raises(Stop):
        dispatcher.run(definition, 5, output_dir=project / "out", checkpointing=AUTO)
    assert last(project / "out").kind == "terminal"
    assert resume(project, definition).output == 5
    assert len(fuse.visits) == 1
    assert header_of(project).status == "succeeded"


def test_the_trace_goes_on_in_the_same_file(project: Path) -> None:
    definition = broken(project, Fuse(1))
    before = (project / "out/trace.log").read_text()
    resume(project, definition)
    after = (project / "out/trace.log").read_text()
    assert after.startswith(before)
    assert "START work/000002" in after[len(before) :]


# The output directory.


def test_a_deleted_output_directory_is_written_again(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            (context.output_dir / "kept").write_text("k")
            (context.output_dir / "kept").chmod(0o4751)
            (context.output_dir / "link").symlink_to("kept")
            (context.output_dir / "empty").mkdir(mode=0o1777)
            (context.output_dir / "empty").chmod(0o1777)
        return fuse(value, state, context)

    fuse = Fuse(2)
    definition = workflow(loop_graph(work))
    with pytest.raises(ValueError, match="visit 2"):
        run(project, definition, 1)
    before = {path: each for path, each in read_tree(project / "out").items() if path[:12] == b"work/000001/"}
    shutil.rmtree(project / "out")
    assert resume(project, definition).state.get(WORK) == Count(n=2)
    after = read_tree(project / "out")
    assert {path: after[path] for path in before} == before
    assert b"failure" not in after
    assert stat.S_IMODE((project / "out/.verdog").stat().st_mode) == 0o700
    assert RunStore.open(project / "out").manifest().status == "succeeded"


def test_visit_numbers_go_on_where_they_were_after_the_directory_was_deleted(project: Path) -> None:
    fuse = Fuse(2)
    definition = broken(project, fuse)
    shutil.rmtree(project / "out")
    resume(project, definition)
    assert [name for name, *_ in fuse.visits] == ["000001", "000002", "000002", "000003"]


def test_files_that_were_never_recorded_may_change(project: Path) -> None:
    definition = broken(project, Fuse(2))
    (project / "out/work/000002/half.txt").write_text("other")
    (project / "out/notes.txt").write_text("mine")
    resume(project, definition)
    assert b"notes.txt" in record_of(project, 5).late


# The failure port.


def failing_graph() -> Any:
    """A graph whose `work` leads to the failure port once its state says 1, and to exit from 3 on."""

    def when(observation: NumericalConditionObservation) -> Any:
        return (NumericalFeatureCondition(feature_id="left", observation=observation),)

    loop = loop_graph()
    kept = [each for each in loop.edges if each.id != "work__exit"]
    return graph(
        *kept,
        edge("work", "failure", conditions=when(NumericalConditionObservation.EQUAL_ZERO)),
        nodes=loop.nodes,
        features=loop.features,
    )


def test_the_failure_port_is_skipped_and_the_checkpoint_says_from_where(project: Path) -> None:
    definition = workflow(failing_graph())
    with pytest.raises(RuntimeError, match="failure port"):
        run(project, definition, 1)
    assert [each.unavailable_code for each in summaries(project / "out")][-2:] == [
        None,
        "checkpoint.failure_port",
    ]
    assert RunStore.open(project / "out").manifest().checkpoints.resume_available
    with pytest.raises(RuntimeError, match="failure port"):
        resume(project, definition)
    assert completed(project / "out")[-3:] == ["tick/1", "work/2", "work/3"]
    assert [record_of(project, number).resumed_from for number in (5, 6)] == [None, 4]


def test_the_failure_port_can_be_reached_any_number_of_times(project: Path) -> None:
    definition = workflow(failing_graph())
    with pytest.raises(RuntimeError):
        run(project, definition, 1)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="failure port"):
            resume(project, definition)
    assert [record_of(project, number).resumed_from for number in (5, 6, 7)] == [None, 4, 4]
    assert RunStore.open(project / "out").manifest().checkpoints.resume_available


def test_resuming_behind_the_failure_port_restores_the_state_before_it(project: Path) -> None:
    seen: list[Count] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append(state)
        return count_visits(value, state, context)

    definition = workflow(line_graph(work, to="failure"))
    with pytest.raises(RuntimeError, match="failure port"):
        run(project, definition, 1)
    (project / "out/work/000001/out.txt").unlink()  # recorded by the terminal only, so not referenced
    with pytest.raises(RuntimeError, match="failure port"):
        resume(project, definition)
    assert seen == [Count(), Count()]


# Types.


@dataclass(frozen=True, slots=True)
class Order:
    item: str
    amount: int = 1


def test_types_of_the_running_program_are_found_again(project: Path) -> None:
    fuse = Fuse(1)
    definition = workflow(line_graph(fuse))
    with pytest.raises(ValueError, match="visit 1"):
        run(project, definition, Order("tea", 3))
    assert resume(project, definition).output == Order("tea", 3)
    assert type(fuse.visits[1][1]) is Order

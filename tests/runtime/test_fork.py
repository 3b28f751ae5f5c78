"""Forking: a new run from a recorded checkpoint, and a source that stays as it is."""

import os
import shutil
import stat
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.runtime.graphs import LEFT, WORK, Count, Params, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import (
    REQUIRED,
    Stop,
    artifacts_of,
    completed,
    fail_in,
    fork,
    header_of,
    last,
    opened,
    read_tree,
    record_of,
    resume,
    run,
    run_id,
    stored_of,
    summaries,
)
from verdog_objects.errors import NotRestorable
from verdog_repo.lineage import ArgumentsKind, LineageKind
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import SessionPolicy
from verdog_runtime.refusals import CheckpointNotFound, DestinationInvalid, WorkflowMismatch
from verdog_runtime.runs import RunStore, RunStoreError, registered_runs


def by_environment(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
    """A body that behaves as an environment variable says."""
    behaviour = os.environ.get("BEHAVIOUR", "first")
    (context.output_dir / f"{behaviour}.txt").write_text(f"{behaviour} {state.n}\n")
    return Success(output=f"{behaviour} {state.n}", state=Count(n=state.n + 1))


def everything(project: Path, output: str = "out") -> Any:
    """All that is stored of a run and all that is in its directory, to the bit."""
    return (
        stored_of(project, output),
        read_tree(project / output, times=True),
        sorted(registered_runs(project)),
    )


def test_a_fork_goes_on_from_the_checkpoint_as_a_new_run(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 2)
    result = fork(project, definition, 3)
    assert (result.output, result.state.get(WORK), result.state.get(LEFT)) == (2, Count(n=3), 0)
    assert completed(project / "forked") == ["work/1", "tick/1", "work/2", "tick/2", "work/3"]
    first, second = summaries(project / "forked")[:2]
    assert (first.sequence, first.kind, first.restore_available) == (1, "fork", True)
    assert second.completed is not None
    assert (second.completed.node, second.completed.visit) == ("tick", 1)


def test_a_fork_works_after_the_source_s_directory_was_deleted(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 2)
    kept = read_tree(project / "out")
    shutil.rmtree(project / "out")
    assert fork(project, definition, 3).state.get(WORK) == Count(n=3)
    forked = read_tree(project / "forked")
    assert {path: forked[path] for path in kept} == kept
    assert not (project / "out").exists()


def test_a_fork_works_if_the_source_s_files_were_changed(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 1)
    (project / "out/work/000001/out.txt").write_text("damaged")
    fork(project, definition, 3)
    assert (project / "forked/work/000001/out.txt").read_text() == "1 0\n"


def test_later_files_are_left_out(project: Path) -> None:
    seen: list[set[bytes]] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append(set(read_tree(context.output_dir.parent.parent)))
        return count_visits(value, state, context)

    definition = workflow(loop_graph(work))
    run(project, definition, 2)
    seen.clear()
    fork(project, definition, 4)
    assert b"work/000001/out.txt" in seen[0]
    assert not {path for path in seen[0] if path.startswith((b"tick/000002", b"exit", b"work/000003"))}
    assert seen[0] - {b"work/000002"} == set(artifacts_of(project, 4))


def test_the_source_is_bit_identical_before_and_after(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = workflow(loop_graph(by_environment))
    run(project, definition, 2)
    stored, files, _ = everything(project)
    for behaviour in ("second", "third"):
        monkeypatch.setenv("BEHAVIOUR", behaviour)
        result = fork(project, definition, 1, output=behaviour)
        assert result.output == f"{behaviour} 2"
    assert everything(project)[:2] == (stored, files)
    trees = {name: read_tree(project / name) for name in ("out", "second", "third")}
    for name, tree in trees.items():
        texts = {path.rpartition(b"/")[2] for path in tree if path.endswith(b".txt")}
        assert texts == {b"first.txt" if name == "out" else name.encode() + b".txt"}


def test_two_forks_do_not_touch_each_other(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = workflow(loop_graph(by_environment))
    run(project, definition, 1)
    fork(project, definition, 2, output="one")
    before = everything(project, "one")[:2]
    monkeypatch.setenv("BEHAVIOUR", "second")
    fork(project, definition, 2, output="two")
    assert everything(project, "one")[:2] == before
    assert run_id(project / "one") != run_id(project / "two")


def test_a_fork_can_be_forked(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 2)
    fork(project, definition, 3)
    shutil.rmtree(project / "forked")
    assert fork(project, definition, 2, source="forked", output="again").state.get(WORK) == Count(n=3)
    with opened(project) as repository:
        history = repository.history(run_id(project / "again"), 100)
    assert [each.generation for each in history] == list(range(len(history), 0, -1))


def test_the_new_run_remembers_where_it_came_from(project: Path) -> None:
    definition = workflow(loop_graph())
    params = {(".", "toy.loop.main"): Params(step=4)}
    run(project, definition, 1, params=params, workflow_arguments=("--a", "b"), checkpointing=REQUIRED)
    fork(project, definition, 2)
    source, header = header_of(project), header_of(project, "forked")
    assert header.parent is not None
    assert (
        header.parent.run,
        header.parent.operation,
        header.parent.checkpoint,
        header.parent.arguments,
    ) == (
        source.run,
        LineageKind.FORK,
        2,
        ArgumentsKind.CHECKPOINT,
    )
    assert (header.checkpointing, header.arguments, header.workflow_id) == (
        "required",
        ("--a", "b"),
        "toy.loop.main",
    )
    assert header.status == "succeeded"
    assert project / "forked" in registered_runs(project)
    parent = RunStore.open(project / "forked").manifest().parent
    assert parent is not None
    assert parent.as_json() == {
        "run_id": source.run,
        "operation": "fork",
        "checkpoint": 2,
        "arguments": "checkpoint",
    }


def test_a_fork_has_a_trace_of_its_own(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 1)
    fork(project, definition, 3)
    trace = (project / "forked/trace.log").read_text()
    assert "START tick/000001" in trace
    assert "enter" not in trace


def test_visits_see_the_new_run_id_and_the_recorded_parameters(project: Path) -> None:
    seen: list[Any] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append((context.run_id, context.params))
        return count_visits(value, state, context)

    definition = workflow(loop_graph(work))
    run(project, definition, 0, params={(".", "toy.loop.main"): Params(step=4)})
    fork(project, definition, 2)
    assert seen == [(run_id(project / name), Params(step=4)) for name in ("out", "forked")]


def test_a_failed_fork_can_be_resumed(project: Path) -> None:
    breaks = [False]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if breaks.pop() if breaks else False:
            raise ValueError("boom")
        return count_visits(value, state, context)

    definition = workflow(loop_graph(work))
    run(project, definition, 0)
    breaks.append(True)
    with pytest.raises(ValueError, match="boom"):
        fork(project, definition, 2)
    shutil.rmtree(project / "forked")
    assert resume(project, definition, "forked").state.get(WORK) == Count(n=1)
    assert completed(project / "forked") == ["init/1", "work/1"]


def test_the_budget_goes_on_where_it_was(project: Path) -> None:
    from tests.runtime.recorded import AUTO
    from verdog_runtime.interpreter import Dispatcher

    definition = workflow(loop_graph())
    Dispatcher(project_root=project, transition_limit=5).run(
        definition, 1, output_dir=project / "out", checkpointing=AUTO
    )
    with opened(project) as repository:
        assert repository.tip(run_id(project / "out")).sequence == 5  # type: ignore[union-attr]
    fork(project, definition, 3)
    assert last(project / "forked").sequence == 3


# What is rewritten.


@dataclass(frozen=True)
class Places:
    inside: Path
    itself: Path
    outside: Path
    project: Path
    pure: PurePosixPath
    text: str
    nested: Any = None


def test_paths_below_the_output_are_rebased_and_nothing_else(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 1:
            return Success(output=value, state=Count(n=2))
        output = context.output_dir.parent.parent
        inside = context.output_dir / "f"
        nested = ([inside], {inside: 1}, frozenset({inside}), OrderedDict(a=(inside,)))
        places = Places(
            inside, output, Path("/etc/passwd"), project / "src", PurePosixPath(inside), str(inside), nested
        )
        return Success(output=places, state=Count(n=1))

    definition = workflow(loop_graph(work))
    before = run(project, definition, 1).output
    after = fork(project, definition, 3).output
    inside = project / "forked/work/000001/f"
    assert before.inside == project / "out/work/000001/f"
    assert (after.inside, after.itself) == (inside, project / "forked")
    assert after.nested == ([inside], {inside: 1}, frozenset({inside}), OrderedDict(a=(inside,)))
    assert (after.outside, after.project, after.text) == (before.outside, before.project, before.text)
    assert type(after.pure) is PurePosixPath


def test_absolute_links_below_the_source_are_rebased(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            place = context.output_dir
            (place / "f").write_text("x")
            (place / "into").symlink_to(place / "f")
            (place / "root").symlink_to(place.parent.parent)
            (place / "like").symlink_to(f"{place.parent.parent}-else/f")
            (place / "away").symlink_to("/etc/passwd")
            os.symlink("./f", place / "near")  # noqa: PTH211
        return Success(output=value, state=Count(n=state.n + 1))

    definition = workflow(loop_graph(work))
    run(project, definition, 1)
    fork(project, definition, 3)
    place = project / "forked/work/000001"
    targets = {
        each.name: os.readlink(each)  # noqa: PTH115
        for each in place.iterdir()
        if each.is_symlink()
    }
    assert targets == {
        "into": f"{place}/f",
        "root": f"{project}/forked",
        "like": f"{project}/out-else/f",
        "away": "/etc/passwd",
        "near": "./f",
    }
    assert all(each.restore_available for each in summaries(project / "forked"))
    shutil.rmtree(project / "forked")
    fork(project, definition, 1, source="forked", output="again")
    assert (project / "again/work/000001/into").readlink() == project / "again/work/000001/f"


def test_all_mode_bits_are_kept(project: Path) -> None:
    modes = {"a": 0o4755, "b": 0o2755, "c": 0o111, "d": 0o664, "e": 0o600}

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            for name, mode in modes.items():
                (context.output_dir / name).touch()
                (context.output_dir / name).chmod(mode)
        return Success(output=value, state=Count(n=state.n + 1))

    definition = workflow(loop_graph(work))
    run(project, definition, 1)
    fork(project, definition, 3)
    place = project / "forked/work/000001"
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in place.iterdir()} == modes


# Refusals.


@pytest.mark.parametrize("output", ["out", "out/below/it", "out/work", "."])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_directory_that_overlaps_the_source_s_is_refused(project: Path, output: str, deleted: bool) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    if deleted:
        shutil.rmtree(project / "out")
    before = stored_of(project) if not deleted else None
    with pytest.raises(DestinationInvalid, match="overlaps") as caught:
        fork(project, definition, 1, output=output)
    assert caught.value.code == "checkpoint.artifact_destination_invalid"
    assert before is None or stored_of(project) == before
    assert len(registered_runs(project)) == 1


def test_a_directory_that_overlaps_over_a_link_is_refused(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    (project / "link").symlink_to("out")
    with pytest.raises(DestinationInvalid, match="overlaps"):
        fork(project, definition, 1, output="link/below")


def test_a_directory_that_holds_something_is_refused(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    (project / "forked").mkdir()
    (project / "forked/mine").write_text("kept")
    with pytest.raises(RunStoreError, match="not empty") as caught:
        fork(project, definition, 1)
    assert caught.value.code == "checkpoint.artifact_destination_not_empty"
    assert read_tree(project / "forked").keys() == {b"mine"}


@pytest.mark.parametrize("output", ["mine", "mine/below"])
def test_a_directory_that_cannot_be_made_because_of_a_file_is_refused(project: Path, output: str) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    (project / "mine").write_text("kept")
    with pytest.raises(DestinationInvalid) as caught:
        fork(project, definition, 1, output=output)
    assert caught.value.code == "checkpoint.artifact_destination_invalid"
    assert (project / "mine").read_text() == "kept"


@pytest.mark.parametrize("number", [0, -1, 3, 99])
def test_a_checkpoint_that_the_run_does_not_have(project: Path, number: int) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(CheckpointNotFound, match=f"no checkpoint {number}") as caught:
        fork(project, definition, number)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "checkpoint.not_found"
    assert not (project / "forked").exists()


@pytest.mark.parametrize("number", [True, 1.0, "1", None])
def test_a_checkpoint_is_chosen_by_a_number(project: Path, number: Any) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(TypeError, match="chosen by its number"):
        fork(project, definition, number)
    assert not (project / "forked").exists()


def test_a_checkpoint_that_cannot_be_restored(project: Path) -> None:
    definition = workflow(line_graph(to="failure"))
    with pytest.raises(RuntimeError, match="failure port"):
        run(project, definition, 1)
    with pytest.raises(NotRestorable, match="checkpoint 2") as caught:
        fork(project, definition, 2)
    assert caught.value.code == "checkpoint.failure_port"
    assert not (project / "forked").exists()
    assert len(registered_runs(project)) == 1


def test_an_unknown_session_policy(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(ValueError, match="sometimes"):
        fork(project, definition, 1, sessions="sometimes")


def test_both_session_policies_are_good_for_a_graph_without_agents(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    for policy in SessionPolicy:
        assert fork(project, definition, 1, sessions=policy, output=policy.value).output == 1


def test_another_workflow(project: Path) -> None:
    from dataclasses import replace

    definition = workflow(line_graph())
    run(project, definition, 1)
    with pytest.raises(WorkflowMismatch):
        fork(project, replace(definition, id="toy.loop.other"), 1)
    assert not (project / "forked").exists()


def test_a_state_that_does_not_fit_is_refused_before_anything_is_written(project: Path) -> None:
    run(project, workflow(line_graph()), 1)
    stored = stored_of(project)
    with pytest.raises(ValueError, match="enter__work"):
        fork(project, workflow(loop_graph()), 1)
    assert stored_of(project) == stored
    assert not (project / "forked").exists()


def test_a_fork_stopped_in_its_first_visit_leaves_a_run_that_can_go_on(project: Path) -> None:
    stops = [False]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if stops.pop() if stops else False:
            raise Stop
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    run(project, definition, 1)
    stops.append(True)
    with pytest.raises(Stop):
        fork(project, definition, 1)
    assert last(project / "forked").kind == "fork"
    assert resume(project, definition, "forked").output == 1


def test_the_first_checkpoint_of_a_fork_says_that_nothing_was_added(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(3)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 3)
    with pytest.raises(ValueError, match="boom"):
        fork(project, definition, 5)
    record = record_of(project, 1, "forked")
    assert (record.files_added, record.late, record.swept) == (0, (), False)
    assert record.artifacts == record_of(project, 5).artifacts
    assert record.state == record_of(project, 5).state

"""Checkpoint policies: OFF keeps nothing, AUTO goes on whatever happens, REQUIRED does not."""

import os
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import (
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
    REQUIRED,
    artifacts_of,
    completed,
    fork,
    header_of,
    last,
    record_of,
    resume,
    run,
    summaries,
)
from verdog_objects.errors import NotRestorable
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher, artifacts

SERIALIZATION = "checkpoint.serialization_failed"
CAPTURE = "checkpoint.artifact_capture_failed"


@dataclass
class Holder:
    items: Any = None


def emit(make: Any) -> Any:
    """A body whose output is what `make` returns."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=make(), state=Count(n=state.n + 1))

    return work


def write(action: Any) -> Any:
    """A body that does something in its directory."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        action(context.output_dir)
        return Success(output=value, state=Count(n=state.n + 1))

    return work


def make_pipe(directory: Path) -> None:
    os.mkfifo(directory / "p")
    (directory / "f").write_text("x\n")


def bind_socket(directory: Path) -> None:
    here = Path.cwd()
    os.chdir(directory)
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("s")
    finally:
        os.chdir(here)


# OFF.


@pytest.mark.parametrize("fails", [False, True])
def test_off_leaves_no_control_directory_anywhere(project: Path, fails: bool) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if fails:
            raise ValueError("boom")
        return count_visits(value, state, context)

    dispatcher = Dispatcher(project_root=project)
    try:
        dispatcher.run(workflow(line_graph(work)), 1, output_dir=project / "out")
    except ValueError:
        assert fails
    assert list(project.rglob(".verdog")) == []
    assert (project / "out/trace.log").is_file()


def test_off_runs_values_and_files_that_no_checkpoint_could_keep(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        make_pipe(context.output_dir)
        return Success(output=threading.Lock(), state=state)

    result = run(project, workflow(line_graph(work)), 1, checkpointing=CheckpointPolicy.OFF)
    assert not result.output.locked()


# AUTO.


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (threading.Lock, "transit"),
        (lambda: Holder(items=[1, threading.Lock()]), "transit.items[1]"),
        (lambda: {"a": (threading.Lock(),)}, "transit['a'][0]"),
    ],
)
def test_auto_names_the_value_that_cannot_be_kept_and_goes_on(project: Path, make: Any, path: str) -> None:
    assert run(project, workflow(line_graph(emit(make))), 1).output is not None
    first, second = summaries(project / "out")
    assert first.restore_available
    assert (second.restore_available, second.unavailable_code) == (False, SERIALIZATION)
    assert second.unavailable_reason is not None
    assert second.unavailable_reason.startswith(f"{path}: ")
    assert not second.fork_with_branch_available
    assert not second.fork_with_fresh_available


def test_auto_names_the_input_and_the_parameters_too(project: Path) -> None:
    params = {(".", "toy.loop.main"): Params(step=threading.Lock())}  # type: ignore[arg-type]
    run(project, workflow(line_graph(emit(lambda: 1))), Holder(items=threading.Lock()), params=params)
    reason = last(project / "out").unavailable_reason or ""
    assert "input.items: " in reason
    assert "params[toy.loop.main].step: " in reason
    assert reason.isprintable()


def test_a_checkpoint_is_restorable_again_once_the_value_is_gone(project: Path) -> None:
    outputs = iter([threading.Lock(), 1])
    definition = graph(
        edge("enter", "work", emit(lambda: next(outputs))),
        edge("work", "more", emit(lambda: next(outputs))),
        edge("more", "exit"),
        nodes=(WORK, type(WORK)(id="more", name="More", operation=WORK.operation, state_type=Count)),
    )
    run(project, workflow(definition), 1)
    assert [each.restore_available for each in summaries(project / "out")] == [True, False, True]


@pytest.mark.parametrize(
    ("action", "path", "what"),
    [(make_pipe, "work/000001/p", "FIFO"), (bind_socket, "work/000001/s", "socket")],
)
def test_auto_names_the_special_file_and_keeps_the_others(
    project: Path, action: Any, path: str, what: str
) -> None:
    assert run(project, workflow(line_graph(write(action))), 1).output == 1
    checkpoint = last(project / "out")
    assert checkpoint.unavailable_code == CAPTURE
    assert path in (checkpoint.unavailable_reason or "")
    assert what in (checkpoint.unavailable_reason or "")
    assert path.encode() not in artifacts_of(project, 2)
    assert (b"work/000001/f" in artifacts_of(project, 2)) == (action is make_pipe)


@pytest.mark.root
def test_a_device_is_named_and_never_opened(project: Path) -> None:
    run(project, workflow(line_graph(write(lambda at: os.mknod(at / "null", 0o20666, os.makedev(1, 3))))), 1)
    assert "work/000001/null" in (last(project / "out").unavailable_reason or "")


def test_every_path_is_named(project: Path) -> None:
    def action(directory: Path) -> None:
        for name in ("a", "b", "c\n"):
            os.mkfifo(directory / name)

    run(project, workflow(line_graph(write(action))), 1)
    reason = last(project / "out").unavailable_reason or ""
    assert [f"work/000001/{name} " in reason for name in ("a", "b", r"c\n")] == [True] * 3
    assert reason.isprintable()


@pytest.mark.parametrize("change", ["edit", "remove", "chmod"])
def test_a_recorded_file_that_a_later_visit_changes_is_named(project: Path, change: str) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 1:
            earlier = context.output_dir.parent / "000001" / "out.txt"
            match change:
                case "edit":
                    earlier.write_text("other\n")
                case "remove":
                    earlier.unlink()
                case _:
                    earlier.chmod(0o600)
        return count_visits(value, state, context)

    run(project, workflow(loop_graph(work)), 1)
    checkpoint = last(project / "out")
    assert checkpoint.unavailable_code == CAPTURE
    assert "work/000001/out.txt" in (checkpoint.unavailable_reason or "")
    assert (
        artifacts_of(project, 5)[b"work/000001/out.txt"] == artifacts_of(project, 3)[b"work/000001/out.txt"]
    )


@pytest.mark.parametrize("change", ["edit", "remove", "special"])
def test_checkpoints_are_restorable_again_once_the_file_is_put_right(
    project: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(artifacts, "SWEEP_SHARE", 0)  # look at everything at every checkpoint

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        first = context.output_dir.parent / "000001"
        if state.n == 1:
            match change:
                case "edit":
                    (first / "out.txt").write_text("other\n")
                case "remove":
                    (first / "out.txt").unlink()
                case _:
                    os.mkfifo(first / "pipe")
        if state.n == 2:
            (first / "pipe").unlink(missing_ok=True)
            (first / "out.txt").write_text("2 0\n")
        return count_visits(value, state, context)

    run(project, workflow(loop_graph(work)), 2)
    found = summaries(project / "out")
    spoilt = [each for each in found if not each.restore_available]
    assert [each.sequence for each in spoilt] == [5, 6]
    assert completed(project / "out")[4:6] == ["work/2", "tick/2"]
    assert all("work/000001/" in (each.unavailable_reason or "") for each in spoilt)
    assert fork(project, workflow(loop_graph()), 7).output == 2


def test_a_run_whose_checkpoints_are_good_for_nothing_still_succeeds(project: Path) -> None:
    result = run(project, workflow(loop_graph(write(make_pipe))), 1)
    assert result.state.get(WORK) == Count(n=2)
    assert header_of(project).status == "succeeded"


# REQUIRED.


@pytest.mark.parametrize(
    ("body", "code", "path"),
    [(emit(threading.Lock), SERIALIZATION, "transit"), (write(make_pipe), CAPTURE, "work/000001/p")],
)
def test_required_writes_the_record_then_fails_through_the_failure_boundary(
    project: Path, body: Any, code: str, path: str
) -> None:
    seen: list[tuple[str, str]] = []
    dispatcher = Dispatcher(
        project_root=project,
        execution_handler=lambda event: seen.append(
            (getattr(event, "node_id", "") or getattr(event, "edge_id", ""), event.status.value)
        ),
    )
    with pytest.raises(RuntimeError, match=r"\[checkpoint_required\]") as caught:
        dispatcher.run(workflow(line_graph(body)), 1, output_dir=project / "out", checkpointing=REQUIRED)
    assert str(caught.value).endswith("[checkpoint_required]")
    assert path in str(caught.value)
    assert "node=work" in caught.value.__notes__
    assert (last(project / "out").sequence, last(project / "out").unavailable_code) == (2, code)
    assert seen[-3:] == [("work__exit", "succeeded"), ("failure", "running"), ("failure", "failed")]
    assert "[checkpoint_required]" in (project / "out/failure/000001/stacktrace.txt").read_text()
    header = header_of(project)
    assert header.status == "failed"
    assert header.error is not None
    assert "[checkpoint_required]" in header.error.message


def test_a_run_that_failed_for_want_of_a_checkpoint_cannot_be_resumed_from_it(project: Path) -> None:
    definition = workflow(line_graph(emit(threading.Lock)))
    with pytest.raises(RuntimeError):
        run(project, definition, 1, checkpointing=REQUIRED)
    with pytest.raises(NotRestorable, match="transit") as caught:
        resume(project, definition)
    assert caught.value.code == SERIALIZATION


def test_required_lets_an_edge_to_the_failure_port_be(project: Path) -> None:
    with pytest.raises(RuntimeError, match="failure port") as caught:
        run(project, workflow(line_graph(to="failure")), 1, checkpointing=REQUIRED)
    assert "checkpoint_required" not in str(caught.value)


def test_a_resumed_run_keeps_its_policy(project: Path) -> None:
    broken = [True]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if broken:
            broken.clear()
            raise ValueError("boom")
        make_pipe(context.output_dir)
        return Success(output=value, state=state)

    definition = workflow(line_graph(work))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1, checkpointing=REQUIRED)
    with pytest.raises(RuntimeError, match=r"\[checkpoint_required\]"):
        resume(project, definition)


@pytest.mark.parametrize("policy", [AUTO, REQUIRED])
def test_the_record_says_whether_everything_was_looked_at(project: Path, policy: CheckpointPolicy) -> None:
    run(project, workflow(loop_graph()), 1, checkpointing=policy)
    assert (record_of(project, 1).swept, record_of(project, 5).swept) == (True, True)


def test_a_file_outside_the_completed_visit_is_recorded_late_and_said_so(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        (context.output_dir.parent.parent / "shared.txt").write_text("s")
        return count_visits(value, state, context)

    run(project, workflow(line_graph(work)), 1)
    assert record_of(project, 2).late == (b"shared.txt",)
    assert last(project / "out").restore_available
    assert b"shared.txt" not in artifacts_of(project, 1)
    assert b"shared.txt" in artifacts_of(project, 2)


def test_control_files_are_no_artifacts_and_files_of_their_names_elsewhere_are(project: Path) -> None:
    def action(directory: Path) -> None:
        (directory / ".verdog").mkdir()
        (directory / ".verdog/private").write_text("no")
        for name in ("trace.log", "config.md", "stats.md"):
            (directory / name).write_text("mine")
            (directory.parent.parent / name).touch()

    run(project, workflow(line_graph(write(action))), 1)
    names = {path.decode() for path in artifacts_of(project, 2)}
    assert names == {
        "enter",
        "enter/000001",
        "work",
        "work/000001",
        *(f"work/000001/{name}" for name in ("trace.log", "config.md", "stats.md")),
    }

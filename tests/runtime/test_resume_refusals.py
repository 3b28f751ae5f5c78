"""Resuming refused: why, naming every path and every file, and leaving everything as it was."""

import json
import shutil
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.processes import forking_context
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
from tests.runtime.recorded import AUTO, fail_in, header_of, last, refused, resume, run
from verdog_objects.errors import Busy, Corrupt, NotRestorable
from verdog_repo.repository import Repository
from verdog_runtime.declarations import NodeDefinition, Python, Success
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher
from verdog_runtime.refusals import AlreadySucceeded, NothingToResume, WorkflowMismatch
from verdog_runtime.runs import IntegrityError, RunActive, RunStoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    n: int = 0


def failed(project: Path, visit: int = 3) -> Any:
    """Leave a run that failed in a visit of the loop."""
    definition = workflow(loop_graph(fail_in(visit)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 3)
    return definition


# The run.


def test_a_run_that_succeeded(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    error = refused(project, definition, AlreadySucceeded)
    assert error.code == "run.already_succeeded"
    assert "fork" in str(error)
    assert "restart" in str(error)


def test_a_run_without_a_checkpoint_is_to_be_restarted(project: Path) -> None:
    def stop(event: Any) -> None:
        raise KeyboardInterrupt

    definition = workflow(line_graph())
    with pytest.raises(KeyboardInterrupt):
        Dispatcher(project_root=project, execution_handler=stop).run(
            definition, 1, output_dir=project / "out", checkpointing=AUTO, run_id="mine"
        )
    error = refused(project, definition, NothingToResume)
    assert error.code == "checkpoint.none"
    assert "verdog restart mine" in str(error)


def test_a_run_that_went_to_its_failure_port_at_once_is_to_be_restarted(project: Path) -> None:
    definition = workflow(graph(edge("enter", "failure"), edge("init", "exit"), nodes=(INIT,)))
    with pytest.raises(RuntimeError, match="failure port"):
        run(project, definition, 1)
    error = refused(project, definition, NothingToResume)
    assert error.code == "checkpoint.failure_port"
    assert "verdog restart" in str(error)


def test_a_latest_checkpoint_that_cannot_be_restored_even_if_an_older_one_can(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=threading.Lock(), state=state)

    definition = workflow(
        graph(
            edge("enter", "work", work),
            edge("work", "more", fail_in(1)),
            edge("more", "exit"),
            nodes=(WORK, NodeDefinition(id="more", name="More", operation=Python(), state_type=Count)),
        )
    )
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    error = refused(project, definition, NotRestorable)
    assert isinstance(error, ValueError)
    assert error.code == "checkpoint.serialization_failed"
    assert "checkpoint 2" in str(error)
    assert "transit" in str(error)


@pytest.mark.parametrize("change", ["id", "module", "definition"])
def test_another_workflow(project: Path, change: str) -> None:
    definition = failed(project)
    entry = definition.entry
    match change:
        case "id":
            other = replace(definition, id="toy.loop.other")
        case "module":
            name = "toy.loop.subroutines.copy"
            sys.modules[name] = sys.modules[entry.definition_module]
            other = replace(definition, entry=replace(entry, definition_module=name))
        case _:
            other = workflow(replace(loop_graph(), id="toy.loop.second"))
    error = refused(project, other, WorkflowMismatch)
    assert error.code == "run.workflow_mismatch"
    assert "toy.loop.main" in str(error)


def test_a_directory_that_is_no_run(project: Path) -> None:
    definition = failed(project)
    with pytest.raises(RunStoreError) as caught:
        resume(project, definition, "elsewhere")
    assert caught.value.code == "run.output_missing"


def test_a_project_without_a_store_stays_without_one(project: Path) -> None:
    with pytest.raises(RunStoreError) as caught:
        resume(project, workflow(line_graph()), "out")
    assert caught.value.code == "run.output_missing"
    assert [path.name for path in project.iterdir()] == ["pyproject.toml"]


def test_a_copy_of_an_output_directory(project: Path) -> None:
    definition = failed(project)
    shutil.copytree(project / "out", project / "copy")
    with pytest.raises(RunStoreError, match="whose output directory is") as caught:
        resume(project, definition, "copy")
    assert caught.value.code == "run.output_mismatch"


def test_a_store_that_lost_an_acknowledged_checkpoint(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 3)
    shutil.copytree(project / ".verdog/store", project / "older")
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 3, output="another")
    index = project / "out/.verdog/checkpoints/index.jsonl"
    line = json.loads(index.read_text().splitlines()[-1])
    with index.open("a") as file:
        file.write(json.dumps(line | {"sequence": line["sequence"] + 1}) + "\n")
    error = refused(project, definition, Corrupt)
    assert "had been acknowledged" in str(error)


# The files.


def test_every_changed_path_is_named(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            for name in ("edited", "removed", "chmodded", "retyped", "new\nline", "kept"):
                (context.output_dir / name).write_text(name)
            (context.output_dir / "link").symlink_to("kept")
            (context.output_dir / "d").mkdir()
            (context.output_dir / "gone").mkdir()
            (context.output_dir / "gone/inner").write_text("x")
        return fail_in(2)(value, state, context)

    definition = workflow(loop_graph(work))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    place = project / "out/work/000001"
    (place / "edited").write_text("EDITED")
    (place / "removed").unlink()
    (place / "chmodded").chmod(0o600)
    (place / "retyped").unlink()
    (place / "retyped").mkdir()
    (place / "new\nline").write_text("longer than before")
    (place / "link").unlink()
    (place / "link").symlink_to("edited")
    (place / "d").chmod(0o700)
    shutil.rmtree(place / "gone")
    error = refused(project, definition, IntegrityError)
    assert error.code == "checkpoint.artifact_corrupt"
    names = [
        b"edited",
        b"removed",
        b"chmodded",
        b"retyped",
        b"new\nline",
        b"link",
        b"d",
        b"gone",
        b"gone/inner",
    ]
    assert sorted(error.paths) == sorted(b"work/000001/" + name for name in names)
    lines = str(error).splitlines()
    assert len(lines) == 1 + len(names)
    for name in ("edited", "removed: missing", "chmodded: mode: 0600", "retyped: kind", r"new\nline", "link"):
        assert any(line.strip().startswith(f"work/000001/{name}") for line in lines)


def test_the_same_length_and_time_do_not_hide_a_change(project: Path) -> None:
    import os

    definition = failed(project)
    file = project / "out/work/000001/out.txt"
    status = file.stat()
    file.write_text(file.read_text().swapcase().replace("3", "4"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert refused(project, definition, IntegrityError).paths == (b"work/000001/out.txt",)


def test_once_the_files_are_put_right_the_run_goes_on(project: Path) -> None:
    definition = failed(project)
    file = project / "out/work/000001/out.txt"
    text = file.read_text()
    file.write_text("other")
    refused(project, definition, IntegrityError)
    file.write_text(text)
    with pytest.raises(ValueError, match="boom"):
        resume(project, definition)


def test_an_output_directory_that_was_emptied_names_everything(project: Path) -> None:
    definition = failed(project, visit=1)
    for name in ("enter", "init"):
        shutil.rmtree(project / "out" / name)
    error = refused(project, definition, IntegrityError)
    assert set(error.paths) == {b"enter", b"enter/000001", b"init", b"init/000001"}


# The graph.


def test_a_renamed_node(project: Path) -> None:
    failed(project)
    renamed = NodeDefinition(id="labour", name="Work", operation=Python(), state_type=Count)
    loop = loop_graph(fail_in(3))
    edges = [
        replace(
            each,
            source="labour" if each.source == "work" else each.source,
            target="labour" if each.target == "work" else each.target,
        )
        for each in loop.edges
    ]
    definition = workflow(
        graph(*edges, nodes=(*(n for n in loop.nodes if n is not WORK), renamed), features=(LEFT,))
    )
    error = refused(project, definition, ValueError)
    assert "'work'" in str(error)
    assert "'labour'" in str(error)


def test_a_graph_without_the_chosen_edge(project: Path) -> None:
    failed(project)
    loop = loop_graph()
    edges = [replace(each, id="other") if each.id == "tick__work" else each for each in loop.edges]
    error = refused(project, workflow(graph(*edges, nodes=loop.nodes, features=(LEFT,))), ValueError)
    assert "tick__work" in str(error)


# Others at work.


def hold(project: str, ready: Any, done: Any) -> None:
    """Run in a process of its own until told to go on."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 2:
            ready.set()
            assert done.wait(60)
        return count_visits(value, state, context)

    resume(Path(project), workflow(loop_graph(work)))


def test_of_two_resumes_at_once_one_wins_and_the_other_is_told_who(project: Path) -> None:
    definition = failed(project)
    context = forking_context(__name__)
    ready, done = context.Event(), context.Event()
    other = context.Process(target=hold, args=(str(project), ready, done))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(RunActive) as caught:
            resume(project, definition)
        assert isinstance(caught.value, Busy)
        assert isinstance(caught.value, ValueError)
        assert caught.value.code == "run.active"
        assert f"process {other.pid}" in str(caught.value)
        assert header_of(project).status == "running"
    finally:
        done.set()
        other.join(60)
    assert other.exitcode == 0
    assert header_of(project).status == "succeeded"
    assert last(project / "out").kind == "terminal"


def test_a_run_cannot_be_resumed_while_this_process_executes_it(project: Path) -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        with pytest.raises(RunActive):
            resume(project, definition)
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    run(project, definition, 1)
    assert header_of(project).status == "succeeded"


def test_a_lease_is_given_back_whatever_happens(project: Path) -> None:
    definition = failed(project)
    (project / "out/work/000001/out.txt").unlink()
    refused(project, definition, IntegrityError)
    with Repository.open(project, read_only=True) as repository:
        assert not repository.is_active(header_of(project).run)


def test_a_run_without_checkpoints_is_to_be_restarted(project: Path) -> None:
    from verdog_runtime.interpreter.begin import RunRequest, begin_run
    from verdog_runtime.interpreter.settings import Settings

    definition = workflow(line_graph(fail_in(1)))
    request = RunRequest(output_dir=project / "out", checkpointing=CheckpointPolicy.OFF, recorded=True)
    begin_run(Settings(project_root=project), definition, 1, request)
    assert "restart" in str(refused(project, definition, NothingToResume))


def test_a_value_that_does_not_fit_any_more(project: Path) -> None:
    failed(project)
    loop = loop_graph()
    nodes = tuple(replace(each, state_type=Other) if each is WORK else each for each in loop.nodes)
    other = workflow(graph(*loop.edges, nodes=nodes, features=(LEFT,)))
    error = refused(project, other, TypeError)
    assert "node=work" in error.__notes__

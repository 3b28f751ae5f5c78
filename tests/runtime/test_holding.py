"""Holding a run: its lease, the lock in its directory, and that the directory is its own."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.processes import forking_context
from tests.runtime.graphs import Count, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import AUTO, fail_in, fork, header_of, opened, read_tree, refused, resume, run
from verdog_objects.errors import InvalidInput
from verdog_objects.locking import acquire
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.interpreter.resume import ResumeRequest, resume_run
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.outputs import compare_output, find_lost_checkpoints, restore_files
from verdog_runtime.refusals import DestinationInvalid
from verdog_runtime.runs import RunActive, RunStoreError, run_is_active


def failed(project: Path, **rest: Any) -> Any:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2, **rest)
    return definition


def listed(project: Path) -> dict[str, str]:
    with opened(project) as repository:
        return {each.header.run: each.header.status.value for each in repository.runs()}


# The lock in the directory.


def test_a_lock_that_another_program_holds_refuses_the_run_and_changes_nothing(project: Path) -> None:
    definition = failed(project)
    with acquire(project / "out/.verdog/lock"):
        error = refused(project, definition, RunActive)
    assert error.code == "run.active"


@pytest.mark.parametrize("kind", ["link", "directory"])
def test_a_lock_that_is_no_file_refuses_the_run_and_changes_nothing(project: Path, kind: str) -> None:
    definition = failed(project)
    lock = project / "out/.verdog/lock"
    lock.unlink()
    lock.symlink_to("run.json") if kind == "link" else lock.mkdir()
    assert refused(project, definition, RunStoreError).code == "run.lock_invalid"
    with pytest.raises(RunStoreError) as caught:
        run_is_active(project / "out")
    assert caught.value.code == "run.lock_invalid"


def test_a_run_is_active_while_its_files_are_compared(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verdog_runtime.interpreter import bringing

    seen: list[bool] = []
    definition, verify = failed(project), bringing.verify_tree

    def look(*arguments: Any, **rest: Any) -> Any:
        seen.append(run_is_active(project / "out"))
        return verify(*arguments, **rest)

    monkeypatch.setattr(bringing, "verify_tree", look)
    with pytest.raises(ValueError, match="boom"):
        resume(project, definition)
    assert seen == [True]


def test_a_run_without_a_directory_is_not_active(project: Path) -> None:
    (project / "file").touch()
    assert not run_is_active(project / "file")
    assert not run_is_active(project / "nothing")


# The directory.


@pytest.mark.parametrize("kind", ["file", "link", "parent"])
def test_what_is_in_the_way_of_the_directory_is_named(project: Path, kind: str) -> None:
    definition = failed(project, output="runs/one")
    shutil.rmtree(project / "runs")
    if kind == "parent":
        (project / "runs").touch()
    else:
        (project / "runs").mkdir()
        place = project / "runs/one"
        place.touch() if kind == "file" else place.symlink_to("nothing")
    with pytest.raises(RunStoreError, match="is in the way") as caught:
        resume(project, definition, "runs/one")
    assert caught.value.code == "run.output_missing"
    with opened(project) as repository:
        assert [each.status for each in repository.runs()] == ["failed"]


@pytest.fixture
def replaced(project: Path) -> Any:
    """Two failed runs; the second has the directory of the first, which was removed, and the same files."""
    failed(project, run_id="first")
    shutil.rmtree(project / "out")
    return failed(project, run_id="second")


def test_a_run_does_not_go_on_in_the_directory_of_another_one(project: Path, replaced: Any) -> None:
    before = read_tree(project / "out", times=True)
    with pytest.raises(RunStoreError, match="holds the record of run second now") as caught:
        resume_run(Settings(project_root=project), replaced, RunId("first"), ResumeRequest())
    assert caught.value.code == "run.output_mismatch"
    assert read_tree(project / "out", times=True) == before
    assert listed(project) == {"first": "failed", "second": "failed"}


def test_nothing_is_restored_into_the_directory_of_another_run(project: Path, replaced: Any) -> None:
    with Repository.open(project) as repository:
        tip = repository.tip(RunId("first"))
        assert tip is not None
        with pytest.raises(RunStoreError) as caught:
            restore_files(repository, tip, [])
        assert caught.value.code == "run.output_mismatch"
        assert not compare_output(repository, tip).present


def test_a_run_whose_directory_another_one_took_has_lost_nothing(project: Path, replaced: Any) -> None:
    with opened(project) as repository:
        assert find_lost_checkpoints(repository) == []


def test_the_run_of_a_directory_that_is_gone_is_the_one_that_wrote_there(project: Path) -> None:
    definition = failed(project, run_id="first")

    def stop(event: Any) -> None:
        raise KeyboardInterrupt

    kept = project / "out"
    kept.rename(project / "kept")
    with pytest.raises(KeyboardInterrupt):
        Dispatcher(project_root=project, execution_handler=stop).run(
            definition, 2, output_dir=kept, checkpointing=AUTO, run_id="second"
        )
    shutil.rmtree(kept)
    with pytest.raises(ValueError, match="boom"):
        resume(project, definition)
    assert header_of(project).run == "first"


# Two at once.


def begin(project: str, name: str, barrier: Any, told: Any) -> None:
    """Begin a run or a fork in the same directory as others do at the same time."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return count_visits(value, state, context)

    root, definition = Path(project), workflow(loop_graph(work))
    barrier.wait(60)
    try:
        if name.startswith("fork"):
            fork(root, definition, 2, source="source", output="out")
        else:
            run(root, definition, 2, run_id=name)
    except (RunActive, DestinationInvalid, InvalidInput) as error:
        told.put(type(error).__name__)
    else:
        told.put("done")


@pytest.mark.parametrize("what", ["run", "fork"])
def test_of_two_that_begin_in_one_directory_one_wins_and_the_other_never_runs(
    project: Path, what: str
) -> None:
    run(project, workflow(loop_graph()), 2, output="source", run_id="source")
    context = forking_context(__name__)
    barrier, told = context.Barrier(2), context.Queue()
    others = [
        context.Process(target=begin, args=(str(project), f"{what}{number}", barrier, told))
        for number in range(2)
    ]
    for each in others:
        each.start()
    answers = sorted(told.get(timeout=60) for _ in others)
    for each in others:
        each.join(60)
    assert answers.count("done") == 1
    statuses = listed(project)
    assert statuses.pop("source") == "succeeded"
    assert sorted(statuses.values()) in (["succeeded"], ["failed", "succeeded"])
    assert len(list((project / "out/exit").iterdir())) == 1
    assert header_of(project).status == "succeeded"


def test_a_directory_that_another_run_took_since_it_was_found_vacant_is_left_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from verdog_runtime.interpreter import begin as beginning

    definition = workflow(line_graph())
    vacant = beginning.require_vacant

    def lose(*arguments: Any) -> Path:
        found = vacant(*arguments)
        monkeypatch.setattr(beginning, "require_vacant", vacant)
        run(project, definition, 1, run_id="faster")
        return found

    monkeypatch.setattr(beginning, "require_vacant", lose)
    with pytest.raises(InvalidInput, match="not empty any more"):
        run(project, definition, 1, run_id="slower")
    assert listed(project) == {"faster": "succeeded", "slower": "failed"}
    assert header_of(project).run == "faster"
    assert [path.name for path in (project / "out/work").iterdir()] == ["000001"]


def test_a_lease_that_cannot_be_taken_does_not_leave_the_run_running(project: Path) -> None:
    run(project, workflow(line_graph()), 1, run_id="one")
    (project / ".verdog/store/locks/two").mkdir()
    with pytest.raises(InvalidInput, match="cannot be a lock"):
        run(project, workflow(line_graph()), 1, output="other", run_id="two")
    assert listed(project) == {"one": "succeeded", "two": "failed"}

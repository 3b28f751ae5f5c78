"""Run records: what the store, `run.json` and the registry say of a run, whatever became of it."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import Count, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import (
    Stop,
    fail_in,
    header_of,
    opened,
    resume,
    run,
    run_id,
    summaries,
)
from verdog_objects.oid import Kind
from verdog_repo.record import CheckpointKind
from verdog_runtime.declarations import Success
from verdog_runtime.interpreter import CheckpointPolicy, Dispatcher, ExecutionCancelled
from verdog_runtime.interpreter.begin import RunRequest, begin_run
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.runs import RunStore, load_run_header, registered_runs, run_is_active
from verdog_runtime.values import decode_neutral, format_neutral

COMPATIBILITY = {
    "format",
    "execution_model",
    "python",
    "python_implementation",
    "python_cache_tag",
    "platform",
    "runtime",
    "runtime_sha256",
    "source_sha256",
    "environment_sha256",
}


def read_record(output: Path) -> dict[str, Any]:
    return json.loads((output / ".verdog/run.json").read_text())


def test_run_json_says_what_other_tools_read(project: Path) -> None:
    run(project, workflow(line_graph()), 1, run_id="mine", workflow_arguments=("--input.value", "\u00e9"))
    document = read_record(project / "out")
    stamps = document.pop("started_at"), document.pop("updated_at")
    assert document.pop("compatibility").keys() == COMPATIBILITY
    assert document == {
        "schema_version": 2,
        "id": "mine",
        "project_root": str(project),
        "workflow": {
            "id": "toy.loop.main",
            "definition_id": "toy.loop.main",
            "module": "toy.loop.subroutines.main",
        },
        "status": "succeeded",
        "output_dir": str(project / "out"),
        "launch": {"workflow_arguments": ["--input.value", "\u00e9"], "checkpointing": "auto"},
        "parent": None,
        "result": 1,
        "result_text": "1",
        "error": None,
    }
    assert stamps[0] < stamps[1]
    assert all(each.endswith("Z") for each in stamps)


def test_the_workflow_s_id_is_its_own_and_not_its_graph_s(project: Path) -> None:
    definition = replace(workflow(line_graph()), id="toy.loop.nightly")
    run(project, definition, 1)
    assert read_record(project / "out")["workflow"]["id"] == "toy.loop.nightly"
    assert RunStore.open(project / "out").manifest().workflow.id == "toy.loop.nightly"
    assert header_of(project).workflow == "nightly"


def test_the_files_of_the_runtime_are_private(project: Path) -> None:
    run(project, workflow(line_graph()), 1)
    modes = {
        name: stat.S_IMODE((project / "out" / name).stat().st_mode)
        for name in (".verdog", ".verdog/run.json")
    }
    assert modes == {".verdog": 0o700, ".verdog/run.json": 0o600}
    assert (project / ".verdog/.gitignore").read_text() == "*\n"


def test_every_recorded_run_is_registered(project: Path, tmp_path: Path) -> None:
    for output in ("out", tmp_path / "elsewhere"):
        run(project, workflow(line_graph()), 1, output=output)
    document = json.loads((project / ".verdog/run-registry.json").read_text())
    assert document == {
        "schema_version": 1,
        "runs": sorted(
            (
                {"run_id": run_id(output), "output_dir": str(output)}
                for output in (project / "out", tmp_path / "elsewhere")
            ),
            key=lambda each: each["output_dir"],
        ),
    }
    assert set(registered_runs(project)) == {project / "out", tmp_path / "elsewhere"}


def test_the_record_says_running_while_the_run_is_active(project: Path) -> None:
    seen: list[Any] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        output = context.output_dir.parent.parent
        seen.append((read_record(output)["status"], header_of(project).status, run_is_active(output)))
        return count_visits(value, state, context)

    run(project, workflow(line_graph(work)), 1)
    assert seen == [("running", "running", True)]
    assert not run_is_active(project / "out")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError, "failed"),
        (KeyboardInterrupt, "interrupted"),
        (ExecutionCancelled, "interrupted"),
        (SystemExit, "failed"),
        (Stop, "failed"),
    ],
)
def test_the_status_says_how_the_run_ended(project: Path, error: type[BaseException], status: str) -> None:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        raise error("why")

    with pytest.raises(error):
        run(project, workflow(line_graph(work)), 1)
    header = header_of(project)
    assert (header.status, read_record(project / "out")["status"]) == (status, status)
    assert (header.error is None) == (status == "interrupted")
    if header.error is not None:
        assert header.error.message == "why"
        assert "in work" in header.error.traceback


def test_the_result_is_kept_as_a_value_and_as_text(project: Path) -> None:
    run(project, workflow(line_graph()), {"a": (1, 2)})
    header = header_of(project)
    assert header.result_text == "{'a': (1, 2)}"
    assert header.result is not None
    with opened(project) as repository:
        payload = repository.store.get(Kind.VALUE, header.result)
    assert "1" in format_neutral(decode_neutral(payload))


def test_a_result_that_cannot_be_kept_is_kept_as_text(project: Path) -> None:
    import threading

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=threading.Lock(), state=state)

    run(project, workflow(line_graph(work)), 1)
    header = header_of(project)
    assert header.status == "succeeded"
    assert header.result is None
    assert "lock" in (header.result_text or "")


def test_a_long_result_is_cut_and_a_broken_one_is_described(project: Path) -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError

    values = iter(["x" * 1000, Broken()])

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=next(values), state=state)

    definition = workflow(line_graph(work))
    run(project, definition, 1)
    run(project, definition, 1, output="second")
    assert len(header_of(project).result_text or "") == 400
    assert "ValueError" in (header_of(project, "second").result_text or "")


def test_a_resumed_run_forgets_its_error(project: Path) -> None:
    fails = [True]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if fails:
            fails.clear()
            raise ValueError("boom")
        assert header_of(project).error is None
        return count_visits(value, state, context)

    definition = workflow(line_graph(work))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    begun = header_of(project).started_at
    resume(project, definition)
    header = header_of(project)
    assert (header.status, header.error, header.started_at) == ("succeeded", None, begun)


def test_each_command_is_one_operation(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    with pytest.raises(ValueError, match="boom"):
        resume(project, definition)
    from verdog_objects.store import Query
    from verdog_repo import tables

    with opened(project) as repository:
        rows = repository.store.select(Query(table=tables.OPERATIONS))
    assert [row[2] for row in rows] == ["run", "resume"]


def test_a_recorded_run_without_checkpoints_is_listed(project: Path) -> None:
    request = RunRequest(output_dir=project / "out", checkpointing=CheckpointPolicy.OFF, recorded=True)
    begin_run(Settings(project_root=project), workflow(line_graph()), 1, request)
    assert header_of(project).status == "succeeded"
    assert summaries(project / "out") == ()
    manifest = RunStore.open(project / "out").manifest()
    assert manifest.checkpoints.unavailable_code == "checkpoint.disabled"
    assert read_record(project / "out")["compatibility"] == {}
    assert project / "out" in registered_runs(project)


def test_a_damaged_registry_stops_no_run(project: Path) -> None:
    run(project, workflow(line_graph()), 1)
    (project / ".verdog/run-registry.json").write_text("{")
    run(project, workflow(line_graph()), 1, output="second", run_id="second")
    assert header_of(project, "second").status == "succeeded"
    assert registered_runs(project) == (project / "out", project / "second")


def test_a_directory_that_cannot_be_made_does_not_leave_the_run_running(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from verdog_objects.errors import Unavailable
    from verdog_runtime.interpreter import openbooks

    def refuse(output: Path) -> None:
        raise Unavailable("no space left")

    monkeypatch.setattr(openbooks, "claim_output", refuse)
    with pytest.raises(Unavailable):
        run(project, workflow(line_graph()), 1, run_id="mine")
    with opened(project) as repository:
        (listing,) = repository.runs()
    assert (listing.status, listing.present) == ("failed", False)


def test_the_public_interface_reads_the_checkpoints(project: Path) -> None:
    run(project, workflow(loop_graph()), 1)
    first, *_, final = summaries(project / "out")
    assert (first.kind, final.kind) == (CheckpointKind.ENTRY, CheckpointKind.TERMINAL)
    assert first.as_summary()["next"] == {
        "project_path": ".",
        "graph": "toy.loop.main",
        "node": "init",
        "visit": 1,
        "call_path": "",
    }
    assert load_run_header(project / "out").status == "succeeded"


def test_each_durable_checkpoint_is_acknowledged_in_the_directory(project: Path) -> None:
    run(project, workflow(loop_graph()), 1)
    lines = (project / "out/.verdog/checkpoints/index.jsonl").read_text().splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == [1, 2, 3, 4, 5]
    assert {json.loads(line)["run"] for line in lines} == {run_id(project / "out")}


def test_a_run_can_be_found_without_its_record(project: Path) -> None:
    definition = workflow(loop_graph(fail_in(2)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 2)
    (project / "out/.verdog/run.json").unlink()
    with pytest.raises(ValueError, match="boom"):
        resume(project, definition)
    assert read_record(project / "out")["status"] == "failed"


def test_recording_does_not_change_what_is_returned(project: Path) -> None:
    definition = workflow(loop_graph())
    results = [
        Dispatcher(project_root=project).run(
            definition, 2, output_dir=project / policy.value, checkpointing=policy
        )
        for policy in CheckpointPolicy
    ]
    assert {result.output for result in results} == {2}

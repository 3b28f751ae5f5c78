import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runtime.graphs import count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import run
from verdog_objects.locking import acquire
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import OperationId, RunId
from verdog_repo.operations import OperationDraft
from verdog_repo.repository import Repository
from verdog_repo.runs import RunError
from verdog_repo.runs import RunHeader as StoredHeader
from verdog_runtime.environment import fingerprint
from verdog_runtime.interpreter import CheckpointPolicy
from verdog_runtime.runfacts import RunFacts, describe_compatibility
from verdog_runtime.runrecord import write_run_record
from verdog_runtime.runs import (
    CONTROL_DIRECTORY,
    RUN_HISTORY_SCHEMA_VERSION,
    RUN_MANIFEST,
    Boundary,
    CheckpointKind,
    IntegrityError,
    RunActive,
    RunParent,
    RunStatus,
    RunStore,
    RunStoreError,
    load_run_header,
    registered_runs,
    run_is_active,
)

STORED = StoredHeader(
    run=RunId("r1"),
    workflow="main",
    definition_id="demo.main",
    module="demo.workflows.main",
    checkpointing="auto",
    status=RunStatus.FAILED,
    started_at="2026-01-31T12:00:00Z",
    updated_at="2026-01-31T12:00:01.5Z",
    output_dir="out",
    arguments=("--input.value", "ü"),
    parent=Lineage(
        run=RunId("r0"), operation=LineageKind.FORK, checkpoint=3, arguments=ArgumentsKind.CHECKPOINT
    ),
    error=RunError(type="ValueError", message="boom", traceback="Traceback ..."),
)
FACTS = RunFacts(compatibility=describe_compatibility(fingerprint(Path(__file__).parent)))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    directory = tmp_path / "out"
    (directory / ".verdog").mkdir(parents=True)
    write_run_record(directory, STORED, tmp_path, FACTS)
    return directory


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run of a loop, which succeeded."""
    root = tmp_path_factory.mktemp("project")
    (root / "pyproject.toml").touch()
    run(root, workflow(loop_graph()), 2)
    return root


def record(output: Path) -> Path:
    return output / CONTROL_DIRECTORY / RUN_MANIFEST


def code_of(output: Path) -> str:
    with pytest.raises(RunStoreError) as caught:
        load_run_header(output)
    return caught.value.code


def test_the_run_record_has_the_documented_form(output: Path) -> None:
    text = record(output).read_text(encoding="utf-8")
    assert json.loads(text) == {
        "schema_version": 2,
        "id": "r1",
        "project_root": str(output.parent),
        "workflow": {"id": STORED.workflow_id, "definition_id": "demo.main", "module": "demo.workflows.main"},
        "status": "failed",
        "started_at": "2026-01-31T12:00:00Z",
        "updated_at": "2026-01-31T12:00:01.5Z",
        "output_dir": str(output),
        "launch": {"workflow_arguments": ["--input.value", "ü"], "checkpointing": "auto"},
        "parent": {"run_id": "r0", "operation": "fork", "checkpoint": 3, "arguments": "checkpoint"},
        "compatibility": FACTS.compatibility,
        "result": None,
        "result_text": None,
        "error": {"type": "ValueError", "message": "boom"},
    }
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_run_record_is_private_and_alone(output: Path) -> None:
    assert (record(output).stat().st_mode & 0o777) == 0o600
    assert [path.name for path in record(output).parent.iterdir()] == [RUN_MANIFEST]


def test_a_header_is_read_from_the_record(output: Path) -> None:
    header = load_run_header(output)
    assert (header.id, header.status, header.directory_name) == ("r1", RunStatus.FAILED, "out")
    assert (header.project_root, header.output_dir) == (output.parent, output)
    assert header.parent == RunParent("r0", "fork", 3, "checkpoint")
    assert header.launch.workflow_arguments == ("--input.value", "ü")


def test_a_header_can_be_shown_with_another_status(output: Path) -> None:
    summary = load_run_header(output).as_summary(status=RunStatus.INTERRUPTED)
    assert summary["status"] == "interrupted"
    names = "id directory_name workflow status started_at updated_at output_dir launch parent"
    assert sorted(summary) == sorted(names.split())


def test_a_record_of_schema_1_is_read(output: Path) -> None:
    document = json.loads(record(output).read_text())
    del document["launch"], document["parent"], document["compatibility"]
    record(output).write_text(json.dumps({**document, "schema_version": 1}))
    header = load_run_header(output)
    assert header.parent is None
    assert header.launch.workflow_arguments == ()


def test_a_record_of_a_later_schema_is_refused(output: Path) -> None:
    document = json.loads(record(output).read_text())
    record(output).write_text(json.dumps({**document, "schema_version": 3}))
    assert code_of(output) == "run.schema_unsupported"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", 1),
        ("status", "lost"),
        ("workflow", None),
        ("launch", []),
        ("launch", {"workflow_arguments": [1], "checkpointing": "auto"}),
        ("parent", {"run_id": "x", "operation": "copy", "checkpoint": None, "arguments": "reused"}),
        ("compatibility", {"python": 3}),
        ("schema_version", True),
    ],
)
def test_a_record_with_a_wrong_member_is_invalid(output: Path, name: str, value: object) -> None:
    document = json.loads(record(output).read_text())
    record(output).write_text(json.dumps({**document, name: value}))
    assert code_of(output) in ("run.manifest_invalid", "run.schema_unsupported")


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff", "[" * 100_000])
def test_a_damaged_record_is_invalid(output: Path, text: str) -> None:
    record(output).write_bytes(text.encode("latin-1"))
    assert code_of(output) == "run.manifest_invalid"


def test_what_is_missing_has_a_code_of_its_own(output: Path) -> None:
    assert code_of(output / "absent") == "run.output_missing"
    record(output).unlink()
    assert code_of(output) == "run.manifest_unreadable"
    record(output).parent.rmdir()
    assert code_of(output) == "run.control_invalid"


def test_a_control_directory_that_is_a_link_is_refused(output: Path) -> None:
    record(output).parent.rename(output / "moved")
    record(output).parent.symlink_to(output / "moved")
    assert code_of(output) == "run.control_invalid"


def test_a_directory_that_was_moved_alone_is_refused(output: Path) -> None:
    moved = output.rename(output.parent / "elsewhere")
    assert code_of(moved) == "run.output_mismatch"


def test_a_project_that_was_moved_as_a_whole_is_followed(loop: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(loop, moved)
    shutil.move(loop / "out", loop / "hidden")
    try:
        header = load_run_header(moved / "out")
        assert (header.project_root, header.output_dir) == (moved, moved / "out")
        assert len(RunStore.open(moved / "out").checkpoints()) == 7
    finally:
        shutil.move(loop / "hidden", loop / "out")


def test_a_run_is_active_while_its_lock_is_held(output: Path) -> None:
    assert not run_is_active(output)
    with acquire(output / ".verdog" / "lock"):
        assert run_is_active(output)
    assert not run_is_active(output)


def test_a_lock_that_is_a_link_is_refused(output: Path) -> None:
    (output / ".verdog" / "lock").symlink_to(output / "x")
    with pytest.raises(RunStoreError) as caught:
        run_is_active(output)
    assert caught.value.code == "run.lock_invalid"


def test_a_run_is_registered_with_its_directory(loop: Path) -> None:
    assert registered_runs(loop) == (loop / "out",)


def test_a_manifest_says_what_a_run_is_good_for(loop: Path) -> None:
    manifest = RunStore.open(loop / "out").manifest()
    assert manifest.status is RunStatus.SUCCEEDED
    overview = manifest.checkpoints
    assert (overview.count, overview.latest_completed, overview.latest_restorable) == (7, 7, 7)
    assert overview.resume_available
    assert manifest.sessions.branch_available
    assert manifest.storage_schema_version == 2


def test_a_manifest_is_json(loop: Path) -> None:
    document = json.loads(json.dumps(RunStore.open(loop / "out").manifest().as_json()))
    assert document["schema_version"] == RUN_HISTORY_SCHEMA_VERSION
    assert document["checkpoints"]["count"] == 7
    assert document["sessions"]["model"] == "copy-on-write"


def test_checkpoints_come_in_order_with_their_boundaries(loop: Path) -> None:
    found = RunStore.open(loop / "out").checkpoints()
    assert [each.sequence for each in found] == [1, 2, 3, 4, 5, 6, 7]
    assert (found[0].kind, found[1].kind, found[-1].kind) == (
        CheckpointKind.ENTRY,
        CheckpointKind.NODE,
        CheckpointKind.TERMINAL,
    )
    assert found[1].completed == Boundary(".", "toy.loop.main", "init", 1)
    assert found[1].next == Boundary(".", "toy.loop.main", "work", 1)
    assert found[-1].next is None
    assert all(each.restore_available for each in found)


def test_a_checkpoint_is_json(loop: Path) -> None:
    first = RunStore.open(loop / "out").checkpoints()[0]
    assert json.loads(json.dumps(first.as_json())) == {"schema_version": 4, **first.as_summary()}


def test_a_run_that_failed_can_go_on_from_before_its_failure_port(project: Path) -> None:
    with pytest.raises(RuntimeError):
        run(project, workflow(line_graph(to="failure")), 1)
    overview = RunStore.open(project / "out").manifest().checkpoints
    assert (overview.count, overview.latest_restorable, overview.resume_available) == (2, 1, True)


def test_a_run_without_checkpoints_says_why_it_cannot_go_on(loop: Path, tmp_path: Path) -> None:
    for policy, code in (("off", "checkpoint.disabled"), ("auto", "checkpoint.none")):
        header = replace(STORED, run=RunId(policy), checkpointing=policy, output_dir=policy)
        with Repository.create(tmp_path) as repository:
            draft = OperationDraft(id=OperationId("0" * 16), kind="run", at=header.started_at)
            repository.create_run(header, operation=draft)
        (tmp_path / policy / ".verdog").mkdir(parents=True)
        write_run_record(tmp_path / policy, header, tmp_path, RunFacts())
        overview = RunStore.open(tmp_path / policy).manifest().checkpoints
        assert (overview.count, overview.resume_available, overview.unavailable_code) == (0, False, code)


def test_a_directory_without_its_store_is_a_clear_error(output: Path) -> None:
    with pytest.raises(RunStoreError, match="r1") as caught:
        RunStore.open(output).manifest()
    assert caught.value.code == "run.manifest_unreadable"


@pytest.mark.parametrize("name", ["lease", "commit_checkpoint", "checkpoint_shards", "save"])
def test_what_the_store_replaces_is_not_supported(output: Path, name: str) -> None:
    with pytest.raises(RunStoreError, match=rf"RunStore\.{name} is not supported"):
        getattr(RunStore.open(output), name)
    with pytest.raises(RunStoreError, match="not supported"):
        RunStore.create(output)
    assert not hasattr(RunStore.open(output), "unheard_of")


def test_errors_carry_codes_and_paths() -> None:
    error = IntegrityError("two files differ", paths=[b"a", b"b\xff"])
    assert isinstance(error, RunStoreError)
    assert (error.code, error.paths) == ("checkpoint.artifact_corrupt", (b"a", b"b\xff"))
    active = RunActive("held", owner="process 1", since_ns=5)
    assert (active.code, active.owner, active.since_ns, str(active)) == ("run.active", "process 1", 5, "held")


@pytest.fixture(autouse=True)
def _no_leftovers(tmp_path: Path) -> Iterator[None]:
    yield
    assert not list(tmp_path.rglob("*.tmp"))


def test_reading_a_run_writes_nothing(loop: Path) -> None:
    def snapshot() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in sorted((loop / "out").rglob("*"))}

    before = snapshot()
    RunStore.open(loop / "out").manifest()
    RunStore.open(loop / "out").checkpoints()
    assert snapshot() == before


def test_off_and_count_visits_are_not_recorded_from_python(project: Path) -> None:
    run(project, workflow(line_graph(count_visits)), 1, checkpointing=CheckpointPolicy.OFF)
    assert code_of(project / "out") == "run.control_invalid"

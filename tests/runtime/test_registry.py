import json
import multiprocessing
from pathlib import Path

import pytest

from verdog_runtime.registry import read_registry, register_run, unregister_runs
from verdog_runtime.runs import RunStoreError, registered_runs


def registry(project: Path) -> Path:
    return project / ".verdog" / "run-registry.json"


def test_a_project_without_registry_has_no_runs(tmp_path: Path) -> None:
    assert registered_runs(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


def test_the_registry_has_the_documented_form(tmp_path: Path) -> None:
    register_run(tmp_path, "two", tmp_path / "b")
    register_run(tmp_path, "one", tmp_path / "a")
    assert json.loads(registry(tmp_path).read_text()) == {
        "schema_version": 1,
        "runs": [
            {"run_id": "one", "output_dir": str(tmp_path / "a")},
            {"run_id": "two", "output_dir": str(tmp_path / "b")},
        ],
    }
    assert (registry(tmp_path).stat().st_mode & 0o777) == 0o600


def test_runs_are_listed_whether_present_or_not(tmp_path: Path) -> None:
    register_run(tmp_path, "two", tmp_path / "b")
    register_run(tmp_path, "one", tmp_path / "a")
    assert registered_runs(tmp_path) == (tmp_path / "a", tmp_path / "b")


def test_a_directory_is_listed_once_with_its_last_run(tmp_path: Path) -> None:
    register_run(tmp_path, "one", tmp_path / "a")
    register_run(tmp_path, "two", tmp_path / "a")
    register_run(tmp_path, "two", tmp_path / "a")
    assert read_registry(tmp_path) == {str(tmp_path / "a"): "two"}


def test_directories_can_be_removed(tmp_path: Path) -> None:
    register_run(tmp_path, "one", tmp_path / "a")
    register_run(tmp_path, "two", tmp_path / "b")
    gone = frozenset({tmp_path / "a", tmp_path / "c"})
    assert unregister_runs(tmp_path, gone) == (tmp_path / "a",)
    assert registered_runs(tmp_path) == (tmp_path / "b",)


def test_any_path_can_be_registered(tmp_path: Path) -> None:
    register_run(tmp_path, "one", tmp_path / "ü\udcff")
    assert registered_runs(tmp_path) == (tmp_path / "ü\udcff",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        "{}",
        '{"schema_version": 2, "runs": []}',
        '{"schema_version": 1, "runs": {}}',
        '{"schema_version": 1, "runs": [{"run_id": "a"}]}',
        '{"schema_version": 1, "runs": [{"run_id": "a", "output_dir": "relative"}]}',
        '{"schema_version": 1, "runs": [{"run_id": 1, "output_dir": "/a"}]}',
    ],
)
def test_a_damaged_registry_is_named(tmp_path: Path, text: str) -> None:
    registry(tmp_path).parent.mkdir()
    registry(tmp_path).write_text(text)
    with pytest.raises(RunStoreError, match=r"run-registry\.json") as caught:
        registered_runs(tmp_path)
    assert caught.value.code == "run.registry_invalid"


def test_a_registry_that_is_no_file_is_named(tmp_path: Path) -> None:
    registry(tmp_path).mkdir(parents=True)
    with pytest.raises(RunStoreError, match=r"run-registry\.json") as caught:
        registered_runs(tmp_path)
    assert caught.value.code == "run.registry_invalid"


def _register_many(project: Path, first: int) -> None:
    for number in range(first, first + 10):
        register_run(project, f"run-{number}", project / f"out-{number}")


def test_processes_that_register_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_register_many, args=(tmp_path, 10 * each)) for each in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(registered_runs(tmp_path)) == 30

"""`status`, `restore` and `resume --restore`: a run's directory against what was recorded, and back."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.runs import load_run_header, registered_runs


@pytest.fixture
def output(verdog: Verdog, project: Path) -> Path:
    (project / "flow.py").write_text(countdown())
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 0
    return project / "out"


@pytest.fixture
def failed(verdog: Verdog, project: Path) -> Path:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "second", "--output-dir", "halted").code == 1
    return project / "halted"


def some_file(directory: Path) -> Path:
    return min(directory.glob("work/*/n.txt"))


def test_an_untouched_directory_is_as_recorded(verdog: Verdog, output: Path) -> None:
    result = verdog("status", "first")
    assert result.code == 0
    assert "every recorded file is as it was recorded" in result.out


def test_status_names_each_difference_and_exits_1(verdog: Verdog, output: Path) -> None:
    (output / "work/000001/n.txt").write_text("edited")
    (output / "work/000002/n.txt").unlink()
    (output / "work/000003/n.txt").chmod(0o600)
    (output / "mine.txt").write_text("mine")
    result = verdog("status", "first")
    assert result.code == 1
    assert [line for line in result.out.splitlines() if line.startswith("  ")] == [
        "  modified      work/000001/n.txt",
        "  missing       work/000002/n.txt",
        "  mode changed  work/000003/n.txt",
        "  untracked     mine.txt",
    ]
    assert "3 paths not as recorded" in result.out


def test_status_as_json_has_every_path(verdog: Verdog, output: Path) -> None:
    (output / "work/000001/n.txt").write_text("edited")
    document = json.loads(verdog("status", "first", "--json").out)
    assert document["schema_version"] == 1
    assert [(each["path"], each["what"]) for each in document["differences"]] == [
        ("work/000001/n.txt", "modified")
    ]


def test_status_of_a_directory_that_is_gone_says_so(verdog: Verdog, output: Path) -> None:
    shutil.rmtree(output)
    result = verdog("status", "first")
    assert result.code == 1
    assert "the directory is gone" in result.out


def test_restore_puts_back_what_differs_and_leaves_the_rest(verdog: Verdog, output: Path) -> None:
    before = (output / "work/000001/n.txt").read_bytes()
    (output / "work/000001/n.txt").write_text("edited")
    shutil.rmtree(output / "work/000002")
    (output / "mine.txt").write_text("mine")
    result = verdog("restore", "first")
    assert result.code == 0
    assert result.out.splitlines() == ["work/000001/n.txt", "work/000002", "work/000002/n.txt"]
    assert (output / "work/000001/n.txt").read_bytes() == before
    assert (output / "mine.txt").read_text() == "mine"
    assert verdog("status", "first").code == 0


def test_restore_of_one_path_leaves_other_differences(verdog: Verdog, output: Path) -> None:
    (output / "work/000001/n.txt").write_text("edited")
    (output / "work/000002/n.txt").write_text("edited")
    assert verdog("restore", "first", "--", "work/000001").out.split() == ["work/000001/n.txt"]
    assert (output / "work/000002/n.txt").read_text() == "edited"


def test_restore_of_a_path_that_is_not_recorded_exits_2(verdog: Verdog, output: Path) -> None:
    result = verdog("restore", "first", "--", "nowhere")
    assert result.code == 2
    assert "has no nowhere" in result.err


def test_restore_writes_a_directory_that_is_gone(verdog: Verdog, output: Path) -> None:
    shutil.rmtree(output)
    assert verdog("restore", "first").code == 0
    assert verdog("status", "first").code == 0


def test_a_directory_that_was_written_again_says_whose_it_is(
    verdog: Verdog, output: Path, project: Path
) -> None:
    before = load_run_header(output)
    shutil.rmtree(output)
    assert verdog("runs", "prune").code == 0
    assert verdog("restore", "first").code == 0
    assert load_run_header(output) == before
    assert registered_runs(project) == (output,)


def test_restore_of_a_run_that_is_executed_exits_5(verdog: Verdog, output: Path, project: Path) -> None:
    with Repository.open(project) as repository, repository.lease(RunId("first")):
        result = verdog("restore", "first")
    assert result.code == 5
    assert "first" in result.err


def test_resume_refuses_an_edited_file_and_goes_on_with_restore(verdog: Verdog, failed: Path) -> None:
    file = some_file(failed)
    before = file.read_bytes()
    file.write_bytes(b"edited")
    refused = verdog("resume", "second")
    assert refused.code == 4
    Path("mended").touch()
    resumed = verdog("resume", "second", "--restore")
    assert resumed.code == 0
    assert file.name in resumed.err
    assert file.read_bytes() == before


def test_after_a_reboot_short_files_are_restored_without_being_asked(
    verdog: Verdog, failed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = some_file(failed)
    before = file.read_bytes()
    file.write_bytes(b"")
    monkeypatch.setattr("verdog_runtime.interpreter.bringing.read_boot_id", lambda: "another boot")
    Path("mended").touch()
    resumed = verdog("resume", "second")
    assert resumed.code == 0
    assert "put back" in resumed.err
    assert file.read_bytes() == before

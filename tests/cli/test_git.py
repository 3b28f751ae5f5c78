import json
import os
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.commandline import Verdog
from tests.repo.test_gitobjects import git
from verdog_repo.names import RunId
from verdog_repo.repository import Repository


@pytest.fixture
def run(repository: Repository) -> HandMade:
    made = HandMade(repository, "first")
    made.checkpoint(files={b"report/000001/report.txt": b"one\n"})
    made.checkpoint(files={b"report/000002/report.txt": b"two\n"})
    return made


def test_the_export_has_the_ids_of_the_log(verdog: Verdog, run: HandMade, project: Path) -> None:
    result = verdog("git", "export", "history.git")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("2 new commits, 6 objects, ") and ", in history.git\n" in result.out
    assert result.out.endswith("it has 1 branch, 0 tags, 0 labels\n")
    logged = json.loads(verdog("log", "--json").out)["checkpoints"]
    found = git(project / "history.git", "log", "--all", "--format=%H").decode().split()
    assert found == [each["commit"] for each in logged]
    git(project / "history.git", "fsck", "--strict")


def test_a_second_export_writes_what_is_new(verdog: Verdog, run: HandMade) -> None:
    verdog("git", "export", "history.git")
    assert verdog("git", "export", "history.git").out.startswith("nothing new for history.git\n")
    run.checkpoint()
    assert verdog("git", "export", "history.git").out.startswith("1 new commit, 3 objects, ")


def test_with_files_a_clone_is_the_output_directory(verdog: Verdog, run: HandMade, project: Path) -> None:
    result = verdog("git", "export", "--files", "files.git")
    assert result.code == 0
    git(project, "clone", "-q", "files.git", "clone")
    assert (project / "clone/report/000001/report.txt").read_text() == "one\n"
    assert (
        git(project / "clone", "log", "--format=%s", "--", "report/000001").decode() == "survey/1 -> tick\n"
    )


def test_what_is_left_out_is_listed(verdog: Verdog, run: HandMade) -> None:
    odd = {os.fsencode("sub/.git/x\udcfe"): b"", b"a\nb/.gitmodules": b""}
    (run.output / "empty").mkdir()
    run.checkpoint(files=odd)
    result = verdog("git", "export", "--files", "files.git")
    assert result.code == 0
    assert result.err == (
        "warning: git cannot hold 5 paths, left out:\n"
        "  a\\nb: an empty directory\n"
        "  a\\nb/.gitmodules: git refuses the name\n"
        "  empty: an empty directory\n"
        "  sub: an empty directory\n"
        "  sub/.git: git refuses the name\n"
    )


def test_many_left_out_paths_are_counted(verdog: Verdog, run: HandMade) -> None:
    run.checkpoint(files={b"%d/.git" % number: b"" for number in range(20)})
    result = verdog("git", "export", "--files", "files.git")
    assert len(result.err.splitlines()) == 12
    assert result.err.endswith("  and 30 more: see --json\n")


def test_json_says_all_of_it(verdog: Verdog, run: HandMade, project: Path) -> None:
    run.checkpoint(files={b"sub\xfe/.git": b""})
    document = json.loads(verdog("git", "export", "--files", "files.git", "--json").out)
    assert document.pop("size_bytes") > 100
    assert document == {
        "schema_version": 1,
        "operation": "git export",
        "directory": str(project / "files.git"),
        "files": True,
        "commits": 3,
        "objects": 11,
        "branches": 1,
        "tags": 0,
        "labels": 0,
        "unrecorded": 0,
        "left_out": [
            {"path": "sub\udcfe", "reason": "an empty directory"},
            {"path": "sub\udcfe/.git", "reason": "git refuses the name"},
        ],
    }


def test_unrecorded_files_are_said(verdog: Verdog, repository: Repository) -> None:
    from dataclasses import replace

    from verdog_repo.draft import CheckpointDraft
    from verdog_repo.kinds import CheckpointKind

    made = HandMade(repository, "first")
    made.checkpoint()
    tip = repository.record(repository.checkpoint_at(RunId("first"), 1))
    with repository.store.writer() as writer, repository.lease(made.run) as lease:
        draft = CheckpointDraft(
            kind=CheckpointKind.NODE,
            operation=tip.operation,
            created_at=tip.created_at,
            completed=tip.completed,
            next=tip.next,
            restorable=False,
            unavailable_code="checkpoint.capture_failed",
            reason="a pipe",
            state=tip.state,
        )
        repository.commit(writer, lease, replace(draft))
    result = verdog("git", "export", "--files", "files.git")
    assert "the files of 1 checkpoint were not recorded" in result.err


def test_a_directory_of_something_else_is_refused(verdog: Verdog, run: HandMade, project: Path) -> None:
    (project / "taken").mkdir()
    (project / "taken" / "thesis").touch()
    result = verdog("git", "export", "taken")
    assert result.code == 2
    assert "taken is neither empty nor an export: it holds 'thesis'" in result.err
    document = json.loads(verdog("git", "export", "taken", "--json").out)
    assert (document["operation"], document["error"]["kind"]) == ("git export", "invalid_input")


def test_the_group_says_which_commands_it_has(verdog: Verdog, project: Path) -> None:
    assert verdog("git").err == "error: verdog git needs a command: export\nhint: verdog git --help\n"
    assert "did you mean export?" in verdog("git", "exprt", "x").err
    assert verdog("git", "-h").out == verdog("git", "--help").out
    assert verdog("git", "export", "x", "--", "y").code == 2


def test_without_a_store_there_is_nothing_to_export(verdog: Verdog, project: Path) -> None:
    assert verdog("git", "export", "x.git").code == 2
    assert not (project / "x.git").exists()

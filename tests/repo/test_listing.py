from dataclasses import replace
from pathlib import Path

import pytest

from tests.repo.samples import Script, header, operation
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus


def test_runs_are_listed_newest_first(any_script: Script) -> None:
    for run in ("b", "a", "c"):
        any_script.run(run)
    assert [each.header.run for each in any_script.repository.runs()] == ["c", "a", "b"]


def test_a_run_is_listed_with_its_latest_checkpoint(any_script: Script) -> None:
    any_script.run("run")
    (before,) = any_script.repository.runs()
    assert (before.sequence, before.commit, before.restorable) == (None, None, False)
    any_script.commit("run")
    tip = any_script.commit("run", branchable=False)
    (after,) = any_script.repository.runs()
    assert (after.sequence, after.commit) == (2, tip.commit)
    assert (after.restorable, after.branchable, after.fork_fresh) == (True, False, True)


def test_a_run_without_its_directory_is_absent(any_script: Script) -> None:
    any_script.run("run")
    assert [each.present for each in any_script.repository.runs()] == [False]
    (any_script.repository.project / header("run").output_dir).mkdir(parents=True)
    assert [each.present for each in any_script.repository.runs()] == [True]


def test_a_run_that_nobody_holds_is_interrupted(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        repository.create_run(header("run"), operation=operation())
        assert [each.status for each in repository.runs()] == [RunStatus.INTERRUPTED]
        with repository.lease(RunId("run")) as lease:
            (listed,) = repository.runs()
            assert (listed.status, listed.active) == (RunStatus.RUNNING, True)
            done = replace(header("run"), status=RunStatus.SUCCEEDED)
            repository.update_header(RunId("run"), lease, done)
            assert [each.status for each in repository.runs()] == [RunStatus.SUCCEEDED]


def test_more_runs_than_a_page_are_listed(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verdog_repo.runtable.PAGE_ROWS", 3)
    for number in range(7):
        script.run(f"run{number}")
    assert [each.header.run for each in script.repository.runs()] == [f"run{n}" for n in reversed(range(7))]

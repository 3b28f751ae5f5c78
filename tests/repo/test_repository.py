from dataclasses import replace
from pathlib import Path

import pytest

from tests.repo.samples import Script, at, boundary, header, operation
from verdog_objects import locking
from verdog_objects.errors import Busy, Conflict, InvalidInput, NotFound
from verdog_objects.oid import Kind
from verdog_repo.names import CommitId, LabelName, RunId, TagName
from verdog_repo.operations import find_operation, read_operations
from verdog_repo.record import CheckpointKind
from verdog_repo.refs import read_reflog
from verdog_repo.repository import Repository
from verdog_repo.runs import RunError, RunStatus

RUN = RunId("run")


def test_a_new_project_gets_a_store_that_git_ignores(tmp_path: Path) -> None:
    Repository.create(tmp_path).close()
    assert (tmp_path / ".verdog" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".verdog" / "store").stat().st_mode & 0o777 == 0o700


def test_opening_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Repository.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_opened_again(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        repository.create_run(header("run"), operation=operation())
    with Repository.create(tmp_path) as repository:
        assert repository.has_run("run")
    with Repository.open(tmp_path, read_only=True) as repository:
        assert repository.header(RUN) == header("run")


def test_a_new_run_has_a_header_and_no_checkpoint(any_script: Script) -> None:
    any_script.run("run")
    repository = any_script.repository
    assert repository.header(RUN) == header("run")
    assert repository.tip(RUN) is None
    assert repository.history(RUN) == []


def test_a_run_id_is_used_once(any_script: Script) -> None:
    any_script.run("run")
    with pytest.raises(ValueError, match="already"):
        any_script.run("run")


@pytest.mark.parametrize("mark", ["tag", "label"])
def test_a_run_is_not_called_like_a_mark(script: Script, mark: str) -> None:
    script.run("run")
    commit = script.commit("run").commit
    marks = script.repository.marks
    if mark == "tag":
        marks.add_tag(TagName("name"), commit, operation=operation("tag"))
    else:
        marks.add_label(LabelName("name"), RUN, operation=operation("label"))
    with pytest.raises(InvalidInput, match=mark):
        script.run("name")


def test_an_unknown_run_is_not_found(script: Script) -> None:
    for ask in (script.repository.header, script.repository.tip, script.repository.lease):
        with pytest.raises(NotFound, match="nope"):
            ask(RunId("nope"))


def test_checkpoints_are_numbered_from_one_and_follow_each_other(any_script: Script) -> None:
    any_script.run("run")
    first, second, third = any_script.commits("run", 3)
    assert [each.sequence for each in (first, second, third)] == [1, 2, 3]
    assert [each.generation for each in (first, second, third)] == [1, 2, 3]
    assert [each.parent for each in (first, second, third)] == [None, first.commit, second.commit]
    assert any_script.repository.tip(RUN) == third
    assert any_script.repository.history(RUN) == [third, second, first]


def test_a_checkpoint_is_found_by_commit_and_by_number(any_script: Script) -> None:
    any_script.run("run")
    commits = any_script.commits("run", 3)
    for number, each in enumerate(commits, start=1):
        assert any_script.repository.checkpoint(each.commit) == each
        assert any_script.repository.checkpoint_at(RUN, number) == each


@pytest.mark.parametrize("sequence", [-1, 0, 4])
def test_a_number_that_the_run_does_not_have_is_not_found(script: Script, sequence: int) -> None:
    script.run("run")
    script.commits("run", 3)
    with pytest.raises(NotFound, match="its last is 3"):
        script.repository.checkpoint_at(RUN, sequence)


def test_an_unknown_commit_is_not_found(script: Script) -> None:
    with pytest.raises(NotFound):
        script.repository.checkpoint(CommitId(b"\0" * 20))


def test_a_record_says_what_the_draft_said(script: Script) -> None:
    script.run("run")
    first = script.commit("run")
    made = script.commit(
        "run",
        completed=boundary("work", 7, "call#2"),
        next=None,
        kind=CheckpointKind.TERMINAL,
        swept=True,
        late=(b"a\xff",),
        duration_ns=5,
        files_added=2,
        bytes_added=3,
        resumed_from=1,
    )
    record = script.repository.record(made)
    assert (record.run, record.sequence, record.previous) == ("run", 2, first.record)
    assert (record.kind, record.late, record.resumed_from) == (CheckpointKind.TERMINAL, (b"a\xff",), 1)
    assert (made.kind, made.place, made.visit, made.next_place) == ("terminal", "call#2/work", 7, None)
    assert (made.duration_ns, made.files_added, made.bytes_added, made.resumed_from) == (5, 2, 3, 1)
    assert (made.restorable, made.branchable, made.fork_fresh, made.swept) == (True, True, True, True)
    assert made.created_at == record.created_at


def test_what_cannot_be_done_with_a_checkpoint_is_known(script: Script) -> None:
    script.run("run")
    made = script.commit(
        "run", restorable=False, unavailable_code="x", state=None, branchable=False, fork_fresh=False
    )
    assert (made.restorable, made.branchable, made.fork_fresh, made.swept) == (False, False, False, False)


def test_the_commit_time_never_falls(script: Script) -> None:
    script.run("run")
    later = script.commit("run", created_at=at(100))
    earlier = script.commit("run", created_at=at(50))
    assert (later.committed_s, earlier.committed_s) == (later.committed_s, later.committed_s)
    assert earlier.created_at == at(50)


def test_a_commit_changes_the_header_with_it(any_script: Script) -> None:
    any_script.run("run")
    any_script.commit("run")
    repository = any_script.repository
    done = replace(header("run"), status=RunStatus.SUCCEEDED)
    writer = repository.store.writer()
    record = repository.record(repository.checkpoint_at(RUN, 1))
    from verdog_repo.draft import CheckpointDraft

    draft = CheckpointDraft(
        kind=CheckpointKind.TERMINAL,
        operation=operation().id,
        created_at=at(9),
        artifacts=record.artifacts,
        state=record.state,
    )
    repository.commit(writer, any_script.lease("run"), draft, header=done)
    assert repository.header(RUN).status is RunStatus.SUCCEEDED
    assert len(repository.history(RUN)) == 2


def test_the_header_is_replaced(any_script: Script) -> None:
    any_script.run("run")
    failed = replace(
        header("run"), status=RunStatus.FAILED, error=RunError(type="E", message="m", traceback="t")
    )
    any_script.repository.update_header(RUN, any_script.lease("run"), failed)
    assert any_script.repository.header(RUN) == failed


def test_the_header_of_another_run_is_refused(script: Script) -> None:
    script.run("run")
    with pytest.raises(InvalidInput):
        script.repository.update_header(RUN, None, header("other"))


def test_a_command_is_logged_with_the_header_it_changes(script: Script) -> None:
    script.run("run")
    commit = script.commit("run").commit
    resume = replace(operation("resume", 7), command=("resume", "run"))
    script.repository.update_header(RUN, script.lease("run"), header("run"), operation=resume)
    logged = find_operation(script.repository.store, resume.id)
    assert logged is not None
    assert (logged.kind, logged.command) == ("resume", ("resume", "run"))
    assert [(move.name, move.before) for move in logged.moves] == [("runs/run", commit)]


def test_operations_are_listed_newest_first(script: Script) -> None:
    for number in range(5):
        script.run(f"run{number}")
    store = script.repository.store
    page = read_operations(store, limit=3)
    assert [each.number for each in page] == [5, 4, 3]
    assert [each.number for each in read_operations(store, before=3)] == [2, 1]


def test_every_checkpoint_is_in_the_reflog(any_script: Script) -> None:
    any_script.run("run")
    commits = any_script.commits("run", 3)
    entries = read_reflog(any_script.repository.store, any_script.lease("run").number)
    assert [each.commit for each in entries] == [each.commit for each in reversed(commits)]
    assert {each.operation for each in entries} == {operation().id}


def test_a_failed_commit_changes_nothing_and_the_next_one_succeeds(any_script: Script) -> None:
    any_script.run("run")
    first = any_script.commit("run")
    with pytest.raises(InvalidInput):
        any_script.commit("run", bytes_added=2**64)
    assert any_script.repository.tip(RUN) == first
    assert any_script.commit("run").parent == first.commit


def test_a_lease_that_was_taken_over_cannot_commit(
    any_script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_script.run("run")
    first = any_script.commit("run")
    monkeypatch.setattr(any_script.repository, "locks", None)
    with any_script.repository.lease(RUN) as second:
        assert second.epoch == any_script.lease("run").epoch + 1
        with pytest.raises(Conflict):
            any_script.commit("run")
        with pytest.raises(Conflict):
            any_script.repository.update_header(RUN, any_script.lease("run"), header("run"))
    assert any_script.repository.tip(RUN) == first
    assert any_script.repository.header(RUN) == header("run")


def test_a_released_lease_cannot_commit(any_script: Script) -> None:
    any_script.run("run")
    lease = any_script.lease("run")
    lease.release()
    with pytest.raises(Conflict, match="released"):
        any_script.commit("run")


def test_a_lease_goes_on_where_the_one_before_stopped(any_script: Script) -> None:
    any_script.run("run")
    before = any_script.commits("run", 2)[-1]
    any_script.release("run")
    assert any_script.commit("run").parent == before.commit


def test_a_second_lease_is_busy_and_names_the_first(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        repository.create_run(header("run"), operation=operation())
        assert not repository.is_active(RUN)
        with (
            repository.lease(RUN, owner="verdog run"),
            pytest.raises(Busy, match="run run is held") as caught,
        ):
            assert repository.is_active(RUN)
            repository.lease(RUN)
        assert caught.value.owner is not None
        assert "verdog run" in caught.value.owner
        assert caught.value.since_ns is not None
        assert not repository.is_active(RUN)
        repository.lease(RUN).release()


def test_a_lease_knows_the_boot_of_the_one_before(script: Script) -> None:
    script.run("run")
    with script.repository.lease(RUN) as first:
        assert first.previous_boot is None
    with script.repository.lease(RUN) as second:
        assert second.previous_boot == locking.read_boot_id()


def test_children_are_the_next_checkpoint_and_the_forks(any_script: Script) -> None:
    any_script.run("run")
    first, second, _ = any_script.commits("run", 3)
    fork = any_script.fork(first, "fork")
    assert any_script.repository.children(first.commit) == [second, fork]
    assert any_script.repository.children(fork.commit) == []


def test_the_commit_bytes_of_a_damaged_row_are_corrupt(script: Script) -> None:
    from verdog_objects.errors import Corrupt

    script.run("run")
    made = script.commit("run")
    with pytest.raises(Corrupt, match="checkpoint 1"):
        script.repository.catalog.commit_bytes(replace(made, committed_s=made.committed_s + 1))


def test_records_are_objects_of_their_own_kind(script: Script) -> None:
    script.run("run")
    made = script.commit("run")
    assert script.repository.store.get(Kind.RECORD, made.record).startswith(b'{"artifacts":')

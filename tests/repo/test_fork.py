from dataclasses import replace

import pytest

from tests.repo.samples import Script, header, lineage, operation, state
from verdog_objects import manifest
from verdog_objects.errors import InvalidInput, NotFound, NotRestorable
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind
from verdog_objects.store import ObjectInfo
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.fork import Rebased
from verdog_repo.lineage import LineageKind
from verdog_repo.names import CommitId, RunId
from verdog_repo.operations import read_operations
from verdog_repo.record import CheckpointKind, SessionIssue, Sessions
from verdog_repo.refs import Ref, iter_refs

ISSUE = SessionIssue(address="talk", provider="p", code="session.tainted", message="it is tainted")


@pytest.fixture
def source(any_script: Script) -> Checkpoint:
    """The second of three checkpoints of a run."""
    any_script.run("run")
    return any_script.commits("run", 3)[1]


def test_a_fork_begins_with_the_state_of_its_fork_point(any_script: Script, source: Checkpoint) -> None:
    made = any_script.fork(source, "fork")
    before, after = (any_script.repository.record(each) for each in (source, made))
    assert (made.sequence, made.parent, made.generation, made.kind) == (1, source.commit, 3, "fork")
    assert (after.state, after.artifacts) == (before.state, before.artifacts)
    assert (after.completed, after.next) == (before.completed, before.next)
    assert (after.previous, after.parent, after.kind) == (source.record, lineage(source), CheckpointKind.FORK)
    assert (after.duration_ns, after.files_added, after.bytes_added, after.late) == (0, 0, 0, ())
    assert any_script.repository.tip(RunId("fork")) == made
    assert any_script.repository.header(RunId("fork")).parent == lineage(source)


def test_a_fork_goes_on_with_its_own_numbers(any_script: Script, source: Checkpoint) -> None:
    any_script.fork(source, "fork")
    assert any_script.commit("fork").sequence == 2


def test_a_fork_of_a_fork_follows_it(any_script: Script, source: Checkpoint) -> None:
    fork = any_script.fork(source, "fork")
    deep = any_script.fork(fork, "deep")
    assert [each.run for each in any_script.repository.history(deep.commit)] == ["deep", "fork", "run", "run"]


def snapshot(script: Script) -> tuple[list[ObjectInfo], list[Ref]]:
    return script.repository.store.scan(), list(iter_refs(script.repository.store, "runs/run"))


def test_the_source_is_not_touched(any_script: Script, source: Checkpoint) -> None:
    objects, refs = snapshot(any_script)
    history = any_script.repository.history(RunId("run"))
    any_script.fork(source, "one", clear_sessions=True)
    any_script.fork(source, "two")
    any_script.commits("one", 2)
    after, refs_after = snapshot(any_script)
    assert set(objects) <= set(after)
    assert refs_after == refs
    assert any_script.repository.history(RunId("run")) == history


def test_one_operation_tells_of_a_fork(any_script: Script, source: Checkpoint) -> None:
    made = any_script.fork(source, "fork")
    latest, _ = read_operations(any_script.repository.store)
    assert latest.kind == "fork"
    assert [(each.name, each.before, each.after) for each in latest.moves] == [
        ("runs/fork", None, made.commit)
    ]


def test_a_used_run_id_is_refused_and_leaves_nothing(any_script: Script, source: Checkpoint) -> None:
    any_script.run("taken")
    before = any_script.repository.store.scan()
    with pytest.raises(InvalidInput, match="already"):
        any_script.fork(source, "taken")
    assert any_script.repository.store.scan() == before
    assert any_script.repository.tip(RunId("taken")) is None


def test_an_unknown_source_is_not_found(script: Script) -> None:
    with pytest.raises(NotFound):
        script.repository.fork(
            CommitId(b"\0" * 20), header("fork"), clear_sessions=False, operation=operation("fork")
        )


@pytest.mark.parametrize("wrong", ["none", "restart", "sequence", "run"])
def test_the_header_names_the_fork_point(any_script: Script, source: Checkpoint, wrong: str) -> None:
    parent = {
        "none": None,
        "restart": lineage(source, LineageKind.RESTART),
        "sequence": replace(lineage(source), checkpoint=3),
        "run": replace(lineage(source), run=RunId("other")),
    }[wrong]
    with pytest.raises(InvalidInput, match="does not say"):
        any_script.repository.fork(
            source.commit,
            header("fork", parent=parent),
            clear_sessions=False,
            operation=operation("fork"),
        )


def test_a_checkpoint_that_is_not_restorable_cannot_be_forked(script: Script) -> None:
    script.run("run")
    made = script.commit(
        "run",
        restorable=False,
        unavailable_code="checkpoint.serialization_failed",
        reason="x is a lock",
        state=None,
    )
    with pytest.raises(NotRestorable, match="x is a lock") as caught:
        script.fork(made, "fork")
    assert caught.value.code == "checkpoint.serialization_failed"


def test_conversations_that_cannot_be_branched_can_be_left_behind(script: Script) -> None:
    script.run("run")
    with script.repository.store.writer() as writer:
        root = state(writer, 1, ("root", "root2"))
        script.repository.store.apply(writer)
    made = script.commit(
        "run", branchable=False, sessions=Sessions(persistent=2, issues=(ISSUE,)), state=root
    )
    with pytest.raises(NotRestorable, match="it is tainted") as caught:
        script.fork(made, "kept")
    assert caught.value.code == "session.tainted"
    fresh = script.fork(made, "fresh", clear_sessions=True)
    record = script.repository.record(fresh)
    assert record.state is not None
    assert (record.sessions, fresh.branchable) == (Sessions(), True)
    assert dict(manifest.iterate(script.repository.store, record.state)).keys() == {b"input", b"node:work"}


def test_a_checkpoint_that_cannot_go_on_with_new_conversations_says_so(script: Script) -> None:
    script.run("run")
    made = script.commit("run", fork_fresh=False)
    with pytest.raises(NotRestorable, match="with new conversations"):
        script.fork(made, "fork", clear_sessions=True)


def test_a_fork_may_bring_other_artifacts(any_script: Script, source: Checkpoint) -> None:
    repository = any_script.repository
    root = repository.record(source).artifacts
    assert root is not None
    writer = repository.store.writer()
    entry = Entry(EntryKind.SYMLINK, 0o777, 4, writer.put(Kind.BLOB, b"/new"))
    artifacts = manifest.update(writer, root, {b"link": entry})
    made = repository.fork(
        source.commit,
        header("fork", parent=lineage(source)),
        clear_sessions=False,
        operation=operation("fork"),
        rebased=Rebased(writer, artifacts),
    )
    stored = repository.record(made).artifacts
    assert stored == artifacts
    assert manifest.lookup(repository.store, artifacts, b"link") == entry


def test_a_restart_has_a_root_commit_that_names_its_parent(script: Script) -> None:
    script.run("run")
    anchor = script.commit("run")
    parent = lineage(anchor, LineageKind.RESTART)
    script.repository.create_run(header("again", parent=parent), operation=operation("restart"))
    made = script.commit("again", parent=parent)
    assert (made.parent, made.generation) == (None, 1)
    assert script.repository.record(made).parent == parent

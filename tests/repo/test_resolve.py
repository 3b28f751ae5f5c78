from pathlib import Path

import pytest

from tests.repo.samples import Script, boundary, header, operation
from verdog_objects.errors import Ambiguous, InvalidInput, NotFound
from verdog_repo.names import LabelName, RunId, TagName
from verdog_repo.record import CheckpointKind
from verdog_repo.resolve import Resolver, RevisionRange

ONE, TWO = "1111aaaa-0000", "1111bbbb-0000"


@pytest.fixture
def family(script: Script) -> Script:
    """Two runs with ids that begin alike, a fork, a run without checkpoints, a tag and a label."""
    for run in (ONE, TWO, "empty"):
        script.run(run)
    first, second, third = script.commits(ONE, 3)
    script.commits(TWO, 2)
    script.fork(second, "fork")
    script.commits("fork", 2)
    marks = script.repository.marks
    marks.add_tag(TagName("good"), third.commit, operation=operation("tag"))
    marks.add_label(LabelName("mine"), RunId(ONE), operation=operation("label"))
    assert first.commit
    return script


def resolve(script: Script, text: str) -> str:
    revision = script.repository.resolve(text)
    return f"{revision.run}@{revision.checkpoint.sequence}"


@pytest.mark.parametrize(
    ("text", "means"),
    [
        (ONE, f"{ONE}@3"),
        ("mine", f"{ONE}@3"),
        ("good", f"{ONE}@3"),
        ("good~1", f"{ONE}@2"),
        ("1111a", f"{ONE}@3"),
        ("1111b@1", f"{TWO}@1"),
        ("fork", "fork@3"),
        ("mine@1", f"{ONE}@1"),
        ("mine@-1", f"{ONE}@3"),
        ("mine@-3", f"{ONE}@1"),
        ("fork^", "fork@2"),
        ("fork~2", "fork@1"),
        ("fork~3", f"{ONE}@2"),
        ("fork~4", f"{ONE}@1"),
        ("fork@1^", f"{ONE}@2"),
        ("mine@{0}", f"{ONE}@3"),
        ("mine@{1}", f"{ONE}@2"),
        ("mine@{2}", f"{ONE}@1"),
        ("fork@{2}", "fork@1"),
    ],
)
def test_a_revision_means_a_checkpoint(family: Script, text: str, means: str) -> None:
    assert resolve(family, text) == means


def test_a_commit_is_named_by_its_id_and_by_its_beginning(family: Script) -> None:
    for checkpoint in family.repository.history(RunId("fork")):
        digits = checkpoint.commit.hex()
        assert family.repository.resolve(digits).commit == checkpoint.commit
        assert family.repository.resolve(digits[:12]).commit == checkpoint.commit
        assert family.repository.resolve(digits[:13]).commit == checkpoint.commit


def test_a_path_in_a_checkpoint_is_kept(family: Script) -> None:
    assert family.repository.resolve("mine@2:a/\udcff").path == b"a/\xff"
    assert family.repository.resolve("mine@2").path is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope", "no run, label, tag or commit 'nope'"),
        ("111", "at least 4 characters"),
        ("empty", "run empty has no checkpoint"),
        ("empty@1", "run empty has no checkpoint"),
        ("mine@4", "its last is 3"),
        ("mine@-4", "its last is 3"),
        ("mine~3", "its history has 3"),
        ("fork~5", "its history has 5"),
        ("mine@{3}", "moved 3 times"),
        ("mine@gone", "no visit of gone"),
        ("mine@work#4", "3 completed visits"),
        ("./nowhere", "no run, label, tag or commit './nowhere'"),
        ("ffffffff", "no run"),
        ("f" * 40, "no run"),
        ("x" * 300, "no run"),
    ],
)
def test_what_nothing_is_called_is_not_found(family: Script, text: str, message: str) -> None:
    with pytest.raises(NotFound, match=message) as caught:
        family.repository.resolve(text)
    assert not isinstance(caught.value, Ambiguous)


def test_a_checkpoint_has_no_checkpoints_to_choose_from(family: Script) -> None:
    with pytest.raises(InvalidInput, match="good is a checkpoint"):
        family.repository.resolve("good@1")


def test_a_beginning_that_two_runs_share_is_ambiguous(family: Script) -> None:
    with pytest.raises(Ambiguous) as caught:
        family.repository.resolve("1111")
    assert caught.value.candidates[:2] == (ONE, TWO)


def test_a_beginning_that_a_run_and_a_commit_share_is_ambiguous(family: Script) -> None:
    commit = family.repository.resolve("good").commit.hex()
    family.run(commit[:6])
    with pytest.raises(Ambiguous) as caught:
        family.repository.resolve(commit[:5])
    assert caught.value.candidates == (commit[:6], f"{commit} ({ONE}@3)")


def test_an_exact_run_beats_a_commit_that_begins_with_it(family: Script) -> None:
    commit = family.repository.resolve("good").commit.hex()
    family.run(commit[:6])
    assert family.repository.resolve_run(commit[:6]) == commit[:6]


def test_a_run_is_named_without_having_a_checkpoint(family: Script) -> None:
    assert family.repository.resolve_run("empty") == "empty"
    assert family.repository.resolve_run("empt") == "empty"
    assert family.repository.resolve_run("mine") == ONE


def test_a_tag_is_no_run(family: Script) -> None:
    with pytest.raises(NotFound, match="names checkpoint 3"):
        family.repository.resolve_run("good")


@pytest.mark.parametrize("text", ["mine@3", "mine~0", "fork~2"])
def test_a_checkpoint_where_a_run_is_needed_is_named(family: Script, text: str) -> None:
    with pytest.raises(NotFound, match=r"names checkpoint [0-9] of run .*, not a run"):
        family.repository.resolve_run(text)


def test_no_name_is_the_only_run(script: Script) -> None:
    with pytest.raises(NotFound, match="no run"):
        script.repository.resolve_run("")
    script.run("run")
    script.commit("run")
    assert script.repository.resolve_run("") == "run"
    assert resolve(script, "@1") == "run@1"
    script.run("other")
    with pytest.raises(Ambiguous, match="2 runs"):
        script.repository.resolve_run("")


def test_a_run_is_named_by_its_directory(script: Script, tmp_path: Path) -> None:
    repository = script.repository
    inside, outside = tmp_path / ".verdog/runs/census/20260101", tmp_path.parent / "elsewhere@2024~x"
    repository.create_run(header("inside", output_dir=".verdog/runs/census/20260101"), operation=operation())
    repository.create_run(header("outside", output_dir=str(outside)), operation=operation())
    script.commits("inside", 2)
    script.commits("outside", 2)
    here = Resolver(repository.catalog, tmp_path, tmp_path / ".verdog")
    assert here.resolve_run("20260101") == "inside"
    assert here.resolve_run("runs/census/20260101") == "inside"
    assert here.resolve_run("./runs/../runs/census/20260101/") == "inside"
    assert here.resolve_run(str(inside)) == "inside"
    assert here.resolve(f"{inside}@1").checkpoint.sequence == 1
    assert here.resolve(f"{inside}~1").checkpoint.sequence == 1
    assert here.resolve(str(outside)).run == "outside"
    assert here.resolve(f"{outside}:file").path == b"file"


def test_two_runs_of_one_directory_are_ambiguous(script: Script, tmp_path: Path) -> None:
    for run in ("one", "two"):
        script.repository.create_run(header(run, output_dir="out"), operation=operation())
    with pytest.raises(Ambiguous) as caught:
        script.repository.resolve_run("out")
    assert caught.value.candidates == ("one", "two")


def test_a_range_has_two_checkpoints(family: Script) -> None:
    found = family.repository.resolve_range("good...fork")
    assert isinstance(found, RevisionRange)
    assert (found.left.run, found.right.run, found.symmetric) == (ONE, "fork", True)
    single = family.repository.resolve_range("good")
    assert not isinstance(single, RevisionRange)


class TestVisits:
    """`RUN@node#2` and its kin."""

    def test_visits_are_counted_by_completion(self, script: Script) -> None:
        script.run("run")
        for node, visit in (("a", 1), ("b", 1), ("a", 2), ("a", 4), ("b", 2)):
            script.commit("run", node, visit)
        assert resolve(script, "run@a") == "run@4"
        assert resolve(script, "run@a#1") == "run@1"
        assert resolve(script, "run@a#3") == "run@4"  # directory 3 was of a visit that was killed
        assert resolve(script, "run@b#2") == "run@5"
        assert resolve(script, "run@a#2~1") == "run@2"

    def test_a_visit_counts_once_and_from_its_first_checkpoint(self, script: Script) -> None:
        script.run("run")
        script.commit("run", "a", 1)
        script.commit("run", "a", 1, kind=CheckpointKind.TERMINAL, next=None)
        script.commit("run", "a", 2)
        assert resolve(script, "run@a#1") == "run@1"
        assert resolve(script, "run@a#2") == "run@3"

    def test_visits_before_the_fork_point_count(self, script: Script) -> None:
        script.run("run")
        for visit in (1, 2, 3):
            script.commit("run", "a", visit)
        script.fork(script.repository.checkpoint_at(RunId("run"), 2), "fork")
        script.commit("fork", "a", 3)
        assert resolve(script, "fork@a#2") == "run@2"
        assert resolve(script, "fork@a#3") == "fork@2"
        assert resolve(script, "fork@a") == "fork@2"

    def test_a_visit_that_was_given_up_does_not_count(self, script: Script) -> None:
        script.run("run")
        script.commit("run", "a", 1)
        script.commit(
            "run",
            "b",
            1,
            kind=CheckpointKind.TERMINAL,
            restorable=False,
            unavailable_code="checkpoint.failure_port",
        )
        script.commit("run", "b", 2, resumed_from=1)
        assert resolve(script, "run@b#1") == "run@3"
        assert resolve(script, "run@b") == "run@3"

    def test_visits_inside_calls_are_told_apart(self, script: Script) -> None:
        script.run("run")
        places = [
            ("call#1", "child", 1),
            ("call#1", "child", 2),
            ("call#3", "child", 1),
            ("call#3/deep#1", "leaf", 1),
        ]
        for call_path, node, visit in places:
            script.commit("run", completed=boundary(node, visit, call_path))
        script.commit("run", "call", 3)
        assert resolve(script, "run@call#1/child#2") == "run@2"
        assert resolve(script, "run@call#1/child") == "run@2"
        assert resolve(script, "run@call#2/child#1") == "run@3"  # the second call, in directory 3
        assert resolve(script, "run@call/child") == "run@3"
        assert resolve(script, "run@call#2/deep/leaf#1") == "run@4"
        assert resolve(script, "run@call") == "run@5"
        with pytest.raises(NotFound, match="2 completed visits"):
            resolve(script, "run@call#3/child")

    def test_a_node_with_a_strange_name_is_named_as_it_is_shown(self, script: Script) -> None:
        script.run("run")
        made = script.commit("run", "my node/x")
        assert made.place == "my%20node%2Fx"
        assert resolve(script, "run@my%20node%2Fx") == "run@1"

import pytest

from tests.repo.samples import Script, operation
from verdog_objects.errors import InvalidInput, NotFound
from verdog_repo.names import CommitId, LabelName, RunId, TagName
from verdog_repo.operations import read_operations

RUN = RunId("run")


@pytest.fixture
def marked(any_script: Script) -> Script:
    """A run of two checkpoints with a tag and a label."""
    any_script.run("run")
    first, _ = any_script.commits("run", 2)
    marks = any_script.repository.marks
    marks.add_tag(TagName("good"), first.commit, operation=operation("tag"))
    marks.add_label(LabelName("mine"), RUN, operation=operation("label"))
    return any_script


def test_marks_are_listed(marked: Script) -> None:
    first = marked.repository.checkpoint_at(RUN, 1)
    assert marked.repository.marks.tags() == {"good": first.commit}
    assert marked.repository.marks.labels() == {"mine": "run"}


@pytest.mark.parametrize("name", ["run", "good", "mine"])
def test_a_name_is_used_once(marked: Script, name: str) -> None:
    tip = marked.repository.tip(RUN)
    assert tip is not None
    with pytest.raises(InvalidInput, match="already"):
        marked.repository.marks.add_tag(TagName(name), tip.commit, operation=operation("tag"))
    with pytest.raises(InvalidInput, match="already"):
        marked.repository.marks.add_label(LabelName(name), RUN, operation=operation("label"))


def test_a_removed_mark_is_gone_and_its_name_is_free(marked: Script) -> None:
    marks = marked.repository.marks
    marks.remove_tag(TagName("good"), operation=operation("tag"))
    marks.remove_label(LabelName("mine"), operation=operation("label"))
    assert (marks.tags(), marks.labels()) == ({}, {})
    marks.add_label(LabelName("good"), RUN, operation=operation("label"))


def test_removing_what_is_not_there_is_not_found(marked: Script) -> None:
    with pytest.raises(NotFound, match="no tag nope"):
        marked.repository.marks.remove_tag(TagName("nope"), operation=operation("tag"))
    with pytest.raises(NotFound, match="no label good"):
        marked.repository.marks.remove_label(LabelName("good"), operation=operation("label"))


def test_what_is_not_there_cannot_be_marked(marked: Script) -> None:
    with pytest.raises(NotFound):
        marked.repository.marks.add_tag(TagName("x"), CommitId(b"\0" * 20), operation=operation("tag"))
    with pytest.raises(NotFound):
        marked.repository.marks.add_label(LabelName("x"), RunId("nope"), operation=operation("label"))


def test_a_mark_is_an_operation(marked: Script) -> None:
    label, tag, _ = read_operations(marked.repository.store)
    assert (tag.kind, [move.name for move in tag.moves]) == ("tag", ["tags/good"])
    assert (label.kind, [move.name for move in label.moves]) == ("label", ["labels/mine"])

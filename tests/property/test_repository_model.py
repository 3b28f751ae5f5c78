"""The repository against a model of dictionaries that is too simple to be wrong."""

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.repo.samples import Script, memory_repository, operation
from verdog_objects.errors import InvalidInput, NotFound
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.fsck import check
from verdog_repo.history import is_ancestor, merge_base, walk_all
from verdog_repo.names import LabelName, RunId, TagName

RUNS = st.sampled_from(["aaaa-1", "aaaa-2", "bbbb", "cccc"])
MARKS = st.sampled_from(["one", "two", "bbbb"])
NODES = st.sampled_from(["work", "rest"])
PICK = st.integers(0, 10**6)


class Against(RuleBasedStateMachine):
    """Every rule acts on both; the model keeps parents by commit, runs as lists, marks as names."""

    @initialize()
    def begin(self) -> None:
        self.script = Script(memory_repository(Path("/nowhere")))
        self.runs: dict[str, list[Checkpoint]] = {}
        self.parents: dict[bytes, Checkpoint | None] = {}
        self.tags: dict[str, Checkpoint] = {}
        self.labels: dict[str, str] = {}

    def taken(self, name: str) -> bool:
        return name in self.runs or name in self.tags or name in self.labels

    def all(self) -> list[Checkpoint]:
        return [each for commits in self.runs.values() for each in commits]

    def history(self, start: Checkpoint | None) -> list[Checkpoint]:
        found: list[Checkpoint] = []
        while start is not None:
            found.append(start)
            start = self.parents[start.commit]
        return found

    @rule(run=RUNS)
    def create(self, run: str) -> None:
        if self.taken(run):
            with pytest.raises(InvalidInput):
                self.script.run(run)
        else:
            self.script.run(run)
            self.runs[run] = []

    @rule(run=RUNS, node=NODES)
    def commit(self, run: str, node: str) -> None:
        if run in self.runs:
            commits = self.runs[run]
            made = self.script.commit(run, node)
            self.parents[made.commit] = commits[-1] if commits else None
            commits.append(made)

    @rule(run=RUNS, pick=PICK)
    def fork(self, run: str, pick: int) -> None:
        if self.all() and not self.taken(run):
            source = self.all()[pick % len(self.all())]
            made = self.script.fork(source, run)
            self.parents[made.commit], self.runs[run] = source, [made]

    @rule(run=RUNS)
    def release(self, run: str) -> None:
        if run in self.runs:
            self.script.lease(run)
            self.script.release(run)

    @rule(name=MARKS, pick=PICK)
    def tag(self, name: str, pick: int) -> None:
        marks = self.script.repository.marks
        if not self.all():
            return
        target = self.all()[pick % len(self.all())]
        if self.taken(name):
            with pytest.raises(InvalidInput):
                marks.add_tag(TagName(name), target.commit, operation=operation("tag"))
        else:
            marks.add_tag(TagName(name), target.commit, operation=operation("tag"))
            self.tags[name] = target

    @rule(name=MARKS, run=RUNS)
    def label(self, name: str, run: str) -> None:
        if run in self.runs and not self.taken(name):
            self.script.repository.marks.add_label(LabelName(name), RunId(run), operation=operation("label"))
            self.labels[name] = run

    @rule(name=MARKS)
    def unmark(self, name: str) -> None:
        marks = self.script.repository.marks
        if self.tags.pop(name, None) is not None:
            marks.remove_tag(TagName(name), operation=operation("tag"))
        elif self.labels.pop(name, None) is not None:
            marks.remove_label(LabelName(name), operation=operation("label"))

    @rule(pick=PICK, other=PICK)
    def meet(self, pick: int, other: int) -> None:
        if self.all():
            left, right = (self.all()[each % len(self.all())] for each in (pick, other))
            shared = {each.commit for each in self.history(right)}
            expected = next((each for each in self.history(left) if each.commit in shared), None)
            assert merge_base(self.script.repository.catalog, left, right) == expected
            assert is_ancestor(self.script.repository.catalog, left, right) == (left.commit in shared)

    @rule(name=RUNS | MARKS, back=st.integers(0, 6), node=NODES, ordinal=st.integers(1, 3))
    def resolve(self, name: str, back: int, node: str, ordinal: int) -> None:
        start = self.tags.get(name)
        if start is None:
            commits = self.runs.get(self.labels.get(name, name), [])
            start = commits[-1] if commits else None
        history = self.history(start)
        self.agree(f"{name}~{back}", history[back] if back < len(history) else None)
        if name not in self.tags:
            visits = [each for each in reversed(history) if each.place == node and each.kind != "fork"]
            expected = visits[ordinal - 1] if len(visits) >= ordinal else None
            if len({each.visit for each in visits}) == len(visits):
                self.agree(f"{name}@{node}#{ordinal}", expected)

    def agree(self, text: str, expected: Checkpoint | None) -> None:
        if expected is None:
            with pytest.raises(NotFound):
                self.script.repository.resolve(text)
        else:
            assert self.script.repository.resolve(text).checkpoint == expected

    @invariant()
    def same(self) -> None:
        repository = self.script.repository
        assert {each.header.run: each.sequence or 0 for each in repository.runs()} == {
            run: len(commits) for run, commits in self.runs.items()
        }
        for run, commits in self.runs.items():
            assert repository.history(RunId(run), 1000) == self.history(commits[-1] if commits else None)
        assert {each.commit for each in walk_all(repository.catalog)} == set(self.parents)
        tags = {name: each.commit for name, each in self.tags.items()}
        assert (repository.marks.tags(), repository.marks.labels()) == (tags, self.labels)

    def teardown(self) -> None:
        if hasattr(self, "script"):
            assert check(self.script.repository) == []


TestAgainst = Against.TestCase
TestAgainst.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)

from itertools import islice

import pytest

from tests.repo.samples import Script, at
from verdog_objects.errors import NotFound
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.history import (
    find_ancestor,
    is_ancestor,
    list_segments,
    merge_base,
    read_page,
    walk,
    walk_all,
    walk_range,
)

Family = dict[str, list[Checkpoint]]


@pytest.fixture
def family(script: Script) -> Family:
    """A run of 5, a fork at 3 with 4 of its own, a fork of that at its 2 with 3, and a run of 2 by itself."""
    script.run("base")
    base = script.commits("base", 5)
    fork = [script.fork(base[2], "fork"), *script.commits("fork", 3)]
    deep = [script.fork(fork[1], "deep"), *script.commits("deep", 2)]
    script.run("other")
    return {"base": base, "fork": fork, "deep": deep, "other": script.commits("other", 2)}


def numbers(checkpoints: list[Checkpoint]) -> list[str]:
    return [f"{each.run}@{each.sequence}" for each in checkpoints]


def test_walking_crosses_fork_points(script: Script, family: Family) -> None:
    found = list(walk(script.repository.catalog, family["deep"][2]))
    assert numbers(found) == ["deep@3", "deep@2", "deep@1", "fork@2", "fork@1", "base@3", "base@2", "base@1"]
    assert [each.generation for each in found] == [8, 7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("page_rows", [1, 2, 3, 1000])
def test_the_size_of_a_page_does_not_matter(script: Script, family: Family, page_rows: int) -> None:
    catalog = script.repository.catalog
    whole = list(walk(catalog, family["deep"][2]))
    assert list(walk(catalog, family["deep"][2], page_rows)) == whole


@pytest.mark.parametrize("limit", [0, 1, 3, 8, 100])
def test_pages_make_up_the_whole(script: Script, family: Family, limit: int) -> None:
    catalog = script.repository.catalog
    whole = list(walk(catalog, family["deep"][2]))
    assert read_page(catalog, family["deep"][2], limit) == whole[:limit]


def test_all_runs_come_newest_first_with_children_before_parents(script: Script, family: Family) -> None:
    found = list(walk_all(script.repository.catalog))
    assert len(found) == 14
    assert found == sorted(found, key=lambda each: each.created_us, reverse=True)
    seen: set[bytes] = set()
    for each in found:
        assert each.parent not in seen
        seen.add(each.commit)


def test_a_child_comes_before_its_parent_whatever_the_clock_says(script: Script) -> None:
    script.run("run")
    late = script.commit("run", created_at=at(1000))
    early = [script.commit("run", created_at=at(1)) for _ in range(3)]
    script.run("other")
    script.commit("other", created_at=at(999))
    found = list(walk_all(script.repository.catalog))
    assert numbers(found) == ["run@4", "run@3", "run@2", "run@1", "other@1"]
    assert found[3] == late
    assert found[0] == early[-1]


@pytest.mark.parametrize("count", range(8))
def test_an_ancestor_is_where_walking_leads(script: Script, family: Family, count: int) -> None:
    catalog = script.repository.catalog
    tip = family["deep"][2]
    assert find_ancestor(catalog, tip, count) == list(walk(catalog, tip))[count]


def test_nothing_is_before_the_root(script: Script, family: Family) -> None:
    with pytest.raises(NotFound, match="history has 8"):
        find_ancestor(script.repository.catalog, family["deep"][2], 8)


def test_a_history_is_cut_at_its_fork_points(script: Script, family: Family) -> None:
    segments = list_segments(script.repository.catalog, family["deep"][1])
    assert [(each.tip.run, each.tip.sequence) for each in segments] == [("deep", 2), ("fork", 2), ("base", 3)]


@pytest.mark.parametrize(
    ("left", "right", "base"),
    [
        (("base", 5), ("fork", 4), "base@3"),
        (("base", 2), ("fork", 4), "base@2"),
        (("base", 5), ("deep", 3), "base@3"),
        (("fork", 4), ("deep", 3), "fork@2"),
        (("fork", 1), ("deep", 3), "fork@1"),
        (("base", 5), ("base", 2), "base@2"),
        (("base", 5), ("base", 5), "base@5"),
        (("base", 5), ("other", 2), None),
    ],
)
def test_two_histories_meet(
    script: Script, family: Family, left: tuple[str, int], right: tuple[str, int], base: str | None
) -> None:
    catalog = script.repository.catalog
    one, two = (family[run][sequence - 1] for run, sequence in (left, right))
    for found in (merge_base(catalog, one, two), merge_base(catalog, two, one)):
        assert (numbers([found])[0] if found is not None else None) == base


def test_an_ancestor_is_known_as_one(script: Script, family: Family) -> None:
    catalog = script.repository.catalog
    assert is_ancestor(catalog, family["base"][2], family["deep"][0])
    assert is_ancestor(catalog, family["deep"][0], family["deep"][0])
    assert not is_ancestor(catalog, family["base"][3], family["deep"][0])
    assert not is_ancestor(catalog, family["deep"][0], family["base"][2])
    assert not is_ancestor(catalog, family["other"][0], family["deep"][0])


def test_a_range_is_what_one_side_has_alone(script: Script, family: Family) -> None:
    catalog = script.repository.catalog
    tips = {name: commits[-1] for name, commits in family.items()}
    assert numbers(list(walk_range(catalog, tips["base"], tips["deep"]))) == [
        "deep@3", "deep@2", "deep@1", "fork@2", "fork@1",
    ]  # fmt: skip
    assert numbers(list(walk_range(catalog, tips["deep"], tips["base"]))) == ["base@5", "base@4"]
    assert list(walk_range(catalog, tips["base"], tips["base"])) == []
    assert len(list(walk_range(catalog, tips["base"], tips["other"]))) == 2


def test_only_the_runs_that_are_looked_at_are_read(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        script.run(f"run{number}")
        script.commits(f"run{number}", 2)
    catalog = script.repository.catalog
    asked: list[object] = []
    select = catalog.store.select
    monkeypatch.setattr(catalog.store, "select", lambda query: (asked.append(query), select(query))[1])
    assert len(list(islice(walk_all(catalog), 3))) == 3
    assert len(asked) <= 6


class TestUndone:
    """A run whose ref was set back, as undoing an operation does, and that went another way from there."""

    @pytest.fixture
    def undone(self, script: Script) -> tuple[Script, list[Checkpoint], list[Checkpoint]]:
        """Four checkpoints, of which two were undone, and three others after the second."""
        from tests.repo.samples import operation
        from verdog_repo.refs import log_move, name_run_ref, point_at, read_ref

        script.run("run")
        old = script.commits("run", 4)
        store = script.repository.store
        ref = read_ref(store, name_run_ref(old[0].run))
        assert ref is not None
        back = point_at(ref.name, ref.run_number, old[1])
        move = log_move(ref.run_number, old[1].commit, old[1].created_us, operation("undo").id)
        store.apply(guards=[ref.guard], writes=[back.write, move])
        script.release("run")
        new = script.commits("run", 3)
        return script, old, new

    Undone = tuple[Script, list[Checkpoint], list[Checkpoint]]

    def test_the_history_goes_the_new_way(self, undone: Undone) -> None:
        script, old, new = undone
        assert script.repository.history(new[0].run) == [*reversed(new), old[1], old[0]]

    def test_the_old_way_can_still_be_walked(self, undone: Undone) -> None:
        script, old, _ = undone
        assert script.repository.history(old[3].commit) == [*reversed(old)]

    def test_a_number_means_the_checkpoint_on_the_way_to_the_ref(self, undone: Undone) -> None:
        script, _, new = undone
        assert script.repository.checkpoint_at(new[0].run, 3) == new[0]

    def test_the_two_ways_meet(self, undone: Undone) -> None:
        script, old, new = undone
        assert merge_base(script.repository.catalog, old[3], new[2]) == old[1]

    def test_an_ancestor_is_found_on_either_way(self, undone: Undone) -> None:
        script, old, new = undone
        catalog = script.repository.catalog
        assert find_ancestor(catalog, old[3], 1) == old[2]
        assert find_ancestor(catalog, new[2], 2) == new[0]
        assert not is_ancestor(catalog, old[2], new[2])

    def test_pages_of_one_row_work_too(self, undone: Undone) -> None:
        script, old, new = undone
        assert list(walk(script.repository.catalog, old[3], 1)) == [*reversed(old)]
        assert list(walk(script.repository.catalog, new[2], 1)) == [*reversed(new), old[1], old[0]]

"""Two checkpoints compared: their visits, state and files."""

from collections.abc import Mapping

import pytest

from tests.repo.diffing import DIRECTORY, World
from tests.repo.samples import Script, boundary, header, operation
from verdog_objects.errors import Corrupt
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, compute_oid
from verdog_repo.alignment import Ordinals, Visit
from verdog_repo.artifactdiff import FileStatus
from verdog_repo.diff import Comparison, Reason, compare


@pytest.fixture
def world(script: Script) -> World:
    return World(script)


def names(visits: list[Visit]) -> list[tuple[str, int]]:
    return [(visit.place, visit.key[-1][1]) for visit in visits]


def changes(comparison: Comparison) -> list[tuple[str, bytes | None, bytes | None]]:
    """Return what is told of files and links; the directories that hold them come and go with them."""
    assert comparison.files is not None
    return [
        (each.status.value, each.before_path, each.after_path)
        for each in comparison.files
        if not each.is_directory
    ]


def addresses(comparison: Comparison) -> list[bytes]:
    assert comparison.state is not None
    return [each.key for each in comparison.state]


def test_a_checkpoint_does_not_differ_from_itself(world: World) -> None:
    world.run("one")
    tip = world.visit("one", files={b"work/1/a": b"a"}, values={b"input": b"1"})
    comparison = world.compare(tip, tip)
    assert comparison.files == ()
    assert comparison.state == ()
    assert not comparison.files_differ
    assert not comparison.state_differs
    assert comparison.divergence is None


def test_a_checkpoint_and_its_parent_differ_in_one_visit(world: World) -> None:
    world.run("one")
    first = world.visit("one", files={b"work/1/a": b"a"}, values={b"input": b"1"})
    second = world.visit("one", number=2, files={b"work/2/a": b"b"}, values={b"node:work": b"2"})
    comparison = world.compare(first, second)
    assert comparison.alignment is not None
    assert comparison.alignment.base == first
    assert names(comparison.alignment.only_right) == [("work", 0)]
    assert comparison.alignment.only_left == []
    assert changes(comparison) == [("A", None, b"work/2/a")]
    assert addresses(comparison) == [b"node:work"]
    assert comparison.divergence is None


def test_without_a_left_side_everything_is_new(world: World) -> None:
    world.run("one")
    first = world.visit("one", files={b"work/1/a": b"a"}, values={b"input": b"1"})
    comparison = world.compare(None, first)
    assert changes(comparison) == [("A", None, b"work/1/a")]
    assert addresses(comparison) == [b"input"]
    assert comparison.alignment is not None
    assert comparison.alignment.base is None
    assert len(comparison.alignment.right) == 1


def test_two_forks_are_aligned_after_their_fork_point(world: World) -> None:
    world.run("parent")
    point = world.visit("parent", number=1)
    for name in ("one", "two"):
        world.fork(point, name)
        world.visit(name, number=2, values={b"node:work": b"same"})
        world.visit(name, number=3, files={b"work/3/a": name.encode()})
    world.visit("two", "report")
    comparison = world.compare("one", "two")
    assert comparison.alignment is not None
    assert comparison.alignment.base == point
    assert names([left for left, _ in comparison.alignment.pairs]) == [("work", 0), ("work", 1)]
    assert names(comparison.alignment.only_right) == [("report", 0)]
    assert changes(comparison) == [("M", b"work/3/a", b"work/3/a")]
    assert comparison.divergence is not None
    assert comparison.divergence.left.checkpoint.sequence == 3
    assert comparison.divergence.reasons == (Reason.FILES,)


def test_ordinals_count_from_the_beginning_of_the_history(world: World) -> None:
    world.run("parent")
    world.visit("parent", number=1)
    point = world.visit("parent", number=2)
    world.visit("parent", number=3)
    world.fork(point, "one")
    tip = world.visit("one", number=3)
    comparison = world.compare("parent", "one")
    alignment = comparison.alignment
    assert alignment is not None
    ordinals = Ordinals(world.repository.catalog, alignment.base)
    assert [ordinals.find(visit) for visit in alignment.right] == [3]
    assert world.repository.resolve("one@work#3").checkpoint == tip


def test_the_first_difference_may_be_in_the_state_alone(world: World) -> None:
    world.run("parent")
    point = world.visit("parent", number=1)
    for name, value in (("one", b"1"), ("two", b"2")):
        world.fork(point, name)
        world.visit(name, number=2, values={b"node:work": value})
        world.visit(name, number=3, values={b"node:work": b"the same again"})
        world.visit(name, number=4, files={b"work/4/a": value})
    comparison = world.compare("one", "two")
    assert comparison.state == ()
    assert comparison.divergence is not None
    assert comparison.divergence.left.checkpoint.sequence == 2
    assert comparison.divergence.reasons == (Reason.STATE,)


def test_going_on_to_another_node_is_a_difference(world: World) -> None:
    world.run("parent")
    point = world.visit("parent", number=1)
    for name in ("one", "two"):
        world.fork(point, name)
        world.visit(name, number=2, next=boundary(name, 1))
        world.visit(name, name, values={b"transit": name.encode()})
    comparison = world.compare("one", "two")
    assert comparison.divergence is not None
    assert comparison.divergence.reasons == (Reason.NEXT,)
    assert comparison.alignment is not None
    assert names(comparison.alignment.only_left) == [("one", 0)]
    assert names(comparison.alignment.only_right) == [("two", 0)]


def test_another_order_is_a_difference(world: World) -> None:
    world.run("parent")
    point = world.visit("parent", number=1)
    for name, order in (("one", "ab"), ("two", "ba")):
        world.fork(point, name)
        for node in order:
            world.visit(name, node, next=boundary("x"), values={b"transit": f"{name} {node}".encode()})
    comparison = world.compare("one", "two")
    assert comparison.divergence is not None
    assert comparison.divergence.reasons == (Reason.ORDER,)


def make_retried(world: World, files: Mapping[str, bytes]) -> None:
    """Make two runs of three visits; the second visit of `killed` was repeated in directory 3."""
    world.run("whole")
    for number in (1, 2, 3):
        path = f"work/{number}/a".encode()
        world.visit("whole", number=number, files={path: f"content {number}".encode()})
    world.run("killed")
    world.visit("killed", number=1, files={b"work/1/a": b"content 1"})
    world.visit(
        "killed", number=3, files={b"work/3/a": files.get("3", b"content 2"), b"work/2/partial": b"con"}
    )
    world.visit("killed", number=4, files={b"work/4/a": files.get("4", b"content 3")})


def test_a_retried_visit_stands_for_the_undisturbed_one(world: World) -> None:
    make_retried(world, {})
    comparison = world.compare("whole", "killed")
    assert comparison.alignment is not None
    assert len(comparison.alignment.pairs) == 3
    assert changes(comparison) == [("A", None, b"work/2/partial")]
    assert comparison.moved == {b"work/3": b"work/2", b"work/4": b"work/3"}


def test_what_differs_below_a_retried_visit_has_both_paths(world: World) -> None:
    make_retried(world, {"4": b"another content"})
    comparison = world.compare("whole", "killed")
    assert ("M", b"work/3/a", b"work/4/a") in changes(comparison)
    assert comparison.divergence is not None
    assert comparison.divergence.left.checkpoint.sequence == 3
    assert comparison.divergence.right.checkpoint.visit == 4
    assert comparison.divergence.reasons == (Reason.FILES,)


def test_the_same_files_left_by_the_killed_visit_are_not_lost(world: World) -> None:
    world.run("whole")
    world.visit("whole", number=1, files={b"work/1/a": b"a"})
    world.run("killed")
    world.visit("killed", number=2, files={b"work/1/a": b"a", b"work/2/a": b"a"})
    assert changes(world.compare("whole", "killed")) == [("A", None, b"work/1/a")]
    assert changes(world.compare("killed", "whole")) == [("D", b"work/1/a", None)]


def test_values_of_retried_visits_are_asked_about(world: World) -> None:
    make_retried(world, {})
    for name in ("whole", "killed"):
        world.visit(name, "end", files={b"work/2/partial": None}, values={b"transit": name.encode()})
    asked: list[tuple[bytes, bytes]] = []

    def same(key: bytes, before: bytes, after: bytes, moved: Mapping[bytes, bytes]) -> bool:
        assert moved[b"work/4"] == b"work/3"
        asked.append((before, after))
        return True

    tips = [world.repository.resolve(name).checkpoint for name in ("whole", "killed")]
    comparison = compare(
        world.repository.catalog, tips[0], tips[1], lambda steps: b"work/%d" % steps[-1][1], same
    )
    assert asked
    assert comparison.state == ()
    assert changes(comparison) == []


def test_visits_that_were_given_up_do_not_count(world: World) -> None:
    world.run("one")
    world.visit("one", number=1)
    failed = world.visit("one", "failure", restorable=False, unavailable_code="x.y", reason="failed")
    again = world.visit("one", "work", number=2, resumed_from=1)
    comparison = world.compare(failed, again)
    assert comparison.alignment is not None
    assert comparison.alignment.base is not None
    assert comparison.alignment.base.sequence == 1
    assert names(comparison.alignment.only_left) == [("failure", 0)]
    assert names(comparison.alignment.only_right) == [("work", 0)]


def test_calls_are_aligned_by_how_many_came_before(world: World) -> None:
    for name, numbers in (("one", (1, 2)), ("two", (1, 3))):
        world.run(name)
        for number in numbers:
            path = f"call/{number}/child/1/a".encode()
            kept = f"call/{number}/log".encode()
            world.visit(
                name,
                "child",
                completed=boundary("child", 1, f"call#{number}"),
                files={path: f"{name} {numbers.index(number)}".encode(), kept: b"log"},
            )
    comparison = world.compare("one", "two")
    assert comparison.alignment is not None
    assert [left.key for left, _ in comparison.alignment.pairs] == [
        (("call", 0), ("child", 0)),
        (("call", 1), ("child", 0)),
    ]
    assert changes(comparison) == [
        ("M", b"call/1/child/1/a", b"call/1/child/1/a"),
        ("M", b"call/2/child/1/a", b"call/3/child/1/a"),
    ]


def test_of_different_workflows_only_files_are_compared(world: World) -> None:
    from dataclasses import replace

    world.run("one")
    other = replace(header("two"), workflow="other", definition_id="other.main")
    world.repository.create_run(other, operation=operation())
    for name in ("one", "two"):
        world.visit(name, files={b"work/1/a": name.encode()}, values={b"input": name.encode()})
    comparison = world.compare("one", "two")
    assert comparison.alignment is None
    assert comparison.state is None
    assert not comparison.state_differs
    assert changes(comparison) == [("M", b"work/1/a", b"work/1/a")]


def test_what_was_not_recorded_is_not_guessed(world: World) -> None:
    world.run("one")
    world.visit("one", files={b"a": b"a"})
    lost = {"restorable": False, "unavailable_code": "x.y", "reason": "no"}
    world.visit("one", number=2, artifacts=None, state=None, **lost)
    comparison = world.compare(world.repository.resolve("one@1").checkpoint, "one")
    assert comparison.files is None
    assert comparison.state is None
    assert comparison.files_differ
    assert comparison.state_differs


def test_modes_kinds_and_directories_are_files_too(world: World) -> None:
    world.run("one")
    executable = Entry(EntryKind.FILE, 0o755, 1, compute_oid(Kind.BLOB, b"x"))
    before = world.visit("one", files={b"a": b"x", b"b": b"x", b"empty": DIRECTORY})
    after = world.visit(
        "one",
        number=2,
        files={b"a": executable, b"b": DIRECTORY, b"empty": None, b"new": DIRECTORY},
    )
    comparison = world.compare(before, after)
    assert comparison.files is not None
    assert [each.status for each in comparison.files] == [
        FileStatus.MODIFIED,
        FileStatus.RETYPED,
        FileStatus.REMOVED,
        FileStatus.ADDED,
    ]
    assert [each.is_directory for each in comparison.files] == [False, False, True, True]


def test_a_file_that_moved_is_one_change(world: World) -> None:
    world.run("one")
    before = world.visit("one", files={b"old/name": b"the same content"})
    after = world.visit("one", number=2, files={b"old/name": None, b"new/name": b"the same content"})
    assert changes(world.compare(before, after)) == [("R", b"old/name", b"new/name")]


def test_it_works_on_every_store(any_script: Script) -> None:
    world = World(any_script)
    world.run("parent")
    point = world.visit("parent", files={f"f{number}".encode(): b"x" for number in range(300)})
    for name in ("one", "two"):
        world.fork(point, name)
        world.visit(name, number=2, files={b"f7": name.encode()}, values={b"node:work": name.encode()})
    comparison = world.compare("one", "two")
    assert changes(comparison) == [("M", b"f7", b"f7")]
    assert addresses(comparison) == [b"node:work"]


def test_a_record_that_is_gone_is_damage(world: World) -> None:
    world.run("parent")
    point = world.visit("parent", number=1)
    lost = None
    for name in ("one", "two"):
        world.fork(point, name)
        lost = world.visit(name, number=2, values={b"transit": name.encode()})
        world.visit(name, number=3, files={b"a": name.encode()})
    assert lost is not None
    (payload,) = world.repository.store.get_many([lost.record]).values()
    world.repository.store.delete_many([lost.record])
    with pytest.raises(Corrupt):
        world.compare("one", "two")
    world.repository.store.put_many([payload])


def test_long_histories_are_read_in_larger_and_larger_steps(world: World) -> None:
    for name in ("one", "two"):
        world.run(name)
        for number in range(1, 40):
            world.visit(name, number=number, values={b"transit": name.encode() if number > 37 else b"same"})
    comparison = world.compare("one", "two")
    assert comparison.divergence is not None
    assert comparison.divergence.left.checkpoint.sequence == 38

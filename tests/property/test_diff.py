"""Differences of checkpoints against a model of dictionaries."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.repo.diffing import World, layout
from tests.repo.samples import Script, memory_repository
from verdog_objects import manifest
from verdog_objects.memory import MemoryStore
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_repo.artifactdiff import compare_artifacts
from verdog_repo.diff import Comparison
from verdog_repo.tables import TABLES

_CONTENTS = st.sampled_from([b"", b"a", b"b"])
_NAMES = st.sampled_from([b"w", b"w/1", b"w/1/x", b"w/2", b"w/2/x", b"w/2/y", b"w/3/x", b"w/3", b"z"])
_TREES = st.dictionaries(_NAMES, _CONTENTS, max_size=8)
_DIRECTORIES = st.sampled_from([b"w/1", b"w/2", b"w/3", b"w/4"])
_MOVED = st.dictionaries(_DIRECTORIES, _DIRECTORIES, max_size=3).filter(
    lambda moved: len(set(moved.values())) == len(moved)
)

Tree = dict[bytes, bytes]
Change = tuple[bytes | None, bytes | None]


def build(store: MemoryStore, tree: Tree) -> tuple[Oid, dict[bytes, Entry]]:
    writer = store.writer()
    entries = {
        path: Entry(EntryKind.FILE, 0o644, len(content), writer.put(Kind.BLOB, content))
        for path, content in tree.items()
    }
    root = manifest.build(writer, sorted((manifest.path_key(path), entry) for path, entry in entries.items()))
    store.apply(writer)
    return root, entries


def find_owner(path: bytes, directories: set[bytes]) -> bytes | None:
    owners = [each for each in directories if path == each or path.startswith(each + b"/")]
    return max(owners, key=len, default=None)


def expect(left: Tree, right: Tree, moved: dict[bytes, bytes]) -> set[Change]:
    """Return what differs, by giving every file on the right the name that it has on the left."""
    found: set[Change] = set()
    taken = set(moved.values())
    partner: dict[bytes, bytes] = {}
    for path in right:
        owner = find_owner(path, set(moved))
        if owner is not None:
            partner[moved[owner] + path[len(owner) :]] = path
        elif find_owner(path, taken) is None:
            partner[path] = path
        else:
            found.add((None, path))
    for path, content in left.items():
        hidden = find_owner(path, set(moved)) is not None and find_owner(path, taken) is None
        other = None if hidden else partner.pop(path, None)
        if other is None or right[other] != content:
            found.add((path, other))
    return found | {(None, path) for path in partner.values()}


@given(_TREES, _TREES, _MOVED)
def test_manifests_are_compared_as_dictionaries_are(
    left: Tree, right: Tree, moved: dict[bytes, bytes]
) -> None:
    store = MemoryStore(TABLES)
    (before, _), (after, _) = build(store, left), build(store, right)
    found = compare_artifacts(store, before, after, moved)
    assert {(each.before_path, each.after_path) for each in found} == expect(left, right, moved)
    assert len(found) == len({(each.before_path, each.after_path) for each in found})
    if not moved:
        assert bool(found) is (before != after)


@given(_TREES, _TREES)
def test_changes_have_the_entries_of_both_sides(left: Tree, right: Tree) -> None:
    store = MemoryStore(TABLES)
    (before, old), (after, new) = build(store, left), build(store, right)
    for each in compare_artifacts(store, before, after, {}):
        assert each.before == (None if each.before_path is None else old[each.before_path])
        assert each.after == (None if each.after_path is None else new[each.after_path])


_VISITS = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.booleans(), _TREES, st.sampled_from([b"1", b"2"])), max_size=4
)


def play(world: World, run: str, visits: list[tuple[str, bool, Tree, bytes]]) -> None:
    """Commit visits: each writes into its directory, and some were killed once and repeated before."""
    numbers = {"a": 1, "b": 1}
    for node, killed, tree, value in visits:
        numbers[node] += 1 + killed
        directory = layout([(node, numbers[node])])
        files = {directory + b"/" + path.replace(b"/", b"."): content for path, content in tree.items()}
        world.visit(run, node, numbers[node], files, {b"transit": value})


@given(_VISITS, _VISITS)
def test_a_comparison_is_empty_for_equal_roots_alone_and_symmetric(
    left: list[tuple[str, bool, Tree, bytes]], right: list[tuple[str, bool, Tree, bytes]]
) -> None:
    script = Script(memory_repository(Path("/nowhere")))
    world = World(script)
    world.run("parent")
    point = world.visit("parent", "a", 1, {b"a/1/x": b"x"}, {b"input": b"in"})
    for run, visits in (("one", left), ("two", right)):
        world.fork(point, run)
        play(world, run, visits)
    comparison, mirrored = world.compare("one", "two"), world.compare("two", "one")
    records = [world.repository.record(world.repository.resolve(run).checkpoint) for run in ("one", "two")]
    if not comparison.moved:
        assert comparison.files_differ is (records[0].artifacts != records[1].artifacts)
    assert comparison.state_differs is (records[0].state != records[1].state)
    assert mirrored.state_differs is comparison.state_differs
    assert mirrored.files_differ is comparison.files_differ
    assert {right: left for left, right in mirrored.moved.items()} == comparison.moved
    assert _without_renames(mirrored) == _without_renames(comparison, swapped=True)
    alignment, other = comparison.alignment, mirrored.alignment
    assert alignment is not None and other is not None
    assert [each.key for each in alignment.only_left] == [each.key for each in other.only_right]
    assert (comparison.divergence is None) is (mirrored.divergence is None)
    same = world.compare("one", "one")
    assert not same.files_differ and not same.state_differs and same.divergence is None


def _without_renames(comparison: Comparison, *, swapped: bool = False) -> set[Change]:
    """Return the changed paths, each rename as the two changes it is made of."""
    assert comparison.files is not None
    found: set[Change] = set()
    for each in comparison.files:
        sides = (each.after_path, each.before_path) if swapped else (each.before_path, each.after_path)
        found |= {sides} if each.similarity is None else {(sides[0], None), (None, sides[1])}
    return found

"""Which removed file is which added one."""

from collections.abc import Mapping

from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, compute_oid
from verdog_repo import renames
from verdog_repo.artifactdiff import FileChange
from verdog_repo.renames import COMPARISONS, SIMILAR_BYTES, find_renames, measure_similarity


class Files:
    """Removed and added files, and how often one was read."""

    def __init__(self, removed: Mapping[str, bytes], added: Mapping[str, bytes]) -> None:
        self.contents = {
            path.encode(): content for side in (removed, added) for path, content in side.items()
        }
        self.reads = 0
        self.changes = [
            *(FileChange(path.encode(), None, _entry(content), None) for path, content in removed.items()),
            *(FileChange(None, path.encode(), None, _entry(content)) for path, content in added.items()),
        ]

    def read(self, path: bytes, entry: Entry) -> bytes:
        self.reads += 1
        return self.contents[path]

    def find(self) -> list[tuple[str, str, int]]:
        """Return the renames, and check that every other change is still there once."""
        found = find_renames(self.changes, self.read)
        sides = sorted(
            (path or b"")
            for each in found
            for path in (each.before_path, each.after_path)
            if path is not None
        )
        assert sides == sorted(each.path for each in self.changes)
        return [
            ((each.before_path or b"").decode(), (each.after_path or b"").decode(), each.similarity)
            for each in found
            if each.similarity is not None
        ]


def _entry(content: bytes) -> Entry:
    return Entry(EntryKind.FILE, 0o644, len(content), compute_oid(Kind.BLOB, content))


def lines(*numbers: int) -> bytes:
    return b"".join(b"line number %03d\n" % number for number in numbers)


def test_the_same_object_is_the_same_file_and_nothing_is_read() -> None:
    files = Files({"old": b"content"}, {"new": b"content"})
    assert files.find() == [("old", "new", 100)]
    assert files.reads == 0


def test_of_several_with_one_content_the_same_name_wins() -> None:
    files = Files({"a/x": b"c", "a/y": b"c"}, {"b/0": b"c", "b/y": b"c"})
    assert files.find() == [("a/x", "b/0", 100), ("a/y", "b/y", 100)]


def test_empty_files_never_moved() -> None:
    assert Files({"old": b""}, {"new": b""}).find() == []


def test_a_similar_file_is_the_same_file() -> None:
    files = Files({"old": lines(*range(10))}, {"new": lines(*range(9), 77), "other": lines(*range(50, 60))})
    assert files.find() == [("old", "new", 90)]


def test_the_most_similar_pair_wins() -> None:
    files = Files(
        {"old": lines(*range(10))},
        {"a": lines(*range(6), 61, 62, 63, 64), "b": lines(*range(9), 77)},
    )
    assert files.find() == [("old", "b", 90)]


def test_files_without_enough_in_common_are_two_files() -> None:
    assert Files({"old": lines(*range(10))}, {"new": lines(*range(7, 17))}).find() == []


def test_sizes_too_far_apart_are_not_read() -> None:
    files = Files({"old": b"x" * 100}, {"new": b"x" * 1000})
    assert files.find() == []
    assert files.reads == 0


def test_large_files_are_not_read() -> None:
    files = Files({"old": b"x" * (SIMILAR_BYTES + 1)}, {"new": b"y" * (SIMILAR_BYTES + 1)})
    assert files.find() == []
    assert files.reads == 0


def test_the_number_of_comparisons_is_bounded() -> None:
    files = Files(
        {f"old{number}": lines(number) for number in range(300)},
        {f"new{number}": lines(1000 + number) for number in range(300)},
    )
    files.find()
    assert files.reads <= 2 * COMPARISONS


def test_the_bytes_that_are_read_are_bounded() -> None:
    size = 1 << 16
    files = Files(
        {f"old{number}": b"%03d" % number * size for number in range(20)},
        {f"new{number}": b"%03d" % (100 + number) * size for number in range(20)},
    )
    limit, renames.READ_BYTES = renames.READ_BYTES, 1 << 20  # type: ignore[misc]
    try:
        files.find()
    finally:
        renames.READ_BYTES = limit  # type: ignore[misc]
    assert files.reads * 3 * size <= (1 << 20) + 2 * 3 * size


def test_directories_never_move() -> None:
    directory = Entry(EntryKind.DIRECTORY, 0o755, 0, compute_oid(Kind.BLOB, b""))
    changes = [FileChange(b"a", None, directory, None), FileChange(None, b"b", None, directory)]
    assert find_renames(changes, lambda path, entry: b"") == changes


def test_similarity_is_what_is_in_common_of_the_longer() -> None:
    assert measure_similarity(b"", b"") == 100
    assert measure_similarity(b"a\nb\n", b"b\na\n") == 100
    assert measure_similarity(b"a\n", b"a\nb\n") == 50
    assert measure_similarity(b"a\n", b"") == 0

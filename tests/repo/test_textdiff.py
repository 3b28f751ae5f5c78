"""How the content of a file changed: by key, by row, by line, or not at all."""

import subprocess
import sys

import pytest

from tests.objects.counting import CountingObjects
from verdog_objects.chunking import INLINE_LIMIT
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind
from verdog_repo.artifactdiff import FileChange
from verdog_repo.parts import PartChange
from verdog_repo.textdiff import TEXT_BYTES, Opaque, Parts, Patch, compare_contents, compare_file, make_patch


def test_text_is_compared_line_by_line() -> None:
    found = compare_contents(b"a.txt", b"one\ntwo\nthree\n", b"one\n2\nthree\n")
    assert found == Patch((b"@@ -1,3 +1,3 @@", b" one", b"-two", b"+2", b" three"))


def test_a_missing_newline_at_the_end_is_said() -> None:
    found = make_patch(b"a\n", b"a")
    assert isinstance(found, Patch)
    assert found.lines[-1] == b"\\ No newline at end of file"


def test_bytes_that_are_not_text_in_utf_8_stay_what_they_are() -> None:
    found = make_patch(b"\xfe\r\n", b"\xff\r\n")
    assert found == Patch((b"@@ -1 +1 @@", b"-\xfe\r", b"+\xff\r"))


def test_lines_that_look_like_headers_are_kept() -> None:
    found = make_patch(b"a\n", b"@@ -1 +1 @@\n--- x\n")
    assert found == Patch((b"@@ -1 +1,2 @@", b"-a", b"+@@ -1 +1 @@", b"+--- x"))


def test_equal_texts_make_an_empty_patch() -> None:
    assert make_patch(b"same", b"same") == Patch(())


@pytest.mark.parametrize("sides", [(b"a\0b", b"text"), (b"text", b"a\0b")])
def test_binary_content_is_not_shown(sides: tuple[bytes, bytes]) -> None:
    assert compare_contents(b"a", *sides) == Opaque("binary")


def test_a_nul_far_behind_the_probe_is_found_by_libgit2_or_printed() -> None:
    assert isinstance(make_patch(b"a\n" * 9000 + b"\0", b"b"), Patch | Opaque)


def test_large_content_is_not_shown() -> None:
    assert compare_contents(b"a", b"x" * (TEXT_BYTES + 1), b"") == Opaque("too large")


def test_json_is_compared_by_key() -> None:
    found = compare_contents(b"a/m.JSON", b'{"loss": 0.31, "epoch": 1}', b'{"loss": 0.29, "epoch": 1}')
    assert found == Parts((PartChange(".loss", "0.31", "0.29"),))


def test_json_that_does_not_parse_is_text() -> None:
    assert isinstance(compare_contents(b"m.json", b"{", b"{}"), Patch)


def test_tables_are_compared_by_row() -> None:
    found = compare_contents(b"m.csv", b"step,loss\n1,3\n2,2\n", b"step,loss\n1,3\n2,1\n3,0\n")
    assert found == Parts((PartChange("2: loss", "2", "1"), PartChange("3", None, "0")))


def test_a_table_without_names_of_rows_is_text() -> None:
    assert isinstance(compare_contents(b"m.csv", b"a,b\n1,1\n1,2\n", b"a,b\n1,1\n1,3\n"), Patch)


class Store(CountingObjects):
    """Files as changes of one path."""

    def change(self, before: bytes, after: bytes, kind: EntryKind = EntryKind.FILE) -> FileChange:
        entries = [
            Entry(kind, 0o777, len(content), self.put(Kind.BLOB, content)) for content in (before, after)
        ]
        return FileChange(b"a", b"a", entries[0], entries[1])


def test_a_changed_file_is_read_and_compared() -> None:
    store = Store()
    assert compare_file(store, store.change(b"1\n", b"2\n")) == Patch((b"@@ -1 +1 @@", b"-1", b"+2"))


def test_a_link_is_compared_by_its_target() -> None:
    store = Store()
    found = compare_file(store, store.change(b"old", b"new", EntryKind.SYMLINK))
    assert isinstance(found, Patch)
    assert b"-old" in found.lines


def test_what_has_one_content_or_two_kinds_is_not_compared() -> None:
    store = Store()
    change = store.change(b"1", b"2")
    assert change.before is not None
    assert compare_file(store, change._replace(after=None)) is None
    assert compare_file(store, change._replace(after=change.before._replace(mode=0))) is None
    assert compare_file(store, change._replace(after=change.before._replace(kind=EntryKind.SYMLINK))) is None
    assert store.reads == 0


def test_large_files_are_not_read() -> None:
    store = Store()
    change = store.change(b"1", b"2")
    assert change.after is not None
    large = change._replace(after=change.after._replace(size=TEXT_BYTES + 1))
    assert TEXT_BYTES > INLINE_LIMIT
    assert compare_file(store, large) == Opaque("too large")
    assert store.reads == 0


def test_libgit2_is_loaded_for_text_alone() -> None:
    script = """
import sys
from verdog_runtime.comparison import compare_checkpoints
from verdog_repo.textdiff import compare_contents
compare_contents(b"a.json", b"1", b"2")
compare_contents(b"a.csv", b"a,b\\n1,2\\n", b"a,b\\n1,3\\n")
compare_contents(b"a", b"\\0", b"")
assert "pygit2" not in sys.modules
compare_contents(b"a", b"1", b"2")
assert "pygit2" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)

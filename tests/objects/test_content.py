from pathlib import Path

import pytest

from verdog_objects.capture import capture_tree
from verdog_objects.content import iter_content
from verdog_objects.errors import Corrupt
from verdog_objects.memory import MemoryStore
from verdog_objects.nodes import EMPTY_OID, Entry, EntryKind


def record(directory: Path, store: MemoryStore) -> dict[bytes, Entry]:
    with store.writer() as writer:
        captured = capture_tree(writer, directory, [b""], excluded=lambda path, is_dir: False, memory=None)
        store.apply(writer)
    return captured.entries


@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 700_000])
def test_a_file_comes_back_byte_for_byte(tmp_path: Path, size: int) -> None:
    content = bytes(number * 7 % 251 for number in range(size))
    (tmp_path / "file").write_bytes(content)
    store = MemoryStore(())
    entry = record(tmp_path, store)[b"file"]
    pieces = list(iter_content(store, b"file", entry))
    assert b"".join(pieces) == content
    assert size < 700_000 or len(pieces) > 1


def test_of_a_link_it_is_the_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("no/where")
    store = MemoryStore(())
    entry = record(tmp_path, store)[b"link"]
    assert list(iter_content(store, b"link", entry)) == [b"no/where"]


def test_a_directory_has_none() -> None:
    entry = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)
    assert list(iter_content(MemoryStore(()), b"d", entry)) == []


def test_a_missing_object_is_corrupt_and_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"content")
    store = MemoryStore(())
    entry = record(tmp_path, store)[b"f"]
    store.delete_many([entry.oid])
    with pytest.raises(Corrupt, match=r"f: object .* is missing") as caught:
        list(iter_content(store, b"f", entry))
    assert caught.value.paths == (b"f",)


def test_another_size_than_recorded_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"content")
    store = MemoryStore(())
    entry = record(tmp_path, store)[b"f"]
    with pytest.raises(Corrupt, match="has 7 bytes, recorded 8"):
        list(iter_content(store, b"f", entry._replace(size=8)))

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from verdog_objects import durable
from verdog_objects.errors import Unavailable


class Stopped(BaseException):
    """The process ends here."""


class Recorder(durable.Disk):
    """Notes each operation, and ends the process before operation `stop`."""

    def __init__(self, stop: int | None = None) -> None:
        self.operations: list[str] = []
        self._stop = stop

    def note(self, name: str) -> None:
        if self._stop == len(self.operations):
            raise Stopped
        self.operations.append(name)

    def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
        self.note("write")
        return super().write(fd, buffers, offset)

    def truncate(self, fd: int, size_bytes: int) -> None:
        self.note("truncate")
        super().truncate(fd, size_bytes)

    def fsync(self, fd: int) -> None:
        self.note("fsync directory" if Path(f"/proc/self/fd/{fd}").is_dir() else "fsync file")
        super().fsync(fd)

    def fdatasync(self, fd: int) -> None:
        self.note("fdatasync")
        super().fdatasync(fd)

    def syncfs(self, fd: int) -> None:
        self.note("syncfs")
        super().syncfs(fd)

    def rename(self, source: Path, target: Path) -> None:
        self.note("rename")
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self.note("link")
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self.note("unlink")
        super().unlink(path)

    def mkdir(self, path: Path, mode: int) -> None:
        self.note("mkdir")
        super().mkdir(path, mode)

    def rmdir(self, path: Path) -> None:
        self.note("rmdir")
        super().rmdir(path)


def record(action: Callable[[], object]) -> list[str]:
    recorder = Recorder()
    with durable.replaced(recorder):
        action()
    return recorder.operations


def test_a_file_is_written_synced_renamed_and_its_name_synced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    operations = record(lambda: durable.write_file(path, b"content", 0o640))
    assert operations == ["write", "fsync file", "rename", "fsync directory"]
    assert path.read_bytes() == b"content"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("stop", range(4))
def test_a_file_holds_the_old_content_or_the_new_wherever_writing_stops(tmp_path: Path, stop: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(Stopped), durable.replaced(Recorder(stop)):
        durable.write_file(path, b"new")
    assert path.read_bytes() == (b"new" if stop == 3 else b"old")


def test_a_write_that_fails_names_the_path_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    class Full(durable.Disk):
        def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
            raise OSError(28, "No space left on device")

    with durable.replaced(Full()), pytest.raises(Unavailable, match="file: No space left") as caught:
        durable.write_file(tmp_path / "file", b"new")
    assert isinstance(caught.value.__cause__, OSError)
    assert list(tmp_path.iterdir()) == []


def test_short_writes_are_continued(tmp_path: Path) -> None:
    class Short(durable.Disk):
        def write(self, fd: int, buffers: Sequence[bytes | memoryview], offset: int) -> int:
            return super().write(fd, [buffers[0][:3]], offset)

    with durable.replaced(Short()), (tmp_path / "file").open("wb") as file:
        durable.write_all(file.fileno(), [b"0123456789", b"", b"abcdef"], 2)
    assert (tmp_path / "file").read_bytes() == b"\0\x000123456789abcdef"


def test_many_buffers_are_written_in_order(tmp_path: Path) -> None:
    buffers = [b"%d," % number for number in range(3000)]
    with (tmp_path / "file").open("wb") as file:
        durable.write_all(file.fileno(), buffers, 0)
    assert (tmp_path / "file").read_bytes() == b"".join(buffers)


def test_a_rename_syncs_both_directories(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"1")
    operations = record(lambda: durable.rename(tmp_path / "a" / "file", tmp_path / "file"))
    assert operations == ["rename", "fsync directory", "fsync directory"]
    assert (tmp_path / "file").read_bytes() == b"1"
    assert record(lambda: durable.rename(tmp_path / "file", tmp_path / "other"))[1:] == ["fsync directory"]


def test_publishing_gives_a_free_name_and_never_replaces_one(tmp_path: Path) -> None:
    target = tmp_path / "target"
    for content, free in ((b"first", True), (b"second", False)):
        source = tmp_path / "source"
        source.write_bytes(content)
        assert durable.publish(source, target) is free
        assert target.read_bytes() == b"first"
        assert not source.exists()


def test_removing_a_missing_file_is_an_error_unless_that_is_fine(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="missing"):
        durable.unlink(tmp_path / "missing")
    durable.unlink(tmp_path / "missing", missing_ok=True)
    (tmp_path / "file").write_bytes(b"")
    assert record(lambda: durable.unlink(tmp_path / "file")) == ["unlink", "fsync directory"]
    assert list(tmp_path.iterdir()) == []


def test_directories_are_made_private_with_their_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert durable.make_directory(path, parents=True)
    assert not durable.make_directory(path)
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o700, 0o700]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable):
        durable.make_directory(tmp_path / "file")
    with pytest.raises(Unavailable):
        durable.make_directory(tmp_path / "c" / "d")


def test_an_empty_directory_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert record(lambda: durable.remove_directory(tmp_path / "a")) == ["rmdir", "fsync directory"]
    with pytest.raises(Unavailable):
        durable.remove_directory(tmp_path / "a")


def test_files_and_trees_are_synced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.write(b"x")
        file.flush()
        assert record(lambda: durable.sync_file(file.fileno())) == ["fdatasync"]
        durable.start_writeback(file.fileno(), 0, 1)
    assert record(lambda: durable.sync_path(path)) == ["fsync file"]
    assert record(lambda: durable.sync_tree(tmp_path)) == ["syncfs"]


def test_syncing_a_closed_file_is_unavailable(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    os.close(fd)
    with pytest.raises(Unavailable):
        durable.sync_file(fd)
    with pytest.raises(OSError, match="Bad file"):
        durable.current_disk().syncfs(fd)

import os
from pathlib import Path

import pytest

from verdog_objects import durable, packs
from verdog_objects.errors import Unavailable


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path


def make_pack(directory: Path, *contents: bytes) -> int:
    """Make a pack named `p` and return its committed end."""
    pack = packs.create_pack(directory, "p")
    for content in contents:
        pack.append(content)
    pack.sync()
    pack.commit()
    pack.release()
    return pack.end


def count_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_appended_bytes_are_read_back_where_they_were_put(directory: Path) -> None:
    pack = packs.create_pack(directory, "p")
    contents = [os.urandom(size) for size in (1, 100, 70_000, 2_000_000, 5)]
    starts = [pack.append(content) for content in contents]
    assert [
        pack.read(start, len(content)) for start, content in zip(starts, contents, strict=True)
    ] == contents
    pack.sync()
    pack.commit()
    pack.release()
    reader = packs.PackReader(directory)
    assert [
        reader.read("p", start, len(content)) for start, content in zip(starts, contents, strict=True)
    ] == contents
    reader.close()
    assert packs.check_pack(directory, "p", pack.end) is None


def test_a_pack_in_use_is_not_taken(directory: Path) -> None:
    pack = packs.create_pack(directory, "p")
    assert packs.take_pack(directory, "p", lambda: pack.end) is None
    pack.release()
    taken = packs.take_pack(directory, "p", lambda: pack.end)
    assert taken is not None
    taken.release()


def test_a_taken_pack_is_cut_to_its_committed_end(directory: Path) -> None:
    end = make_pack(directory, b"kept")
    with packs.pack_path(directory, "p").open("ab") as file:
        file.write(b"lost")
    pack = packs.take_pack(directory, "p", lambda: end)
    assert pack is not None
    assert packs.pack_path(directory, "p").stat().st_size == end
    assert pack.append(b"next") == end
    assert pack.read(end - 4, 8) == b"keptnext"
    pack.release()


def test_a_pack_that_is_missing_full_or_short_is_not_taken(directory: Path) -> None:
    assert packs.take_pack(directory, "p", lambda: 0) is None
    end = make_pack(directory, b"content")
    assert packs.take_pack(directory, "p", lambda: None) is None
    assert packs.take_pack(directory, "p", lambda: end + 1) is None
    packs.pack_path(directory, "q").symlink_to(packs.pack_path(directory, "p"))
    assert packs.take_pack(directory, "q", lambda: end) is None


def test_what_was_not_committed_is_cut_off_on_release(directory: Path) -> None:
    end = make_pack(directory, b"kept")
    for cut, expected in ((True, end), (False, end + 4)):
        pack = packs.take_pack(directory, "p", lambda: end)
        assert pack is not None
        pack.append(b"lost")
        pack.sync()
        pack.release(cut=cut)
        pack.release()
        assert packs.pack_path(directory, "p").stat().st_size == expected


def test_a_growing_pack_is_synced_in_steps(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "SYNC_BYTES", 4 << 20)
    synced: list[int] = []

    class Counting(durable.Disk):
        def fdatasync(self, fd: int) -> None:
            synced.append(os.fstat(fd).st_size)

    with durable.replaced(Counting()):
        pack = packs.create_pack(directory, "p")
        for _ in range(20):
            pack.append(bytes(1 << 20))
        pack.sync()
        pack.sync()
        pack.release()
    assert len(synced) == 5
    assert synced[-1] == 16 + (20 << 20)
    assert all(later - earlier <= 5 << 20 for earlier, later in zip([0, *synced], synced, strict=False))


def test_a_full_disk_is_unavailable(directory: Path) -> None:
    class Full(durable.Disk):
        def write(self, fd: int, buffers: object, offset: int) -> int:
            raise OSError(28, "No space left on device")

    pack = packs.create_pack(directory, "p")
    with durable.replaced(Full()):
        pack.append(b"x")
        with pytest.raises(Unavailable, match="No space"):
            pack.sync()
    pack.release()


def test_a_sync_that_failed_is_not_believed_the_second_time(directory: Path) -> None:
    class Failing(durable.Disk):
        def fdatasync(self, fd: int) -> None:
            raise OSError(5, "Input/output error")

    pack = packs.create_pack(directory, "p")
    pack.append(b"x")
    with durable.replaced(Failing()), pytest.raises(Unavailable, match="Input/output"):
        pack.sync()
    with pytest.raises(Unavailable, match="may be lost"):
        pack.sync()
    pack.release()


def test_a_missing_pack_is_told_from_one_that_cannot_be_read(directory: Path) -> None:
    reader = packs.PackReader(directory)
    with pytest.raises(FileNotFoundError):
        reader.read("p", 0, 1)
    packs.pack_path(directory, "p").mkdir()
    with pytest.raises(Unavailable):
        reader.read("p", 0, 1)
    reader.close()


def test_a_reader_returns_fewer_bytes_at_the_end(directory: Path) -> None:
    end = make_pack(directory, b"content")
    reader = packs.PackReader(directory)
    assert reader.read("p", end - 3, 100) == b"ent"
    assert reader.read("p", end + 10, 100) == b""


def test_a_reader_keeps_few_packs_open(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "_OPEN_PACKS", 2)
    for name in "abcd":
        pack = packs.create_pack(directory, name)
        pack.append(name.encode())
        pack.sync()
        pack.commit()
        pack.release()
    before = count_open_files()
    reader = packs.PackReader(directory)
    for name in "abcdabcd":
        assert reader.read(name, len(packs.HEADER), 1) == name.encode()
    assert count_open_files() - before == 2
    reader.close()
    assert count_open_files() == before


def test_a_forgotten_pack_is_opened_anew(directory: Path) -> None:
    make_pack(directory, b"old")
    reader = packs.PackReader(directory)
    assert reader.read("p", 16, 3) == b"old"
    packs.pack_path(directory, "p").unlink()
    make_pack(directory, b"new")
    assert reader.read("p", 16, 3) == b"old"
    reader.forget("p")
    assert reader.read("p", 16, 3) == b"new"


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "missing"), (b"", "begin"), (b"x" * 30, "begin"), (packs.HEADER, "before its committed end")],
)
def test_a_pack_that_is_not_as_committed_is_reported(
    directory: Path, content: bytes | None, problem: str
) -> None:
    if content is not None:
        packs.pack_path(directory, "p").write_bytes(content)
    found = packs.check_pack(directory, "p", 20)
    assert found is not None
    assert problem in found

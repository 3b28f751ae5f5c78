import shutil
import stat
from pathlib import Path

import pytest

from tests.objects.trees import UnsyncedDisk, record, snapshot, unprivileged
from verdog_objects import durable
from verdog_objects.errors import InvalidInput
from verdog_objects.oid import Kind, Oid
from verdog_objects.restore import restore_tree
from verdog_objects.store import ObjectReader
from verdog_objects.verify import verify_tree


@pytest.fixture(autouse=True)
def no_waiting():
    with durable.replaced(UnsyncedDisk()):
        yield


def make_output(tmp_path: Path) -> Path:
    output = tmp_path / "output"
    for name, data in (("a/one", b"one"), ("a/b/two", b"two" * 40_000), ("zero", b"")):
        path = output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (output / "link").symlink_to("a/one")
    (output / "empty").mkdir()
    (output / "a/one").chmod(0o640)
    (tmp_path / "staging").mkdir()
    return output


def restore(reader: ObjectReader, root: Oid, output: Path) -> tuple[bytes, ...]:
    differences = verify_tree(reader, root, output)
    return restore_tree(reader, root, output, differences, staging=output.parent / "staging")


def test_everything_that_differs_is_put_back(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    before = snapshot(output)
    (output / "a/one").write_bytes(b"edited")
    (output / "a/b/two").unlink()
    (output / "a/b").rmdir()
    (output / "zero").chmod(0o600)
    (output / "link").unlink()
    (output / "link").symlink_to("elsewhere")
    (output / "empty").rmdir()
    (output / "empty").write_bytes(b"a file took its place")
    assert restore(reader, root, output) == (b"a/b", b"a/b/two", b"a/one", b"empty", b"link", b"zero")
    assert snapshot(output) == before
    assert list((tmp_path / "staging").iterdir()) == []


def test_all_twelve_mode_bits_are_put_back(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    modes = {"a/one": 0o4755, "zero": 0o2750, "a/b": 0o3755, "empty": 0o1777}
    for name, mode in modes.items():
        (output / name).chmod(mode)
    reader, root = record(output)
    (output / "a/one").write_bytes(b"edited, which drops the bit")
    (output / "zero").chmod(0o600)
    shutil.rmtree(output / "a/b")
    (output / "empty").rmdir()
    restore(reader, root, output)
    assert {name: stat.S_IMODE((output / name).stat().st_mode) for name in modes} == modes


def test_nothing_is_touched_where_nothing_differs(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    inode = (output / "a/one").stat().st_ino
    (output / "zero").write_bytes(b"not zero")
    assert restore(reader, root, output) == (b"zero",)
    assert (output / "a/one").stat().st_ino == inode


def test_files_that_are_not_recorded_stay(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    (output / "a/mine").write_bytes(b"mine")
    (output / "a/one").unlink()
    restore(reader, root, output)
    assert (output / "a/mine").read_bytes() == b"mine"


def test_a_directory_in_the_way_of_a_file_is_not_removed(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    (output / "a/one").unlink()
    (output / "a/one").mkdir()
    (output / "a/one/mine").write_bytes(b"mine")
    with pytest.raises(InvalidInput, match="a/one: a directory is in the way") as caught:
        restore(reader, root, output)
    assert caught.value.paths == (b"a/one",)
    assert (output / "a/one/mine").read_bytes() == b"mine"


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    outside = tmp_path / "outside"
    outside.write_bytes(b"outside")
    (output / "a/one").unlink()
    (output / "a/one").symlink_to(outside)
    restore(reader, root, output)
    assert outside.read_bytes() == b"outside"
    assert (output / "a/one").read_bytes() == b"one"


def test_a_link_in_the_place_of_a_directory_is_replaced_and_not_followed(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    outside = tmp_path / "outside"
    (output / "a").rename(outside)
    (output / "a").symlink_to(outside)
    restore(reader, root, output)
    assert not (output / "a").is_symlink()
    assert verify_tree(reader, root, output) == []
    assert (outside / "one").read_bytes() == b"one"


def test_a_missing_object_changes_nothing(tmp_path: Path) -> None:
    output = make_output(tmp_path)
    reader, root = record(output)
    (output / "a/one").write_bytes(b"edited")
    (output / "zero").unlink()

    class Without:
        def get(self, kind: Kind, oid: Oid) -> bytes:
            from verdog_objects.errors import NotFound

            data = reader.get(kind, oid)
            if data == b"one":
                raise NotFound("gone")
            return data

    before = snapshot(output)
    differences = verify_tree(reader, root, output)
    with pytest.raises(Exception, match="a/one"):
        restore_tree(Without(), root, output, differences, staging=tmp_path / "staging")
    assert snapshot(output) == before


def test_an_owner_without_root_rights_restores_into_read_only_directories() -> None:
    with unprivileged() as directory:
        output = make_output(directory)
        (output / "a/one").chmod(0o444)
        (output / "a").chmod(0o555)
        reader, root = record(output)
        (output / "a").chmod(0o755)
        (output / "a/one").unlink()
        (output / "a").chmod(0o555)
        restore(reader, root, output)
        assert stat.S_IMODE((output / "a").stat().st_mode) == 0o555
        assert (output / "a/one").read_bytes() == b"one"

import os
from pathlib import Path

import pytest

from tests.objects.trees import NOBODY, run_script, unprivileged
from verdog_objects import durable
from verdog_objects.errors import InvalidInput, Unavailable
from verdog_objects.staging import remove_tree, stage


def list_names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def test_nothing_has_the_name_before_it_is_published(tmp_path: Path) -> None:
    with stage(tmp_path / "d") as staging:
        (staging.path / "f").write_bytes(b"x")
        assert not (tmp_path / "d").exists()
        staging.publish()
    assert list_names(tmp_path) == ["d"]
    assert list_names(tmp_path / "d") == ["f"]


def test_what_is_not_published_is_removed_with_the_directories_made_for_it(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), stage(tmp_path / "a/b/d") as staging:
        (staging.path / "f").write_bytes(b"x")
        raise KeyboardInterrupt
    assert list_names(tmp_path) == []


def test_an_empty_directory_is_filled_and_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d").chmod(0o2750)
    with stage(tmp_path / "d") as staging:
        staging.publish()
    assert (tmp_path / "d").stat().st_mode & 0o7777 == 0o2750


def test_an_empty_directory_is_still_there_after_a_failure(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(ValueError), stage(tmp_path / "d"):
        raise ValueError
    assert list_names(tmp_path) == ["d"]


def test_whatever_else_is_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/f").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "dangling").symlink_to("nope")
    names = list_names(tmp_path)
    for name in ("file", "full", "link", "dangling", "file/below", "empty/.."):
        with pytest.raises(InvalidInput), stage(tmp_path / name):
            pass
    assert list_names(tmp_path) == names


def test_a_link_above_the_destination_may_be_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with stage(tmp_path / "link/d") as staging:
        staging.publish()
    assert list_names(tmp_path / "real") == ["d"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from verdog_objects.staging import stage
with stage(Path(sys.argv[1])) as staging:
    (staging.path / "f").write_bytes(b"x")
    print(staging.path.name, flush=True)
    if sys.argv[2] == "die":
        os._exit(0)
"""


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    name = run_script(_KILLED, str(tmp_path / "d"), "die").strip()
    assert list_names(tmp_path) == [name]
    with stage(tmp_path / "d") as staging:
        staging.publish()
    assert list_names(tmp_path) == ["d"]


def test_what_was_left_for_another_destination_is_removed_too(tmp_path: Path) -> None:
    run_script(_KILLED, str(tmp_path / "other"), "die")
    with stage(tmp_path / "d") as staging:
        staging.publish()
    assert list_names(tmp_path) == ["d"]


def test_what_only_looks_like_something_left_behind_stays(tmp_path: Path) -> None:
    names = [
        ".verdog-partial",
        ".verdog-partial-mine",
        f".verdog-partial-{'0' * 16}-{'1' * 8}.bak",
        f".verdog-partial-{'G' * 16}-{'1' * 8}",
        f"x.verdog-partial-{'0' * 16}-{'1' * 8}",
    ]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / f".verdog-partial-{'2' * 16}-{'3' * 8}").touch()
    (tmp_path / f".verdog-partial-{'4' * 16}-{'5' * 8}").symlink_to(tmp_path)
    before = list_names(tmp_path)
    with stage(tmp_path / "d") as staging:
        staging.publish()
    assert sorted(list_names(tmp_path)) == sorted([*before, "d"])


@pytest.mark.root
def test_what_another_user_left_behind_stays(tmp_path: Path) -> None:
    name = run_script(_KILLED, str(tmp_path / "other"), "die").strip()
    os.chown(tmp_path / name, NOBODY, NOBODY)
    with stage(tmp_path / "d") as staging:
        staging.publish()
    assert sorted(list_names(tmp_path)) == sorted([name, "d"])


_KILLED_AT = """
import os, sys
from pathlib import Path
from verdog_objects import durable
from verdog_objects.staging import stage

class Killer(durable.Disk):
    left = 0

    def __getattribute__(self, name):
        if not name.startswith("_") and name != "left":
            if self.left == 0:
                os._exit(9)
            self.left -= 1
        return super().__getattribute__(name)

for count in range(100):
    base = Path(sys.argv[1]) / str(count)
    child = os.fork()
    if child == 0:
        killer = Killer()
        killer.left = count
        with durable.replaced(killer), stage(base / "x" / "d") as staging:
            (staging.path / "f").write_bytes(b"x")
            staging.publish()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code)
    if code == 0:
        break
"""


def test_killed_at_any_operation_the_directory_is_whole_or_absent_and_the_next_try_works(
    tmp_path: Path,
) -> None:
    codes = run_script(_KILLED_AT, str(tmp_path)).split()
    assert codes[-1] == "0"
    assert set(codes[:-1]) == {"9"}
    assert len(codes) > 5
    for count in range(len(codes)):
        destination = tmp_path / str(count) / "x" / "d"
        where = f"killed before operation {count} of {len(codes)}"
        if destination.exists():
            assert list_names(destination) == ["f"], where
        else:
            with stage(destination) as staging:
                staging.publish()
        assert list_names(destination.parent) == ["d"], where


def test_what_a_living_process_is_filling_is_left_alone(tmp_path: Path) -> None:
    with stage(tmp_path / "d") as first:
        (first.path / "f").write_bytes(b"x")
        with stage(tmp_path / "d") as second:
            assert list_names(first.path) == ["f"]
            second.publish()
        with pytest.raises(Unavailable):
            (tmp_path / "d/g").touch()
            first.publish()
    assert list_names(tmp_path / "d") == ["g"]


def test_trees_with_closed_directories_are_removed() -> None:
    with unprivileged() as directory:
        (directory / "t/a/b").mkdir(parents=True)
        (directory / "t/a/b/f").write_bytes(b"x")
        (directory / "t/link").symlink_to(directory)
        (directory / "t/a/b").chmod(0o555)
        (directory / "t/a").chmod(0)
        remove_tree(directory / "t")
        assert list_names(directory) == []


def test_the_tree_is_synced_before_it_gets_its_name_and_the_name_after(tmp_path: Path) -> None:
    steps: list[str] = []

    class Recorder(durable.Disk):
        def syncfs(self, fd: int) -> None:
            steps.append("sync tree")

        def rename(self, source: Path, target: Path) -> None:
            steps.append("rename")
            super().rename(source, target)

        def fsync(self, fd: int) -> None:
            steps.append("sync parent" if os.fstat(fd).st_ino == tmp_path.stat().st_ino else "sync")

    with durable.replaced(Recorder()), stage(tmp_path / "d") as staging:
        staging.publish()
    assert steps == ["sync tree", "rename", "sync parent"]


def test_a_failure_to_sync_leaves_nothing(tmp_path: Path) -> None:
    class Full(durable.Disk):
        def syncfs(self, fd: int) -> None:
            raise OSError(28, "No space left on device")

    with (
        durable.replaced(Full()),
        pytest.raises(Unavailable, match="No space"),
        stage(tmp_path / "d") as staging,
    ):
        (staging.path / "f").write_bytes(b"x")
        staging.publish()
    assert list_names(tmp_path) == []

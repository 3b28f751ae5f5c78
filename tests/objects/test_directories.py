# Names are bytes here, which pathlib does not take.
# ruff: noqa: PTH208
import os
import resource
from pathlib import Path

import pytest

from verdog_objects.directories import Descent
from verdog_objects.errors import InvalidInput, NotFound


def identify(path: Path) -> int:
    return path.stat().st_ino


def test_directories_are_reached_in_any_order(tmp_path: Path) -> None:
    names = ["a", "a/b", "a/b/c", "a/d", "e", "e/f"]
    for name in names:
        (tmp_path / name).mkdir()
    with Descent(tmp_path) as descent:
        for name in [*names, *reversed(names), "a/b/c", "e/f", "a/d"]:
            assert os.fstat(descent.open(name.encode())).st_ino == identify(tmp_path / name)
        assert os.fstat(descent.open(b"")).st_ino == identify(tmp_path)


def test_a_link_on_the_way_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    with Descent(tmp_path) as descent:
        for path in (b"link", b"link/inner"):
            with pytest.raises(OSError):
                descent.open(path)
        assert os.fstat(descent.open(b"real/inner")).st_ino == identify(tmp_path / "real/inner")


def test_it_goes_on_after_a_directory_that_is_absent(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with Descent(tmp_path) as descent:
        with pytest.raises(FileNotFoundError):
            descent.open(b"a/x/y")
        assert os.fstat(descent.open(b"a/b")).st_ino == identify(tmp_path / "a/b")
        assert os.fstat(descent.open(b"a")).st_ino == identify(tmp_path / "a")


def test_a_tree_deeper_than_the_limit_of_open_files_is_walked(tmp_path: Path) -> None:
    depth = 300
    paths = [b"/".join([b"d"] * level) for level in range(1, depth + 1)]
    with Descent(tmp_path) as descent:
        for path in paths:
            parent, _, name = path.rpartition(b"/")
            os.mkdir(name, dir_fd=descent.open(parent))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 90, hard))
    try:
        with Descent(tmp_path) as descent:
            down = [os.fstat(descent.open(path)).st_ino for path in paths]
            up = [os.fstat(descent.open(path)).st_ino for path in reversed(paths)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert down == up[::-1]
    assert len(set(down)) == depth


def test_every_descriptor_is_closed(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    before = os.listdir("/proc/self/fd")
    with Descent(tmp_path) as descent:
        descent.open(b"a/b/c")
        with pytest.raises(FileNotFoundError):
            descent.open(b"a/b/x")
        descent.open(b"a/b/c")
    assert os.listdir("/proc/self/fd") == before


def test_a_root_that_is_absent_or_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Descent(tmp_path / "absent")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput):
        Descent(tmp_path / "file")

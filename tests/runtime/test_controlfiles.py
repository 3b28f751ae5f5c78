import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runtime.graphs import loop_graph, workflow
from tests.runtime.recorded import fail_in, resume, run
from verdog_objects.errors import InvalidInput
from verdog_runtime.controlfiles import open_control_file, read_control_file
from verdog_runtime.runs import RunStoreError

CONTROL_FILES = [
    "out/.verdog/checkpoints/index.jsonl",
    "out/trace.log",
    "out/.verdog/lock",
]


def put_link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def put_dangling_link(path: Path, target: Path) -> None:
    path.symlink_to(target.with_name("nowhere"))


def put_fifo(path: Path, target: Path) -> None:
    os.mkfifo(path)


def put_directory(path: Path, target: Path) -> None:
    path.mkdir()


def put_socket(path: Path, target: Path) -> None:
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as sock:
        try:
            os.chdir(path.parent)
            sock.bind(path.name)
        finally:
            os.chdir(here)


Put = Callable[[Path, Path], None]
OTHERS: list[Put] = [put_link, put_dangling_link, put_fifo, put_directory, put_socket]


@pytest.mark.parametrize("put", OTHERS)
def test_something_else_under_the_name_of_a_control_file_is_refused_at_once(tmp_path: Path, put: Put) -> None:
    (tmp_path / "target").write_bytes(b"mine")
    put(tmp_path / "file", tmp_path / "target")
    for flags in (os.O_RDONLY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, os.O_RDWR | os.O_CREAT):
        with pytest.raises(InvalidInput, match="no regular file"):
            open_control_file(tmp_path / "file", flags)
    assert (tmp_path / "target").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_control_file_that_is_absent_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_control_file(tmp_path / "file")


@pytest.mark.parametrize("put", OTHERS)
@pytest.mark.parametrize("name", CONTROL_FILES)
def test_a_resumption_neither_follows_nor_waits_for_what_took_the_place_of_a_control_file(
    tmp_path: Path, name: str, put: Put
) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(tmp_path, workflow(loop_graph(fail_in(2))), 2)
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    (tmp_path / name).unlink()
    put(tmp_path / name, target)
    with pytest.raises((InvalidInput, RunStoreError)) as caught:
        resume(tmp_path, workflow(loop_graph()))
    assert (tmp_path / name).name in str(caught.value)
    if name.endswith(".verdog/lock"):
        assert caught.value.code == "run.lock_invalid"  # type: ignore[union-attr]
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize("put", OTHERS)
def test_what_took_the_place_of_the_registry_s_lock_is_not_in_the_way_of_a_run(
    tmp_path: Path, put: Put, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(tmp_path, workflow(loop_graph(fail_in(2))), 2)
    target, lock = tmp_path / "target", tmp_path / ".verdog/locks/run-registry.lock"
    target.write_bytes(b"mine")
    lock.unlink()
    put(lock, target)
    assert resume(tmp_path, workflow(loop_graph())).output == 2
    assert "run-registry.lock is no regular file" in caplog.text
    assert target.read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", [".verdog", ".verdog/checkpoints"])
def test_a_control_directory_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(tmp_path, workflow(loop_graph(fail_in(2))), 2)
    (tmp_path / "out" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "out" / name).symlink_to(tmp_path / "elsewhere")
    before = {path: path.read_bytes() for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()}
    with pytest.raises(RunStoreError, match="symbolic link") as caught:
        resume(tmp_path, workflow(loop_graph()))
    assert caught.value.code == "run.control_invalid"
    assert {
        path: path.read_bytes() for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()
    } == before

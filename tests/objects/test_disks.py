from pathlib import Path

import pytest

from verdog_objects.disks import inspect_disk, measure_sync
from verdog_objects.errors import Unavailable


def test_a_disk_is_what_the_system_says(tmp_path: Path) -> None:
    disk = inspect_disk(tmp_path)
    assert disk.device == tmp_path.stat().st_dev
    assert disk.writable and not disk.frozen
    assert 0 < disk.free_bytes <= disk.size_bytes
    assert disk.longest_name >= 255 and disk.longest_path >= 1024
    assert [*tmp_path.iterdir()] == []


def test_memory_is_called_so() -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("there is no /dev/shm")
    disk = inspect_disk(Path("/dev/shm"))
    assert (disk.type, disk.reflinks, disk.network) == ("tmpfs", False, False)


def test_a_disk_that_cannot_be_written_is_not_tried() -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("there is no /proc")
    disk = inspect_disk(Path("/proc"))
    assert disk.type == "proc"
    with pytest.raises(Unavailable):
        measure_sync(Path("/proc"))


def test_syncs_are_measured_and_leave_nothing(tmp_path: Path) -> None:
    taken = measure_sync(tmp_path, count=5)
    assert len(taken) == 5 and taken == sorted(taken) and taken[0] > 0
    assert [*tmp_path.iterdir()] == []


def test_what_is_not_there_has_no_disk(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        inspect_disk(tmp_path / "absent")

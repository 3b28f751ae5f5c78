from pathlib import Path

import pytest

from verdog_objects import filesystems

MOUNTS = rb"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:5 / /proc rw - proc proc rw
40 22 0:50 /share /mnt/my\040share rw - nfs4 host:/share rw,vers=4.2
41 40 0:51 / /mnt/my\040share/local rw master:3 - tmpfs tmpfs rw
42 22 0:52 / /home/a rw - fuse.sshfs a@b:/ rw
43 22 0:53 / /home/b rw - fuse.encfs encfs rw
44 22 0:54 / /home/c rw - tmpfs x rw
45 22 0:55 / /home/c rw - cifs //x/y rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "network"),
    [
        (b"/", False),
        (b"/mnt", False),
        (b"/mnt/my share", True),
        (b"/mnt/my share/deep/er", True),
        (b"/mnt/my shared", False),
        (b"/mnt/my share/local/x", False),
        (b"/home/a/x", True),
        (b"/home/ab", False),
        (b"/home/b", False),
        (b"/home/c", True),
    ],
)
def test_the_innermost_and_latest_mount_decides(path: bytes, network: bool) -> None:
    assert filesystems.is_network_type(filesystems.find_type(path, MOUNTS)) is network


def test_a_local_directory_is_neither_remote_nor_read_only(tmp_path: Path) -> None:
    assert not filesystems.is_network(tmp_path)
    assert filesystems.is_writable(tmp_path)
    assert not filesystems.is_writable(tmp_path / "missing")

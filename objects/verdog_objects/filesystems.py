"""What kind of file system a path is on."""

import os
from pathlib import Path

NETWORK_TYPES = frozenset(
    {
        "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre",
        "ncpfs", "nfs", "nfs4", "orangefs", "pvfs2", "smb2", "smb3", "smbfs", "virtiofs", "wekafs",
    }
)  # fmt: skip

_NETWORK_FUSE = frozenset(
    {
        "ceph", "curlftpfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "juicefs", "mfs", "moosefs",
        "quobyte", "rclone", "s3fs", "s3ql", "seaweedfs", "smbnetfs", "sshfs",
    }
)  # fmt: skip


def is_writable(directory: Path) -> bool:
    """Return whether names in a directory may be changed by this process."""
    return os.access(directory, os.W_OK | os.X_OK)


def is_frozen(directory: Path) -> bool:
    """Return whether a directory's file system is mounted for reading only."""
    return bool(os.statvfs(directory).f_flag & os.ST_RDONLY)


def is_network(path: Path) -> bool:
    """Return whether a path is on a file system that other hosts may change; False where unknown."""
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return False
    return is_network_type(find_type(os.fsencode(path.resolve()), mounts))


def is_network_type(name: str) -> bool:
    """Return whether a file system type is one that reaches over a network."""
    base, _, driver = name.partition(".")
    return base in NETWORK_TYPES or (base == "fuse" and driver in _NETWORK_FUSE)


def find_type(path: bytes, mounts: bytes) -> str:
    """Return the type of the file system that a resolved path is on, from the text of a mountinfo file."""
    best, found = b"", ""
    for line in mounts.splitlines():
        head, _, tail = line.partition(b" - ")
        fields, types = head.split(b" "), tail.split(b" ")
        if len(fields) < 5 or not types[0]:
            continue
        point = _unescape(fields[4])
        below = point if point.endswith(b"/") else point + b"/"
        if (path == point or path.startswith(below)) and len(point) >= len(best):
            best, found = point, types[0].decode(errors="replace")
    return found


def _unescape(text: bytes) -> bytes:
    for escaped, plain in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        text = text.replace(escaped, plain)
    return text

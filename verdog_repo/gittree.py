"""Git trees: the directories of a commit, changed path by path, written as Git has them."""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from verdog_objects.errors import Corrupt

FILE_MODE: Final = b"100644"
PROGRAM_MODE: Final = b"100755"
LINK_MODE: Final = b"120000"
_DIRECTORY_MODE: Final = b"40000"
_ID_BYTES: Final = 20

Verdict = Literal["fine", "attributes", "refused"]

_RESERVED: Final = re.compile(
    r"(?:(?P<name>\.git|\.gitmodules|\.gitattributes)"
    r"|(?P<short>git|gitmod|gitatt)~[0-9]+"
    r"|(?=.{8}[. ]*(?:[:\\]|$))(?:g(?:i(?:7(?:e(?:ba?)?|d(?:29?)?)?)?)?)?~[1-9][0-9]*)"
    r"[. ]*(?:[:\\].*)?",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
"""The names that `git fsck` looks at, as any file system would read them: `.git`, `GIT~1`, `.git. .`."""

_INVISIBLE: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_MALFORMED: Final = re.compile("[\udc80-\udcff\ufffe\uffff].*", re.DOTALL)
_ATTRIBUTES: Final = frozenset((".gitattributes", "gitatt"))
_ATTRIBUTE_LINE_BYTES: Final = 2048


def judge_name(name: bytes) -> Verdict:
    """Return what `git fsck` says to a name in a tree.

    `refused` are `.git` and `.gitmodules` in every spelling that some file system takes for them. What is
    spelled like `.gitattributes` may only hold what `can_be_attributes` allows.
    """
    text = name.decode("utf-8", "surrogateescape")
    shown = _MALFORMED.sub("", _INVISIBLE.sub("", text))
    found = "fine"
    for part in (shown, *text.split("\\")):
        match = _RESERVED.fullmatch(part)
        if match is None:
            continue
        if (match["name"] or match["short"] or "").lower() not in _ATTRIBUTES:
            return "refused"
        found = "attributes"
    return found


def can_be_attributes(content: bytes) -> bool:
    """Return whether `git fsck` accepts a `.gitattributes` of this content."""
    return all(len(line) < _ATTRIBUTE_LINE_BYTES for line in content.split(b"\n"))


@dataclass(slots=True)
class Directory:
    """One directory of a commit. Those that were written are never changed again, and shared by commits.

    Attributes:
        keys: what the entries are sorted by: their names, a directory's with a `/` behind it.
        lines: the entries as the tree object has them.
        below: the directories in it that were needed so far, by name.
        name: the id of the tree object; empty before it was written.
    """

    keys: list[bytes] = field(default_factory=list[bytes])
    lines: list[bytes] = field(default_factory=list[bytes])
    below: "dict[bytes, Directory]" = field(default_factory=dict["bytes", "Directory"])
    name: bytes = b""

    def find(self, key: bytes) -> bytes | None:
        """Return the line of a key, or None."""
        index = bisect_left(self.keys, key)
        return self.lines[index] if index < len(self.keys) and self.keys[index] == key else None

    def put(self, key: bytes, line: bytes) -> None:
        """Set the line of a key."""
        index = bisect_left(self.keys, key)
        if index < len(self.keys) and self.keys[index] == key:
            self.lines[index] = line
        else:
            self.keys.insert(index, key)
            self.lines.insert(index, line)

    def remove(self, name: bytes) -> None:
        """Remove what has a name, file or directory."""
        self.below.pop(name, None)
        for key in (name, name + b"/"):
            index = bisect_left(self.keys, key)
            if index < len(self.keys) and self.keys[index] == key:
                del self.keys[index], self.lines[index]


def parse_tree(raw: bytes) -> Directory:
    """Return the directory of a tree object. Raises `Corrupt` when it is none."""
    found = Directory()
    start = 0
    while start < len(raw):
        space = raw.find(b" ", start)
        end = raw.find(b"\0", space) + 1
        stop = end + _ID_BYTES
        if space < 0 or end == 0 or stop > len(raw):
            raise Corrupt("a tree of the Git repository is cut off")
        name = raw[space + 1 : end - 1]
        found.keys.append(name + b"/" if raw[start:space] == _DIRECTORY_MODE else name)
        found.lines.append(raw[start:stop])
        start = stop
    return found


@dataclass(slots=True)
class Edit:
    """The files of one commit, made from those of the one before.

    Attributes:
        root: the top directory of the commit before.
        read: returns the bytes of a tree object by its id.
        write: takes the bytes of a tree, with id and bytes of what it replaces, and returns the new id.
        empty: the paths of changed directories that are empty; Git has none, so they are left out.
    """

    root: Directory
    read: Callable[[bytes], bytes]
    write: Callable[[bytes, "Directory | None"], bytes]
    empty: list[bytes] = field(default_factory=list[bytes])
    _before: dict[bytes, Directory] = field(default_factory=dict["bytes", "Directory"])
    _changed: dict[bytes, Directory] = field(default_factory=dict["bytes", "Directory"])

    def __post_init__(self) -> None:
        self._open_copy(b"", self.root)

    def put(self, path: bytes, mode: bytes, name: bytes) -> None:
        """Set a file or link: its mode and the id of its blob."""
        parent, _, last = path.rpartition(b"/")
        directory = self._make(parent)
        if path in self._changed or directory.find(last + b"/") is not None:
            self._drop(path, directory, last)
        directory.put(last, b"%b %b\0%b" % (mode, last, name))

    def make_directory(self, path: bytes) -> None:
        """Have a directory, which is written only if something is put below it."""
        self._make(path)

    def remove(self, path: bytes) -> None:
        """Remove a file, or a directory with all below it, if it is there."""
        parent, _, last = path.rpartition(b"/")
        directory = self._find(parent)
        if directory is not None:
            self._drop(path, directory, last)

    def finish(self) -> Directory:
        """Write what changed, the innermost first, and return the top directory."""
        for path in sorted(self._changed, key=lambda each: each.count(b"/"), reverse=True):
            if path:
                self._finish_one(path)
        root = self._changed[b""]
        root.name = self.write(b"".join(root.lines), self._before.get(b""))
        return root

    def _finish_one(self, path: bytes) -> None:
        directory = self._changed[path]
        parent, _, last = path.rpartition(b"/")
        above = self._changed[parent]
        if not directory.keys:
            self.empty.append(path)
            above.remove(last)
            return
        directory.name = self.write(b"".join(directory.lines), self._before.get(path))
        above.below[last] = directory
        above.put(last + b"/", b"%b %b\0%b" % (_DIRECTORY_MODE, last, directory.name))

    def _drop(self, path: bytes, directory: Directory, last: bytes) -> None:
        directory.remove(last)
        if path not in self._changed:
            return
        inside = path + b"/"
        for each in [each for each in self._changed if each == path or each.startswith(inside)]:
            del self._changed[each]

    def _find(self, path: bytes) -> Directory | None:
        """Return a directory, to be changed, or None when there is none."""
        return self._changed.get(path) or self._descend(path, make=False)

    def _make(self, path: bytes) -> Directory:
        """Return a directory, to be changed, and make it and what is above it where there is none."""
        found = self._changed.get(path) or self._descend(path, make=True)
        assert found is not None
        return found

    def _descend(self, path: bytes, *, make: bool) -> Directory | None:
        here, at = self._changed[b""], b""
        for part in path.split(b"/"):
            at = at + b"/" + part if at else part
            found = self._changed.get(at)
            if found is None:
                before = self._load(here, part)
                if before is not None:
                    found = self._open_copy(at, before)
                elif make:
                    here.remove(part)
                    found = self._changed[at] = Directory()
                else:
                    return None
            here = found
        return here

    def _load(self, directory: Directory, name: bytes) -> Directory | None:
        known = directory.below.get(name)
        if known is None:
            line = directory.find(name + b"/")
            if line is None:
                return None
            known = parse_tree(self.read(line[-_ID_BYTES:]))
            known.name = line[-_ID_BYTES:]
        return known

    def _open_copy(self, path: bytes, before: Directory) -> Directory:
        if before.name:
            self._before[path] = before
        copy = Directory([*before.keys], [*before.lines], {**before.below})
        self._changed[path] = copy
        return copy


def encode_delta(base: bytes, target: bytes) -> bytes:
    """Return a delta that makes one tree of another: the same beginning, what is new, the same end."""
    limit = min(len(base), len(target))
    start = _common_length(lambda low, high: base[low:high] == target[low:high], limit)
    ends = len(base), len(target)
    tail = _common_length(
        lambda low, high: base[ends[0] - high : ends[0] - low] == target[ends[1] - high : ends[1] - low],
        limit - start,
    )
    delta = bytearray(_encode_size(len(base)) + _encode_size(len(target)))
    _copy(delta, 0, start)
    for position in range(start, len(target) - tail, _INSERT_BYTES):
        piece = target[position : min(position + _INSERT_BYTES, len(target) - tail)]
        delta.append(len(piece))
        delta += piece
    _copy(delta, len(base) - tail, tail)
    return bytes(delta)


_INSERT_BYTES: Final = 127
_COPY_BYTES: Final = 0xFFFF


def _copy(delta: bytearray, offset: int, size_bytes: int) -> None:
    while size_bytes:
        length = min(size_bytes, _COPY_BYTES)
        delta.append(0xBF)  # four bytes of offset and two of length follow
        delta += offset.to_bytes(4, "little") + length.to_bytes(2, "little")
        offset += length
        size_bytes -= length


def _common_length(agrees: Callable[[int, int], bool], limit: int) -> int:
    """Return the greatest length up to a limit at which two texts agree."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if agrees(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _encode_size(size_bytes: int) -> bytes:
    out = bytearray()
    while size_bytes >= 0x80:
        out.append(size_bytes & 0x7F | 0x80)
        size_bytes >>= 7
    out.append(size_bytes)
    return bytes(out)

"""The names in an exported Git repository: branches, tags, and `HEAD`.

All branches and tags are one file, `packed-refs`, which is replaced in one step; only symbolic names are
files of their own. Names that verdog did not make are kept as they are.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from verdog_objects import durable
from verdog_objects.errors import Busy
from verdog_repo.names import CommitId

HEADS: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
UNBORN: Final = "refs/heads/main"
"""What `HEAD` names while there is no branch."""

FILE_MODE: Final = 0o644
_PACKED: Final = "packed-refs"
_HEADER: Final = "# pack-refs with: peeled fully-peeled sorted \n"
_LINE: Final = re.compile(r"([0-9a-f]{40}) (refs/\S+)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What an export names.

    Attributes:
        commits: branches and tags, with their whole names, and where they point.
        symbolic: names that stand for a branch.
    """

    commits: Mapping[str, CommitId]
    symbolic: Mapping[str, str]


def read_names(directory: Path) -> dict[str, CommitId]:
    """Return the branches and tags of a repository that point at a commit."""
    found = {name: CommitId(bytes.fromhex(line[:40])) for name, line in _read_packed(directory).items()}
    for path in _iter_loose(directory):
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text("ascii").strip()
            if len(text) == 40:
                found[path.relative_to(directory).as_posix()] = CommitId(bytes.fromhex(text))
    return found


def write_names(directory: Path, names: Names, *, obsolete: Iterable[str] = ()) -> bool:
    """Give names to commits that the repository has, and return whether anything changed.

    Args:
        directory: the repository.
        names: what is to be named. Other names stay.
        obsolete: names to remove.

    Raises:
        Busy: Git is changing names, or was killed while it did.

    Durability: once the call returned; before, each name has its old meaning or its new one.
    """
    obsolete = set(obsolete) - names.commits.keys() - names.symbolic.keys()
    before = _read_packed(directory)
    after = {name: line for name, line in before.items() if name not in obsolete | names.symbolic.keys()}
    after |= {
        name: f"{commit.hex()} {name}\n"
        for name, commit in names.commits.items()
        if before.get(name, "")[:40] != commit.hex()
    }
    changed = after != before
    if changed:
        if (directory / f"{_PACKED}.lock").exists():
            raise Busy(f"{directory / _PACKED}.lock: Git is changing names there, or was killed doing so")
        lines = [line for _, line in sorted(after.items(), key=lambda each: _encode(each[0]))]
        durable.write_file(directory / _PACKED, _encode(_HEADER + "".join(lines)), FILE_MODE)
    for path in _iter_loose(directory):
        name = path.relative_to(directory).as_posix()
        if name in names.commits or name in obsolete:
            durable.unlink(path, missing_ok=True)
            changed = True
    for name, target in names.symbolic.items():
        changed |= _point(directory / name, target)
    return changed


def point_head(directory: Path, branch: str, branches: Iterable[str]) -> None:
    """Have `HEAD` name a branch, unless it names another one that exists.

    Durability: once the call returned.
    """
    current = ""
    with contextlib.suppress(OSError, ValueError):
        current = (directory / "HEAD").read_text("ascii").strip().removeprefix("ref: ")
    if current not in set(branches):
        _point(directory / "HEAD", branch)


def _point(path: Path, target: str) -> bool:
    data = f"ref: {target}\n".encode()
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return False
    durable.write_file(path, data, FILE_MODE)
    return True


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _iter_loose(directory: Path) -> list[Path]:
    found: list[Path] = []
    for kind in (HEADS, TAGS):
        with durable.translated(directory):
            found += sorted(
                path
                for path in (directory / kind).rglob("*")
                if not path.name.startswith(".") and path.is_file()
            )
    return found


def _read_packed(directory: Path) -> dict[str, str]:
    """Return the lines of each name: one with its id, and perhaps one with what a tag object stands for."""
    found: dict[str, str] = {}
    name = ""
    try:
        text = (directory / _PACKED).read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return found
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is not None:
            name = match[2]
            found[name] = line + "\n"
        elif line.startswith("^") and name:
            found[name] += line + "\n"
    return found

"""Source files: the authored code of a project, found on disk and among the loaded modules."""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_repo.filenames import format_filename, parse_filename
from verdog_runtime.fingerprint import SOURCE_DIRECTORY

_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_OWN_PACKAGES = ("verdog_objects", "verdog_repo", "verdog_runtime", "verdog_cli")
_IGNORED_DIRECTORIES = frozenset({"__pycache__", ".verdog", ".git"})
_BYTECODE = (".pyc", ".pyo")


class SourceFiles:
    """Finds authored files and remembers what each looked like when it was first seen."""

    def __init__(self, project: Path) -> None:
        """Look below a project's directory, which is given absolute."""
        self._roots = tuple(dict.fromkeys((f"{project}{os.sep}", f"{os.path.realpath(project)}{os.sep}")))
        self._project = str(project)
        self._foreign = tuple(_list_foreign())
        self._seen: set[str] = set()
        self.found: dict[str, Oid] = {}

    def add_tree(self) -> None:
        """Add every file in the project's source directory, following links, without byte code."""
        visited: set[str] = set()
        top = f"{self._project}{os.sep}{SOURCE_DIRECTORY}"
        for directory, directories, files in os.walk(top, followlinks=True):
            real = os.path.realpath(directory)
            if real in visited:
                directories.clear()
                continue
            visited.add(real)
            directories[:] = sorted(name for name in directories if not _is_ignored(name))
            for name in sorted(files):
                if not name.endswith(_BYTECODE):
                    self.add_file(f"{directory}{os.sep}{name}")

    def add_file(self, path: str) -> None:
        """Add a file, unless it lies outside the project or cannot be read."""
        relative = self._relate(path)
        if relative is None or relative in self.found:
            return
        try:
            self.found[relative] = compute_oid(Kind.BLOB, _read_regular(path))
        except OSError:
            return

    def add_named(self, relative: str) -> None:
        """Add a file by its path in the project."""
        self.add_file(f"{self._project}{os.sep}{parse_filename(relative).replace('/', os.sep)}")

    def add_modules(self) -> bool:
        """Add the files of the modules that were loaded since the last call, and return whether any are new.

        Cost: two dictionary lookups when no module was loaded.
        """
        modules = sys.modules
        if len(modules) == len(self._seen):
            return False
        names = set(modules)
        before = len(self.found)
        for name in names - self._seen:
            module = modules.get(name)
            file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
            if isinstance(file, str):
                self._add_module(file)
        self._seen = names
        return len(self.found) > before

    def _add_module(self, file: str) -> None:
        path = _make_absolute(file)
        if not path.startswith(self._roots) or any(part in path for part in _INSTALLED):
            return
        if not os.path.realpath(path).startswith(self._foreign):
            self.add_file(path)

    def _relate(self, path: str) -> str | None:
        for root in self._roots:
            if path.startswith(root):
                return format_filename(path[len(root) :].replace(os.sep, "/"))
        return None


def _make_absolute(path: str) -> str:
    """Return what `os.path.abspath` does; at once where nothing is to change, as for almost every module."""
    if path.startswith("/") and "//" not in path and "/." not in path and not path.endswith("/"):
        return path
    return os.path.abspath(path)  # noqa: PTH100


def _read_regular(path: str) -> bytes:
    """Read a file, without waiting for a pipe or a device that has its name."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as stream:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "no regular file")
        return stream.read()


def _is_ignored(name: str) -> bool:
    return name in _IGNORED_DIRECTORIES or name.endswith(".egg-info")


def _list_foreign() -> Iterator[str]:
    """Yield the directories whose modules nobody authored in the project: the interpreter's and our own."""
    for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix):
        yield os.path.realpath(prefix) + os.sep
    for name in _OWN_PACKAGES:
        module = sys.modules.get(name)
        for place in getattr(module, "__path__", ()):
            yield os.path.realpath(place) + os.sep

"""Locations: where in the author's code something was written, and the error that says so."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec

from verdog_objects.errors import InvalidInput

_OURS = __name__.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the author's code.

    Attributes:
        path: the file, as Python knows it.
        line: the line, counted from 1.
        module: the name of the module, which is `__main__` for a script.
    """

    path: str
    line: int
    module: str


class AuthoringError(InvalidInput):
    """A mistake in a workflow, reported where it was written.

    Attributes:
        path: the file, as Python knows it.
        line: the line, counted from 1.
        reason: the message without the location.
    """

    def __init__(self, location: Location, reason: str) -> None:
        super().__init__(f"{format_path(location.path)}:{location.line}: {reason}")
        self.path = location.path
        self.line = location.line
        self.reason = reason
        self._location = location

    def __reduce__(self) -> tuple[type["AuthoringError"], tuple[Location, str]]:
        """Pickle by what it was made from."""
        return type(self), (self._location, self.reason)


def locate_caller() -> Location:
    """Return the line of the nearest caller outside this package."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(_OURS):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno, _name_module(frame.f_globals))


def _name_module(namespace: Mapping[str, object]) -> str:
    """Return the name of a module; one that was run by `python -m` goes by the name it was run by."""
    name = str(namespace.get("__name__", ""))
    spec = namespace.get("__spec__")
    return spec.name if name == "__main__" and isinstance(spec, ModuleSpec) else name


def format_path(path: str) -> str:
    """Return a file's path relative to its project, or the name of what is no file as it is."""
    from verdog_repo.project import relate_to_project

    if path.startswith("<"):
        return path
    return relate_to_project(path)[1]

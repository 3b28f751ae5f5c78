"""Projects: the directory that owns a store, and how it is found."""

from pathlib import Path

from verdog_repo.filenames import format_filename

_STORE = (".verdog/store", ".verdog/config.toml")
_MARKERS = ("project.json", "pyproject.toml", ".git")


def find_project(start: Path) -> Path:
    """Return the project that a directory, or the directory of a file, belongs to.

    This is the nearest ancestor (the start included) that has a store or a configuration, else the nearest
    one that looks like the root of a project, else the start itself.

    Args:
        start: a directory, or a file in it. Symbolic links are resolved.

    Cost: a few lookups per ancestor; nothing is written.
    """
    here = start.resolve()
    if here.is_file():
        here = here.parent
    for names in (_STORE, _MARKERS):
        for directory in (here, *here.parents):
            if any((directory / name).exists() for name in names):
                return directory
    return here


def relate_to_project(file: Path | str) -> tuple[Path, str]:
    """Return the project of a file, and the file's POSIX path relative to it, as the store keeps it."""
    resolved = Path(file).resolve()
    project = find_project(resolved.parent)
    return project, format_filename(resolved.relative_to(project).as_posix())

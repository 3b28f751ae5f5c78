"""The main module: the name that types of `__main__` are stored under."""

import sys
from pathlib import Path

from verdog_repo.project import relate_to_project
from verdog_runtime.authoring.naming import format_file_package


def name_main_module() -> str | None:
    """Return the module name of the script that this process runs, or None when it runs none.

    It is the name that the same file gets when it is loaded by its path, so what a script stores can be read
    by a command that loads the file, and the other way round.
    """
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if not isinstance(file, str) or getattr(main, "__spec__", None) is not None:
        return None
    return format_file_package(relate_to_project(Path(file))[1])

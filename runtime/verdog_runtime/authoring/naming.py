"""Names: the legal package and module names of graphs that are written in ordinary Python files.

Ids must be made of lower-case entity ids, and must be the same in every process and on every machine. So

    file `flows/count-down.py` of a project  ->  package `verdog_file.flows.count_down_h<digest>`
    module `shop.flows`                      ->  package `verdog_module.shop.flows`
    workflow or subroutine `main` in either  ->  id `<package>.main`
    its `definition()`    ->  module `<package>.workflows.main`, `<package>.subroutines.main`

A part that is a legal entity id stays as it is. Any other is spelled with the characters that are legal, and
eight hexadecimal digits of its BLAKE3 hash tell it from its neighbours. A file that was loaded by
`verdog_runtime.sources` is itself the module `<package>`, so its classes travel by reference under that name.
A subroutine gets the package of the workflow that calls it, wherever it was written.
"""

import re

from blake3 import blake3

from verdog_runtime.authoring.location import Location
from verdog_runtime.declarations.ids import GraphId, is_valid_entity_id

FILE_PACKAGE = "verdog_file"
MODULE_PACKAGE = "verdog_module"
SUBROUTINES = "subroutines"
WORKFLOWS = "workflows"

_ILLEGAL = re.compile(r"[^a-z0-9]+")


def format_file_package(relative: str) -> str:
    """Return the package of a file, given its POSIX path relative to its project."""
    parts = relative.removesuffix(".py").split("/")
    return ".".join((FILE_PACKAGE, *map(format_part, parts)))


def format_module_package(module: str) -> str:
    """Return the package of the graphs that an importable module makes."""
    return ".".join((MODULE_PACKAGE, *map(format_part, module.split("."))))


def format_part(part: str) -> str:
    """Return a legal entity id for a name: the same for the same name, and another for any other name."""
    if is_valid_entity_id(part) and part not in (SUBROUTINES, WORKFLOWS):
        return part
    spelled = _ILLEGAL.sub("_", part.lower()).strip("_")
    if not spelled or not spelled[0].isalpha():
        spelled = f"n_{spelled}".rstrip("_")
    return f"{spelled}_h{blake3(part.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def choose_package(location: Location) -> str:
    """Return the package of a graph that is made at a location.

    A script that Python runs itself belongs to the same package as the file loaded by the command line.
    """
    if location.module == FILE_PACKAGE or location.module.startswith(f"{FILE_PACKAGE}."):
        return location.module
    if location.module != "__main__":
        return format_module_package(location.module or "unnamed")
    if location.path.startswith("<"):
        return format_module_package("interactive")
    from verdog_repo.project import relate_to_project

    return format_file_package(relate_to_project(location.path)[1])


def format_graph_id(package: str, name: str) -> GraphId:
    """Return the id of a graph or a workflow."""
    return GraphId(f"{package}.{name}")

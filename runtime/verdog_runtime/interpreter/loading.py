"""Loading: the definition that a module of a project makes."""

import importlib
import sys
from pathlib import Path
from typing import TypeVar, cast

from verdog_runtime.declarations.graph import (
    AnySubroutine,
    AnyWorkflow,
    SubroutineDefinition,
    WorkflowDefinition,
)
from verdog_runtime.declarations.ids import GraphId

_DefinitionT = TypeVar("_DefinitionT", AnySubroutine, AnyWorkflow)


def load_subroutine(project_root: Path, module: str, definition_id: GraphId) -> AnySubroutine:
    """Import a subroutine's module and return what its `definition()` returns.

    Puts `<project_root>/src` and `<project_root>` first in `sys.path`, unless they are in it. Nothing is
    cached here: importing is what Python makes of it.

    Raises:
        ValueError: `src` leads out of the project, or the definition has another id.
        TypeError: `definition` is not callable, or returns something else.
        ImportError: the module cannot be imported. Whatever it raises itself passes as it is.
    """
    loaded: AnySubroutine = _load(project_root, module, SubroutineDefinition)
    _require_id(module, loaded.graph.id, definition_id)
    return loaded


def load_workflow_definition(project_root: Path, module: str, definition_id: GraphId) -> AnyWorkflow:
    """Import a workflow's module and return what its `definition()` returns; see `load_subroutine`."""
    loaded: AnyWorkflow = _load(project_root, module, WorkflowDefinition)
    _require_id(module, loaded.id, definition_id)
    return loaded


def extend_import_path(project_root: Path) -> None:
    """Put a project's `src` and then the project itself first in `sys.path`, unless they are in it.

    Raises:
        ValueError: `src` leads out of the project.
    """
    root = project_root.resolve()
    source = root / "src"
    if not source.resolve().is_relative_to(root):
        raise ValueError(f"the source directory {source} leads out of the project")
    for entry in (str(root), str(source)):
        if entry not in sys.path:
            sys.path.insert(0, entry)


def _load(project_root: Path, module: str, expected: type[_DefinitionT]) -> _DefinitionT:
    extend_import_path(project_root)
    make = cast(object, getattr(importlib.import_module(module), "definition", None))
    if not callable(make):
        raise TypeError(f"module {module} has no callable definition")
    loaded = make()
    if not isinstance(loaded, expected):
        raise TypeError(
            f"definition() of module {module} must return a {expected.__name__}, "
            f"not an object of class {type(loaded).__qualname__}"
        )
    return loaded


def _require_id(module: str, found: GraphId, wanted: GraphId) -> None:
    if found != wanted:
        raise ValueError(f"module {module} defines {found!r}, not {wanted!r}")

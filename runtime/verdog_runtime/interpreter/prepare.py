"""Preparation: everything that can be refused before a run writes anything."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from verdog_objects.errors import InvalidInput
from verdog_objects.paths import escape_path
from verdog_repo.filenames import format_filename
from verdog_runtime.declarations.graph import AnyWorkflow, WorkflowDefinition
from verdog_runtime.declarations.operations import ParameterAddress
from verdog_runtime.interpreter.loading import load_subroutine
from verdog_runtime.interpreter.machine import Step, start
from verdog_runtime.interpreter.params import Registry, build_registry, find_params, normalize_project_path
from verdog_runtime.interpreter.plan import Plan, compile_plan
from verdog_runtime.interpreter.resources import bind_entry
from verdog_runtime.interpreter.state import initial_workflow_state
from verdog_runtime.interpreter.support import unsupported_operations
from verdog_runtime.interpreter.validation import validate_graph
from verdog_runtime.interpreter.visibility import require_visible
from verdog_runtime.layout import CONTROL_DIRECTORY

_OWN_FILES = ("store", "config.toml", "run.json")
"""What tells the private directory of a project or of a run from a directory that an author made."""


def prepare_plan(definition: AnyWorkflow, project_root: Path) -> Plan:
    """Load and validate a workflow's entry graph.

    Raises:
        ValueError: the entry is in another project, or the graph breaks a rule.
        TypeError: this is no workflow, the entry's module holds no such definition, or a state type, a
            profile or the configuration is unsuitable.
        InvalidInput: the graph has agent or call nodes, which cannot be executed yet.
    """
    if not isinstance(cast(object, definition), WorkflowDefinition):
        raise TypeError(
            f"a run needs a WorkflowDefinition, not an object of class {type(definition).__qualname__}"
        )
    entry = definition.entry
    if normalize_project_path(entry.project_path) != ".":
        raise ValueError(f"the entry of a workflow is in its own project, not in {entry.project_path!r}")
    require_visible(definition.id, entry.definition_id, workflow=definition.id)
    graph = load_subroutine(project_root, entry.definition_module, entry.definition_id).graph
    bind_entry(definition, graph)
    validate_graph(graph)
    unsupported = unsupported_operations(graph)
    if unsupported:
        raise InvalidInput(
            f"workflow {definition.id} cannot run yet: this version of verdog does not execute "
            f"{' and '.join(unsupported)}"
        )
    return compile_plan(graph)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that may begin.

    Attributes:
        begin: the machine's first step.
        registry: the parameters of every graph that the workflow declares some for.
    """

    begin: Step
    registry: Registry


def prepare_start(
    definition: AnyWorkflow,
    input: object,
    params: Mapping[ParameterAddress, object],
    *,
    project_root: Path,
    limit: int,
) -> Prepared:
    """Return the first step of a new run. Raises as `prepare_plan` and `build_registry` do."""
    plan = prepare_plan(definition, project_root)
    registry = build_registry(definition.params_types, params)
    begin = start(
        plan,
        input=input,
        params=find_params(registry, ".", plan.graph.id),
        state=initial_workflow_state(plan.graph),
        limit=limit,
    )
    return Prepared(begin=begin, registry=registry)


def require_vacant(output_dir: Path, project: Path) -> Path:
    """Return the resolved path of an output directory that is absent or empty.

    Args:
        output_dir: the directory.
        project: the project of the run.

    Raises:
        ValueError: it is a file, a directory that holds something, cannot be made where it is, or is where
            verdog keeps files of its own.
    """
    try:
        output = Path(output_dir).resolve()
        _require_outside_control_directory(output, project.resolve())
        if os.path.lexists(output):
            _require_empty(output)
        else:
            _require_parent(output)
    except (OSError, RuntimeError) as error:  # until Python 3.13, a loop of links is a RuntimeError
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"the output directory {output_dir} cannot be used: {reason}") from error
    return output


def _require_outside_control_directory(output: Path, project: Path) -> None:
    """Refuse the private directories of projects and runs. A visit's own `.verdog` is its author's."""
    for control in (output, *output.parents):
        if control.name != CONTROL_DIRECTORY:
            continue
        below = output.relative_to(control).parts
        if len(below) > 1 and below[0] == "runs":
            continue
        owned = control.parent == project or any(os.path.lexists(control / name) for name in _OWN_FILES)
        if owned or not below:
            raise InvalidInput(f"the output directory {output} is where verdog keeps files of its own")


def format_output_dir(output: Path, project: Path) -> str:
    """Return an output directory as a header stores it: relative to the project where it lies inside.

    Raises:
        ValueError: it cannot be stored, because it is no UTF-8.
    """
    root = project.resolve()
    text = output.relative_to(root).as_posix() if output.is_relative_to(root) else str(output)
    stored = format_filename(text)
    try:
        stored.encode()
    except UnicodeEncodeError as error:
        shown = escape_path(os.fsencode(output))
        raise InvalidInput(f"the output directory {shown} has a name that is no UTF-8 text") from error
    return stored


def _require_empty(output: Path) -> None:
    if not output.is_dir():
        raise InvalidInput(f"the output directory {output} is a file")
    with os.scandir(output) as entries:
        if next(entries, None) is not None:
            raise InvalidInput(f"the output directory {output} is not empty; name a new or empty one")


def _require_parent(output: Path) -> None:
    parent = next(each for each in output.parents if os.path.lexists(each))
    if not parent.is_dir():
        raise InvalidInput(f"the output directory {output} cannot be made: {parent} is not a directory")

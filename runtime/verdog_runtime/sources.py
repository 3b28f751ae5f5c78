"""Sources: where a workflow is written, found by what a person types and by what a run remembers."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

from verdog_objects.errors import Ambiguous, InvalidInput, NotFound
from verdog_repo.filenames import format_filename, parse_filename
from verdog_repo.project import find_project, relate_to_project
from verdog_repo.runs import SourceFile, SourceModule
from verdog_runtime.authoring import Workflow
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.graph import AnyWorkflow, WorkflowDefinition
from verdog_runtime.declarations.ids import ParameterAddress, is_valid_entity_id
from verdog_runtime.declarations.operations import ParameterType
from verdog_runtime.imports import explain_failure, import_file, import_named, is_file

Configure = Callable[[Any], WorkflowConfiguration]
AnyFlow = Workflow[Any, Any, Any]

_SEARCHED = 100

DEFINITION = "definition"
"""The name of the function by which a generated module gives its workflow."""


@dataclass(frozen=True, kw_only=True)
class LoadedWorkflow:
    """A workflow, ready to be configured and run.

    Attributes:
        project_root: the project it belongs to, absolute.
        source: where it is written, relative to the project.
        local_id: the name of its directory of runs.
        options_type: the class of its run-time options, or None when it has none.
        configure: turns options into invokers; None when there is nothing to choose.
        prog: what its usage text calls the command.
    """

    definition: AnyWorkflow
    project_root: Path
    source: SourceFile | SourceModule
    local_id: str
    options_type: type[Any] | None
    configure: Configure | None
    prog: str

    @property
    def params_types(self) -> Mapping[ParameterAddress, ParameterType]:
        """The types of the parameters of every graph it reaches in its process."""
        return self.definition.params_types


class ConfiguredWorkflow(NamedTuple):
    """What one run needs.

    Attributes:
        definition: the workflow with the invokers that were chosen.
    """

    definition: AnyWorkflow
    input: object
    params: Mapping[ParameterAddress, object]
    runtime_options: object


def load_workflow(text: str | None, *, cwd: Path, project: Path | None = None) -> LoadedWorkflow:
    """Return the workflow that a person named.

    Args:
        text: the local id of a generated project's workflow, `file.py[:name]` or `module[:name]`. None stands
            for the only root workflow of the generated project, or the one called `main`.
        cwd: the directory that relative files and modules are looked up in.
        project: the project of ids and modules; by default the one of `cwd`. A file has a project of its own.

    Raises:
        NotFound: nothing has that name; the message lists what there is.
        Ambiguous: it could be several.
        InvalidInput: what it names cannot be loaded, or is no workflow.
    """
    root = find_project(cwd) if project is None else project.resolve()
    if text is None:
        return _load_local(_choose_local(root), root)
    place, name = _split_name(text)
    if place.endswith(".py") or "/" in place:
        file = cwd / os.path.expanduser(place)  # noqa: PTH111
        if not is_file(file):
            raise NotFound(
                f"there is no file {place}{_list_choices('files with workflows', _find_files(file.parent))}"
            )
        home, relative = relate_to_project(file)
        return _load_file(home, relative, name)
    if name is None and place in list_local_ids(root):
        return _load_local(place, root)
    return _load_module(place, name, root, cwd)


def reload_workflow(source: SourceFile | SourceModule, project_root: Path) -> LoadedWorkflow:
    """Return the workflow that a run remembers, from where it is written now.

    Args:
        source: what the run recorded.
        project_root: the run's project, as it is here and now.

    Raises:
        NotFound: it is not there any more.
        InvalidInput: it cannot be loaded, or is no workflow any more.
    """
    root = project_root.resolve()
    if isinstance(source, SourceFile):
        file = (root / parse_filename(source.path)).resolve()
        if not file.is_relative_to(root):
            raise InvalidInput(f"the workflow file {source.path} leads out of the project {root}")
        return _load_file(root, format_filename(file.relative_to(root).as_posix()), source.name)
    return _load_module(source.module, source.name, root, None)


def configure_workflow(loaded: LoadedWorkflow, arguments: Sequence[str]) -> ConfiguredWorkflow:
    """Return what a run needs, with typed values made from the words of a command line.

    Raises:
        SystemExit: the words do not fit (2, usage on stderr), or ask for help (0).
        InvalidInput: the workflow's own `configure` failed.
    """
    from verdog_runtime.cli import parse_arguments

    parsed = parse_arguments(
        loaded.definition.input_type,
        tuple(arguments),
        params_types=loaded.params_types,
        runtime_options=loaded.options_type,
        prog=loaded.prog,
    )
    definition = loaded.definition
    if loaded.configure is not None:
        try:
            chosen = cast(object, loaded.configure(parsed.runtime))
        except Exception as error:
            raise explain_failure(error, "configure failed", loaded.project_root) from error
        if not isinstance(chosen, WorkflowConfiguration):
            raise InvalidInput(f"configure must return a WorkflowConfiguration, not {type(chosen).__name__}")
        definition = replace(definition, configuration=chosen)
    return ConfiguredWorkflow(definition, parsed.input, parsed.params, parsed.runtime)


def list_local_ids(project: Path) -> list[str]:
    """Return the local ids of the workflows of a generated project, in order; none if it is not one."""
    return sorted(_find_local(project))


# Generated projects.


def _choose_local(project: Path) -> str:
    found = list_local_ids(project)
    roots = [local for local in found if "__" not in local]
    if len(roots) == 1:
        return roots[0]
    if "main" in roots:
        return "main"
    if roots:
        raise Ambiguous(f"which workflow?{_list_choices('workflows', roots)}", candidates=roots)
    choices = _list_choices("files with workflows", _find_files(project))
    raise NotFound(f"{project} is not a generated project, so name a workflow: FILE.py or MODULE{choices}")


def _find_local(project: Path) -> dict[str, str]:
    """Return the module of each workflow of a generated project, by local id."""
    source = project / "src"
    packages = [_read_package(project)] if (project / "project.json").is_file() else []
    directories = [source.joinpath(*package.split(".")) for package in packages if package]
    if not directories:
        directories = sorted(path.parent for path in source.glob("*/*/workflows") if path.is_dir())
    return {
        local: ".".join((*directory.relative_to(source).parts, module))
        for directory in directories
        for local, module in _iter_local(directory, "", "")
    }


def _iter_local(directory: Path, owner: str, prefix: str) -> Iterator[tuple[str, str]]:
    for place in sorted(directory.glob("workflows/*/__init__.py")):
        name = place.parent.name
        if is_valid_entity_id(name):
            yield f"{owner}{name}", f"{prefix}workflows.{name}"
    for inner in sorted(directory.glob("subroutines/*/")):
        if is_valid_entity_id(inner.name):
            yield from _iter_local(inner, f"{owner}{inner.name}__", f"{prefix}subroutines.{inner.name}.")


def _read_package(project: Path) -> str:
    try:
        record = cast(object, json.loads((project / "project.json").read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{project / 'project.json'} cannot be read: {error}") from error
    package = cast("dict[str, object]", record).get("package") if isinstance(record, dict) else None
    return package if isinstance(package, str) else ""


def _load_local(local: str, project: Path) -> LoadedWorkflow:
    name = _find_local(project)[local]
    module = import_named(name, project)
    return replace(_read_generated(module, name, project), prog=f"verdog run {local} --")


def _read_generated(module: ModuleType, name: str, project: Path) -> LoadedWorkflow:
    """Return the workflow of a module as a generated project has it."""
    definition = _call_definition(module, name, project)
    options = cast(object, getattr(module, "RuntimeOptions", None))
    configure = cast(object, getattr(module, "configure", None))
    if not isinstance(options, type) or not callable(configure):
        raise InvalidInput(f"the module {name} needs a class RuntimeOptions and a function configure")
    local = definition.id.rpartition(".")[2]
    return LoadedWorkflow(
        definition=definition,
        project_root=project,
        source=SourceModule(module=name, name=DEFINITION),
        local_id=local,
        options_type=options,
        configure=cast(Configure, configure),
        prog=f"verdog run {name} --",
    )


def _call_definition(module: ModuleType, name: str, project: Path) -> AnyWorkflow:
    try:
        definition = cast(object, module.definition())
    except Exception as error:
        raise explain_failure(error, f"definition() of {name} failed", project) from error
    if not isinstance(definition, WorkflowDefinition):
        raise InvalidInput(f"definition() of {name} must return a WorkflowDefinition, not {definition!r}")
    return cast(AnyWorkflow, definition)


# Files and modules.


def _load_file(project: Path, relative: str, name: str | None) -> LoadedWorkflow:
    module = import_file(project / parse_filename(relative), project)
    chosen, flow = _choose_flow(module, name, relative)
    return _read_flow(flow, SourceFile(path=relative, name=chosen), project, f"{relative}:{chosen}")


def _load_module(module_name: str, name: str | None, project: Path, cwd: Path | None) -> LoadedWorkflow:
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise NotFound(f"{module_name!r} is no workflow, file or module{_list_known(project, cwd)}")
    try:
        module = import_named(module_name, project, cwd=cwd)
    except NotFound as error:
        raise NotFound(f"{error}{_list_known(project, cwd)}") from None
    if name in (None, DEFINITION) and callable(getattr(module, DEFINITION, None)):
        return _read_generated(module, module_name, project)
    chosen, flow = _choose_flow(module, name, module_name)
    return _read_flow(flow, SourceModule(module=module_name, name=chosen), project, f"{module_name}:{chosen}")


def _read_flow(flow: AnyFlow, source: SourceFile | SourceModule, project: Path, text: str) -> LoadedWorkflow:
    return LoadedWorkflow(
        definition=flow.definition(),
        project_root=project,
        source=source,
        local_id=flow.name,
        options_type=flow.draft.options_type,
        configure=flow.configure if flow.draft.options_type is not None else None,
        prog=f"verdog run {text} --",
    )


def _choose_flow(module: ModuleType, name: str | None, place: str) -> tuple[str, AnyFlow]:
    """Return one of a module's workflows, and the name by which it is found again.

    A name is that of the variable or, where no variable has it, the one the workflow was made with. Without a
    name, the workflows that the module makes itself come before those it imports.
    """
    found = _find_flows(module)
    if name is not None:
        return _choose_named(module, found, name, place)
    own = {key: flow for key, flow in found.items() if flow.draft.location.module == module.__name__}
    flows = {id(flow): (key, flow) for key, flow in reversed((own or found).items())}
    choices = sorted(key for key, _ in flows.values())
    if not flows:
        raise InvalidInput(f"{place} holds no workflow: it needs a variable that is a Workflow")
    if len(flows) > 1:
        message = (
            f"{place} holds several workflows{_list_choices('add one of', [f':{key}' for key in choices])}"
        )
        raise Ambiguous(message, candidates=[f"{place}:{key}" for key in choices])
    key, flow = next(iter(flows.values()))
    return _name_flow(found, key, flow), flow


def _find_flows(module: ModuleType) -> dict[str, AnyFlow]:
    variables = cast("dict[str, object]", vars(module))
    return {key: cast(AnyFlow, value) for key, value in variables.items() if isinstance(value, Workflow)}


def _choose_named(
    module: ModuleType, found: Mapping[str, AnyFlow], name: str, place: str
) -> tuple[str, AnyFlow]:
    if name in found:
        return _name_flow(found, name, found[name]), found[name]
    named = {id(flow): (key, flow) for key, flow in found.items() if flow.name == name}
    if len(named) > 1:
        candidates = sorted(key for key, _ in named.values())
        choices = _list_choices("they are", candidates)
        raise Ambiguous(f"{place} holds several workflows called {name!r}{choices}", candidates=candidates)
    if named:
        key, flow = next(iter(named.values()))
        return _name_flow(found, key, flow), flow
    choices = _list_choices("workflows", sorted(found))
    if hasattr(module, name):
        raise InvalidInput(f"{name!r} in {place} is no workflow{choices}")
    raise NotFound(f"there is no {name!r} in {place}{choices}")


def _name_flow(found: Mapping[str, AnyFlow], key: str, flow: AnyFlow) -> str:
    """Return the name that a run remembers: the workflow's own, unless that would find another one."""
    others = [other for name, other in found.items() if flow.name in (name, other.name) and other is not flow]
    return key if others else flow.name


def _split_name(text: str) -> tuple[str, str | None]:
    place, colon, name = text.rpartition(":")
    return (place, name) if colon and place and name.isidentifier() else (text, None)


def _find_files(directory: Path) -> list[str]:
    """Return the Python files of a directory that seem to hold workflows."""
    try:
        files = [file for file in sorted(directory.glob("*.py"))[:_SEARCHED] if file.is_file()]
        return [file.name for file in files if b"verdog_runtime.authoring" in file.read_bytes()]
    except OSError:
        return []


def _list_known(project: Path, cwd: Path | None) -> str:
    ids = list_local_ids(project)
    return _list_choices("workflows", ids) or _list_choices(
        "files with workflows", _find_files(cwd or project)
    )


def _list_choices(what: str, choices: Sequence[str]) -> str:
    return f"; {what}: {', '.join(choices)}" if choices else ""

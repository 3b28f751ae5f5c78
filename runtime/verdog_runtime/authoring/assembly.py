"""Assembly: the definitions of a workflow and of everything it calls, found by the modules that name them."""

import sys
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from types import ModuleType, NoneType
from typing import Any

from verdog_runtime.authoring.draft import AnyNode, Draft, DraftCall, Instance, check_graph
from verdog_runtime.authoring.location import AuthoringError
from verdog_runtime.authoring.naming import SUBROUTINES, WORKFLOWS, format_graph_id
from verdog_runtime.declarations.configuration import WorkflowConfiguration
from verdog_runtime.declarations.graph import NodeDefinition, SubroutineDefinition, WorkflowDefinition
from verdog_runtime.declarations.ids import AgentProfileId, AgentSessionId, ParameterAddress
from verdog_runtime.declarations.operations import ParameterType, SubroutineCall, WorkflowCall

HERE = "."
"""The project path of everything that a workflow in one file calls."""


class PlantedModule(ModuleType):
    """A module that exists in memory only, so that a definition can be found by name."""


def define_workflow(root: Draft, package: str) -> WorkflowDefinition[Any, Any, Any, object]:
    """Return a workflow's definition. All graphs that it can reach are defined in its package.

    The first call makes everything and plants its modules; later ones return the same object.

    Raises:
        AuthoringError: a graph breaks a rule or has a dead end, or two of them have the same name.
    """
    known = root.instances.get(package)
    if known is not None and known.workflow is not None:
        return known.workflow
    reached = _reach(root, isolated=True)
    _check_names(reached)
    for draft in reached:
        _check_visits(draft)
    instances = {draft.name: draft.instances.get(package) or _reserve(draft, package) for draft in reached}
    fresh = [draft for draft in reached if package not in draft.instances]
    for draft in fresh:
        _define(draft, instances, instances[draft.name])
    for draft in fresh:
        draft.instances[package] = instances[draft.name]
        _plant(draft, instances[draft.name])
    workflow = instances[root.name].workflow
    assert workflow is not None
    return workflow


def _reach(root: Draft, *, isolated: bool) -> list[Draft]:
    """Return a graph and the graphs it can reach, workflows in processes of their own included or not."""
    reached = [root]
    for draft in reached:
        for call in draft.calls.values():
            if (isolated or not call.callee.isolated) and call.callee not in reached:
                reached.append(call.callee)
    return reached


def _check_names(reached: Iterable[Draft]) -> None:
    first: dict[str, Draft] = {}
    for draft in reached:
        other = first.setdefault(draft.name, draft)
        if other is not draft:
            raise AuthoringError(
                draft.location,
                f"{draft.name!r} is also the name of what is made in {other.location}; "
                "a workflow and what it calls need different names",
            )


def _check_visits(draft: Draft) -> None:
    for edge in draft.edges.values():
        if edge.needs_visit and edge.make_visit is None:
            raise AuthoringError(
                edge.location, f"the edge {edge.id!r} has no visit: `on` decorates the function that is one"
            )


def _check_ways_on(draft: Draft) -> None:
    """Refuse a graph in which a run would come to a node that nothing can follow."""
    left = {edge.source for edge in draft.edges.values()}
    entered = {edge.target: edge for edge in draft.edges.values() if edge.target in draft.nodes}
    for node, edge in entered.items():
        if node not in left:
            lost = [f"{other!r}" for other in draft.nodes if other not in entered]
            raise AuthoringError(
                edge.location,
                f"no edge leaves {node!r}, so a run that comes here could not go on"
                + (f"; and no edge leads to {', '.join(lost)}" if lost else ""),
            )


def _reserve(draft: Draft, package: str) -> Instance:
    """Choose the modules of a definition: those of its id, or the next free ones if they are taken."""
    modules = [_free_module(f"{package}.{SUBROUTINES}.{draft.name}")]
    if draft.isolated:
        modules.append(_free_module(f"{package}.{WORKFLOWS}.{draft.name}"))
    return Instance(id=format_graph_id(package, draft.name), modules=tuple(modules))


def _free_module(name: str) -> str:
    candidate, number = name, 1
    while candidate in sys.modules:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _define(draft: Draft, instances: dict[str, Instance], instance: Instance) -> None:
    """Make the definitions of one graph.

    Its handles are its declarations. Only a call node names another graph by id, so in a second package it
    needs a declaration of its own; the handle becomes an alias of that.
    """
    nodes: list[AnyNode] = []
    for node in draft.nodes.values():
        call = draft.calls.get(node.id)
        if call is not None and isinstance(node, NodeDefinition):
            operation = _define_call(draft, call, instances)
            if draft.instances:
                handle, node = node, copy(node)
                instance.aliases[id(handle)] = node
            object.__setattr__(node, "operation", operation)
        nodes.append(node)
    edges = tuple(edge.define(instance.aliases) for edge in draft.edges.values())
    graph = draft.define_graph(instance.id, tuple(nodes), edges)
    check_graph(graph, draft.location)
    _check_ways_on(draft)
    instance.subroutine = SubroutineDefinition[Any, Any, Any, object](graph=graph)
    if draft.isolated:
        profiles = [profile.id for profile in draft.profile_parameters]
        instance.workflow = WorkflowDefinition[Any, Any, Any, object](
            id=instance.id,
            input_type=draft.input_type,
            entry=SubroutineCall(
                definition_id=instance.id,
                definition_module=instance.modules[0],
                params_types=_list_params(draft, instances),
                profile_arguments=dict(zip(profiles, profiles, strict=True)),
                session_arguments={},
            ),
            configuration=WorkflowConfiguration(profile_arguments=dict(draft.configuration)),
        )


def _define_call(
    draft: Draft, call: DraftCall, instances: dict[str, Instance]
) -> SubroutineCall | WorkflowCall:
    callee = instances[call.callee.name]
    if call.callee.isolated:
        return WorkflowCall(definition_id=callee.id, definition_module=callee.modules[1])
    profiles = [*draft.profile_parameters, *draft.profiles]
    sessions = [*draft.session_parameters, *draft.sessions]
    return SubroutineCall(
        definition_id=callee.id,
        definition_module=callee.modules[0],
        params_types=_list_params(call.callee, instances),
        profile_arguments={
            slot.id: AgentProfileId(_fill("profile", slot.id, call, call.profiles, {p.id for p in profiles}))
            for slot in call.callee.profile_parameters
        },
        session_arguments={
            slot.id: AgentSessionId(_fill("session", slot.id, call, call.sessions, {s.id for s in sessions}))
            for slot in call.callee.session_parameters
        },
    )


def _fill(kind: str, slot: str, call: DraftCall, given: Mapping[str, str], known: Collection[str]) -> str:
    """Return which of the caller's profiles or sessions fills a slot of the called graph."""
    argument = given.get(slot, slot)
    if argument not in known:
        raise AuthoringError(
            call.location,
            f"nothing fills {kind} {slot!r} of {call.callee.name!r}, and there is none of that name",
        )
    return argument


def _list_params(draft: Draft, instances: dict[str, Instance]) -> dict[ParameterAddress, ParameterType]:
    """Return the parameters' types of a graph and of the graphs it can reach in its process."""
    return {(HERE, instances[each.name].id): each.params_type for each in _reach(draft, isolated=False)}


def _plant(draft: Draft, instance: Instance) -> None:
    """Make a definition importable, under names that 3.5 of the interface accepts, without a file."""
    subroutine, workflow = instance.subroutine, instance.workflow
    definitions = dict(zip(instance.modules, (lambda: subroutine, lambda: workflow), strict=False))
    for name, definition in definitions.items():
        for parent in _list_parents(name):
            if parent not in sys.modules:
                sys.modules[parent] = _make_module(parent, {"__path__": []})
        namespace = {
            "definition": definition,
            "RuntimeOptions": draft.options_type or NoneType,
            "configure": draft.configure,
        }
        sys.modules[name] = _make_module(name, namespace)


def _make_module(name: str, namespace: Mapping[str, object]) -> ModuleType:
    module = PlantedModule(name)
    vars(module).update(namespace)
    return module


def _list_parents(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts)))

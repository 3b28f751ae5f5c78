"""Params: one value for each address that a workflow declares."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias, cast

from verdog_runtime.declarations.ids import GraphId, ParameterAddress
from verdog_runtime.declarations.operations import ParameterType

Registry: TypeAlias = Mapping[ParameterAddress, object]
"""Address -> the Params that every call of that graph shares."""


def build_registry(
    params_types: Mapping[ParameterAddress, ParameterType], params: Mapping[ParameterAddress, object]
) -> Registry:
    """Return a value for each declared address: the one given, or a new one of the declared type.

    Values are not checked against their types.

    Args:
        params_types: what the workflow declares.
        params: what the caller gives.

    Raises:
        TypeError: `params` is no mapping, a key is no address, or a default cannot be made (a note names the
            address).
        ValueError: a path is not inside the project, two keys are the same address, or an address that is
            given is not declared.
    """
    if not isinstance(cast(object, params), Mapping):
        raise TypeError(f"params must be a mapping from addresses to values, not {params!r}")
    types = _by_address(params_types)
    given = _by_address(params)
    unknown = [address for address in given if address not in types]
    if unknown:
        known = ", ".join(map(format_address, types)) or "none"
        names = ", ".join(map(format_address, unknown))
        raise ValueError(f"the workflow declares no params for {names}; it declares {known}")
    return MappingProxyType(
        {
            address: given[address] if address in given else _default(address, kind)
            for address, kind in types.items()
        }
    )


def require_declared(
    params_types: Mapping[ParameterAddress, ParameterType], registry: Registry, workflow: str
) -> None:
    """Refuse stored values whose addresses are not exactly those that a workflow declares.

    Raises:
        ValueError: naming each address that is missing or unknown.
    """
    declared = _by_address(params_types)
    missing = [format_address(each) for each in declared if each not in registry]
    extra = [format_address(each) for each in registry if each not in declared]
    parts = [
        f"{name} {', '.join(found)}"
        for name, found in (("without", missing), ("with unknown", extra))
        if found
    ]
    if parts:
        raise ValueError(
            f"the stored params do not fit workflow {workflow!r}: they are {' and '.join(parts)}"
        )


def find_params(registry: Registry, project_path: str, graph_id: GraphId) -> object:
    """Return the Params of one graph.

    Raises:
        ValueError: the workflow does not declare any for it.
    """
    address = (project_path, graph_id)
    if address not in registry:
        raise ValueError(f"the workflow declares no params for {format_address(address)}")
    return registry[address]


def normalize_address(address: object) -> ParameterAddress:
    """Return an address with its project path in the one form that is compared.

    Raises:
        TypeError: it is no pair of a text and a text that is not empty.
        ValueError: the path is absolute or has a `..`.
    """
    if isinstance(address, tuple) and len(cast("tuple[object, ...]", address)) == 2:
        path, graph = cast("tuple[object, object]", address)
        if isinstance(path, str) and isinstance(graph, str) and graph:
            return normalize_project_path(path), GraphId(graph)
    raise TypeError(f"a parameter address is (project path, graph id), not {address!r}")


def normalize_project_path(path: str) -> str:
    """Return a project path without empty and `.` parts; the project itself is `.`.

    Raises:
        ValueError: the path is absolute or has a `..`.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts:
        raise ValueError(f"a project path must stay inside the project, and {path!r} does not")
    return "/".join(parts) or "."


def compose_project_path(base: str, path: str) -> str:
    """Return a path that is relative to a project at `base` as one relative to the workflow's project.

    Raises:
        ValueError: the path is absolute or has a `..`.
    """
    return normalize_project_path(f"{base}/{normalize_project_path(path)}")


def format_address(address: ParameterAddress) -> str:
    """Return an address for people."""
    path, graph = address
    return str(graph) if path == "." else f"{graph} in {path}"


def _by_address(values: Mapping[ParameterAddress, object]) -> dict[ParameterAddress, object]:
    found: dict[ParameterAddress, object] = {}
    for address, value in _normalized(values.items()):
        if address in found:
            raise ValueError(f"two keys mean the params of {format_address(address)}")
        found[address] = value
    return found


def _normalized(
    items: Iterable[tuple[object, object]],
) -> Iterable[tuple[ParameterAddress, object]]:
    return ((normalize_address(key), value) for key, value in items)


def _default(address: ParameterAddress, kind: object) -> object:
    try:
        return cast("Callable[[], object]", kind)()
    except Exception as error:
        error.add_note(f"these are the default params of {format_address(address)}; give them a value")
        raise

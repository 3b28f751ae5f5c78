"""Visibility: which definitions of a project a definition may call."""

from verdog_runtime.declarations.ids import GraphId


def require_visible(caller: GraphId, target: GraphId, *, workflow: GraphId | None = None) -> None:
    """Check that a definition may call another one of the same project.

    It may call the root definitions of its package, and those whose owner is itself or one of the
    definitions around it. A definition's owner is its local id without the last `__` part.

    Args:
        caller: the calling definition.
        target: the called one.
        workflow: the root workflow's id, which every definition may call.

    Raises:
        LookupError: it may not.
    """
    if target == workflow:
        return
    caller_package, caller_local = _split(caller)
    target_package, target_local = _split(target)
    owner, separator, _ = target_local.rpartition("__")
    if caller_package != target_package:
        raise LookupError(f"{caller} cannot call {target}, which is in another package")
    if separator and owner != caller_local and not caller_local.startswith(f"{owner}__"):
        raise LookupError(f"{caller} cannot call {target}, which belongs to {owner}")


def _split(definition: GraphId) -> tuple[str, str]:
    package, _, local = definition.rpartition(".")
    return package, local

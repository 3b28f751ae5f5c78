"""Commands of built-in invokers: the options that belong to verdog, and the refusal to run them yet."""

from typing import Never, cast

from verdog_runtime.declarations.agents import AgentInvocationError


def require_extra_args(value: object, reserved: frozenset[str]) -> None:
    """Check the arguments that an author adds to a provider's command.

    Args:
        value: the arguments.
        reserved: options and words that the invoker sets itself. A reserved option of two characters also
            covers the spellings with its value attached.

    Raises:
        TypeError: they are no tuple of texts.
        ValueError: one of them is reserved, or is `--`.
    """
    if not isinstance(value, tuple):
        raise TypeError(f"extra_args must be a tuple of texts, not {type(value).__name__}")
    short = tuple(option for option in reserved if len(option) == 2)
    for argument in cast("tuple[object, ...]", value):
        if not isinstance(argument, str):
            raise TypeError(f"extra_args must be a tuple of texts, and holds {argument!r}")
        option = argument.partition("=")[0]
        if option == "--" or option in reserved or argument.startswith(short):
            raise ValueError(f"extra_args cannot hold {argument!r}: the invoker sets it itself")


def refuse_invocation(provider: str) -> Never:
    """Raise the error of every invocation until agents can be executed.

    Raises:
        AgentInvocationError: always.
    """
    raise AgentInvocationError(
        f"the {provider} invoker can be configured, but this version of verdog does not execute agents yet"
    )

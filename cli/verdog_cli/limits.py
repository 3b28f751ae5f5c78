"""The limit on the transitions of a run, as an option."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from verdog_cli.context import Context

_Command = TypeVar("_Command", bound=Callable[..., Any])


def transitions_option(*, help: str) -> Callable[[_Command], _Command]:
    """Return a decorator that gives a command `--transitions N`, which goes into its context."""
    return click.option(
        "--transitions",
        type=click.IntRange(min=1),
        metavar="N",
        expose_value=False,
        callback=_take,
        help=help,
    )


def _take(ctx: click.Context, parameter: click.Parameter, value: int | None) -> None:
    ctx.ensure_object(Context).transitions = value


limit_option = transitions_option(
    help="Fail after N transitions from one node to the next.  [default: 10,000]"
)
"""Decorator: a command that begins a run knows `--transitions`."""

grant_option = transitions_option(
    help="Let the run make N transitions from here on, whatever is left of its limit."
)
"""Decorator: a command that goes on with a run knows `--transitions`."""

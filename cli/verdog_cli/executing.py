"""Options about the execution of a run: how many transitions it may make, and what it is called."""

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
        callback=_take_transitions,
        help=help,
    )


def _take_transitions(ctx: click.Context, parameter: click.Parameter, value: int | None) -> None:
    ctx.ensure_object(Context).transitions = value


def _take_id(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    ctx.ensure_object(Context).run_id = value


limit_option = transitions_option(
    help="Fail after N transitions from one node to the next.  [default: 10,000]"
)
"""Decorator: a command that begins a run knows `--transitions`."""

grant_option = transitions_option(
    help="Let the run make N transitions from here on, whatever is left of its limit."
)
"""Decorator: a command that goes on with a run knows `--transitions`."""

id_option = click.option(
    "--run-id",
    metavar="ID",
    expose_value=False,
    callback=_take_id,
    help="Name the new run instead of letting verdog choose an id.",
)
"""Decorator: a command that makes a new run from another one knows `--run-id`; it goes into the context."""

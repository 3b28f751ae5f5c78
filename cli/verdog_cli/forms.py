"""Forms of output: options of which a command line may have one."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from verdog_cli.context import Context
from verdog_cli.exits import Usage

_Command = TypeVar("_Command", bound=Callable[..., Any])


def form_option(*names: str, help: str) -> Callable[[_Command], _Command]:
    """Return a decorator that gives a command a form of output; its name is then the context's `form`."""
    return click.option(*names, is_flag=True, expose_value=False, callback=_choose, help=help)


def exclude(context: Context, **given: bool) -> None:
    """Refuse an option that belongs to the text for people when another form of output was chosen.

    Args:
        context: the form that was chosen.
        given: such options by their names, and whether each one was given.

    Raises:
        Usage: one was, and it would mean nothing.
    """
    for name, there in given.items():
        if there and context.form is not None:
            raise _refusal(context.form, f"--{name}")


def _choose(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value:
        return
    context = ctx.ensure_object(Context)
    name = parameter.opts[-1]
    if context.form not in (None, name):
        raise _refusal(context.form, name)
    context.form = name


def _refusal(first: str, second: str) -> Usage:
    return Usage(f"{first} and {second} are two forms of output: choose one")


json_option = form_option("--json", help="Print one JSON document.")
"""Decorator: the command knows `--json`."""

jsonl_option = form_option("--jsonl", help="Print one JSON object per line, each at once.")
"""Decorator: the command knows `--jsonl`."""

"""One command line run to its exit code: signals, the split at `--`, errors as sentences."""

import contextlib
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, JSONL, Context
from verdog_cli.group import verdog
from verdog_cli.interrupts import heeded_signals
from verdog_cli.render import silence_stdout

if TYPE_CHECKING:
    from verdog_cli.failures import Failure


def run_application(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing is raised, whatever happens."""
    _never_fail_to_print()
    head, tail = split_arguments(arguments)
    context = Context(tail=tail)
    try:
        with heeded_signals():
            code = _invoke(head, context)
            sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return 0
    except SystemExit as end:
        return _end_of_arguments(end, context)
    except BaseException as error:
        return _report(error, context)
    return code


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Cut a command line at its first `--`. Without one, the second part is None."""
    if "--" not in arguments:
        return list(arguments), None
    cut = list(arguments).index("--")
    return list(arguments[:cut]), tuple(arguments[cut + 1 :])


def _invoke(head: Sequence[str], context: Context) -> int:
    """Do what `click.Group.main` does, but leave every exception to the caller."""
    try:
        with verdog.make_context("verdog", list(head), obj=context) as parsed:
            result: object = verdog.invoke(parsed)
    except click.exceptions.Exit as end:
        return end.exit_code
    return result if isinstance(result, int) else 0


def _end_of_arguments(end: SystemExit, context: Context) -> int:
    """Return the exit code of a workflow's argument parser, which has said everything there is to say."""
    from verdog_cli.failures import Failure

    if end.code is not None and not isinstance(end.code, int):
        click.echo(end.code, err=True)
    code = end.code if isinstance(end.code, int) else int(end.code is not None)
    if code:
        message = "the arguments of the workflow do not fit; standard error says why"
        failure = Failure(exit_code=code, kind="usage", code="workflow.arguments_invalid", message=message)
        _emit(failure, context)
    return code


def _report(error: BaseException, context: Context) -> int:
    from verdog_cli.failures import address, describe, format_failure
    from verdog_cli.messages import tell

    failure = address(describe(error), context)
    if context.traceback:
        import traceback

        traceback.print_exception(error)
    _emit(failure, context)
    text = format_failure(failure)
    if text:
        with contextlib.suppress(OSError):
            tell(text, context)
    return failure.exit_code


def _emit(failure: "Failure", context: Context) -> None:
    """Print an error as JSON if that was asked for."""
    from verdog_cli.documents import emit_document, emit_line

    with contextlib.suppress(OSError):
        if context.error_form == JSON:
            emit_document(context.operation, status="error", error=failure.as_json())
        elif context.error_form == JSONL:
            emit_line("error", failure.as_json())


def _never_fail_to_print() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

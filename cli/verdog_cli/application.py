"""One command line run to its exit code: signals, the split at `--`, errors as sentences."""

import contextlib
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType

import click

from verdog_cli.context import Context
from verdog_cli.group import verdog
from verdog_cli.render import silence_stdout


def run_application(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing is raised, whatever happens."""
    _never_fail_to_print()
    signal.signal(signal.SIGTERM, _interrupt)
    head, tail = split_arguments(arguments)
    context = Context(tail=tail)
    try:
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
    if end.code is not None and not isinstance(end.code, int):
        click.echo(end.code, err=True)
    code = end.code if isinstance(end.code, int) else int(end.code is not None)
    if code and context.json_operation is not None:
        from verdog_cli.render import emit_document

        message = "the arguments of the workflow do not fit; standard error says why"
        error = {"kind": "usage", "code": "workflow.arguments_invalid", "message": message}
        with contextlib.suppress(OSError):
            emit_document(context.json_operation, status="error", error=error)
    return code


def _report(error: BaseException, context: Context) -> int:
    from verdog_cli.failures import describe, format_failure
    from verdog_cli.render import emit_document

    failure = describe(error)
    if context.traceback:
        import traceback

        traceback.print_exception(error)
    if context.json_operation is not None:
        with contextlib.suppress(OSError):
            emit_document(context.json_operation, status="error", error=failure.as_json())
    text = format_failure(failure)
    if text:
        with contextlib.suppress(OSError):
            click.echo(text, err=True)
    return failure.exit_code


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _never_fail_to_print() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

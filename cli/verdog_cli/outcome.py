"""How a run ended, told to a person or a program."""

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.collector import collect_as_usual
from verdog_cli.context import JSON, Context
from verdog_cli.documents import emit_document
from verdog_cli.exits import CANCELLED, FAILED, OK
from verdog_cli.messages import tell, tell_hint
from verdog_cli.paging import wrap_for_person
from verdog_cli.palette import STATUSES, paint
from verdog_cli.progress import show_progress
from verdog_cli.render import escape, exact, plural, silence_stdout

if TYPE_CHECKING:
    from verdog_runtime.lifecycle import Conduct, RunOutcome

_EXIT_CODES = {"succeeded": OK, "interrupted": CANCELLED}


def report_outcome(outcome: "RunOutcome", *, context: Context, operation: str, executed: bool = True) -> int:
    """Print how a run ended, or that it was made, and return the exit code that says the same.

    That code does not depend on whether anybody still reads standard output.
    """
    try:
        if context.form == JSON:
            emit_document(operation, **_as_json(outcome))
        else:
            more = executed and operation in ("resume", "fork")
            noun = "more checkpoint" if more else "checkpoint"
            _print_outcome(outcome, context, executed=executed, noun=noun)
    except BrokenPipeError:
        silence_stdout()
    if context.form != JSON:
        _print_advice(outcome, context, executed=executed)
    if outcome.not_restorable:
        tell(
            f"warning: {outcome.not_restorable:,} of {plural(outcome.checkpoints, 'checkpoint')} "
            "cannot be resumed or forked",
            context,
        )
        tell_hint(f"`verdog checkpoints {outcome.run}` says why", context)
    return _EXIT_CODES.get(outcome.status, FAILED) if executed else OK


def find_stacktrace(output_dir: Path) -> Path | None:
    """Return the newest traceback that the root graph's failure port wrote."""
    return max(output_dir.glob("*/*/stacktrace.txt"), default=None)


def _print_outcome(outcome: "RunOutcome", context: Context, *, executed: bool, noun: str) -> None:
    status = paint(outcome.status, STATUSES[outcome.status]) if executed else "made, not started"
    click.echo(f"{status}: {plural(outcome.checkpoints, noun)}")
    click.echo(f"  run     {outcome.run}")
    click.echo(f"  output  {context.display(outcome.output_dir)}")
    if outcome.result_text is not None:
        click.echo(wrap_for_person(escape(outcome.result_text), "  result  "))


def _print_advice(outcome: "RunOutcome", context: Context, *, executed: bool) -> None:
    """Print on standard error what went wrong and how to go on."""
    if outcome.error is not None:
        tell(f"error: {outcome.error.type}: {escape(outcome.error.message)}", context)
        trace = find_stacktrace(outcome.output_dir)
        if trace is not None:
            tell_hint(f"the traceback is in {context.display(trace)}", context)
    if outcome.error is None and outcome.status != "interrupted" and executed:
        return
    if not outcome.resumable:
        hint = f"`verdog restart {outcome.run} --sessions fresh` begins again"
    elif outcome.error is None:
        hint = f"verdog resume {outcome.run}"
    elif "[transition_limit]" in outcome.error.message:
        hint = f"`verdog resume {outcome.run} --transitions 10000` lets it make that many more"
    else:
        hint = (
            f"`verdog resume {outcome.run}` tries again from the last checkpoint; "
            "if you changed the code, with --allow-changed-code"
        )
    tell_hint(hint, context)


def _as_json(outcome: "RunOutcome") -> dict[str, object]:
    error = outcome.error
    return {
        "status": outcome.status,
        "run": outcome.run,
        "output_dir": exact(os.fsencode(outcome.output_dir)),
        "checkpoints": outcome.checkpoints,
        "not_restorable": outcome.not_restorable,
        "result": outcome.result,
        "result_text": outcome.result_text,
        "error": None
        if error is None
        else {"type": error.type, "message": error.message, "traceback": error.traceback},
    }


@contextlib.contextmanager
def conduct(context: Context, output_dir: Path) -> "Generator[Conduct]":
    """Yield how an execution is conducted: with the progress that fits, and this process's command line."""
    from verdog_cli.tidings import telling
    from verdog_runtime.lifecycle import Conduct

    title = f"writing to {context.display(output_dir)}"
    collect_as_usual()
    with telling(), show_progress(title, quiet=context.form == JSON) as progress, _process_put_back():
        yield Conduct(
            observer=progress,
            command=tuple(sys.argv[1:]),
            transitions=context.transitions,
            run_id=context.run_id,
        )


@contextlib.contextmanager
def _process_put_back() -> Generator[None]:
    """After authored code ran, go back to the directory and the streams that were there before."""
    here, streams = os.getcwd(), (sys.stdout, sys.stderr)  # noqa: PTH109
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        with contextlib.suppress(OSError):
            os.chdir(here)


@contextlib.contextmanager
def only_the_document(context: Context) -> Generator[None]:
    """During a run with `--json`, send whatever it or its child processes print to standard error."""
    if context.form != JSON:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)

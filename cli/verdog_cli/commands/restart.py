"""`verdog restart`: run a run's workflow again from the beginning."""

import json
from pathlib import Path
from typing import cast

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.executing import id_option, limit_option
from verdog_cli.exits import Usage
from verdog_cli.forms import form_option
from verdog_cli.group import TailCommand
from verdog_cli.outcome import conduct, only_the_document, report_outcome
from verdog_cli.selection import select_run


@click.command(
    "restart",
    cls=TailCommand,
    epilog="""
    verdog restart RUN --sessions fresh
    verdog restart RUN --sessions fresh -- --input.value 3
    """,
)
@click.argument("run", metavar="[RUN]", required=False)
@click.option(
    "--sessions",
    type=click.Choice(["branch", "fresh"]),
    required=True,
    help="Branch the agent conversations of RUN, or begin fresh ones; without agents say fresh.",
)
@click.option(
    "--from", "checkpoint", type=click.IntRange(min=1), metavar="N", help="Branch those of checkpoint N."
)
@click.option("--args-json", metavar="JSON", help="Other arguments, as a JSON array of strings.")
@click.option(
    "--output-dir", type=click.Path(path_type=Path), metavar="DIR", help="Write here (new or empty)."
)
@click.option(
    "--workflow", metavar="FILE[:NAME]", help="Where the workflow is, if the run was started from Python."
)
@id_option
@limit_option
@form_option("--json", help="Print one JSON document when the run ended.")
@pass_context
def command(
    context: Context,
    run: str | None,
    sessions: str,
    checkpoint: int | None,
    args_json: str | None,
    output_dir: Path | None,
    workflow: str | None,
) -> int:
    """Run a run's workflow again from the beginning, as a new run.

    It takes the recorded arguments unless others follow --; `--` with nothing behind it means no arguments.
    """
    from verdog_runtime.lifecycle import choose_output, restart_recorded

    arguments = _choose_arguments(context, args_json)
    with only_the_document(context), context.repository(read_only=False) as repository:
        context.run = chosen = select_run(repository, run)
        output = output_dir or choose_output(repository.project, repository.header(chosen).workflow)
        with conduct(context, output) as conducted:
            outcome = restart_recorded(
                repository,
                chosen,
                conducted,
                sessions=sessions,
                arguments=arguments,
                source_checkpoint=checkpoint,
                workflow=workflow,
                output_dir=output,
            )
    return report_outcome(outcome, context=context, operation="restart")


def _choose_arguments(context: Context, args_json: str | None) -> tuple[str, ...] | None:
    """Return the arguments that replace the recorded ones, or None to reuse those."""
    if args_json is None:
        return context.tail
    if context.tail is not None:
        raise Usage("arguments are given twice: after -- and by --args-json")
    try:
        value: object = json.loads(args_json)
    except ValueError as error:
        raise Usage(f"--args-json is no JSON: {error}") from error
    except RecursionError:
        raise Usage("--args-json is nested too deep") from None
    items = cast("list[object]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(each, str) for each in items):
        hint = '--args-json \'["--input.value", "3"]\''
        raise Usage("--args-json takes a JSON array of strings", hint=hint)
    return tuple(str(each) for each in items)

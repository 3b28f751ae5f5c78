"""`verdog run`: execute a workflow and commit after every visit."""

from dataclasses import replace
from pathlib import Path

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.executing import limit_option
from verdog_cli.forms import form_option
from verdog_cli.group import TailCommand
from verdog_cli.outcome import conduct, only_the_document, report_outcome


@click.command(
    "run",
    cls=TailCommand,
    epilog="""
    verdog run flow.py
    verdog run flow.py -- --help
    verdog run flow.py --run-id nightly -- --input.value 3
    """,
)
@click.argument("workflow", required=False)
@click.option(
    "--output-dir", type=click.Path(path_type=Path), metavar="DIR", help="Write here (new or empty)."
)
@click.option(
    "--checkpointing",
    type=click.Choice(["off", "auto", "required"]),
    metavar="POLICY",
    default="auto",
    show_default=True,
    help="off: commit nothing; auto: commit, and tolerate values that cannot be stored; required: fail.",
)
@click.option("--run-id", metavar="ID", help="Name the run instead of letting verdog choose an id.")
@limit_option
@form_option("--json", help="Print one JSON document when the run ended.")
@pass_context
def command(
    context: Context,
    workflow: str | None,
    output_dir: Path | None,
    checkpointing: str,
    run_id: str | None,
) -> int:
    """Run a workflow and commit after every visit.

    WORKFLOW is a file (flow.py, or flow.py:NAME if it holds several), a module (package.flow), or the id of a
    workflow of a generated project; without it, the project's only one. ARGS are the workflow's own.
    """
    from verdog_runtime.lifecycle import choose_output, run_workflow
    from verdog_runtime.sources import load_workflow

    with only_the_document(context):
        loaded = load_workflow(workflow, cwd=Path.cwd())
        loaded = replace(loaded, prog=context.paste(loaded.prog))
        output = output_dir or choose_output(loaded.project_root, loaded.local_id)
        with conduct(context, output) as conducted:
            outcome = run_workflow(
                loaded,
                context.tail or (),
                conducted,
                output_dir=output,
                checkpointing=checkpointing,
                run_id=run_id,
            )
    return report_outcome(outcome, context=context, operation="run")

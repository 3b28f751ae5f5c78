"""`verdog fork`: a new run from any checkpoint."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.executing import grant_option, id_option
from verdog_cli.exits import Usage
from verdog_cli.forms import form_option
from verdog_cli.group import Command
from verdog_cli.outcome import conduct, only_the_document, report_outcome
from verdog_cli.selection import select_checkpoint, select_run

if TYPE_CHECKING:
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.repository import Repository


@click.command(
    "fork",
    cls=Command,
    epilog="""
    verdog fork RUN@17 --sessions fresh
    verdog fork RUN@survey#3 --sessions fresh --run-id slower --allow-changed-code
    verdog fork RUN@survey#3 --sessions branch --no-run
    """,
)
@click.argument("revision", metavar="[REV]", required=False)
@click.option("--checkpoint", type=click.IntRange(min=1), metavar="N", help="The same as RUN@N.")
@click.option(
    "--sessions",
    type=click.Choice(["branch", "fresh"]),
    required=True,
    help="Branch the agent conversations, or begin fresh ones; without agents say fresh.",
)
@click.option(
    "--output-dir", type=click.Path(path_type=Path), metavar="DIR", help="Write here (new or empty)."
)
@click.option("--no-run", is_flag=True, help="Only make the new run; `verdog resume` starts it.")
@click.option(
    "--allow-changed-code", is_flag=True, help="Go on although code or environment changed; this is recorded."
)
@click.option(
    "--workflow", metavar="FILE[:NAME]", help="Where the workflow is, if the run was started from Python."
)
@id_option
@grant_option
@form_option("--json", help="Print one JSON document when the run ended.")
@pass_context
def command(
    context: Context,
    revision: str | None,
    checkpoint: int | None,
    sessions: str,
    output_dir: Path | None,
    no_run: bool,
    allow_changed_code: bool,
    workflow: str | None,
) -> int:
    """Start a new run from any checkpoint, in a new directory.

    The files come from the store, so the directory of the source run may be changed or gone. The source run
    is never touched. The new run remembers where it came from.
    """
    from verdog_runtime.lifecycle import choose_output, fork_only, fork_recorded

    with only_the_document(context), context.repository(read_only=False) as repository:
        source = _select(repository, revision, checkpoint)
        context.run = source.run
        output = output_dir or choose_output(repository.project, repository.header(source.run).workflow)
        with conduct(context, output) as conducted:
            if no_run:
                outcome = fork_only(repository, source, conducted, sessions=sessions, output_dir=output)
            else:
                outcome = fork_recorded(
                    repository,
                    source,
                    conducted,
                    sessions=sessions,
                    workflow=workflow,
                    output_dir=output,
                    allow_changed_code=allow_changed_code,
                )
    return report_outcome(outcome, context=context, operation="fork", executed=not no_run)


def _select(repository: "Repository", revision: str | None, number: int | None) -> "Checkpoint":
    if number is not None:
        return repository.checkpoint_at(select_run(repository, revision), number)
    if revision is None:
        raise Usage("which checkpoint?", hint="verdog fork RUN@N --sessions fresh")
    return select_checkpoint(repository, revision)

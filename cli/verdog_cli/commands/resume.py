"""`verdog resume`: go on with a run."""

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.executing import grant_option
from verdog_cli.forms import form_option
from verdog_cli.group import Command
from verdog_cli.outcome import conduct, only_the_document, report_outcome
from verdog_cli.selection import select_run


@click.command("resume", cls=Command)
@click.argument("run", metavar="[RUN]", required=False)
@click.option(
    "--allow-changed-code", is_flag=True, help="Go on although code or environment changed; this is recorded."
)
@click.option("--restore", is_flag=True, help="First put recorded files back where they differ.")
@click.option(
    "--workflow", metavar="FILE[:NAME]", help="Where the workflow is, if the run was started from Python."
)
@grant_option
@form_option("--json", help="Print one JSON document when the run ended.")
@pass_context
def command(
    context: Context,
    run: str | None,
    allow_changed_code: bool,
    restore: bool,
    workflow: str | None,
) -> int:
    """Go on with a run from its latest checkpoint, in the same directory.

    First every recorded file is compared with what is there, and the code with what it was. A visit that was
    cut short begins again in a new directory; what was committed is never done twice. RUN may be left out
    when there is only one.
    """
    from verdog_repo.filenames import locate_directory
    from verdog_runtime.lifecycle import resume_recorded

    with only_the_document(context), context.repository(read_only=False) as repository:
        context.run = chosen = select_run(repository, run)
        output = locate_directory(repository.project, repository.header(chosen).output_dir)
        with conduct(context, output) as conducted:
            outcome = resume_recorded(
                repository,
                chosen,
                conducted,
                workflow=workflow,
                allow_changed_code=allow_changed_code,
                restore=restore,
            )
    return report_outcome(outcome, context=context, operation="resume")

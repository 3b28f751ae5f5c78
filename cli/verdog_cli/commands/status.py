"""`verdog status`: a run's directory against its latest checkpoint."""

from typing import TYPE_CHECKING

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.exits import FAILED, OK
from verdog_cli.group import Command
from verdog_cli.outcome import display_path
from verdog_cli.render import emit_document, escape, exact, plural
from verdog_cli.selection import select_run

if TYPE_CHECKING:
    from verdog_runtime.outputs import OutputStatus

_WORDS = {
    "missing": "missing",
    "modified": "modified",
    "mode": "mode changed",
    "kind": "replaced",
    "unreadable": "unreadable",
}


@click.command("status", cls=Command)
@click.argument("run", metavar="[RUN]", required=False)
@click.option("-z", "null", is_flag=True, help="Print each path as it is, ended by a NUL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@pass_context
def command(context: Context, run: str | None, null: bool, as_json: bool) -> int:
    """Compare a run's output directory with its latest checkpoint.

    Every recorded file is read and hashed. The exit code is 1 when one is missing or differs; files that are
    not recorded are listed and change nothing. RUN may be left out when there is only one.
    """
    from verdog_objects.errors import NotFound
    from verdog_repo.filenames import locate_directory
    from verdog_runtime.outputs import compare_output

    with context.repository() as repository:
        chosen = select_run(repository, run)
        checkpoint = repository.tip(chosen)
        if checkpoint is None:
            raise NotFound(f"run {chosen} has no checkpoint to compare with")
        output = locate_directory(repository.project, repository.header(chosen).output_dir)
        status = compare_output(repository, checkpoint)
    found = not status.present or bool(status.differences)
    if as_json:
        emit_document(
            "status",
            run=chosen,
            checkpoint=checkpoint.sequence,
            present=status.present,
            differences=[
                {
                    "path": exact(each.path),
                    "what": each.what.value,
                    "expected": each.expected,
                    "found": each.found,
                }
                for each in status.differences
            ],
            untracked=[exact(path) for path in status.untracked],
        )
    elif null:
        for path in dict.fromkeys([*(each.path for each in status.differences), *status.untracked]):
            click.echo(path + b"\x00", nl=False)
    else:
        click.echo(f"{display_path(output)} against {chosen}@{checkpoint.sequence}")
        _print(status, chosen)
    return FAILED if found else OK


def _print(status: "OutputStatus", run: str) -> None:
    if not status.present:
        click.echo("the directory is gone; `verdog resume` and `verdog restore` write it anew")
        return
    for each in status.differences:
        click.echo(f"  {_WORDS[each.what.value]:<12}  {escape(each.path)}")
    for path in status.untracked:
        click.echo(f"  {'untracked':<12}  {escape(path)}")
    if status.differences:
        click.echo(f"{plural(len({each.path for each in status.differences}), 'path')} not as recorded")
        click.echo(f"hint: verdog restore {run} puts them back", err=True)
    else:
        click.echo("every recorded file is as it was recorded")

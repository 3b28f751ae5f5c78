"""`verdog status`: a run's directory against its latest checkpoint."""

from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document
from verdog_cli.exits import FAILED, OK
from verdog_cli.forms import form_option, json_option
from verdog_cli.group import Command
from verdog_cli.losses import warn_of_losses
from verdog_cli.messages import tell_hint
from verdog_cli.paging import wrap_for_person
from verdog_cli.palette import BAD, DOUBTFUL, FAINT, GOOD, Style, paint
from verdog_cli.render import escape, exact, plural, terminal_width
from verdog_cli.selection import select_run

if TYPE_CHECKING:
    from verdog_runtime.outputs import OutputStatus

_WORDS = {
    "missing": ("missing", BAD),
    "modified": ("modified", DOUBTFUL),
    "mode": ("mode changed", DOUBTFUL),
    "kind": ("replaced", DOUBTFUL),
    "unreadable": ("unreadable", BAD),
}

_WIDE = 40
"""A terminal that is narrower gets each path on a line of its own."""


@click.command("status", cls=Command)
@click.argument("run", metavar="[RUN]", required=False)
@form_option("-z", help="Print each path as it is, ended by a NUL.")
@json_option
@pass_context
def command(context: Context, run: str | None) -> int:
    """Compare a run's output directory with its latest checkpoint.

    Every recorded file is read and hashed. The exit code is 1 when one is missing or differs, or when the
    directory knows of later checkpoints than the store; files that are not recorded are listed and change
    nothing. RUN may be left out when there is only one.
    """
    from verdog_objects.errors import NotFound
    from verdog_repo.filenames import locate_directory
    from verdog_runtime.outputs import compare_output

    with context.repository() as repository:
        context.run = chosen = select_run(repository, run)
        checkpoint = repository.tip(chosen)
        if checkpoint is None:
            warn_of_losses(repository, [chosen])
            raise NotFound(f"run {chosen} has no checkpoint to compare with")
        output = locate_directory(repository.project, repository.header(chosen).output_dir)
        status = compare_output(repository, checkpoint)
    found = not status.present or bool(status.differences) or status.lost is not None
    if context.form == JSON:
        emit_document(
            "status",
            run=chosen,
            checkpoint=checkpoint.sequence,
            present=status.present,
            lost=status.lost,
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
    elif context.form == "-z":
        for path in dict.fromkeys([*(each.path for each in status.differences), *status.untracked]):
            click.echo(path + b"\x00", nl=False)
    else:
        click.echo(wrap_for_person(f"{context.display(output)} against {chosen}@{checkpoint.sequence}"))
        _print(status, context, chosen)
    return FAILED if found else OK


def _print(status: "OutputStatus", context: Context, run: str) -> None:
    if not status.present:
        click.echo(paint("the directory is gone", BAD))
        tell_hint(f"`verdog restore {run}` and `verdog resume {run}` write it anew", context)
        return
    if status.lost is not None:
        said = f"the store was put back to an older state: {escape(status.lost)}"
        click.echo(wrap_for_person(said, style=BAD))
        tell_hint("`verdog fsck` says which runs lost checkpoints; put the newer store back", context)
    for each in status.differences:
        click.echo(_format_row(*_WORDS[each.what.value], each.path))
    for path in status.untracked:
        click.echo(_format_row("untracked", FAINT, path))
    if status.lost is not None:
        return
    if status.differences:
        click.echo(f"{plural(len({each.path for each in status.differences}), 'path')} not as recorded")
        tell_hint(f"`verdog restore {run}` puts them back", context)
    else:
        click.echo(wrap_for_person("every recorded file is as it was recorded", style=GOOD))


def _format_row(word: str, style: Style, path: bytes) -> str:
    if terminal_width() < _WIDE:
        return f"  {paint(word, style)}\n    {escape(path)}"
    return f"  {paint(f'{word:<12}', style)}  {escape(path)}"

"""`verdog fsck`: check what is stored."""

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.failures import FAILED, OK
from verdog_cli.group import Command
from verdog_cli.render import emit_document, escape, exact, plural


@click.command("fsck", cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@pass_context
def command(context: Context, as_json: bool) -> int:
    """Check everything that is stored.

    Every row, commit, record, manifest and object is read; each finding names what is damaged and the runs it
    touches. The exit code is 1 when there is one. Nothing is changed.
    """
    from verdog_repo.fsck import check

    with context.repository() as repository:
        findings = check(repository)
        runs = len(repository.runs())
    if as_json:
        emit_document("fsck", runs=runs, findings=[_as_json(each) for each in findings])
    else:
        for each in findings:
            click.echo(escape(each.message))
        click.echo(f"{plural(runs, 'run')} checked, {plural(len(findings), 'finding')}")
    return FAILED if findings else OK

"""`verdog label`: names for runs."""

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document
from verdog_cli.exits import Usage
from verdog_cli.forms import form_option
from verdog_cli.group import Command
from verdog_cli.palette import NAME
from verdog_cli.selection import select_run
from verdog_cli.tables import Column, format_table

_COLUMNS = (Column("LABEL"), Column("RUN", style=NAME))


@click.command(
    "label",
    cls=Command,
    epilog="""
    verdog label RUN baseline
    verdog label
    verdog label -d baseline
    """,
)
@click.argument("words", metavar="[RUN] [NAME]", nargs=-1)
@click.option("-d", "--delete", metavar="NAME", help="Remove the label; the run stays.")
@form_option("--json", help="Print the list as one JSON document.")
@pass_context
def command(context: Context, words: tuple[str, ...], delete: str | None) -> None:
    """Name a run, remove a name, or list all.

    A label can be used wherever a run can.
    """
    from verdog_cli.marking import begin_operation
    from verdog_repo.names import parse_label_name

    if delete is None and not words:
        _list(context)
        return
    if len(words) != (2 if delete is None else 0):
        raise Usage("a label is made of RUN and NAME, and removed by -d NAME")
    with context.repository(read_only=False) as repository:
        if delete is not None:
            repository.marks.remove_label(parse_label_name(delete), operation=begin_operation("label"))
            return
        label = parse_label_name(words[1])
        run = select_run(repository, words[0])
        repository.marks.add_label(label, run, operation=begin_operation("label"))
    click.echo(f"{label} is {run}")


def _list(context: Context) -> None:
    with context.repository() as repository:
        found = repository.marks.labels()
    if context.form == JSON:
        emit_document("label", labels=[{"label": name, "run": run} for name, run in found.items()])
        return
    for line in format_table(_COLUMNS, [list(pair) for pair in found.items()]) if found else ():
        click.echo(line)

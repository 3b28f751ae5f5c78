"""`verdog tag`: names for checkpoints."""

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document
from verdog_cli.exits import Usage
from verdog_cli.forms import form_option
from verdog_cli.group import Command
from verdog_cli.palette import COMMIT, NAME
from verdog_cli.selection import select_checkpoint
from verdog_cli.tables import Column, format_table
from verdog_cli.views import SHORT_COMMIT, checkpoint_as_json, format_name

_COLUMNS = (Column("TAG"), Column("CHECKPOINT", style=NAME), Column("COMMIT", style=COMMIT))


@click.command(
    "tag",
    cls=Command,
    epilog="""
    verdog tag before-the-change RUN@17
    verdog tag
    verdog tag -d before-the-change
    """,
)
@click.argument("name", metavar="[NAME]", required=False)
@click.argument("revision", metavar="[REV]", required=False)
@click.option("-d", "--delete", is_flag=True, help="Remove the tag; the checkpoint stays.")
@form_option("--json", help="Print the list as one JSON document.")
@pass_context
def command(context: Context, name: str | None, revision: str | None, delete: bool) -> None:
    """Name a checkpoint, remove a name, or list all.

    A tag never moves. It can be used wherever a revision can.
    """
    from verdog_cli.marking import begin_operation
    from verdog_repo.names import parse_tag_name

    if name is None:
        _list(context)
        return
    if delete == (revision is not None):
        raise Usage("a tag is made of NAME and REV, and removed by -d NAME")
    with context.repository(read_only=False) as repository:
        tag = parse_tag_name(name)
        if revision is None:
            repository.marks.remove_tag(tag, operation=begin_operation("tag"))
            return
        checkpoint = select_checkpoint(repository, revision)
        repository.marks.add_tag(tag, checkpoint.commit, operation=begin_operation("tag"))
    click.echo(f"{tag} is {format_name(checkpoint)}")


def _list(context: Context) -> None:
    with context.repository() as repository:
        found = {name: repository.checkpoint(commit) for name, commit in repository.marks.tags().items()}
    if context.form == JSON:
        emit_document("tag", tags=[{"tag": name} | checkpoint_as_json(each) for name, each in found.items()])
        return
    rows = [[name, format_name(each), each.commit.hex()[:SHORT_COMMIT]] for name, each in found.items()]
    for line in format_table(_COLUMNS, rows) if rows else ():
        click.echo(line)

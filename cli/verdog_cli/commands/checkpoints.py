"""`verdog checkpoints`: what each checkpoint of a run can be used for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, JSONL, Context, pass_context
from verdog_cli.documents import emit_document, emit_line
from verdog_cli.forms import json_option, jsonl_option
from verdog_cli.group import Command
from verdog_cli.paging import page, wrap_for_person
from verdog_cli.palette import NAME, of_answer
from verdog_cli.render import harmless
from verdog_cli.selection import select_run
from verdog_cli.tables import Column, format_table
from verdog_cli.views import format_boundary, format_time, recorded_as_json

if TYPE_CHECKING:
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.names import RunId
    from verdog_repo.record import CheckpointRecord
    from verdog_repo.repository import Repository

_COLUMNS = (
    Column("CHECKPOINT", right=True, style=NAME),
    Column("KIND", leaves=1),
    Column("COMPLETED", least=16, leaves=5),
    Column("NEXT", least=8, leaves=4),
    Column("RESTORE", choose=of_answer),
    Column("BRANCH", leaves=3, choose=of_answer),
    Column("CREATED", leaves=2),
)


@click.command("checkpoints", cls=Command)
@click.argument("run", metavar="[RUN]", required=False)
@json_option
@jsonl_option
@pass_context
def command(context: Context, run: str | None) -> None:
    """List what each checkpoint of a run can be used for, oldest first.

    RESTORE: resume and fork can use it. BRANCH: agent conversations can go on from it. Below the table stands
    why a checkpoint cannot be used.
    """
    with context.repository() as repository:
        chosen = select_run(repository, run)
        if context.form == JSONL:
            for pair in _iter_recorded(repository, chosen):
                emit_line("checkpoint", recorded_as_json(*pair))
            return
        found = [*_iter_recorded(repository, chosen)]
    if context.form == JSON:
        documents = [recorded_as_json(*pair) for pair in found]
        emit_document("checkpoints", run=chosen, checkpoints=documents)
        return
    if not found:
        click.echo(f"run {chosen} has no checkpoints", err=True)
        return
    records = [record for _, record in found]
    lines = [*format_table(_COLUMNS, [_make_row(record) for record in records])]
    lines += [_format_reason(record) for record in records if not record.restorable]
    page(lines, pager=context.pager)


def _iter_recorded(
    repository: "Repository", run: "RunId"
) -> Iterator[tuple["Checkpoint", "CheckpointRecord"]]:
    tip = repository.tip(run)
    for number in range(1, 1 if tip is None else tip.sequence + 1):
        checkpoint = repository.checkpoint_at(run, number)
        yield checkpoint, repository.record(checkpoint)


def _format_reason(record: "CheckpointRecord") -> str:
    reason = harmless(record.reason or record.unavailable_code or "no reason recorded")
    return wrap_for_person(reason, f"{record.sequence}: ")


def _make_row(record: "CheckpointRecord") -> list[str]:
    return [
        str(record.sequence),
        record.kind.value,
        format_boundary(record.completed, graph=False),
        format_boundary(record.next, graph=False),
        "yes" if record.restorable else "no",
        "yes" if record.branchable else "no",
        format_time(record.created_at)[:16],
    ]

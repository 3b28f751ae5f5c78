"""`verdog checkpoints`: what each checkpoint of a run can be used for."""

from typing import TYPE_CHECKING

import click

from verdog_cli.context import Context, pass_context
from verdog_cli.group import Command
from verdog_cli.render import Column, emit_document, escape, format_table, page
from verdog_cli.selection import select_run
from verdog_cli.views import boundary_as_json, checkpoint_as_json, format_boundary, format_time

if TYPE_CHECKING:
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.record import CheckpointRecord

_COLUMNS = (
    Column(title="CHECKPOINT", right=True),
    Column(title="KIND"),
    Column(title="COMPLETED", shrink=True),
    Column(title="NEXT", shrink=True),
    Column(title="RESTORE"),
    Column(title="BRANCH"),
    Column(title="CREATED"),
)


@click.command("checkpoints", cls=Command)
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@pass_context
def command(context: Context, run: str | None, as_json: bool) -> None:
    """List what each checkpoint of a run can be used for, oldest first.

    RESTORE: resume and fork can use it. BRANCH: agent conversations can go on from it. Below the table stands
    why a checkpoint cannot be used.
    """
    with context.repository() as repository:
        chosen = select_run(repository, run)
        tip = repository.tip(chosen)
        found: list[Checkpoint] = []
        if tip is not None:
            found = [repository.checkpoint_at(chosen, number) for number in range(1, tip.sequence + 1)]
        records = [repository.record(each) for each in found]
    if as_json:
        documents = [_as_json(*pair) for pair in zip(found, records, strict=True)]
        emit_document("checkpoints", run=chosen, checkpoints=documents)
        return
    if not found:
        click.echo(f"run {chosen} has no checkpoints", err=True)
        return
    lines = [*format_table(_COLUMNS, [_make_row(record) for record in records])]
    lines += [
        f"{record.sequence}: {escape(record.reason or record.unavailable_code or 'no reason recorded')}"
        for record in records
        if not record.restorable
    ]
    page(lines, pager=context.pager)


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


def _as_json(checkpoint: "Checkpoint", record: "CheckpointRecord") -> dict[str, object]:
    return checkpoint_as_json(checkpoint) | {
        "completed": boundary_as_json(record.completed),
        "next": boundary_as_json(record.next),
        "unavailable_code": record.unavailable_code,
        "unavailable_reason": record.reason,
    }

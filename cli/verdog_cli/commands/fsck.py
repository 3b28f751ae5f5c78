"""`verdog fsck`: check what is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document, emit_line
from verdog_cli.exits import FAILED, OK, Usage
from verdog_cli.forms import json_option, jsonl_option
from verdog_cli.group import Command
from verdog_cli.render import escape, exact, harmless, plural
from verdog_cli.views import visit_as_json
from verdog_objects.errors import Corrupt

if TYPE_CHECKING:
    from verdog_objects.oid import Oid
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.fsck import Finding
    from verdog_repo.repository import Repository


@click.command("fsck", cls=Command)
@click.option("--read-data", is_flag=True, help="Read and hash the content of every file and value, too.")
@click.option(
    "--repair",
    is_flag=True,
    help="With --read-data: store what is damaged anew, from the runs' directories now or from later runs.",
)
@json_option
@jsonl_option
@pass_context
def command(context: Context, read_data: bool, repair: bool) -> int:
    """Check everything that is stored.

    Every row, commit, record and manifest is read and checked, and that every object they need is there. A
    finding names what is damaged, and the run, visits and files it touches. Nothing is changed. With --repair
    no content is deleted; rows that log lists, but that are not what the records say, are written anew, as
    is the list of where objects are. The exit code is 1 when there is a finding.
    """
    from verdog_repo.fsck import Finding, check
    from verdog_runtime.outputs import find_lost_checkpoints

    if repair and not read_data:
        raise Usage("--repair goes with --read-data: what was not read cannot be known to be damaged")
    runs, done = None, _Repair()
    try:
        with context.repository(read_only=not repair) as repository:  # reading marks what is damaged
            findings = [*check(repository, read_data=read_data), *find_lost_checkpoints(repository)]
            runs = len(repository.runs()) if not findings else None
            if repair and findings:
                done = _repair(repository, findings)
    except Corrupt as error:  # the store cannot even be opened
        findings = [Finding(kind="store", message=str(error))]
    if context.form is not None:
        _emit(context.form, findings, done)
        return FAILED if findings else OK
    for each in findings:
        click.echo(f"{each.kind}: {harmless(each.message)}")
        for path in each.paths:
            click.echo(f"  {escape(path)}")
    checked = "" if runs is None else f"{plural(runs, 'run')}, "
    click.echo(f"{checked}{plural(len(findings), 'finding')}")
    _print_repair(findings, done, repair=repair)
    return FAILED if findings else OK


@dataclass(frozen=True, kw_only=True)
class _Repair:
    """What a repair wrote anew.

    Attributes:
        listed: the list of where objects are.
        rows: the checkpoints whose rows were wrong.
        healed: objects that a run's directory still had.
    """

    listed: bool = False
    rows: "Sequence[Checkpoint]" = ()
    healed: "Sequence[Oid]" = ()

    def find_left(self, findings: "Sequence[Finding]") -> "set[Oid]":
        """Return the damaged objects that were not written anew."""
        mended = {(each.run, each.sequence) for each in self.rows}
        return {
            each.oid
            for each in findings
            if each.oid is not None
            and (each.kind != "checkpoint" or (each.run, *each.sequences) not in mended)
        }.difference(self.healed)


def _repair(repository: "Repository", findings: "Sequence[Finding]") -> _Repair:
    from verdog_repo.fsck import mend_store
    from verdog_repo.rowrepair import repair_rows
    from verdog_runtime.healing import heal_from_outputs

    return _Repair(
        listed=mend_store(repository),
        rows=repair_rows(repository.catalog),
        healed=heal_from_outputs(repository, findings),
    )


def _print_repair(findings: "Sequence[Finding]", done: _Repair, *, repair: bool) -> None:
    if done.listed:
        click.echo("the list of where objects are was made anew from the objects")
    if done.rows:
        click.echo(f"{plural(len(done.rows), 'row')} of the checkpoints table written anew from the records")
    if done.healed:
        click.echo(f"{plural(len(done.healed), 'object')} stored anew from the directories of runs")
    left = done.find_left(findings)
    if repair and left:
        click.echo(f"{plural(len(left), 'object')} to be stored anew when a run records the same content")


def _emit(form: str, findings: "Sequence[Finding]", done: _Repair) -> None:
    if form == JSON:
        emit_document(
            "fsck",
            findings=[_as_json(each) for each in findings],
            healed=[oid.hex() for oid in done.healed],
            rows=[_row_as_json(each) for each in done.rows],
            listed=done.listed,
        )
        return
    for each in findings:
        emit_line("finding", _as_json(each))
    for oid in done.healed:
        emit_line("healed", {"oid": oid.hex()})
    for each in done.rows:
        emit_line("row", _row_as_json(each))


def _row_as_json(checkpoint: "Checkpoint") -> dict[str, object]:
    return {"run": checkpoint.run, "checkpoint": checkpoint.sequence, "commit": checkpoint.commit.hex()}


def _as_json(finding: "Finding") -> dict[str, object]:
    return {
        "kind": finding.kind,
        "message": finding.message,
        "run": finding.run,
        "checkpoints": list(finding.sequences),
        "visits": [
            visit_as_json(place, int(number))
            for place, _, number in (visit.rpartition("/") for visit in finding.visits)
        ],
        "paths": [exact(path) for path in finding.paths],
        "addresses": list(finding.addresses),
        "oid": None if finding.oid is None else finding.oid.hex(),
    }

"""`verdog runs`: the runs of the project, children below their parents."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document, emit_line
from verdog_cli.exits import Usage
from verdog_cli.forms import json_option, jsonl_option
from verdog_cli.group import Command
from verdog_cli.losses import warn_of_losses
from verdog_cli.paging import page
from verdog_cli.palette import NAME, of_name, of_status
from verdog_cli.render import escape, exact, plural
from verdog_cli.tables import Column, format_table
from verdog_cli.views import format_age, run_as_json, short_run

if TYPE_CHECKING:
    from verdog_repo.listing import RunListing
    from verdog_repo.repository import Repository

_STATUSES = ("running", "interrupted", "failed", "succeeded")

_MANAGED = ".verdog/runs/"
"""Where the directories are that verdog chose; the name of one says nothing about its run."""

_NO_NAMES = "-"

_COLUMNS = (
    Column("RUN", style=NAME),
    Column("NAMES", leaves=6, style=NAME),
    Column("STATUS", choose=of_status),
    Column("AT", right=True, leaves=5, choose=of_name),
    Column("SESSIONS", leaves=1),
    Column("WORKFLOW", least=8, leaves=3),
    Column("AGE", right=True, leaves=4),
    Column("ARGUMENTS", least=8, leaves=2),
)


@click.command(
    "runs",
    cls=Command,
    epilog="""
    verdog runs
    verdog runs census --status failed --status interrupted
    verdog runs prune
    verdog runs register DIR
    """,
)
@click.argument("workflow", required=False)
@click.argument("directory", required=False, metavar="", type=click.Path(path_type=Path))
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(_STATUSES),
    metavar="STATUS",
    help="Only runs that are running, interrupted, failed or succeeded. Repeatable.",
)
@click.option("--brief", is_flag=True, help="Leave out what the checkpoints say.")
@json_option
@jsonl_option
@pass_context
def command(
    context: Context,
    workflow: str | None,
    directory: Path | None,
    statuses: tuple[str, ...],
    brief: bool,
) -> None:
    """List the runs of this project, newest first, children below their parents.

    `runs prune` removes directories that are gone from .verdog/run-registry.json, the list that other tools
    read; `runs register DIR` says that a run's directory was moved to DIR. Neither removes a run.

    STATUS says absent if the run's directory is gone: resume writes it again. AT is the number of the latest
    checkpoint, with ! if the run cannot go on from it. SESSIONS says how a fork of it can treat agent
    conversations: branch them, or only begin fresh ones.

    NAMES are what a run can be called as well: its labels, and the name of the directory that was chosen for
    it. The column is there when a run has any.
    """
    if workflow == "register":
        _register(context, directory)
        return
    if directory is not None:
        raise Usage(f"runs takes one workflow, and {escape(str(directory))} is one too many")
    if workflow == "prune":
        _prune(context)
        return
    from verdog_repo.filenames import format_filename

    wanted = workflow and format_filename(workflow)
    with context.repository() as repository:
        listings, project, labels = _list_all(repository), repository.project, _list_labels(repository)
    chosen = [
        each
        for each in listings
        if (wanted is None or each.header.workflow == wanted)
        and (not statuses or each.status.value in statuses)
    ]
    if context.form is not None:
        runs = [
            run_as_json(each, project, brief=brief) | {"labels": labels.get(each.header.run, [])}
            for each in chosen
        ]
        _emit(context.form, project, runs, brief)
    elif chosen:
        page(_format_rows(chosen, labels, brief=brief), pager=context.pager)
    else:
        of = f" of workflow {escape(workflow)}" if workflow is not None else ""
        among = f": none of {plural(len(listings), 'run')}" if listings else ""
        click.echo(f"no runs{of}{among}", err=True)


def _list_all(repository: "Repository") -> "list[RunListing]":
    warn_of_losses(repository)
    return repository.runs()


def _list_labels(repository: "Repository") -> dict[str, list[str]]:
    """Return the labels of each run that has any."""
    labels: dict[str, list[str]] = {}
    for label, run in repository.marks.labels().items():
        labels.setdefault(run, []).append(label)
    return labels


def _format_rows(
    chosen: Sequence["RunListing"], labels: Mapping[str, Sequence[str]], *, brief: bool
) -> Iterator[str]:
    """Return the lines of the table, without columns that are not wanted or would be empty."""
    now = datetime.now(UTC)
    rows = [_make_row(each, depth, now, labels.get(each.header.run, ())) for each, depth in arrange(chosen)]
    left_out = {"AT", "SESSIONS"} if brief else set[str]()
    if all(row[1] == _NO_NAMES for row in rows):
        left_out.add("NAMES")
    kept = [index for index, each in enumerate(_COLUMNS) if each.title not in left_out]
    shown = [[row[index] for index in kept] for row in rows]
    return format_table([_COLUMNS[index] for index in kept], shown)


def _emit(form: str, project: Path, runs: list[dict[str, object]], brief: bool) -> None:
    if form == JSON:
        emit_document("runs", project=exact(os.fsencode(project)), brief=brief, runs=runs)
        return
    for each in runs:
        emit_line("run", each)


def _prune(context: Context) -> None:
    from verdog_cli.tidings import telling
    from verdog_runtime.registration import prune_registry

    with telling(), context.repository(read_only=False) as repository:
        gone = prune_registry(repository)
    for path in gone:
        click.echo(escape(str(path)))
    click.echo(f"{plural(len(gone), 'directory', 'directories')} removed from the registry", err=True)


def _register(context: Context, directory: Path | None) -> None:
    from verdog_cli.tidings import telling
    from verdog_runtime.registration import register_directory

    if directory is None:
        raise Usage("runs register needs the directory that was moved", hint="verdog runs register DIR")
    with telling(), context.repository(read_only=False) as repository:
        run = register_directory(repository, directory, tuple(sys.argv[1:]))
    click.echo(f"run {run} is registered at {context.display(directory.absolute())}")


def arrange(listings: Sequence["RunListing"]) -> Iterator[tuple["RunListing", int]]:
    """Yield runs with their depth: each below its parent, and otherwise in the order given."""
    known = {each.header.run for each in listings}
    children: dict[str | None, list[RunListing]] = {}
    for each in listings:
        parent = each.header.parent.run if each.header.parent is not None else None
        children.setdefault(parent if parent in known else None, []).append(each)
    waiting = [(each, 0) for each in reversed(children.get(None, []))]
    while waiting:
        listing, depth = waiting.pop()
        yield listing, depth
        waiting += [(each, depth + 1) for each in reversed(children.get(listing.header.run, []))]


def _make_row(listing: "RunListing", depth: int, now: datetime, labels: Sequence[str]) -> list[str]:
    header = listing.header
    status = listing.status.value
    if not listing.present:
        status += ", absent"
    at = "-" if listing.sequence is None else f"{listing.sequence}{'' if listing.restorable else '!'}"
    sessions = "branch" if listing.branchable else "fresh" if listing.fork_fresh else "-"
    name = f"{'  ' * (depth - 1)}{'+ ' if depth else ''}{short_run(header.run)}"
    chosen = () if header.output_dir.startswith(_MANAGED) else (header.output_dir.rpartition("/")[2],)
    names = ", ".join(escape(each) for each in (*labels, *chosen)) or _NO_NAMES
    row = [name, names, status, at, sessions, escape(header.workflow), format_age(header.updated_at, now)]
    row.append(" ".join(escape(each) for each in header.arguments))
    return row

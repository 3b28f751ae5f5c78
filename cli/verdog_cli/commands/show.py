"""`verdog show`: one checkpoint: header, state, changed files."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from verdog_cli.cells import measure, pad, wrap
from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.documents import emit_document
from verdog_cli.forms import json_option
from verdog_cli.group import Command
from verdog_cli.paging import page, wrap_for_person
from verdog_cli.palette import BAD, CHANGES, COMMIT, NAME, TITLE, paint
from verdog_cli.render import escape, format_duration, format_size, harmless, plural, terminal_width
from verdog_cli.selection import iter_changes, select_checkpoint
from verdog_cli.views import (
    change_as_json,
    checkpoint_as_json,
    entry_as_json,
    format_name,
    format_next,
    format_time,
    format_visit,
    recorded_as_json,
)

if TYPE_CHECKING:
    from verdog_objects.treediff import Change
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.record import CheckpointRecord
    from verdog_repo.repository import Repository
    from verdog_repo.runs import RunHeader

_CODE = 12
"""So many changes of code and packages are listed as text."""

_VALUE_LINES = 6
"""How many lines of one value are shown as text without `--all-values`."""

_VALUE_CHARS = 2000
"""How many characters of one value are read without `--all-values`."""

_FILES = 20
"""How many changed files are listed as text without `--all-files`."""


@click.command(
    "show",
    cls=Command,
    epilog="""
    verdog show RUN
    verdog show RUN@survey#3
    verdog show RUN@17:report/000001/report.txt
    """,
)
@click.argument("revision", metavar="REV[:PATH]")
@click.option("--all-files", is_flag=True, help=f"List every changed file, not only the first {_FILES}.")
@click.option("--all-values", is_flag=True, help="Show the whole of each value, however long it is.")
@json_option
@click.pass_context
@pass_context
def command(context: Context, ctx: click.Context, revision: str, all_files: bool, all_values: bool) -> None:
    """Show a checkpoint: what was completed, the state it left, the files it changed.

    Lines that begin with `code` tell what was changed in the code or the installed packages since the
    checkpoint before. `usable` says which commands can go on from here: resume only from a run's latest.
    `late` are files that were found outside the directory of the completed visit.

    Of REV:PATH it shows the file, or lists the directory. Values are shown without importing or running
    anything of the workflow.
    """
    with context.repository() as repository:
        from verdog_runtime.comparison import compare_code

        if repository.resolve(revision).path is not None:
            _show_path(ctx, context, repository, revision)
            return
        checkpoint = select_checkpoint(repository, revision)
        record = repository.checked_record(checkpoint)
        header = repository.header(checkpoint.run)
        latest = repository.tip(checkpoint.run) == checkpoint
        changes = list(iter_changes(repository, checkpoint))
        code = compare_code(repository, repository.parent(checkpoint), checkpoint)
        state = list(_iter_state(repository, record, None if all_values else _VALUE_CHARS))
    if context.form == JSON:
        emit_document("show", **_as_json(checkpoint, record, changes, state), code=list(code))
        return
    head = (*_describe(checkpoint, record, header if latest else None), *_describe_code(code))
    lines = [*head, *_describe_state(state, all_values), *_describe_changes(changes, all_files)]
    page(lines, pager=context.pager)


def _show_path(ctx: click.Context, context: Context, repository: "Repository", revision: str) -> None:
    from verdog_cli.commands import cat, ls
    from verdog_cli.selection import select_tree
    from verdog_objects.nodes import EntryKind

    tree = select_tree(repository, revision)
    if context.form == JSON and tree.entry is not None and tree.entry.kind is not EntryKind.DIRECTORY:
        emit_document(
            "show", checkpoint=checkpoint_as_json(tree.checkpoint), file=entry_as_json(tree.path, tree.entry)
        )
    elif tree.entry is None or tree.entry.kind is EntryKind.DIRECTORY:
        ctx.invoke(ls.command, revision=revision, long=True)
    else:
        ctx.invoke(cat.command, revision=revision)


def _iter_state(
    repository: "Repository", record: "CheckpointRecord", limit_chars: int | None
) -> Iterator[tuple[str, str]]:
    """Yield each address of the state with its value as text."""
    from verdog_objects.manifest import iterate
    from verdog_objects.oid import Kind
    from verdog_runtime.values import decode_neutral, format_neutral

    if record.state is None:
        return
    for key, entry in iterate(repository.store, record.state):
        payload = repository.store.get(Kind.VALUE, entry.oid)
        yield key.decode("utf-8", "replace"), format_neutral(decode_neutral(payload), limit_chars=limit_chars)


def _describe(
    checkpoint: "Checkpoint", record: "CheckpointRecord", header: "RunHeader | None"
) -> Iterator[str]:
    """Yield what a checkpoint is. The header is its run's if it is the latest one, which alone is resumed."""
    yield wrap_for_person(format_name(checkpoint), "checkpoint ", NAME)
    yield wrap_for_person(checkpoint.commit.hex(), "commit     ", COMMIT)
    yield wrap_for_person(record.kind.value, "kind       ")
    yield wrap_for_person(f"{format_visit(checkpoint)}  {format_duration(record.duration_ns)}", "completed  ")
    yield wrap_for_person(format_next(checkpoint), "next       ")
    yield wrap_for_person(format_time(record.created_at), "created    ")
    if record.parent is not None:
        source = record.parent
        at = "" if source.checkpoint is None else f"@{source.checkpoint}"
        yield wrap_for_person(f"{source.operation.value} of {source.run}{at}", "from       ")
    if record.restorable:
        resumable = header is not None and header.status.value != "succeeded"
        uses = "resume, fork" if resumable else "fork"
        only = "" if record.branchable else " (only with new conversations)"
        yield wrap_for_person(f"{uses}{only}", "usable     ")
    else:
        reason = harmless(record.reason or record.unavailable_code or "no reason recorded")
        yield wrap_for_person(reason, "usable     no: ", head_style=BAD)
    for path in record.late:
        yield wrap_for_person(escape(path), "late       ")
    if header is not None and header.error is not None:
        told = f"{header.error.type}: {escape(header.error.message)}"
        yield wrap_for_person(told, "run failed ", head_style=BAD)


def _describe_code(code: Sequence[str]) -> Iterator[str]:
    """Yield what changed in code and environment since the checkpoint before."""
    for difference in code[:_CODE]:
        yield wrap_for_person(escape(difference), "code       ")
    if len(code) > _CODE:
        yield f"code       and {len(code) - _CODE:,} more"


def _describe_state(state: list[tuple[str, str]], everything: bool) -> Iterator[str]:
    if not state:
        return
    line = terminal_width()
    width = min(20, line // 4, max(measure(escape(address)) for address, _ in state))
    yield ""
    yield paint("state", TITLE)
    for address, text in state:
        head = f"  {pad(escape(address.replace(chr(0), ' ')), width)}  "
        if measure(head) + measure(escape(text)) <= line:
            yield head + escape(text)
            continue
        yield head.rstrip()
        lines = wrap(escape(text), line - 4, cut=True)
        shown = lines if everything else lines[:_VALUE_LINES]
        yield from (f"    {line}" for line in shown)
        if len(lines) > len(shown):
            yield "    ... (--all-values)"


def _describe_changes(changes: list["Change"], all_files: bool) -> Iterator[str]:
    from verdog_objects.manifest import key_path
    from verdog_objects.nodes import EntryKind

    files = [
        change
        for change in changes
        if any(each and each.kind is not EntryKind.DIRECTORY for each in (change.before, change.after))
    ]
    yield ""
    yield paint(plural(len(files), "changed file"), TITLE)
    for change in files if all_files else files[:_FILES]:
        letter = _letter(change)
        size = "" if change.after is None else format_size(change.after.size)
        yield f"  {paint(letter, CHANGES[letter])}  {size:>9}  {escape(key_path(change.key))}"
    if len(files) > _FILES and not all_files:
        yield f"  and {len(files) - _FILES} more (--all-files)"


def _letter(change: "Change") -> str:
    return "A" if change.before is None else "D" if change.after is None else "M"


def _as_json(
    checkpoint: "Checkpoint",
    record: "CheckpointRecord",
    changes: list["Change"],
    state: list[tuple[str, str]],
) -> dict[str, object]:
    from verdog_objects.manifest import key_path

    return {
        "checkpoint": recorded_as_json(checkpoint, record),
        "state": [{"address": address, "text": text} for address, text in state],
        "changes": [
            change_as_json(_letter(change), (path, change.before), (path, change.after))
            for change in changes
            for path in (key_path(change.key),)
        ],
    }

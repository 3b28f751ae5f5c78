"""`verdog diff`: what two checkpoints differ in."""

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from verdog_cli.context import JSON, JSONL, Context, pass_context
from verdog_cli.documents import emit_document, emit_line
from verdog_cli.exits import FAILED, OK, Usage
from verdog_cli.forms import form_option, json_option, jsonl_option
from verdog_cli.group import PathsCommand
from verdog_cli.paging import page
from verdog_cli.palette import TITLE, paint
from verdog_cli.render import escape, plural
from verdog_cli.views import format_name
from verdog_objects.errors import NotFound

if TYPE_CHECKING:
    from verdog_repo.artifactdiff import FileChange
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.diff import Comparison
    from verdog_repo.repository import Repository
    from verdog_repo.resolve import RevisionRange


_CODE = 12
"""So many differences of code and packages are listed as text."""

_STAT, _NAMES = "--stat", "--name-status"


class Choice(NamedTuple):
    """What of a comparison is wanted.

    Attributes:
        state: the values of the state.
        files: the files.
        paths: only these files and what is below these directories, or all when empty.
    """

    state: bool
    files: bool
    paths: tuple[bytes, ...]


@click.command(
    "diff",
    cls=PathsCommand,
    epilog="""
    verdog diff RUN1 RUN2
    verdog diff RUN@survey#3
    verdog diff --stat RUN1...RUN2
    verdog diff --exit-code RUN1 RUN2 -- report/000001/report.txt
    """,
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@form_option("--stat", help="Sizes of the changed files, and nothing of their contents.")
@form_option("--name-status", help="Only a letter and the path of each changed file.")
@click.option("-z", "null", is_flag=True, help="With --name-status: a NUL after each part, nothing escaped.")
@click.option("--state", "only_state", is_flag=True, help="Only the state, and all of what changed in it.")
@json_option
@jsonl_option
@click.option("--exit-code", is_flag=True, help="Exit with 1 if something differs.")
@pass_context
def command(
    context: Context, first: str, second: str | None, null: bool, only_state: bool, exit_code: bool
) -> int:
    """Compare two checkpoints: their visits, state and files.

    A alone is compared with its parent. A..B is A B; A...B is B against the checkpoint where both parted.
    After -- only these files, and what is below these directories; however much they differ in is printed.

    Before all that stands what differs in the code and the installed packages that they were made with; by
    itself it counts as no difference.

    Visits are matched by their node and how often it was completed, so a visit that was killed and repeated
    stands for the undisturbed one, and their files are compared although the directory has another number.
    JSON is compared by key, CSV by row, other text line by line; of everything else there are size and object
    id. Runs of different workflows have only their files compared.
    """
    paths = tuple(os.fsencode(path).removeprefix(b"./").rstrip(b"/") for path in context.tail or ())
    form = context.form
    if null and form != _NAMES:
        raise Usage(f"-z goes with {_NAMES}: nothing else of diff is made of paths")
    if only_state and (paths or form in (_STAT, _NAMES)):
        raise Usage("--state is about values, so it goes with neither paths nor --stat nor --name-status")
    choice = Choice(not paths and form != _NAMES, not only_state, paths)
    with context.repository() as repository:
        from verdog_cli import difference
        from verdog_runtime.comparison import compare_checkpoints

        left, right = _select(repository, first, second)
        comparison = compare_checkpoints(repository, left, right)
        if form in (JSON, JSONL):
            _emit(repository, comparison, choice, form)
        elif null:
            for change in _choose_listed(comparison, choice):
                click.echo(difference.join_names(change), nl=False)
        else:
            page(_format(repository, comparison, choice, form), pager=context.pager)
        return FAILED if exit_code and _differs(comparison, choice) else OK


def _select(
    repository: "Repository", first: str, second: str | None
) -> tuple["Checkpoint | None", "Checkpoint"]:
    """Return the checkpoint before, or None for nothing, and the one after."""
    from verdog_repo.resolve import RevisionRange

    if second is not None:
        return _resolve(repository, first), _resolve(repository, second)
    found = repository.resolve_range(first)
    if not isinstance(found, RevisionRange):
        right = _resolve(repository, first)
        return repository.parent(right), right
    right = found.right.checkpoint
    return (_find_base(repository, found) if found.symmetric else found.left.checkpoint), right


def _resolve(repository: "Repository", text: str) -> "Checkpoint":
    revision = repository.resolve(text)
    if revision.path is not None:
        head, _, path = text.partition(":")
        raise Usage(f"{escape(text)} names a file", hint=f"`verdog diff {head} ... -- {shlex.quote(path)}`")
    return revision.checkpoint


def _find_base(repository: "Repository", found: "RevisionRange") -> "Checkpoint":
    from verdog_repo.history import merge_base

    left, right = found.left.checkpoint, found.right.checkpoint
    base = merge_base(repository.catalog, left, right)
    if base is None:
        raise NotFound(f"{format_name(left)} and {format_name(right)} have no checkpoint in common")
    return base


def _choose_files(comparison: "Comparison", choice: Choice) -> list["FileChange"]:
    from verdog_cli.difference import is_below

    if not choice.files or comparison.files is None:
        return []
    return [each for each in comparison.files if not choice.paths or is_below(choice.paths, each)]


def _choose_listed(comparison: "Comparison", choice: Choice) -> list["FileChange"]:
    from verdog_cli.difference import choose_files

    return choose_files(comparison, _choose_files(comparison, choice)).listed


def _differs(comparison: "Comparison", choice: Choice) -> bool:
    if choice.state and comparison.state_differs:
        return True
    if comparison.files is None:
        return choice.files and comparison.files_differ
    return bool(_choose_files(comparison, choice))


def _format(
    repository: "Repository", comparison: "Comparison", choice: Choice, form: str | None
) -> Iterator[str]:
    from verdog_cli import difference
    from verdog_repo.alignment import Ordinals

    reader, files = repository.store, _choose_files(comparison, choice)
    if form == _NAMES:
        yield from map(difference.format_status, _choose_listed(comparison, choice))
        return
    yield from difference.format_heading(comparison)
    if comparison.alignment is None:
        yield "    runs of different workflows: only their files are compared"
    code = _compare_code(repository, comparison, choice)
    if code:
        yield from ["", paint(f"code: {plural(len(code), 'difference')}", TITLE)]
        yield from (f"  {escape(each)}" for each in code[:_CODE])
        if len(code) > _CODE:
            yield f"  and {len(code) - _CODE:,} more"
    if not _differs(comparison, choice):
        yield from ["", "no other difference"] if code else ["no difference"]
        return
    if choice.state:
        base = comparison.alignment.base if comparison.alignment is not None else None
        yield from difference.format_visits(comparison, Ordinals(repository.catalog, base))
        yield from difference.format_state(reader, comparison, everything=not choice.files)
    if choice.files:
        yield from difference.format_files(
            reader, comparison, files, content=form is None, everything=bool(choice.paths)
        )


def _compare_code(repository: "Repository", comparison: "Comparison", choice: Choice) -> tuple[str, ...]:
    """Return in what the code of the two sides differs, if that is wanted; it is no difference of theirs."""
    from verdog_runtime.comparison import compare_code

    left, right = comparison.left.checkpoint, comparison.right.checkpoint
    if not choice.state or comparison.alignment is None or right is None:
        return ()
    return compare_code(repository, left, right)


def _emit(repository: "Repository", comparison: "Comparison", choice: Choice, form: str) -> None:
    from verdog_cli.difference_json import comparison_as_json, iter_lines

    files = _choose_files(comparison, choice) if comparison.files is not None and choice.files else None
    facts = {
        "differs": _differs(comparison, choice),
        "code": list(_compare_code(repository, comparison, choice)),
    }
    if form == JSON:
        document = comparison_as_json(repository, comparison, files, state=choice.state)
        emit_document("diff", **facts, **document)
        return
    for kind, fields in iter_lines(repository, comparison, files, state=choice.state):
        emit_line(kind, {**facts, **fields} if kind == "comparison" else fields)

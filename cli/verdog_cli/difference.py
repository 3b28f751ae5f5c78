"""A comparison of two checkpoints as lines of text."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from verdog_cli.cells import measure, pad
from verdog_cli.paging import wrap_for_person
from verdog_cli.palette import ADDED, CHANGES, COMMIT, NAME, PLACE, REMOVED, TITLE, Style, paint
from verdog_cli.parts import clean, cut, format_part, mark
from verdog_cli.render import escape, format_size, plural, terminal_width
from verdog_cli.views import SHORT_COMMIT, format_name, format_next, format_visit
from verdog_repo.diff import FRAME_KEYS, Reason
from verdog_repo.parts import PartChange
from verdog_repo.textdiff import Opaque, Parts, Patch, compare_file
from verdog_runtime.comparison import iter_differences
from verdog_runtime.layout import format_visit_path
from verdog_runtime.values import Neutral, format_neutral
from verdog_runtime.values.compare import Absent

if TYPE_CHECKING:
    from verdog_objects.nodes import Entry
    from verdog_objects.store import ObjectReader
    from verdog_objects.treediff import Change
    from verdog_repo.alignment import Alignment, Ordinals, Visit
    from verdog_repo.artifactdiff import FileChange
    from verdog_repo.diff import Comparison, Divergence, Side

_VISITS = 8
"""So many visits of one side only are listed."""

_FIELDS = 12
"""So many changed parts of one value are listed, unless all are asked for; so too `_ROWS` and `_LINES`."""

_ROWS = 40
"""So many changed keys of a document, or rows of a table."""

_LINES = 400
"""So many lines of a patch."""

_WIDE = 40
"""A terminal that is narrower has no room for the sizes of files."""

_BELOW = "\n    "
"""Between two parts of a line that do not fit a terminal side by side."""

_VALUE_CHARS = 100_000
_LINE_CHARS = 1000
_DIRECTORY = 2
_KINDS = {1: "file", 2: "directory", 3: "link"}
_NOUNS = (("M", "changed"), ("T", "retyped"), ("R", "renamed"), ("A", "added"), ("D", "removed"))


def format_heading(comparison: "Comparison") -> Iterator[str]:
    """Yield the two checkpoints, and where their histories part."""
    yield _format_side("---", comparison.left, REMOVED)
    yield _format_side("+++", comparison.right, ADDED)
    base = comparison.alignment.base if comparison.alignment is not None else None
    ends = [side.checkpoint.commit for side in (comparison.left, comparison.right) if side.checkpoint]
    if base is not None and base.commit not in ends:
        yield f"    both go on from {format_name(base)}, {format_visit(base)}"


def format_visits(comparison: "Comparison", ordinals: "Ordinals") -> Iterator[str]:
    """Yield how many visits are on both sides, the first one that differs, and those of one side only."""
    alignment = comparison.alignment
    if alignment is None:
        return
    both = len(alignment.pairs)
    if not alignment.left and not alignment.right:
        return
    yield ""
    yield wrap_for_person(f"visits: {_count_visits(both, alignment)}", style=TITLE)
    if comparison.divergence is not None:
        yield from _format_divergence(comparison.divergence, ordinals)
    for sign, some in (("-", alignment.only_left), ("+", alignment.only_right)):
        for visit in some[:_VISITS]:
            name = f"{sign} {_name_visit(visit, ordinals)}"
            head = f"{pad(name, min(30, terminal_width() // 2))}  "
            style = REMOVED if sign == "-" else ADDED
            yield wrap_for_person(format_name(visit.checkpoint), head, style, style)
        if len(some) > _VISITS:
            yield mark(sign, f"{sign} and {len(some) - _VISITS:,} more")


def format_state(reader: "ObjectReader", comparison: "Comparison", *, everything: bool) -> Iterator[str]:
    """Yield the changed parts of each value of the state."""
    if comparison.state is None:
        if comparison.alignment is not None:
            yield ""
            yield "state: not recorded on " + _list_lacking(
                comparison.left.lacks_state, comparison.right.lacks_state
            )
        return
    if not comparison.state:
        return
    width = terminal_width()
    yield ""
    changes = sorted(comparison.state, key=lambda each: each.key.startswith(FRAME_KEYS))
    found = [list_parts(reader, change, comparison) for change in changes]
    yield wrap_for_person(f"state: {plural(sum(map(len, found)), 'changed value')}", style=TITLE)
    for parts in found:
        yield from _format_parts(parts, width, len(parts) if everything else _FIELDS)


def list_parts(reader: "ObjectReader", change: "Change", comparison: "Comparison") -> list[PartChange]:
    """Return the changed parts of one value of the state, as text; their paths begin with its address."""
    address = format_address(change.key)
    found = [
        PartChange(f"{address}{each.path}", _format_value(each.before), _format_value(each.after))
        for each in iter_differences(reader, change, comparison.moved)
    ]
    return found or [PartChange(address, "stored in one way", "stored in another")]


def format_address(key: bytes) -> str:
    """Return an address of the state as text."""
    return key.decode("utf-8", "replace").replace("\0", " ")


class Files(NamedTuple):
    """The changed files that are worth a line.

    Attributes:
        listed: everything but directories that are there only because something in them is, or a visit was.
        directories: how many were left out.
    """

    listed: list["FileChange"]
    directories: int


def choose_files(comparison: "Comparison", files: Sequence["FileChange"]) -> Files:
    """Return the changed files without the directories that other lines tell of."""
    told: set[bytes] = set()
    paths = [path for each in files if not each.is_directory for path in (each.before_path, each.after_path)]
    if comparison.alignment is not None:
        only = (*comparison.alignment.only_left, *comparison.alignment.only_right)
        paths += [format_visit_path(visit.steps) + b"/" for visit in only]
    for path in paths:
        end = path.rfind(b"/") if path is not None else -1
        while path is not None and end > 0 and path[:end] not in told:
            told.add(path[:end])
            end = path.rfind(b"/", 0, end)
    listed = [
        each
        for each in files
        if not each.is_directory or (each.before and each.after) or each.path not in told
    ]
    return Files(listed, len(files) - len(listed))


def format_files(
    reader: "ObjectReader",
    comparison: "Comparison",
    files: Sequence["FileChange"],
    *,
    content: bool,
    everything: bool,
) -> Iterator[str]:
    """Yield a line for each changed file and, below it, what changed in it.

    Args:
        reader: where contents are.
        comparison: what the files are of.
        files: those of its changes that are wanted.
        content: whether to look into the files.
        everything: whether to print all that is found there, however much it is.
    """
    if comparison.files is None:
        yield ""
        yield "files: not recorded on " + _list_lacking(
            comparison.left.lacks_files, comparison.right.lacks_files
        )
        return
    chosen = choose_files(comparison, files)
    if not files:
        return
    yield ""
    yield wrap_for_person(f"files: {_count(chosen)}", style=TITLE)
    for each in chosen.listed:
        yield _format_file(each, sizes=not content or terminal_width() >= _WIDE)
        if content:
            yield from _format_content(reader, each, everything=everything)


def format_status(change: "FileChange") -> str:
    """Return a changed file for a program: its letter, and its path, or both of them, separated by tabs."""
    similarity = "" if change.similarity is None else f"{change.similarity:03}"
    paths = dict.fromkeys(
        escape(path) for path in (change.before_path, change.after_path) if path is not None
    )
    return "\t".join([f"{change.status.value}{similarity}", *paths])


def join_names(change: "FileChange") -> bytes:
    """Return the same with a NUL after each part and the paths as they are."""
    similarity = "" if change.similarity is None else f"{change.similarity:03}"
    paths = dict.fromkeys(path for path in (change.before_path, change.after_path) if path is not None)
    parts = [f"{change.status.value}{similarity}".encode(), *paths]
    return b"".join(part + b"\0" for part in parts)


def _format_side(sign: str, side: "Side", style: Style) -> str:
    checkpoint, sign = side.checkpoint, paint(sign, style)
    if checkpoint is None:
        return f"{sign} nothing: there is no checkpoint before"
    name, commit = format_name(checkpoint), checkpoint.commit.hex()[:SHORT_COMMIT]
    visit = format_visit(checkpoint)
    fits = measure(f"--- {name}  {commit}  {visit}") <= terminal_width() or not sys.stdout.isatty()
    return f"{sign} {paint(name, NAME)}  {paint(commit, COMMIT)}{'  ' if fits else _BELOW}{visit}"


def _list_lacking(left: bool, right: bool) -> str:
    return "both sides" if left and right else "---" if left else "+++"


def _name_visit(visit: "Visit", ordinals: "Ordinals") -> str:
    return f"{escape(visit.place)}#{ordinals.find(visit)}"


def _count_visits(both: int, alignment: "Alignment") -> str:
    more, fewer = len(alignment.right) - both, len(alignment.left) - both
    if not alignment.left:
        return f"{more:,} more"
    if not alignment.right:
        return f"{fewer:,} fewer"
    return f"{both:,} on both sides" + (f", {more + fewer:,} on one side only" if more + fewer else "")


def _format_divergence(divergence: "Divergence", ordinals: "Ordinals") -> Iterator[str]:
    left, right = divergence.left, divergence.right
    name = _name_visit(left, ordinals)
    if Reason.ORDER in divergence.reasons:
        line = f"  first difference: {name} against {_name_visit(right, ordinals)}"
    else:
        line = f"  first difference: {name}: {', '.join(divergence.reasons)}"
    names = f"({format_name(left.checkpoint)}, {format_name(right.checkpoint)})"
    yield from (
        [f"{line}  {names}"]
        if measure(line) + measure(names) + 2 <= terminal_width()
        else [line, f"    {names}"]
    )
    if Reason.NEXT in divergence.reasons:
        nodes = [format_next(each.checkpoint, end="the end") for each in (left, right)]
        yield f"    then {' against '.join(nodes)}"


def _format_value(value: "Neutral | Absent") -> str | None:
    return None if isinstance(value, Absent) else format_neutral(value, limit_chars=_VALUE_CHARS)


def _format_parts(parts: Sequence[PartChange], width: int, shown: int) -> Iterator[str]:
    for part in parts[:shown]:
        yield from format_part(part, width)
    if len(parts) > shown:
        yield f"  and {len(parts) - shown:,} more"


def _count(chosen: Files) -> str:
    found = [(noun, sum(each.status.value == letter for each in chosen.listed)) for letter, noun in _NOUNS]
    words = [f"{count:,} {noun}" for noun, count in found if count]
    if chosen.directories:
        words.append(plural(chosen.directories, "directory", "directories"))
    return ", ".join(words)


def _format_file(change: "FileChange", *, sizes: bool) -> str:
    paths = [escape(each) for each in (change.before_path, change.after_path) if each is not None]
    path = _join_paths(*paths) + ("/" if change.is_directory else "")
    before, after = _format_size(change.before), _format_size(change.after)
    letter = change.status.value
    columns = f"  {before:>8}  {after:>8}" if sizes else ""
    line = f"{letter}{columns}  {path}{_format_notes(change)}"
    return paint(line, CHANGES[letter]._replace(bold=True))


def _format_size(entry: "Entry | None") -> str:
    return "" if entry is None or entry.kind == _DIRECTORY else format_size(entry.size)


def _format_notes(change: "FileChange") -> str:
    before, after = change.before, change.after
    notes = [] if change.similarity is None else [f"{change.similarity} %"]
    if before is not None and after is not None:
        if before.kind is not after.kind:
            notes.append(f"{_KINDS[before.kind]} -> {_KINDS[after.kind]}")
        elif before.mode != after.mode:
            notes.append(f"mode {before.mode:04o} -> {after.mode:04o}")
    return f"  ({', '.join(notes)})" if notes else ""


def _join_paths(before: str, after: str | None = None) -> str:
    """Return two paths as one, with what differs in braces: `work/{000002 => 000003}/n.txt`."""
    if after is None or before == after:
        return before
    old, new = before.split("/"), after.split("/")
    start = 0
    while start < min(len(old), len(new)) - 1 and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start - 1 and old[-1 - end] == new[-1 - end]:
        end += 1
    middle = f"{'/'.join(old[start : len(old) - end])} => {'/'.join(new[start : len(new) - end])}"
    if not start and not end:
        return middle
    return "/".join([*old[:start], f"{{{middle}}}", *old[len(old) - end :]])


def _format_content(reader: "ObjectReader", change: "FileChange", *, everything: bool) -> Iterator[str]:
    content = compare_file(reader, change)
    if isinstance(content, Opaque) and change.before is not None and change.after is not None:
        yield f"  {content.reason}: {_format_oid(change.before)} -> {_format_oid(change.after)}"
    elif isinstance(content, Parts):
        parts = content.changes
        yield from _format_parts(parts, terminal_width(), len(parts) if everything else _ROWS)
    elif isinstance(content, Patch):
        yield from _format_patch(content.lines, len(content.lines) if everything else _LINES)


def _format_oid(entry: "Entry") -> str:
    return entry.oid.hex()[:12]


def _format_patch(lines: Sequence[bytes], shown: int) -> Iterator[str]:
    for line in lines[:shown]:
        text = cut(clean(line.decode("utf-8", "backslashreplace")), _LINE_CHARS)
        if text.startswith(("-", "+")):
            text = mark(text[0], text)
        elif text.startswith("@@"):
            text = paint(text, PLACE)
        yield text
    if len(lines) > shown:
        yield f"  and {len(lines) - shown:,} more lines"


def is_below(paths: Iterable[bytes], change: "FileChange") -> bool:
    """Return whether a change is of one of these files, or of something below one of these directories."""
    return any(
        side == path or side.startswith(path + b"/")
        for path in paths
        for side in (change.before_path, change.after_path)
        if side is not None
    )

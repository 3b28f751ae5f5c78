"""Candidates: what the beginning of a run, revision or path may become, each with an explanation."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from verdog_objects.errors import NotFound, VerdogError
from verdog_objects.sqlite import open_store
from verdog_repo.catalog import Catalog, open_catalog
from verdog_repo.names import PREFIX_DIGITS, format_commit_id, is_hexadecimal
from verdog_repo.refs import LABEL_PREFIX, TAG_PREFIX, iter_refs
from verdog_repo.tables import TABLES

if TYPE_CHECKING:
    from verdog_objects.nodes import Entry
    from verdog_objects.oid import Oid
    from verdog_repo.checkpoint import Checkpoint
    from verdog_repo.resolve import Resolver

Candidate = tuple[str, str]

ANY_DIRECTORY: Candidate = ("", "")
"""Stands for every directory that there is."""

_LIMIT = 200
_LATEST = 10
_PLACES_AMONG = 300
"""The nodes offered are those of so many latest checkpoints."""


def find_candidates(project: Path, kind: str, text: str, words: list[str]) -> list[Candidate]:
    """Return what a text may become.

    Args:
        project: where runs and checkpoints are looked up.
        kind: `run`, `mark`, `node`, `revision`, `file` (`REV:PATH`) or `path` (in what a word names).
        text: what is there so far.
        words: the words of the command line before it.

    Cost: a few lookups, and one read of the latest checkpoints or of a directory; at most 200 candidates. It
        does without `Repository` and, for whole run ids, without the grammar of revisions: a shell waits.
    """
    store = open_store(project / ".verdog" / "store", TABLES, read_only=True)
    try:
        return list(islice(_Finder(open_catalog(store), project).find(kind, text, words), _LIMIT))
    finally:
        store.close()


class _Finder:
    def __init__(self, catalog: Catalog, project: Path) -> None:
        self._catalog = catalog
        self._project = project

    def find(self, kind: str, text: str, words: list[str]) -> Iterator[Candidate]:
        match kind:
            case "run":
                return self._find_runs(text)
            case "mark":
                return self._find_marks(text)
            case "node":
                return self._find_places(self._find_named(words), text)
            case "path":
                return self._find_paths(self._find_named(words), text)
            case _:
                return self._find_revisions(text, with_files=kind == "file")

    def _find_runs(self, text: str) -> Iterator[Candidate]:
        if text.startswith((".", "/", "~")):
            yield ANY_DIRECTORY
            return
        for ref in iter_refs(self._catalog.store, LABEL_PREFIX + text):
            yield ref.short_name, f"label of {self._catalog.runs.name(ref.run_number)}"
        for run in self._catalog.runs.beginning_with(text, _LIMIT):
            tip = self._catalog.tip(run)
            yield run, "no checkpoint" if tip is None else f"{tip.sequence} checkpoints, {_describe(tip)}"

    def _find_marks(self, text: str) -> Iterator[Candidate]:
        for prefix in (TAG_PREFIX, LABEL_PREFIX):
            for ref in iter_refs(self._catalog.store, prefix + text):
                yield ref.short_name, f"{prefix[:-2]} of {self._catalog.runs.name(ref.run_number)}"

    def _find_revisions(self, text: str, *, with_files: bool) -> Iterator[Candidate]:
        before, last = _split_range(text)
        for value, said in self._find_one_revision(last, with_files=with_files):
            yield (before + value if value else ""), said

    def _find_one_revision(self, text: str, *, with_files: bool) -> Iterator[Candidate]:
        name, colon, path = text.partition(":")
        if colon:
            found = self._find_paths(self._find_checkpoint(name), path) if with_files else iter(())
            yield from ((f"{name}:{value}", said) for value, said in found)
            return
        run, at, selector = text.partition("@")
        if at:
            yield from ((f"{run}@{value}", said) for value, said in self._find_selectors(run, selector))
            return
        yield from self._find_runs(text)
        for ref in iter_refs(self._catalog.store, TAG_PREFIX + text):
            yield ref.short_name, f"tag of {self._catalog.runs.name(ref.run_number)}@{ref.sequence}"
        if len(text) >= PREFIX_DIGITS and is_hexadecimal(text):
            for each in self._catalog.index.beginning_with(text, _LIMIT):
                yield format_commit_id(each.commit), f"{each.run}@{each.sequence} {_describe(each)}"

    def _find_selectors(self, run: str, text: str) -> Iterator[Candidate]:
        tip = self._find_tip(run)
        numbers = [tip.sequence - back for back in range(min(_LATEST, tip.sequence))]
        if text.isascii() and text.isdigit():
            numbers = [int(text), *(10 * int(text) + digit for digit in range(10))]
        own = self._catalog.runs.number(tip.run)
        for number in numbers:
            if 1 <= number <= tip.sequence and str(number).startswith(text):
                yield str(number), _describe(self._catalog.index.own_ancestor(tip, own, number))
        yield from self._find_places(tip, text)

    def _find_places(self, tip: "Checkpoint | None", text: str) -> Iterator[Candidate]:
        """Yield the nodes among the latest checkpoints of a run."""
        if tip is None:
            return
        found: dict[str, int] = {}
        latest = self._catalog.index.walk_own(tip, self._catalog.runs.number(tip.run), _PLACES_AMONG)
        for each in islice(latest, _PLACES_AMONG):
            if each.place is not None and each.place.startswith(text):
                found.setdefault(each.place, each.sequence)
        yield from ((place, f"the last is {sequence}") for place, sequence in found.items())

    def _find_paths(self, checkpoint: "Checkpoint | None", text: str) -> Iterator[Candidate]:
        from verdog_objects.nodes import EntryKind

        root = None if checkpoint is None else self._catalog.record(checkpoint).artifacts
        if root is None:
            return
        directory, _, beginning = os.fsencode(text).rpartition(b"/")
        above = directory + b"/" if directory else b""
        for name, entry in self._list_children(root, directory, beginning):
            path = os.fsdecode(above + name)
            if entry.kind is EntryKind.DIRECTORY:
                yield path + "/", ""
            else:
                yield path, f"{entry.size:,} bytes"

    def _list_children(
        self, root: "Oid", directory: bytes, beginning: bytes
    ) -> "Iterator[tuple[bytes, Entry]]":
        """Yield what is in a directory and begins with some bytes, and read only that."""
        from verdog_objects.cursor import Cursor
        from verdog_objects.manifest import path_key

        prefix = path_key(directory) + b"\0" if directory else b""
        cursor = Cursor(self._catalog.store, root)
        cursor.seek(prefix + beginning)
        while not cursor.at_end and cursor.key.startswith(prefix + beginning):
            key = cursor.key
            below = key.find(b"\0", len(prefix))
            if below < 0:
                yield key[len(prefix) :], cursor.entry
                cursor.advance()
                cursor.descend()
            else:
                cursor.seek(key[:below] + b"\x01")

    def _find_named(self, words: list[str]) -> "Checkpoint | None":
        """Return the checkpoint that one of the words names; without one, the latest of the only run."""
        from verdog_repo.resolve import RevisionRange

        for word in words:
            try:
                found = self._resolver().resolve_range(word)
            except VerdogError:
                continue
            return found.right.checkpoint if isinstance(found, RevisionRange) else found.checkpoint
        return self._catalog.tip(self._resolver().resolve_run(""))

    def _find_checkpoint(self, text: str) -> "Checkpoint":
        if self._catalog.runs.find(text) is not None:
            return self._find_tip(text)
        return self._resolver().resolve(text).checkpoint

    def _find_tip(self, text: str) -> "Checkpoint":
        row = self._catalog.runs.find(text)
        run = self._resolver().resolve_run(text) if row is None else row.run
        tip = self._catalog.tip(run)
        if tip is None:
            raise NotFound(f"run {run} has no checkpoint")
        return tip

    def _resolver(self) -> "Resolver":
        from verdog_repo.resolve import Resolver

        return Resolver(self._catalog, self._project, Path.cwd())


def _split_range(text: str) -> tuple[str, str]:
    """Return the first end of a range with its dots, or nothing, and the rest."""
    before, dots, last = text.rpartition("..")
    return (before + dots, last) if before.strip(".") and ":" not in before else ("", text)


def _describe(checkpoint: "Checkpoint") -> str:
    done = checkpoint.kind.value if checkpoint.place is None else f"{checkpoint.place}/{checkpoint.visit:06}"
    return f"{done} -> {checkpoint.next_place or 'end'}"

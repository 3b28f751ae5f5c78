"""Resolving a revision: from what was written to the one checkpoint it means, or an error with candidates."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from verdog_objects.errors import Ambiguous, InvalidInput, NotFound
from verdog_repo.catalog import Catalog
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.filenames import format_filename, locate_directory, parse_filename
from verdog_repo.history import find_ancestor
from verdog_repo.names import (
    COMMIT_BYTES,
    PREFIX_DIGITS,
    CommitId,
    LabelName,
    RunId,
    TagName,
    format_commit_id,
    is_hexadecimal,
    parse_commit_id,
)
from verdog_repo.refs import name_label_ref, name_tag_ref, read_ref, read_reflog
from verdog_repo.revision import (
    Earlier,
    Numbered,
    RangeQuery,
    RevisionQuery,
    Selector,
    parse_range,
    parse_revision,
)
from verdog_repo.visits import find_visit

_CANDIDATES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a revision means.

    Attributes:
        path: the file or directory that was named in it (bytes; empty for the root), or None.
    """

    checkpoint: Checkpoint
    path: bytes | None = None

    @property
    def run(self) -> RunId:
        """The run of the checkpoint."""
        return self.checkpoint.run

    @property
    def commit(self) -> CommitId:
        """The commit of the checkpoint."""
        return self.checkpoint.commit


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRange:
    """Two checkpoints: `left..right`, or, when symmetric, `left...right`."""

    left: Revision
    right: Revision
    symmetric: bool


@dataclass(frozen=True, slots=True)
class Resolver:
    """Finds what names mean in one repository.

    Attributes:
        catalog: the store.
        project: the project's directory, which output directories are relative to.
        here: the directory that a run's path may be relative to.
    """

    catalog: Catalog
    project: Path
    here: Path

    def resolve(self, text: str) -> Revision:
        """Return the checkpoint that a revision means.

        Raises:
            InvalidInput: the text is no revision.
            NotFound: nothing has the name.
            Ambiguous: more than one thing has it; the error lists them.
        """
        text = format_filename(text)
        return self._find_whole(text) or self._evaluate(parse_revision(text))

    def resolve_range(self, text: str) -> Revision | RevisionRange:
        """Return the checkpoint or the two checkpoints that a text means. Raises as `resolve` does."""
        text = format_filename(text)
        whole = self._find_whole(text)
        if whole is not None:
            return whole
        query = parse_range(text)
        if isinstance(query, RangeQuery):
            return RevisionRange(
                left=self._evaluate(query.left), right=self._evaluate(query.right), symmetric=query.symmetric
            )
        return self._evaluate(query)

    def resolve_run(self, text: str) -> RunId:
        """Return the run that a text names, which need not have a checkpoint. Empty: the only run.

        Raises:
            NotFound: nothing has the name, or it names a checkpoint.
            Ambiguous: more than one thing has it; the error lists them.
        """
        text = format_filename(text)
        try:
            found = self._find(text)
        except NotFound:
            found = self._checkpoint_instead(text)
            if found is None:
                raise
        if isinstance(found, Checkpoint):
            raise NotFound(f"{text!r} names checkpoint {found.sequence} of run {found.run}, not a run")
        return found

    def _checkpoint_instead(self, text: str) -> Checkpoint | None:
        """Return the checkpoint that a text means which names no run, so that an error can say so."""
        try:
            return self._evaluate(parse_revision(text)).checkpoint
        except (InvalidInput, NotFound, Ambiguous):
            return None

    def _evaluate(self, query: RevisionQuery) -> Revision:
        found = self._find(query.name)
        if isinstance(found, Checkpoint):
            if query.selector is not None:
                raise InvalidInput(
                    f"{query.text!r}: {query.name} is a checkpoint, so '@' has nothing to choose from"
                )
            checkpoint = found
        elif query.selector is None:
            checkpoint = self._tip(found)
        else:
            checkpoint = self._select(found, query.selector)
        return Revision(checkpoint=find_ancestor(self.catalog, checkpoint, query.back), path=query.path)

    def _find_whole(self, text: str) -> Revision | None:
        """Return the revision of the run whose directory has this path, with `@`, `~` and `^` in its name."""
        head, colon, path = text.partition(":")
        if not _is_path(head):
            return None
        found = self._in_directory(head)
        if len(found) != 1:
            return None
        return Revision(checkpoint=self._tip(found[0]), path=parse_revision(f"x{colon}{path}").path)

    def _tip(self, run: RunId) -> Checkpoint:
        tip = self.catalog.tip(run)
        if tip is None:
            raise NotFound(f"run {run} has no checkpoint")
        return tip

    def _select(self, run: RunId, selector: Selector) -> Checkpoint:
        number = self.catalog.runs.number(run)
        if isinstance(selector, Earlier):
            return self._earlier(run, number, selector.moves)
        tip = self._tip(run)
        if isinstance(selector, Numbered):
            sequence = selector.sequence if selector.sequence > 0 else tip.sequence + 1 + selector.sequence
            if not 1 <= sequence <= tip.sequence:
                raise NotFound(f"run {run} has no checkpoint {selector.sequence}: its last is {tip.sequence}")
            return self.catalog.index.own_ancestor(tip, number, sequence)
        return find_visit(self.catalog, tip, selector.steps)

    def _earlier(self, run: RunId, number: int, moves: int) -> Checkpoint:
        before: int | None = None
        left = moves
        while True:
            page = read_reflog(self.catalog.store, number, before=before, limit=min(left + 1, 1000))
            if len(page) > left:
                commit = page[left].commit
                break
            left -= len(page)
            if not page or len(page) < min(left + 1, 1000):
                raise NotFound(
                    f"the ref of run {run} moved {moves - left} times, so there is no {run}@{{{moves}}}"
                )
            before = page[-1].number
        if commit is None:
            raise NotFound(f"run {run} had no checkpoint at {run}@{{{moves}}}")
        return self.catalog.index.get(commit)

    def _find(self, name: str) -> RunId | Checkpoint:
        if not name:
            return self._only_run()
        for candidates in (self._exact(name), self._directories(name), self._beginning_with(name)):
            if len(candidates) > 1:
                texts = [_describe(each) for each in candidates]
                more = " and more" if len(texts) >= _CANDIDATES else ""
                raise Ambiguous(f"{name!r} may mean {', '.join(texts)}{more}", candidates=texts)
            if candidates:
                return candidates[0]
        hint = ""
        if len(name) < PREFIX_DIGITS:
            hint = f" (the beginning of an id needs at least {PREFIX_DIGITS} characters)"
        raise NotFound(f"no run, label, tag or commit {name!r} in this project{hint}")

    def _only_run(self) -> RunId:
        names = [row.run for page in self.catalog.runs.pages() for row in page]
        if not names:
            raise NotFound("this project has no run")
        if len(names) > 1:
            raise Ambiguous(f"this project has {len(names)} runs: name one", candidates=names[:_CANDIDATES])
        return names[0]

    def _exact(self, name: str) -> list[RunId | Checkpoint]:
        catalog = self.catalog
        found: list[RunId | Checkpoint] = []
        if not name.isascii():
            return found
        run = catalog.runs.find(name)
        if run is not None:
            found.append(run.run)
        label = read_ref(catalog.store, name_label_ref(LabelName(name)))
        if label is not None:
            found.append(catalog.runs.name(label.run_number))
        tag = read_ref(catalog.store, name_tag_ref(TagName(name)))
        if tag is not None and tag.commit is not None:
            found.append(catalog.index.get(tag.commit))
        if len(name) == 2 * COMMIT_BYTES and is_hexadecimal(name):
            commit = catalog.index.find(parse_commit_id(name))
            if commit is not None:
                found.append(commit)
        return found

    def _directories(self, name: str) -> list[RunId | Checkpoint]:
        if _is_path(name):
            return [*self._in_directory(name)]
        rows = (row for page in self.catalog.runs.pages() for row in page)
        return [row.run for row in rows if row.output_dir.rpartition("/")[2] == name]

    def _in_directory(self, path: str) -> list[RunId]:
        wanted = (self.here / Path(parse_filename(path)).expanduser()).resolve()
        name = format_filename(wanted.name)
        found: list[RunId] = []
        for page in self.catalog.runs.pages():
            for row in page:
                same_name = row.output_dir.rpartition("/")[2] == name
                if same_name and locate_directory(self.project, row.output_dir).resolve() == wanted:
                    found.append(row.run)
        return found

    def _beginning_with(self, name: str) -> list[RunId | Checkpoint]:
        if len(name) < PREFIX_DIGITS or not name.isascii():
            return []
        found: list[RunId | Checkpoint] = [*self.catalog.runs.beginning_with(name, _CANDIDATES)]
        if len(name) <= 2 * COMMIT_BYTES and is_hexadecimal(name):
            found += self.catalog.index.beginning_with(name, _CANDIDATES)
        return found[:_CANDIDATES]


def _is_path(name: str) -> bool:
    return "/" in name or name.startswith((".", "~"))


def _describe(found: RunId | Checkpoint) -> str:
    if isinstance(found, Checkpoint):
        return f"{format_commit_id(found.commit)} ({found.run}@{found.sequence})"
    return found

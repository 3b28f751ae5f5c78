"""Marks: tags, which name checkpoints, and labels, which name runs. They are made or removed, never moved."""

from verdog_objects.errors import NotFound
from verdog_objects.store import PutRow, Write
from verdog_repo.catalog import Catalog
from verdog_repo.names import CommitId, LabelName, RunId, TagName
from verdog_repo.operations import OperationDraft, RefMove, log_operation
from verdog_repo.refs import (
    LABEL_PREFIX,
    TAG_PREFIX,
    Ref,
    iter_refs,
    name_label_ref,
    name_tag_ref,
    point_at,
    point_at_run,
    read_ref,
)
from verdog_repo.transaction import apply_new, require_unused, unused


class Marks:
    """The tags and labels of a repository. Runs, tags and labels share one name space."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def tags(self) -> dict[TagName, CommitId]:
        """Return all tags, in the order of their names."""
        found = iter_refs(self._catalog.store, TAG_PREFIX)
        return {TagName(ref.short_name): ref.commit for ref in found if ref.commit is not None}

    def labels(self) -> dict[LabelName, RunId]:
        """Return all labels, in the order of their names."""
        found = iter_refs(self._catalog.store, LABEL_PREFIX)
        return {LabelName(ref.short_name): self._catalog.runs.name(ref.run_number) for ref in found}

    def add_tag(self, name: TagName, commit: CommitId, *, operation: OperationDraft) -> None:
        """Give a checkpoint a name.

        Raises:
            InvalidInput: the name is already used.
            NotFound: there is no such commit.
        """
        checkpoint = self._catalog.index.get(commit)
        number = self._catalog.runs.number(checkpoint.run)
        self._add(point_at(name_tag_ref(name), number, checkpoint), operation)

    def add_label(self, name: LabelName, run: RunId, *, operation: OperationDraft) -> None:
        """Give a run a name.

        Raises:
            InvalidInput: the name is already used.
            NotFound: there is no such run.
        """
        self._add(point_at_run(name_label_ref(name), self._catalog.runs.number(run)), operation)

    def remove_tag(self, name: TagName, *, operation: OperationDraft) -> None:
        """Remove a tag. Raises `NotFound` when there is none of this name."""
        self._remove(name_tag_ref(name), operation)

    def remove_label(self, name: LabelName, *, operation: OperationDraft) -> None:
        """Remove a label. Raises `NotFound` when there is none of this name."""
        self._remove(name_label_ref(name), operation)

    def _add(self, mark: Ref, operation: OperationDraft) -> None:
        name = mark.short_name
        require_unused(self._catalog, name)
        writes: list[Write] = [mark.write, _log(mark, operation, before=None, after=mark.commit)]
        apply_new(self._catalog, name, None, unused(name), writes)

    def _remove(self, name: str, operation: OperationDraft) -> None:
        mark = read_ref(self._catalog.store, name)
        if mark is None:
            raise NotFound(f"no {name.partition('s/')[0]} {name.partition('/')[2]} in this project")
        self._catalog.store.apply(
            guards=[mark.guard],
            writes=[mark.removal, _log(mark, operation, before=mark.commit, after=None)],
        )


def _log(mark: Ref, operation: OperationDraft, *, before: CommitId | None, after: CommitId | None) -> PutRow:
    move = RefMove(name=mark.name, before=before, after=after)
    return log_operation(operation, mark.run_number, (move,))

"""Stored runs that this version cannot or must not use: refused, and left as they are."""

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import line_graph, loop_graph, workflow
from tests.runtime.recorded import artifacts_of, fail_in, fork, read_tree, resume, run
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_repo import record
from verdog_repo.repository import Repository
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.runs import RunStore, RunStoreError


@pytest.mark.parametrize("operation", [resume, lambda project, definition: fork(project, definition, 2)])
def test_a_checkpoint_of_a_later_format_is_refused_and_nothing_is_changed(
    project: Path, operation: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = workflow(loop_graph(fail_in(1)))
    with monkeypatch.context() as later:
        later.setattr(record, "RECORD_FORMAT", 2)
        with pytest.raises(ValueError, match="boom"):
            run(project, definition, 1)
    before = read_tree(project / "out", times=True)
    with pytest.raises(FormatUnsupported, match="format 2") as caught:
        operation(project, definition)  # type: ignore[operator]
    assert isinstance(caught.value, RunStoreError)
    assert caught.value.code == "run.schema_unsupported"
    with pytest.raises(RunStoreError) as read:
        RunStore.open(project / "out").checkpoints()
    assert read.value.code == "run.schema_unsupported"
    assert read_tree(project / "out", times=True) == before
    assert not (project / "forked").exists()


def test_a_fork_whose_files_are_damaged_in_the_store_is_refused_and_leaves_nothing(project: Path) -> None:
    definition = workflow(line_graph())
    run(project, definition, 1)
    lost = artifacts_of(project, 2)[b"work/000001/out.txt"].oid
    with Repository.open(project) as repository:
        repository.store.delete_many([lost])
    with pytest.raises(Corrupt) as caught:
        fork(project, definition, 2)
    assert isinstance(caught.value, RunStoreError)
    assert caught.value.code == "run.manifest_invalid"
    assert "work/000001/out.txt" in str(caught.value)
    assert not (project / "forked").exists()
    assert fork(project, definition, 1).output == 1


@pytest.mark.parametrize(
    "operation",
    [
        resume,
        lambda project, definition: fork(project, definition, 1),
        lambda project, definition: Dispatcher(project_root=project).restart(
            definition, 1, source_output_dir=project / "out", output_dir=project / "again", sessions="fresh"
        ),
        lambda project, definition: RunStore.open(project / "out").manifest(),
    ],
)
def test_a_damaged_store_is_told_as_an_error_of_the_run(project: Path, operation: Any) -> None:
    definition = workflow(loop_graph(fail_in(1)))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    (project / ".verdog/store/store.db").write_bytes(b"damaged" * 1000)
    before = read_tree(project / "out", times=True)
    with pytest.raises(RunStoreError, match="damaged") as caught:
        operation(project, definition)
    assert caught.value.code == "run.manifest_invalid"
    assert read_tree(project / "out", times=True) == before

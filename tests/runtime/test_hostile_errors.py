"""Errors and visits made to get in the way of the record of a run."""

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import count_visits, line_graph, workflow
from tests.runtime.recorded import header_of, opened, run
from verdog_repo.names import RunId
from verdog_repo.runs import RunStatus
from verdog_runtime.interpreter import CheckpointPolicy

POLICIES = [CheckpointPolicy.AUTO, CheckpointPolicy.REQUIRED]


class Interrupting(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class Numeric(Exception):
    __str__ = lambda self: 3  # type: ignore[assignment]  # noqa: E731


class Secretive(Exception):
    @property
    def __notes__(self) -> Any:
        raise RuntimeError("no notes")


class Unnamed(Exception):
    @property
    def __cause__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no cause")


class OddNotes(Exception):
    def __init__(self, notes: Any) -> None:
        super().__init__("odd")
        self.__notes__ = notes


class Huge(Exception):
    pass


HOSTILE = [
    Interrupting("x"),
    Numeric("x"),
    Secretive("x"),
    Unnamed("x"),
    OddNotes(7),
    OddNotes([1, None, b"x", "\udcff"]),
    OddNotes("text"),
]


def raising(error: BaseException) -> Any:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        raise error

    return work


@pytest.mark.parametrize("error", HOSTILE, ids=lambda error: type(error).__name__)
def test_an_error_that_cannot_be_told_still_fails_the_run_and_leaves_its_frames(
    project: Path, error: Exception
) -> None:
    with pytest.raises(type(error)) as caught:
        run(project, workflow(line_graph(raising(error))), 1)
    assert caught.value is error
    header = header_of(project)
    assert header.status is RunStatus.FAILED
    assert header.error is not None
    assert header.error.type.endswith(type(error).__name__)
    assert "raise error" in header.error.traceback
    assert "raise error" in (project / "out/failure/000001/stacktrace.txt").read_text()


def test_a_header_keeps_both_ends_of_a_huge_error_and_the_file_keeps_all_of_it(project: Path) -> None:
    with pytest.raises(Huge):
        run(project, workflow(line_graph(raising(Huge("<" + "x" * 3_000_000 + ">")))), 1)
    error = header_of(project).error
    assert error is not None
    assert len(error.message) < 11_000
    assert error.message.startswith("<xxx")
    assert error.message.endswith("xxx>")
    assert "2,990,002 characters left out" in error.message
    assert len(error.traceback) < 201_000
    assert (project / "out/failure/000001/stacktrace.txt").stat().st_size > 3_000_000


@pytest.mark.parametrize("checkpointing", POLICIES)
def test_a_visit_that_removes_the_control_directory_does_not_undo_the_success(
    project: Path, caplog: pytest.LogCaptureFixture, checkpointing: CheckpointPolicy
) -> None:
    def work(value: Any, state: Any, context: Any, /) -> Any:
        shutil.rmtree(project / "out/.verdog")
        return count_visits(value, state, context)

    with caplog.at_level(logging.WARNING):
        result = run(project, workflow(line_graph(work)), 1, run_id="mine", checkpointing=checkpointing)
    assert result.output == 1
    assert "run.json" in caplog.text
    with opened(project) as repository:
        assert repository.header(RunId("mine")).status is RunStatus.SUCCEEDED

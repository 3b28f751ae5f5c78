"""Opening a run, and listing runs, does as little after many checkpoints as after few."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.runtime.graphs import loop_graph, workflow
from tests.runtime.recorded import fail_in, run
from verdog_objects import connections, rownames
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.acknowledgements import read_acknowledged
from verdog_runtime.runs import RunStore

FEW, MANY = 5, 100
RECENT_ROWS = 20
"""So many rows a reader looks at in addition at most; the real number would take thousands of visits."""


class Steps:
    """Counts what the database does: the instructions of its machine, in tens."""

    def __init__(self) -> None:
        self.taken = 0

    def step(self) -> bool:
        self.taken += 1
        return False


@pytest.fixture(scope="module", autouse=True)
def few_recent_rows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rownames, "RECENT_ROWS", RECENT_ROWS)
        yield


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    counter = Steps()
    opening = connections.open_database

    def open_counted(*arguments: Any) -> Any:
        database = opening(*arguments)
        assert isinstance(database, apsw.Connection)
        database.set_progress_handler(counter.step, 10)
        return database

    monkeypatch.setattr(connections, "open_database", open_counted)
    return counter


def open_and_list(project: Path, output: Path) -> None:
    with Repository.open(project, read_only=True) as repository:
        (listing,) = repository.runs()
        assert listing.sequence is not None


def resolve_the_latest(project: Path, output: Path) -> None:
    with Repository.open(project, read_only=True) as repository:
        tip = repository.tip(RunId("run"))
        assert tip is not None
        repository.record(tip)
        assert repository.resolve("run").checkpoint == tip
        assert repository.checkpoint_at(RunId("run"), 2).sequence == 2


def read_the_manifest(project: Path, output: Path) -> None:
    assert RunStore.open(output).manifest().checkpoints.resume_available


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two projects whose only run stopped after few visits, and after many."""
    made: list[Path] = []
    for visits in (FEW, MANY):
        project = tmp_path_factory.mktemp("project")
        with pytest.raises(ValueError, match="boom"):
            run(project, workflow(loop_graph(fail_in(visits + 1))), visits, run_id="run")
        made.append(project)
    return made


def count(steps: Steps, project: Path, read: Callable[[Path, Path], object]) -> int:
    steps.taken = 0
    read(project, project / "out")
    return steps.taken


@pytest.mark.parametrize("read", [open_and_list, resolve_the_latest, read_the_manifest])
def test_reading_of_a_run_costs_the_same_after_many_checkpoints(
    projects: list[Path], steps: Steps, read: Callable[[Path, Path], None]
) -> None:
    few, many = (count(steps, project, read) for project in projects)
    assert 0 < many <= 1.2 * few + RECENT_ROWS, (few, many)


def test_the_steps_of_reading_everything_grow(projects: list[Path], steps: Steps) -> None:
    few, many = (
        count(steps, project, lambda _, output: RunStore.open(output).checkpoints()) for project in projects
    )
    assert many > 3 * few


def test_of_the_acknowledgements_only_the_end_is_read(tmp_path: Path) -> None:
    (tmp_path / ".verdog/checkpoints").mkdir(parents=True)
    lines = b"".join(b'{"sequence":%d}\n' % number for number in range(20_000))
    (tmp_path / ".verdog/checkpoints/index.jsonl").write_bytes(lines)
    end = read_acknowledged(tmp_path)
    assert lines.endswith(end)
    assert len(end) <= 64 * 1024 < len(lines)

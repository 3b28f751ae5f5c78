"""Several threads and processes on one repository: one of them wins, and nothing is lost."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.repo.samples import Script, header, lineage, operation
from verdog_objects.errors import Busy, InvalidInput
from verdog_repo.acknowledged import check_acknowledged
from verdog_repo.fsck import check
from verdog_repo.names import RunId
from verdog_repo.repository import Repository


def race(actions: list[Callable[[], object]]) -> list[object]:
    """Do everything at once; return each result or error."""

    def attempt(action: Callable[[], object]) -> object:
        try:
            return action()
        except (Busy, InvalidInput) as error:
            return error

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(attempt, actions))


def test_one_of_many_gets_a_run_id(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        results = race(
            [lambda: repository.create_run(header("run"), operation=operation()) for _ in range(8)]
        )
        assert results.count(None) == 1
        assert sum(isinstance(each, Exception) for each in results) == 7
        assert [each.header.run for each in repository.runs()] == ["run"]
        assert check(repository) == []


def test_runs_and_forks_made_at_once_are_all_there(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        script = Script(repository)
        script.run("base")
        source = script.commit("base")

        def create(number: int) -> Callable[[], object]:
            return lambda: repository.create_run(header(f"run{number}"), operation=operation())

        def fork(number: int) -> Callable[[], object]:
            name = f"fork{number}"
            return lambda: repository.fork(
                source.commit,
                header(name, parent=lineage(source)),
                clear_sessions=False,
                operation=operation("fork"),
            )

        results = race([*map(create, range(4)), *map(fork, range(4))])
        assert not [each for each in results if isinstance(each, Exception)]
        assert len(repository.runs()) == 9
        assert len(repository.children(source.commit)) == 4
        script.release("base")
        assert check(repository) == []


def test_one_of_many_gets_a_lease(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        repository.create_run(header("run"), operation=operation())
        results = race([lambda: repository.lease(RunId("run")) for _ in range(6)])
        assert sum(isinstance(each, Busy) for each in results) == 5


_COMMIT_FOREVER = """
import sys
from pathlib import Path
from tests.repo.samples import Script
from verdog_repo.acknowledged import format_line
from verdog_repo.repository import Repository
script = Script(Repository.open(Path(sys.argv[1])))
while True:
    line = format_line(script.commit("run"))
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


def test_what_a_killed_process_acknowledged_is_there(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        repository.create_run(header("run"), operation=operation())
    root = Path(__file__).parents[2]
    for lines in (1, 4, 7):
        with subprocess.Popen(
            [sys.executable, "-c", _COMMIT_FOREVER, str(tmp_path)], cwd=root, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            seen = [process.stdout.readline() for _ in range(lines)]
            process.kill()
            seen.append(process.stdout.read())
        with Repository.open(tmp_path) as repository:
            check_acknowledged(repository.catalog, RunId("run"), b"".join(seen))
            assert check(repository, read_data=True) == []
            repository.lease(RunId("run")).release()

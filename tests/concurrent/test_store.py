"""Several processes on one store."""

import os
import subprocess
import sys
from pathlib import Path

from tests.contract.tables import EVENTS, REFS, TABLES
from verdog_objects.sqlite import create_store, open_store
from verdog_objects.store import PAGE_ROWS, PutRow, Query

PROCESSES = 4
COMMITS = 25

COMMIT = """
import os, sys
from pathlib import Path
from tests.contract.tables import EVENTS, REFS, TABLES
from verdog_objects.errors import Conflict
from verdog_objects.oid import Kind
from verdog_objects.sqlite import open_store
from verdog_objects.store import Guard, PutRow, Query

name, commits = sys.argv[2], int(sys.argv[3])
store = open_store(Path(sys.argv[1]), TABLES)
done = 0
while done < commits:
    with store.writer() as writer:
        tip = writer.put(Kind.VALUE, b"%d of %s" % (done, name.encode()))
        writer.put(Kind.VALUE, b"shared %d" % done)
        writer.put(Kind.CHUNK, b"large and shared %d " % done * 500)
        writer.put(Kind.CHUNK, os.urandom(6000))
        (row,) = store.select(Query(table=REFS))
        try:
            store.apply(
                writer,
                guards=[Guard(table=REFS, key=("counter",), expected=row)],
                writes=[
                    PutRow(table=REFS, row=("counter", tip, row[2] + 1)),
                    PutRow(table=EVENTS, row=(name,)),
                ],
            )
        except Conflict:
            continue
        done += 1
store.close()
"""

READ = """
import sys
from pathlib import Path
from tests.contract.tables import EVENTS, REFS, TABLES
from verdog_objects.oid import Kind
from verdog_objects.sqlite import open_store
from verdog_objects.store import Query

store = open_store(Path(sys.argv[1]), TABLES, read_only=True)
goal = seen = int(sys.argv[2])
last = -1
while last < goal:
    ((_, tip, epoch),) = store.select(Query(table=REFS))
    assert epoch >= last
    assert tip is None or store.get(Kind.VALUE, tip)
    assert store.count(EVENTS, {}) >= epoch
    last = epoch
store.close()
"""


def start(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


def finish(processes: list[subprocess.Popen[bytes]]) -> None:
    """Wait until all processes ended well; none is left behind if one did not."""
    try:
        assert [process.wait(timeout=60) for process in processes] == [0] * len(processes)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_four_processes_commit_to_one_store_without_losing_anything(tmp_path: Path) -> None:
    store = create_store(tmp_path / "store", TABLES)
    store.apply(writes=[PutRow(table=REFS, row=("counter", None, 0))])
    total = PROCESSES * COMMITS
    processes = [start(COMMIT, store.directory, f"p{number}", COMMITS) for number in range(PROCESSES)]
    processes.append(start(READ, store.directory, total))
    finish(processes)
    ((_, _, epoch),) = store.select(Query(table=REFS))
    assert epoch == total
    events = store.select(Query(table=EVENTS))
    assert [number for number, _ in events] == list(range(1, total + 1))
    assert all(store.count(EVENTS, {"run": f"p{number}"}) == COMMITS for number in range(PROCESSES))
    assert store.check() == []
    found = 0
    page = store.scan()
    while page:
        found += len(store.get_many([info.oid for info in page]))
        page = store.scan(page[-1].oid, PAGE_ROWS)
    assert found == PROCESSES * COMMITS * 2 + COMMITS * 2
    assert len(store.pack_files()) <= PROCESSES
    store.close()


def test_processes_that_make_one_store_at_once_agree_on_it(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from tests.contract.tables import TABLES
from verdog_objects.oid import Kind
from verdog_objects.sqlite import create_store
store = create_store(Path(sys.argv[1]), TABLES)
store.put_many([(Kind.BLOB, sys.argv[2].encode())])
store.close()
"""
    directory = tmp_path / "store"
    processes = [start(program, directory, number) for number in range(PROCESSES)]
    finish(processes)
    store = open_store(directory, TABLES)
    assert len(store.scan()) == PROCESSES
    assert sorted(path.name for path in directory.iterdir() if "tmp" in path.name) == []
    store.close()

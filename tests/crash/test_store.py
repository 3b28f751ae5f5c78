"""A store whose machine stops before any disk operation opens again, with all that was acknowledged."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.tables import EVENTS, REFS, TABLES
from tests.crash.images import Machine, WatchedVfs
from verdog_objects import durable, writer
from verdog_objects.errors import NotFound, VerdogError
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.sqlite import create_store, open_store
from verdog_objects.store import Guard, PutRow, Query, Row

pytestmark = pytest.mark.usefixtures("durable_disk")

LARGE = [bytes([number]) * 300 + bytes(range(256)) * 40 for number in range(4)]


class Workload:
    """Makes a store and commits to it; remembers what was acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.made = False
        self.committed: list[tuple[Row, list[tuple[Oid, bytes]]]] = []
        self.pending: tuple[Row, list[tuple[Oid, bytes]]] | None = None

    def run(self) -> None:
        store = create_store(self.directory, TABLES)
        self.made = True
        previous: Row | None = None
        for number, payloads in enumerate(self.changes()):
            row: Row = ("run", b"%d" % number, number)
            self.pending = (row, [(compute_oid(Kind.BLOB, payload), payload) for payload in payloads])
            with store.writer() as change:
                for payload in payloads:
                    change.put(Kind.BLOB, payload)
                store.apply(
                    change,
                    guards=[Guard(table=REFS, key=("run",), expected=previous)],
                    writes=[PutRow(table=REFS, row=row), PutRow(table=EVENTS, row=(str(number),))],
                )
            previous = row
            self.committed.append(self.pending)
            self.pending = None
        store.close()

    def changes(self) -> list[list[bytes]]:
        return [
            [b"one", b"two"],
            [b"three", LARGE[0], LARGE[1]],
            [b"%d" % number * 10 for number in range(40)] + LARGE[1:3],
            [b"four", LARGE[3]],
        ]


def check_image(image: Path, work: Workload) -> None:
    try:
        store = open_store(image / "store", TABLES)
    except NotFound:
        assert not work.made
        return
    assert store.check() == []
    rows = store.select(Query(table=REFS))
    events = store.select(Query(table=EVENTS))
    changes = list(work.committed)
    if work.pending is not None and len(events) == len(changes) + 1:
        changes.append(work.pending)
    assert events == [(number + 1, str(number)) for number in range(len(changes))]
    assert rows == [row for row, _ in changes[-1:]]
    for _, objects in changes:
        assert store.get_many([oid for oid, _ in objects]) == {
            oid: (Kind.BLOB, payload) for oid, payload in objects
        }
    store.put_many([(Kind.BLOB, b"goes on"), (Kind.BLOB, LARGE[0][::-1])])
    assert store.check() == []
    store.close()


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a few objects count as bulk."""
    monkeypatch.setattr(writer, "FINAL_LIMIT_BYTES", 4_000)
    monkeypatch.setattr(writer, "AHEAD_LIMIT_BYTES", 6_000)
    return None


@pytest.mark.parametrize("kind", ["killed", "cut"])
@pytest.mark.usefixtures("small_limits")
def test_a_store_survives_a_stop_before_each_disk_operation(tmp_path: Path, kind: str) -> None:
    operations = stop_everywhere(tmp_path, kind, Machine)
    assert {"fdatasync", "database sync", "link", "mkdir"} <= set(operations)


def stop_everywhere(tmp_path: Path, kind: str, machine_class: type[Machine]) -> list[str]:
    """Check what is left before each operation of the workload; return the names of the operations."""
    root, image = tmp_path / "root", tmp_path / "image"
    root.mkdir()
    work = Workload(root / "store")
    operations: list[str] = []
    looking = False

    def before(operation: str) -> None:
        nonlocal looking
        if looking:
            return
        looking = True
        operations.append(operation)
        (machine.killed_image if kind == "killed" else machine.cut_image)(image)
        try:
            check_image(image, work)
        except BaseException as error:
            error.add_note(f"stopped before operation {len(operations)}: {operation}")
            raise
        shutil.rmtree(image)
        looking = False

    machine = machine_class(root, before)
    vfs = WatchedVfs(machine)
    try:
        with durable.replaced(machine):
            work.run()
    finally:
        vfs.unregister()
    looking = False
    before("end")
    assert len(work.committed) == len(work.changes())
    return operations


class ForgetsTheDatabase(Machine):
    def synced_file(self, path: Path) -> None:
        if "store.db" not in path.name:
            super().synced_file(path)


class ForgetsPacks(Machine):
    def synced_file(self, path: Path) -> None:
        if path.suffix != ".pack":
            super().synced_file(path)


class ForgetsDirectories(Machine):
    def synced_directory(self, path: Path) -> None:
        pass


@pytest.mark.parametrize("machine", [ForgetsTheDatabase, ForgetsPacks, ForgetsDirectories])
@pytest.mark.usefixtures("small_limits")
def test_a_machine_that_forgets_a_kind_of_sync_is_noticed(tmp_path: Path, machine: type[Machine]) -> None:
    with pytest.raises((AssertionError, VerdogError)) as noticed:
        stop_everywhere(tmp_path, "cut", machine)
    assert any("stopped before operation " in note for note in noticed.value.__notes__)


def test_an_ordinary_change_syncs_once_and_one_with_large_objects_twice(tmp_path: Path) -> None:
    operations: list[str] = []
    machine = Machine(tmp_path, operations.append)
    vfs = WatchedVfs(machine)
    try:
        with durable.replaced(machine):
            store = create_store(tmp_path / "store", TABLES)
            store.put_many([(Kind.BLOB, b"first"), (Kind.BLOB, LARGE[0])])
            for payload, syncs in ((b"small", ["database sync"]), (LARGE[1], ["fdatasync", "database sync"])):
                operations.clear()
                with store.writer() as change:
                    change.put(Kind.BLOB, payload)
                    store.apply(change, writes=[PutRow(table=REFS, row=("run", payload[:1], 1))])
                assert [operation for operation in operations if "sync" in operation] == syncs
            store.close()
    finally:
        vfs.unregister()

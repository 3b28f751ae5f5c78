"""A store that stops at any disk operation of a change holds all of it afterwards, or nothing of it."""

import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.powercut import Loss, Operation, Recording, Sync, SyncDirectory, recorded
from tests.repo.samples import Script
from verdog_objects import manifest
from verdog_objects.errors import VerdogError
from verdog_objects.manifest import Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_objects.sqlite import SqliteStore
from verdog_objects.store import Writer
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.fsck import check
from verdog_repo.names import RunId
from verdog_repo.repository import Repository

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to name open files"),
    pytest.mark.usefixtures("durable_disk"),
]


class FileScript(Script):
    """Its next checkpoint records files of the contents that it was given, too."""

    contents: tuple[bytes, ...] = ()

    def artifacts(self, writer: Writer, run: str, number: int) -> Oid:
        root = super().artifacts(writer, run, number)
        entries = {
            manifest.path_key(b"file-%d-%06d" % (number, index)): Entry(
                EntryKind.FILE, 0o644, len(content), writer.put(Kind.BLOB, content)
            )
            for index, content in enumerate(self.contents)
        }
        return manifest.update(writer, root, entries)


Change = Callable[[FileScript], Checkpoint]
LeavesOut = Callable[[Operation], bool]


def commit_small(script: FileScript) -> Checkpoint:
    return script.commit("run")


def commit_to_new_pack(script: FileScript) -> Checkpoint:
    script.contents = (random.Random(1).randbytes(30_000),)
    return script.commit("run")


def commit_to_old_pack(script: FileScript) -> Checkpoint:
    script.contents = (random.Random(2).randbytes(40_000), b"x" * 50_000)
    return script.commit("run")


def commit_bulk(script: FileScript) -> Checkpoint:
    """More rows than fit the final transaction go ahead of it, under a session."""
    script.contents = tuple(random.Random(number).randbytes(3_900) for number in range(300))
    return script.commit("run")


def commit_and_fold(script: FileScript) -> Checkpoint:
    """SQLite moves what the WAL holds into the database right after the commit."""
    store = script.repository.store
    assert isinstance(store, SqliteStore)
    store.connections.get().execute("PRAGMA wal_autocheckpoint = 1").fetchall()
    return commit_to_old_pack(script)


def fork(script: FileScript) -> Checkpoint:
    tip = script.repository.tip(RunId("run"))
    assert tip is not None
    return script.fork(tip, "forked")


def prepare(project: Path, *, with_pack: bool) -> None:
    script = FileScript(Repository.create(project))
    script.run("run")
    script.commits("run", 2)
    if with_pack:
        commit_to_new_pack(script)
    script.close()


def perform(
    project: Path, change: Change, leaves_out: LeavesOut | None = None
) -> tuple[Recording, Checkpoint, Checkpoint]:
    """Perform a change once; return its recording, the latest checkpoint before, and the one that it made."""
    with recorded(project, leaves_out) as recording:
        script = FileScript(Repository.open(project))
        script.second = 100
        before = script.repository.tip(RunId("run"))
        assert before is not None
        script.lease("run")
        recording.begin()
        made = change(script)
        recording.end()
        script.close()
    return recording, before, made


def require_old_or_new(project: Path, before: Checkpoint, made: Checkpoint) -> bool:
    """Check a store that was left by a stop, go on with it, and return whether it has the change."""
    script = FileScript(Repository.open(project))
    repository = script.repository
    assert check(repository, read_data=True) == []
    tip = repository.tip(RunId("run"))
    if made.run == "run":
        changed = tip == made
        assert changed or tip == before
    else:
        changed = repository.has_run(made.run)
        assert tip == before
        assert not changed or repository.tip(made.run) == made
    script.second = 200
    script.contents = (b"another" * 1_000,)
    followed = script.commit("run")
    assert followed.parent == (tip.commit if tip is not None else None)
    if made.run != "run" and not changed:
        fork(script)
    assert check(repository) == []
    script.close()
    return changed


def stop_everywhere(
    project: Path, image: Path, change: Change, *, step: int = 1, leaves_out: LeavesOut | None = None
) -> None:
    """Check what a change leaves when the disk stops after any number of its operations."""
    recording, before, made = perform(project, change, leaves_out)
    total = len(recording.operations)
    seen: dict[object, bool] = {}
    for stop in [*range(0, total, step), total]:
        for loss in Loss:
            remains = recording.leave(stop, loss, random.Random(stop))
            try:
                if remains.identity not in seen:
                    remains.build(image)
                    seen[remains.identity] = require_old_or_new(image, before, made)
                    shutil.rmtree(image)
                assert seen[remains.identity] or stop < total
            except BaseException as error:
                following = recording.operations[stop] if stop < total else "the end"
                error.add_note(f"stopped after {stop} of {total} operations, before {following}: {loss}")
                raise
    assert set(seen.values()) == {False, True}


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Path]:
    """Where a directory can be made: in memory if the system offers that, since each is synced a lot."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as directory:
        yield Path(directory) / "image"


@pytest.mark.parametrize(
    ("change", "with_pack"),
    [
        (commit_small, False),
        (commit_to_new_pack, False),
        pytest.param(commit_to_old_pack, True, marks=pytest.mark.slow),
        pytest.param(commit_and_fold, True, marks=pytest.mark.slow),
        (fork, True),
    ],
)
def test_a_change_is_whole_or_absent_wherever_the_disk_stops(
    tmp_path: Path, image: Path, change: Change, with_pack: bool
) -> None:
    prepare(tmp_path / "project", with_pack=with_pack)
    stop_everywhere(tmp_path / "project", image, change)


@pytest.mark.parametrize("step", [80, pytest.param(1, marks=pytest.mark.slow)])
def test_a_bulky_change_is_whole_or_absent_wherever_the_disk_stops(
    tmp_path: Path, image: Path, step: int
) -> None:
    prepare(tmp_path / "project", with_pack=False)
    stop_everywhere(tmp_path / "project", image, commit_bulk, step=step)


def make_and_stop_everywhere(project: Path, image: Path, leaves_out: LeavesOut | None = None) -> None:
    """Check what the making of a store leaves when the disk stops after any number of its operations."""
    project.mkdir()
    with recorded(project, leaves_out) as recording:
        recording.begin()
        Repository.create(project).close()
        recording.end()
    total = len(recording.operations)
    seen: set[object] = set()
    for stop in range(total + 1):
        for loss in Loss:
            remains = recording.leave(stop, loss, random.Random(stop))
            if stop < total and remains.identity in seen:
                continue
            seen.add(remains.identity)
            remains.build(image)
            try:
                if stop == total:
                    Repository.open(image).close()
                script = FileScript(Repository.create(image))
                script.run("run")
                script.commit("run")
                assert check(script.repository) == []
                script.close()
            except BaseException as error:
                following = recording.operations[stop] if stop < total else "the end"
                error.add_note(f"stopped after {stop} of {total} operations, before {following}: {loss}")
                raise
            shutil.rmtree(image)


def test_a_store_is_made_whole_wherever_the_disk_stops(tmp_path: Path, image: Path) -> None:
    make_and_stop_everywhere(tmp_path / "project", image)


FORGOTTEN: dict[str, LeavesOut] = {
    "a sync of the database": lambda each: isinstance(each, Sync) and each.named,
    "a sync of a pack": lambda each: isinstance(each, Sync) and each.path.suffix == ".pack",
    "a sync of a file": lambda each: isinstance(each, Sync) and each.path.suffix == ".tmp" and not each.named,
    "a sync of a directory": lambda each: isinstance(each, SyncDirectory),
}


@pytest.mark.parametrize(
    ("forgotten", "change"),
    [
        ("a sync of the database", commit_small),
        pytest.param("a sync of the database", fork, marks=pytest.mark.slow),
        ("a sync of a pack", commit_to_new_pack),
        ("a sync of a directory", commit_to_new_pack),
    ],
)
def test_a_sync_that_a_change_leaves_out_is_noticed(
    tmp_path: Path, image: Path, forgotten: str, change: Change
) -> None:
    prepare(tmp_path / "project", with_pack=False)
    with pytest.raises((AssertionError, VerdogError)) as noticed:
        stop_everywhere(tmp_path / "project", image, change, leaves_out=FORGOTTEN[forgotten])
    assert_names_its_place(noticed.value)


@pytest.mark.parametrize("forgotten", ["a sync of a file", "a sync of a directory"])
def test_a_sync_that_the_making_of_a_store_leaves_out_is_noticed(
    tmp_path: Path, image: Path, forgotten: str
) -> None:
    with pytest.raises((AssertionError, VerdogError)) as noticed:
        make_and_stop_everywhere(tmp_path / "project", image, FORGOTTEN[forgotten])
    assert_names_its_place(noticed.value)


def assert_names_its_place(error: BaseException) -> None:
    assert [
        note for note in error.__notes__ if re.match(r"stopped after \d+ of \d+ operations, before ", note)
    ]

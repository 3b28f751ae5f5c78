import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import apsw
import pytest

from tests.contract.store import LARGE, SMALL, StoreContract, put
from tests.contract.tables import EVENTS, REFS, STEPS, TABLES
from verdog_objects import connections, packs, sqlite
from verdog_objects.errors import (
    Busy,
    Conflict,
    Corrupt,
    FormatUnsupported,
    InvalidInput,
    NotFound,
    Unavailable,
)
from verdog_objects.oid import Kind, compute_oid, format_oid
from verdog_objects.sessions import list_sessions
from verdog_objects.sqlite import SqliteStore, create_store, open_store
from verdog_objects.store import Column, ColumnType, Guard, PutRow, Query, Table
from verdog_objects.writer import SqliteWriter

DATABASE = sqlite.DATABASE_NAME


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("template") / "store"
    create_store(directory, TABLES).close()
    return directory


@pytest.fixture
def directory(tmp_path: Path, template: Path) -> Path:
    """Where a fresh store is."""
    shutil.copytree(template, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def store(directory: Path) -> Iterator[SqliteStore]:
    store = open_store(directory, TABLES)
    yield store
    store.close()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path, template: Path) -> Callable[[], SqliteStore]:
        numbers = count()

        def make() -> SqliteStore:
            directory = tmp_path / f"store{next(numbers)}"
            shutil.copytree(template, directory)
            return open_store(directory, TABLES)

        return make


def run_sql(directory: Path, *statements: str) -> None:
    """Change the database behind the store's back."""
    connection = apsw.Connection(str(directory / DATABASE))
    for statement in statements:
        connection.execute(statement)
    connection.close()


# Making and opening


def test_a_made_store_is_private_and_keeps_its_uuid(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "store"
    store = create_store(directory, TABLES)
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / DATABASE).stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in directory.iterdir()) == [
        "packs", DATABASE, f"{DATABASE}-shm", f"{DATABASE}-wal",
    ]  # fmt: skip
    again = create_store(directory, TABLES)
    assert again.uuid == store.uuid
    again.close()
    store.close()


@pytest.mark.usefixtures("durable_disk")
def test_the_database_is_set_up_to_be_durable(store: SqliteStore) -> None:
    def pragma(name: str) -> object:
        row = store.connections.get().execute(f"PRAGMA {name}").fetchone()
        return row and row[0]

    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == 2
    assert pragma("auto_vacuum") == 2
    assert pragma("page_size") == 4096


def test_opening_where_nothing_is_finds_nothing_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        open_store(tmp_path / "store", TABLES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"x" * 8192])
def test_a_file_that_is_no_database_is_corrupt(directory: Path, content: bytes) -> None:
    (directory / DATABASE).write_bytes(content)
    for opening in (open_store, create_store):
        with pytest.raises(Corrupt):
            opening(directory, TABLES)
    assert (directory / DATABASE).read_bytes() == content


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE refs",
        "DROP TABLE objects",
        "DROP TABLE meta",
        "DROP INDEX steps__digest",
        "ALTER TABLE refs RENAME COLUMN tip TO other",
        "DELETE FROM meta WHERE name = 'uuid'",
        "DELETE FROM meta WHERE name = 'format'",
        "DELETE FROM meta WHERE name = 'deletions'",
        "PRAGMA application_id = 0",
    ],
)
def test_a_store_that_lacks_something_is_corrupt(directory: Path, statement: str) -> None:
    run_sql(directory, statement)
    for opening in (open_store, create_store):
        with pytest.raises(Corrupt):
            opening(directory, TABLES)


def test_a_store_of_a_newer_format_is_not_supported(directory: Path) -> None:
    run_sql(directory, "UPDATE meta SET value = 2 WHERE name = 'format'")
    with pytest.raises(FormatUnsupported, match="format 2"):
        open_store(directory, TABLES)


def test_a_table_with_other_columns_is_corrupt(directory: Path) -> None:
    other = Table(name="refs", columns=REFS.columns, key=("run",))
    with pytest.raises(Corrupt, match="refs"):
        open_store(directory, [other])


def test_packs_without_a_database_are_corrupt_rather_than_a_new_store(
    store: SqliteStore, directory: Path
) -> None:
    put(store, Kind.CHUNK, LARGE)
    store.close()
    (directory / DATABASE).unlink()
    for opening in (open_store, create_store):
        with pytest.raises(Corrupt):
            opening(directory, TABLES)


def test_a_store_that_another_process_makes_meanwhile_is_not_taken_for_a_lost_one(
    store: SqliteStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, Kind.CHUNK, LARGE)
    looks: list[Path] = []
    exists = Path.exists

    def look(path: Path, **rest: bool) -> bool:
        looks.append(path)
        return len(looks) > 1 and exists(path, **rest)  # at the first look there is none yet

    monkeypatch.setattr(Path, "exists", look)
    create_store(directory, TABLES).close()
    assert looks[0] == directory / DATABASE


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_that_was_removed_while_it_was_open_takes_no_more_changes(
    store: SqliteStore, directory: Path, replaced: bool
) -> None:
    put(store, Kind.BLOB, SMALL)
    directory.rename(directory.with_name("aside"))
    if replaced:
        shutil.copytree(directory.with_name("aside"), directory)
    with pytest.raises(Corrupt, match="removed or replaced"):
        put(store, Kind.BLOB, b"another")
    shutil.rmtree(directory, ignore_errors=True)
    directory.with_name("aside").rename(directory)
    put(store, Kind.BLOB, b"another")
    assert store.check() == []


@pytest.mark.parametrize("remains", ["locks", "sessions", f"{DATABASE}-wal"])
def test_what_is_made_beside_a_database_is_corrupt_without_it(
    store: SqliteStore, directory: Path, remains: str
) -> None:
    store.close()
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (directory / name).unlink(missing_ok=True)
    (directory / remains).mkdir()
    for opening in (open_store, create_store):
        with pytest.raises(Corrupt, match=r"lost its store\.db"):
            opening(directory, TABLES)
    assert not (directory / DATABASE).exists()


def test_making_a_store_again_does_not_disturb_an_open_one(store: SqliteStore, directory: Path) -> None:
    oid = put(store, Kind.BLOB, SMALL)
    with store.writer() as writer:
        writer.put(Kind.CHUNK, LARGE)
        create_store(directory, TABLES).close()
        store.apply(writer)
    assert store.get(Kind.BLOB, oid) == SMALL
    assert store.check() == []


def test_an_old_sqlite_does_not_write(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(Unavailable, match=r"3\.51\.3"):
        open_store(directory, TABLES)
    open_store(directory, TABLES, read_only=True).close()


def test_a_network_file_system_is_refused_unless_allowed(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "is_network", lambda _path: True)
    with pytest.raises(Unavailable, match="network"):
        open_store(directory, TABLES)
    with pytest.raises(Unavailable, match="network"):
        create_store(directory.parent / "other", TABLES)
    open_store(directory, TABLES, allow_network=True).close()
    open_store(directory, TABLES, read_only=True).close()


@pytest.mark.parametrize(
    "table",
    [
        Table(name="objects", columns=REFS.columns, key=("run",)),
        Table(name="Refs", columns=REFS.columns, key=("run",)),
        Table(name="r;--", columns=REFS.columns, key=("run",)),
        Table(name="r", columns=REFS.columns, key=()),
        Table(name="r", columns=REFS.columns, key=("tip",)),
        Table(name="r", columns=REFS.columns, key=("run", "run")),
        Table(name="r", columns=REFS.columns, key=("other",)),
        Table(name="r", columns=REFS.columns, key=("run",), numbered=True),
        Table(name="r", columns=REFS.columns, key=("run",), indexes=(("other",),)),
        Table(name="r", columns=(*REFS.columns, REFS.columns[0]), key=("run",)),
        Table(name="r", columns=(Column(name="seal", type=ColumnType.BLOB),), key=("seal",)),
        REFS,
    ],
)
def test_a_table_that_cannot_be_is_refused(tmp_path: Path, table: Table) -> None:
    with pytest.raises(InvalidInput):
        create_store(tmp_path / "store", [REFS, table])
    assert list(tmp_path.iterdir()) == []


# Reading only


def test_a_store_opened_for_reading_does_not_write(store: SqliteStore, directory: Path) -> None:
    oid = put(store, Kind.BLOB, LARGE)
    reader = open_store(directory, TABLES, read_only=True)
    assert reader.get(Kind.BLOB, oid) == LARGE
    with pytest.raises(Unavailable):
        reader.apply(writes=[PutRow(table=REFS, row=("a", None, 1))])
    with pytest.raises(Unavailable):
        reader.put_many([(Kind.BLOB, b"more")])
    reader.close()


def test_an_unwritable_directory_is_read_without_making_files(
    store: SqliteStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oid = put(store, Kind.BLOB, LARGE)
    store.close()
    before = sorted(directory.iterdir())
    monkeypatch.setattr(sqlite, "is_writable", lambda _path: False)
    reader = open_store(directory, TABLES, read_only=True)
    assert reader.get(Kind.BLOB, oid) == LARGE
    assert sorted(directory.iterdir()) == before
    reader.close()
    with pytest.raises(Unavailable):
        open_store(directory, TABLES)


# Damage


def test_a_damaged_row_is_corrupt_until_it_is_put_again(store: SqliteStore, directory: Path) -> None:
    oid = put(store, Kind.BLOB, SMALL)
    run_sql(directory, "UPDATE objects SET data = x'00'")
    for _ in range(2):
        with pytest.raises(Corrupt, match=format_oid(oid)) as caught:
            store.get(Kind.BLOB, oid)
        assert caught.value.paths == (oid,)
        with pytest.raises(Corrupt, match=format_oid(oid)):
            store.get_many([oid])
    assert store.has_many([oid]) == set()
    assert put(store, Kind.BLOB, SMALL) == oid
    assert store.get(Kind.BLOB, oid) == SMALL
    assert store.has_many([oid]) == {oid}


@pytest.mark.parametrize(
    "change", ["kind = 77", "size = 1", "size = -5", "codec = 9", "pack = 99", "start = NULL", "length = 5"]
)
def test_a_damaged_location_is_corrupt_until_it_is_put_again(
    store: SqliteStore, directory: Path, change: str
) -> None:
    oid = put(store, Kind.CHUNK, LARGE)
    run_sql(directory, f"UPDATE objects SET {change}")
    with pytest.raises(Corrupt, match=format_oid(oid)):
        store.get(Kind.CHUNK, oid)
    put(store, Kind.CHUNK, LARGE)
    assert store.get(Kind.CHUNK, oid) == LARGE
    assert store.check() == []


def test_damaged_bytes_in_a_pack_are_corrupt_until_they_are_put_again(store: SqliteStore) -> None:
    payload = os.urandom(10_000)
    oid = put(store, Kind.CHUNK, payload)
    (pack,) = store.pack_files()
    content = bytearray(pack.read_bytes())
    content[len(packs.HEADER) + 5000] ^= 1
    pack.write_bytes(content)
    with pytest.raises(Corrupt, match=format_oid(oid)):
        store.get(Kind.CHUNK, oid)
    put(store, Kind.CHUNK, payload)
    assert store.get(Kind.CHUNK, oid) == payload


def test_a_lost_pack_is_corrupt_until_its_objects_are_put_again(store: SqliteStore, directory: Path) -> None:
    oid = put(store, Kind.CHUNK, LARGE)
    store.pack_files()[0].unlink()
    fresh = open_store(directory, TABLES)
    with pytest.raises(Corrupt, match=r"pack .* is missing"):
        fresh.get(Kind.CHUNK, oid)
    assert any("is missing" in problem for problem in fresh.check())
    put(fresh, Kind.CHUNK, LARGE)
    assert fresh.get(Kind.CHUNK, oid) == LARGE
    fresh.close()


def test_a_pack_shorter_than_its_committed_end_is_reported_and_not_appended_to(store: SqliteStore) -> None:
    payload = os.urandom(10_000)
    oid = put(store, Kind.CHUNK, payload)
    (pack,) = store.pack_files()
    os.truncate(pack, 5000)
    assert any("before its committed end" in problem for problem in store.check())
    with pytest.raises(Corrupt):
        store.get(Kind.CHUNK, oid)
    put(store, Kind.CHUNK, payload)
    assert len(store.pack_files()) == 2
    assert store.get(Kind.CHUNK, oid) == payload


def test_a_writer_that_found_an_object_is_told_when_it_turns_out_damaged(
    store: SqliteStore, directory: Path
) -> None:
    oid = put(store, Kind.CHUNK, LARGE)
    with store.writer() as writer:
        writer.put(Kind.CHUNK, LARGE)
        run_sql(directory, "UPDATE objects SET length = 1")
        with pytest.raises(Corrupt):
            store.get(Kind.CHUNK, oid)
        with pytest.raises(Conflict, match=format_oid(oid)):
            store.apply(writer)


def test_reading_damage_from_a_store_opened_for_reading_changes_nothing(
    store: SqliteStore, directory: Path
) -> None:
    oid = put(store, Kind.BLOB, SMALL)
    run_sql(directory, "UPDATE objects SET data = x'00'")
    reader = open_store(directory, TABLES, read_only=True)
    with pytest.raises(Corrupt):
        reader.get(Kind.BLOB, oid)
    reader.close()
    assert store.has_many([oid]) == {oid}


@pytest.mark.parametrize("change", ["epoch = 2", "tip = NULL", "run = 'c'", "seal = zeroblob(32)"])
def test_a_sealed_row_that_was_changed_is_corrupt(store: SqliteStore, directory: Path, change: str) -> None:
    store.apply(writes=[PutRow(table=REFS, row=("a", b"1", 1)), PutRow(table=REFS, row=("b", b"2", 1))])
    run_sql(directory, f"UPDATE refs SET {change} WHERE run = 'a'")
    key = "c" if "run" in change else "a"
    with pytest.raises(Corrupt, match=f"table refs.*'{key}'"):
        store.select(Query(table=REFS))
    with pytest.raises(Corrupt, match=f"table refs.*'{key}'"):
        store.apply(guards=[Guard(table=REFS, key=(key,), expected=("a", b"1", 1))])
    assert store.select(Query(table=REFS, equal=(("run", "b"),))) == [("b", b"2", 1)]
    assert len(store.check()) == 1


def test_the_seal_of_another_row_does_not_fit(store: SqliteStore, directory: Path) -> None:
    store.apply(writes=[PutRow(table=EVENTS, row=("a",)), PutRow(table=EVENTS, row=("a",))])
    run_sql(directory, "UPDATE events SET seal = (SELECT seal FROM events WHERE number = 2) WHERE number = 1")
    with pytest.raises(Corrupt, match="events"):
        store.select(Query(table=EVENTS))


def test_text_that_is_not_utf_8_is_corrupt(store: SqliteStore, directory: Path) -> None:
    store.apply(writes=[PutRow(table=STEPS, row=("a", 1, "label", b""))])
    run_sql(directory, "UPDATE steps SET label = CAST(x'ff' AS TEXT)")
    with pytest.raises(Corrupt):
        store.select(Query(table=STEPS))


def test_overwritten_pages_are_corrupt(store: SqliteStore, directory: Path) -> None:
    store.put_many([(Kind.BLOB, b"%d" % number) for number in range(2000)])
    store.close()
    path = directory / DATABASE
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = os.urandom(len(content) - len(content) // 2)
    path.write_bytes(content)
    damaged = open_store(directory, TABLES)
    assert damaged.check() != []
    with pytest.raises(Corrupt):
        for info in damaged.scan():
            damaged.get(info.kind, info.oid)
    damaged.close()


def test_a_sound_store_has_no_problems(store: SqliteStore) -> None:
    store.put_many([(Kind.BLOB, SMALL), (Kind.CHUNK, LARGE), (Kind.CHUNK, os.urandom(5000))])
    store.apply(writes=[PutRow(table=REFS, row=("a", None, 1)), PutRow(table=EVENTS, row=("a",))])
    assert store.check() == []


# Refusals of the disk


def test_a_database_that_stays_locked_is_busy(
    store: SqliteStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_TIMEOUT_S", 0.02)
    other = apsw.Connection(str(directory / DATABASE))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy):
        store.apply(writes=[PutRow(table=REFS, row=("a", None, 1))])
    assert store.select(Query(table=REFS)) == []
    other.execute("ROLLBACK")
    other.close()
    store.apply(writes=[PutRow(table=REFS, row=("a", None, 1))])


def test_a_full_disk_is_unavailable_and_changes_nothing(store: SqliteStore) -> None:
    connection = store.connections.get()
    pages = connection.execute("PRAGMA page_count").fetchone()
    assert pages is not None
    connection.execute(f"PRAGMA max_page_count = {pages[0]}")
    with store.writer() as writer:
        oids = [writer.put(Kind.BLOB, os.urandom(4000)) for _ in range(50)]
        with pytest.raises(Unavailable, match="full"):
            store.apply(writer, writes=[PutRow(table=REFS, row=("a", None, 1))])
        assert store.has_many(oids) == set()
        assert store.select(Query(table=REFS)) == []
        connection.execute("PRAGMA max_page_count = 1000000")
        store.apply(writer)
    assert store.has_many(oids) == set(oids)


def test_a_closed_store_refuses_to_work(store: SqliteStore) -> None:
    store.close()
    with pytest.raises(InvalidInput, match="closed"):
        store.scan()


# Packs


def test_small_objects_are_rows_and_large_ones_share_a_pack(store: SqliteStore) -> None:
    small = put(store, Kind.BLOB, SMALL)
    large = store.put_many([(Kind.CHUNK, LARGE), (Kind.CHUNK, os.urandom(4097))])
    places = {info.oid: info.place for info in store.scan()}
    (pack,) = store.pack_files()
    assert places == {small: "row", large[0]: pack.stem, large[1]: pack.stem}


def test_two_open_writers_use_two_packs_and_later_ones_reuse_them(store: SqliteStore) -> None:
    with store.writer() as first, store.writer() as second:
        first.put(Kind.CHUNK, os.urandom(5000))
        second.put(Kind.CHUNK, os.urandom(5000))
        store.apply(first)
        store.apply(second)
    for _ in range(3):
        put(store, Kind.CHUNK, os.urandom(5000))
    assert len(store.pack_files()) == 2
    assert store.check() == []


def test_bytes_of_a_writer_that_was_killed_are_cut_off(store: SqliteStore) -> None:
    payload = os.urandom(5000)
    oid = put(store, Kind.CHUNK, payload)
    (pack,) = store.pack_files()
    size_bytes = pack.stat().st_size
    with pack.open("ab") as file:
        file.write(b"garbage" * 1000)
    other = put(store, Kind.CHUNK, payload[::-1])
    assert pack.stat().st_size == size_bytes + 5000
    assert store.get(Kind.CHUNK, oid) == payload
    assert store.get(Kind.CHUNK, other) == payload[::-1]


def test_an_abandoned_writer_gives_its_bytes_back(store: SqliteStore) -> None:
    with store.writer() as writer:
        for _ in range(3):
            writer.put(Kind.CHUNK, os.urandom(packs.SYNC_BYTES // 16))
    (pack,) = store.pack_files()
    assert pack.stat().st_size == len(packs.HEADER)


def test_a_full_pack_is_followed_by_another(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PACK_LIMIT_BYTES", 20_000)
    payloads = [os.urandom(5000) for _ in range(11)]
    with store.writer() as writer:
        oids = [writer.put(Kind.CHUNK, payload) for payload in payloads]
        assert [writer.get(Kind.CHUNK, oid) for oid in oids] == payloads
        store.apply(writer)
    assert len(store.pack_files()) == 3
    assert [store.get(Kind.CHUNK, oid) for oid in oids] == payloads
    assert store.check() == []


# Bulk


def stage_bulk(writer: SqliteWriter) -> list[bytes]:
    payloads = [os.urandom(4000) for _ in range(1200)]
    for payload in payloads:
        writer.put(Kind.BLOB, payload)
    return payloads


def sessions_of(store: SqliteStore) -> list[tuple[int, bool]]:
    return list_sessions(store.connections.get(), store.directory / "sessions")


def test_bulk_goes_ahead_under_a_session_that_ends_with_the_change(store: SqliteStore) -> None:
    put(store, Kind.BLOB, SMALL)
    with store.writer() as writer:
        oids = [compute_oid(Kind.BLOB, payload) for payload in stage_bulk(writer)]
        ahead = store.has_many(oids)
        assert 0 < len(ahead) < len(oids)
        assert sessions_of(store) == [(1, True)]
        assert all(writer.get(Kind.BLOB, oid) for oid in oids)
        store.apply(writer)
    assert store.has_many(oids) == set(oids)
    assert sessions_of(store) == []
    assert list((store.directory / "sessions").iterdir()) == []


def test_an_abandoned_session_ends_and_leaves_its_objects_to_garbage_collection(store: SqliteStore) -> None:
    with store.writer() as writer:
        stage_bulk(writer)
    assert sessions_of(store) == []
    assert len(store.scan()) > 0


def test_an_object_put_ahead_that_was_deleted_is_a_conflict(store: SqliteStore) -> None:
    with store.writer() as writer:
        stage_bulk(writer)
        store.delete_many([store.scan(None, 1)[0].oid])
        with pytest.raises(Conflict):
            store.apply(writer)


# Threads and processes


def test_threads_share_a_store(store: SqliteStore) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(10):
                payloads = [b"%d %d" % (number, step), b"%d" % step * 3000]
                oids = store.put_many([(Kind.BLOB, payload) for payload in payloads])
                assert [store.get(Kind.BLOB, oid) for oid in oids] == payloads
                store.apply(writes=[PutRow(table=EVENTS, row=(f"{number}",))])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [row[0] for row in store.select(Query(table=EVENTS))] == list(range(1, 41))
    assert store.check() == []


def in_child(action: Callable[[], bool]) -> bool:
    """Run something in a forked child that is not allowed to clean up, and return what it said."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if action() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_that_was_open_at_a_fork_is_refused_in_the_child(store: SqliteStore, read_only: bool) -> None:
    def refuse() -> bool:
        for action in (
            lambda: put(store, Kind.BLOB, SMALL),
            lambda: store.has_many([compute_oid(Kind.BLOB, SMALL)]),
            lambda: open_store(store.directory, TABLES, read_only=read_only),
        ):
            with pytest.raises(InvalidInput, match="was open when this process was forked"):
                action()
        return True

    assert in_child(refuse)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_that_closes_the_store_closes_nothing_of_its_parent(store: SqliteStore) -> None:
    oid = put(store, Kind.BLOB, LARGE)

    def leave() -> bool:
        store.close()
        return True

    assert in_child(leave)
    assert store.get(Kind.BLOB, oid) == LARGE
    put(store, Kind.BLOB, SMALL)
    assert store.check() == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_stores_durably_in_a_store_that_was_closed_at_the_fork(store: SqliteStore) -> None:
    directory = store.directory
    store.close()

    def work() -> bool:
        with contextlib.closing(open_store(directory, TABLES)) as other:
            put(other, Kind.BLOB, SMALL)
        return True

    assert in_child(work)
    with contextlib.closing(open_store(directory, TABLES, read_only=True)) as other:
        assert other.get(Kind.BLOB, compute_oid(Kind.BLOB, SMALL)) == SMALL


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_end_its_parents_change(store: SqliteStore) -> None:
    with store.writer() as writer:
        oid = writer.put(Kind.CHUNK, LARGE)
        writer.get(Kind.CHUNK, oid)

        def leave() -> bool:
            writer.abandon()
            return True

        assert in_child(leave)
        other = put(store, Kind.CHUNK, LARGE[::-1])
        store.apply(writer)
    assert store.get(Kind.CHUNK, oid) == LARGE
    assert store.get(Kind.CHUNK, other) == LARGE[::-1]
    assert len(store.pack_files()) == 2


# Real file systems


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", point], check=True)
    yield point
    subprocess.run(["umount", "-l", point], check=True)


def fill(directory: Path) -> Path:
    """Leave no byte free on a file system."""
    path = directory / "filler"
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return path


@pytest.mark.root
@pytest.mark.parametrize("payload_bytes", [3000, 30_000])
def test_a_full_file_system_is_unavailable_until_there_is_room(mounted: Path, payload_bytes: int) -> None:
    store = create_store(mounted / "store", TABLES)
    oid = put(store, Kind.BLOB, LARGE)
    filler = fill(mounted)
    payloads = [os.urandom(payload_bytes) for _ in range(50)]
    for _ in range(2):
        with pytest.raises(Unavailable):
            store.put_many([(Kind.BLOB, payload) for payload in payloads])
        assert store.get(Kind.BLOB, oid) == LARGE
        assert len(store.scan()) == 1
    filler.unlink()
    store.put_many([(Kind.BLOB, payload) for payload in payloads])
    assert store.check() == []
    store.close()


@pytest.mark.root
def test_a_closed_store_on_a_full_file_system_can_be_read(mounted: Path) -> None:
    store = create_store(mounted / "store", TABLES)
    oid = put(store, Kind.BLOB, LARGE)
    store.close()
    fill(mounted)
    reader = open_store(mounted / "store", TABLES, read_only=True)
    assert reader.get(Kind.BLOB, oid) == LARGE
    reader.close()


@pytest.mark.root
@pytest.mark.parametrize("pending", [False, True])
def test_a_read_only_file_system_can_be_read(mounted: Path, pending: bool) -> None:
    store = create_store(mounted / "store", TABLES)
    oid = put(store, Kind.BLOB, LARGE)
    if pending:  # as if its process had been killed
        shutil.copytree(mounted / "store", mounted / "copy")
        (mounted / "copy" / f"{DATABASE}-shm").unlink()
    store.close()
    directory = mounted / ("copy" if pending else "store")
    subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
    reader = open_store(directory, TABLES, read_only=True)
    assert reader.get(Kind.BLOB, oid) == LARGE
    assert reader.check() == []
    reader.close()
    with pytest.raises(Unavailable):
        open_store(directory, TABLES)

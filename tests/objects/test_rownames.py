"""Which rows hold objects: the list of old rows, the map of recent ones, and who changes them meanwhile."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from verdog_objects import objecttable, rownames
from verdog_objects.connections import Cursor, Database
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.rownames import RowNames
from verdog_objects.sqlite import SqliteStore, create_store, open_store
from verdog_objects.store import Value


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = create_store(tmp_path / "store", [])
    yield store
    store.close()


@pytest.fixture
def other(store: SqliteStore) -> Iterator[SqliteStore]:
    other = open_store(store.directory, [])
    yield other
    other.close()


def payloads(start: int, stop: int) -> list[tuple[Kind, bytes]]:
    return [(Kind.BLOB, b"%d" % number) for number in range(start, stop)]


def count_listed(store: SqliteStore) -> int:
    row = store.connections.get().execute("SELECT count(*) FROM names").fetchone()
    return cast("int", row[0]) if row is not None else -1


def wal_pages(store: SqliteStore) -> int:
    return (store.connections.path.with_name("store.db-wal").stat().st_size - 32) // (4096 + 24)


def test_rows_are_listed_once_there_are_many(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rownames, "RECENT_ROWS", 10)
    store.put_many(payloads(0, 9))
    assert count_listed(store) == 0
    store.put_many(payloads(9, 10))
    assert count_listed(store) == 10
    assert store.check() == []


def test_a_commit_among_many_objects_changes_few_pages(store: SqliteStore) -> None:
    """Twelve objects in a store of 5,000: with an index over all ids each would change a page of its own."""
    store.put_many(payloads(0, 5000))
    with store.connections.transaction() as connection:
        connection.names.list_all(connection)
    store.put_many(payloads(5000, 5012))
    before = wal_pages(store)
    store.put_many(payloads(5012, 5024))
    assert wal_pages(store) - before <= 6


def test_objects_are_found_before_and_after_they_are_listed(
    store: SqliteStore, other: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rownames, "RECENT_ROWS", 10)
    oids: list[Oid] = []
    for start in range(0, 40, 4):
        oids += store.put_many(payloads(start, start + 4))
        assert store.has_many(oids) == other.has_many(oids) == set(oids)
    assert other.get(Kind.BLOB, oids[0]) == b"0"


def test_an_object_beyond_the_newest_rows_is_found(
    store: SqliteStore, other: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rownames, "NEWEST_ROWS", 4)
    oids = store.put_many(payloads(0, 20))
    assert other.get(Kind.BLOB, oids[19]) == b"19"
    assert other.get(Kind.BLOB, oids[0]) == b"0"
    assert other.has_many(oids) == set(oids)
    more = store.put_many(payloads(20, 30))
    assert other.has_many(more) == set(more)


def test_what_a_failed_transaction_inserted_is_not_taken_for_another_object(store: SqliteStore) -> None:
    lost, kept = (compute_oid(Kind.BLOB, payload) for payload in (b"lost", b"kept"))
    stored = objecttable.StoredObject(lost, Kind.BLOB, 4, 0, None, None, None, b"lost")
    with pytest.raises(KeyError), store.connections.transaction() as connection:
        objecttable.insert_objects(connection, [stored])
        assert objecttable.find_object(connection, lost) == stored
        raise KeyError
    store.put_many([(Kind.BLOB, b"kept")])  # under the number that the lost one had
    assert store.has_many([kept]) == {kept}
    assert store.has_many([lost]) == set()
    store.put_many([(Kind.BLOB, b"lost")])
    assert store.has_many([lost, kept]) == {lost, kept}
    assert store.check() == []


def test_an_object_deleted_and_stored_again_elsewhere_is_found(
    store: SqliteStore, other: SqliteStore
) -> None:
    first, second = store.put_many(payloads(0, 2))
    assert other.has_many([first, second]) == {first, second}
    store.delete_many([first, second])
    (third, _) = store.put_many(payloads(2, 4))  # under the numbers of the first two
    assert other.has_many([third]) == {third}
    store.put_many(payloads(0, 2))
    assert other.get(Kind.BLOB, first) == b"0"
    assert other.get(Kind.BLOB, second) == b"1"


def test_a_row_that_takes_a_deleted_ones_number_is_listed(store: SqliteStore) -> None:
    oids = store.put_many(payloads(0, 3))
    with store.connections.transaction() as connection:
        connection.names.list_all(connection)
    store.delete_many(oids[1:])
    new = store.put_many(payloads(3, 5))
    with store.connections.transaction() as connection:
        connection.names.list_all(connection)
    assert count_listed(store) == 3
    assert store.has_many(new) == set(new)
    assert store.check() == []


class Between:
    """A connection on which something happens between two statements."""

    def __init__(self, connection: Database, statement: str, other: SqliteStore) -> None:
        self._connection, self._statement, self._other = connection, statement, other

    def execute(self, statements: str, bindings: Sequence[Value] = ()) -> Cursor:
        result = self._connection.execute(statements, bindings)
        if statements.startswith(self._statement):
            self._statement = "-"
            with self._other.connections.transaction() as connection:
                connection.names.list_all(connection)
        return result


@pytest.mark.parametrize("statement", ["SELECT oid, object FROM names", "SELECT coalesce"])
def test_rows_that_are_listed_while_they_are_looked_for_are_found(
    store: SqliteStore, other: SqliteStore, statement: str
) -> None:
    oids = store.put_many(payloads(0, 5))
    connection = Between(store.connections.get(), statement, other)
    assert set(RowNames().locate(connection, oids)) == set(oids)


def test_a_name_that_is_lost_or_wrong_is_found_and_mended(store: SqliteStore) -> None:
    oids = store.put_many(payloads(0, 5))
    with store.connections.transaction() as connection:
        connection.names.list_all(connection)
        connection.execute("DELETE FROM names WHERE oid = ?", (oids[0],))
        connection.execute("UPDATE names SET object = 77 WHERE oid = ?", (oids[1],))
    assert store.check() == [
        "database: 2 objects are not listed under their ids",
        "database: 1 ids are listed without their objects",
    ]
    assert store.has_many(oids) == set(oids[2:])
    assert store.mend()
    assert store.check() == []
    assert store.has_many(oids) == set(oids)
    assert not store.mend()


def test_an_object_whose_name_is_lost_can_be_stored_again(store: SqliteStore) -> None:
    oids = store.put_many(payloads(0, 5))
    with store.connections.transaction() as connection:
        connection.names.list_all(connection)
        connection.execute("DELETE FROM names WHERE oid = ?", (oids[0],))
    store.put_many(payloads(0, 1))
    assert store.get(Kind.BLOB, oids[0]) == b"0"
    assert store.mend()
    assert store.check() == []
    assert store.get(Kind.BLOB, oids[0]) == b"0"

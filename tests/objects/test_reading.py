import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.contract.store import put
from tests.contract.tables import TABLES
from verdog_objects.errors import Corrupt, Missing
from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_objects.sqlite import DATABASE_NAME, SqliteStore, create_store

LAX = "CREATE TABLE objects (id INTEGER PRIMARY KEY, oid, kind, size, codec, pack, start, length, data)"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = create_store(tmp_path / "store", TABLES)
    yield store
    store.close()


def set_column(store: SqliteStore, oid: Oid, column: str, value: Any) -> None:
    """Put a value into a row that no statement lets through, as a flipped bit does."""
    database = str(store.directory / DATABASE_NAME)
    with closing(apsw.Connection(database)) as connection:
        ((strict,),) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'objects'").fetchall()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'objects'", (LAX,))
    with closing(apsw.Connection(database)) as connection:
        connection.execute(f"UPDATE objects SET {column} = ? WHERE oid = ?", (value, oid))
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'objects'", (strict,))


def test_an_object_that_is_not_stored_is_damage_and_a_name_that_is_not_found(store: SqliteStore) -> None:
    oid = compute_oid(Kind.BLOB, b"nobody has it")
    with pytest.raises(Missing) as caught:
        store.get(Kind.BLOB, oid)
    assert isinstance(caught.value, Corrupt)
    assert isinstance(caught.value, LookupError)
    assert caught.value.paths == (oid,)


@pytest.mark.parametrize("size_bytes", [100, 10_000])
@pytest.mark.parametrize("column", ["kind", "size", "codec", "pack", "start", "length", "data"])
def test_a_row_with_any_other_value_in_a_column_gives_the_same_bytes_or_is_damage(
    store: SqliteStore, column: str, size_bytes: int
) -> None:
    for value in (None, "text", b"blob", -1, 7, 2**62, -(2**63)):
        payload = os.urandom(size_bytes)
        oid = put(store, Kind.BLOB, payload)
        set_column(store, oid, column, value)
        for read in (
            lambda oid=oid: store.get_many([oid])[oid][1],
            lambda oid=oid: store.get(Kind.BLOB, oid),
        ):
            try:
                assert read() == payload
            except Corrupt as error:
                assert error.paths == (oid,)


def test_a_location_that_claims_more_than_the_pack_has_takes_no_memory(store: SqliteStore) -> None:
    oid = put(store, Kind.BLOB, os.urandom(8192))
    put(store, Kind.BLOB, os.urandom(8192))
    set_column(store, oid, "length", 2**40)
    with pytest.raises(Corrupt):
        store.get(Kind.BLOB, oid)

"""Content whose pack is lost or cut short is stored again, although the database still has its row."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.store import put
from tests.contract.tables import TABLES
from verdog_objects import writer as writing
from verdog_objects.oid import Kind, Oid
from verdog_objects.sqlite import SqliteStore, create_store, open_store

PAYLOADS = [os.urandom(10_000) for _ in range(3)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A store with three large objects in one pack."""
    with_objects = create_store(tmp_path / "store", TABLES)
    with_objects.put_many([(Kind.CHUNK, payload) for payload in PAYLOADS])
    with_objects.close()
    return tmp_path / "store"


@pytest.fixture
def store(directory: Path) -> Iterator[SqliteStore]:
    """The store as a later process opens it."""
    opened = open_store(directory, TABLES)
    yield opened
    opened.close()


def pack_of(directory: Path) -> Path:
    (pack,) = (directory / "packs").glob("*.pack")
    return pack


def put_all(store: SqliteStore) -> list[Oid]:
    return store.put_many([(Kind.CHUNK, payload) for payload in PAYLOADS])


def read_all(store: SqliteStore, oids: list[Oid]) -> list[bytes]:
    return [store.get(Kind.CHUNK, oid) for oid in oids]


def test_what_a_lost_pack_held_is_stored_again(store: SqliteStore, directory: Path) -> None:
    pack_of(directory).unlink()
    assert read_all(store, put_all(store)) == PAYLOADS


def test_what_lay_beyond_the_end_of_a_pack_is_stored_again(store: SqliteStore, directory: Path) -> None:
    os.truncate(pack_of(directory), 15_000)
    places = {info.oid: info.place for info in store.scan()}
    oids = put_all(store)
    assert read_all(store, oids) == PAYLOADS
    moved = [oid for oid in oids if {info.oid: info.place for info in store.scan()}[oid] != places[oid]]
    assert moved == oids[1:]


def test_objects_ahead_of_the_last_transaction_are_stored_again_too(
    store: SqliteStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "FINAL_LIMIT_BYTES", 100)
    pack_of(directory).unlink()
    with store.writer() as writer:
        oids = [writer.put(Kind.CHUNK, payload) for payload in PAYLOADS]
        writer.put(Kind.BLOB, b"small")
        store.apply(writer)
    assert read_all(store, oids) == PAYLOADS


def test_a_pack_that_grew_since_it_was_looked_at_is_looked_at_again(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.put(Kind.CHUNK, PAYLOADS[0])
        other = os.urandom(10_000)
        put(store, Kind.CHUNK, other)
        writer.put(Kind.CHUNK, other)
        store.apply(writer)
    assert len(store.pack_files()) == 1


def test_a_sound_pack_is_not_written_to_again(store: SqliteStore, directory: Path) -> None:
    size_bytes = pack_of(directory).stat().st_size
    put_all(store)
    assert pack_of(directory).stat().st_size == size_bytes

"""The store's format 1, frozen: a change here is a new format."""

from tests.contract.tables import EVENTS, REFS, TABLES
from verdog_objects import packs, rows, schema

STATEMENTS = {
    "meta": "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL)\n STRICT, WITHOUT ROWID",
    "objects": (
        "CREATE TABLE objects (id INTEGER NOT NULL PRIMARY KEY, oid BLOB NOT NULL,\n"
        " kind INTEGER NOT NULL, size INTEGER NOT NULL, codec INTEGER NOT NULL,\n"
        " pack INTEGER, start INTEGER, length INTEGER, data BLOB) STRICT"
    ),
    "names": (
        "CREATE TABLE names (oid BLOB NOT NULL PRIMARY KEY, object INTEGER NOT NULL)\n STRICT, WITHOUT ROWID"
    ),
    "packs": (
        "CREATE TABLE packs (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE,\n"
        " size INTEGER NOT NULL) STRICT"
    ),
    "sessions": (
        "CREATE TABLE sessions (id INTEGER NOT NULL PRIMARY KEY, floor INTEGER NOT NULL,\n"
        " lock TEXT NOT NULL, since_ns INTEGER NOT NULL) STRICT"
    ),
    "numbers": (
        "CREATE TABLE numbers (name TEXT NOT NULL PRIMARY KEY, last INTEGER NOT NULL)\n STRICT, WITHOUT ROWID"
    ),
    "refs": (
        "CREATE TABLE refs (run TEXT NOT NULL, tip BLOB, epoch INTEGER NOT NULL,"
        " seal BLOB NOT NULL, PRIMARY KEY (run)) STRICT, WITHOUT ROWID"
    ),
    "steps": (
        "CREATE TABLE steps (run TEXT NOT NULL, sequence INTEGER NOT NULL, label TEXT,"
        " digest BLOB NOT NULL, PRIMARY KEY (run, sequence)) STRICT, WITHOUT ROWID"
    ),
    "steps__digest": "CREATE INDEX steps__digest ON steps (digest)",
    "steps__label__sequence": "CREATE INDEX steps__label__sequence ON steps (label, sequence)",
    "events": (
        "CREATE TABLE events (number INTEGER NOT NULL PRIMARY KEY, run TEXT NOT NULL,"
        " seal BLOB NOT NULL) STRICT"
    ),
    "events__run": "CREATE INDEX events__run ON events (run)",
    "marks": "CREATE TABLE marks (mark BLOB NOT NULL, PRIMARY KEY (mark)) STRICT, WITHOUT ROWID",
}


def test_the_statements_that_make_the_tables_stay() -> None:
    assert schema.define_schema(TABLES) == STATEMENTS


def test_the_numbers_that_name_a_store_stay() -> None:
    assert (schema.FORMAT, schema.APPLICATION_ID, schema.PAGE_BYTES) == (1, 0x56444F47, 4096)
    assert packs.HEADER == b"verdog pack 1\n\0\0"


def test_the_seals_of_fixed_rows_stay() -> None:
    assert (
        rows.seal_row(REFS, ("run", None, -7)).hex()
        == "595a0c754663ae7891a65c7ab1c6de8a00073d85137ff6503c7cbf944975e13b"
    )
    assert (
        rows.seal_row(REFS, ("é", b"\0\xff", 1 << 62)).hex()
        == "6d2f1344ff7f2ea6756d8ce38d79fe9592d7be67760c15101007e869bb839c96"
    )
    assert (
        rows.seal_row(EVENTS, (1, "")).hex()
        == "ee975036bdeee64736c65c3835f6f0550ea2c03c9b851419cd91389d614f8c12"
    )

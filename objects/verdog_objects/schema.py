"""The schema of the database file: how it is made, and how it is recognised when it is opened."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from verdog_objects.connections import Database
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_objects.rows import SEAL_COLUMN
from verdog_objects.store import Column, Table, Value

FORMAT = 1
APPLICATION_ID = 0x56444F47
"""The letters VDOG, in the file's header."""

PAGE_BYTES = 4096

_OWN = {
    "meta": """CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL)
 STRICT, WITHOUT ROWID""",
    "objects": """CREATE TABLE objects (id INTEGER NOT NULL PRIMARY KEY, oid BLOB NOT NULL,
 kind INTEGER NOT NULL, size INTEGER NOT NULL, codec INTEGER NOT NULL,
 pack INTEGER, start INTEGER, length INTEGER, data BLOB) STRICT""",
    "names": """CREATE TABLE names (oid BLOB NOT NULL PRIMARY KEY, object INTEGER NOT NULL)
 STRICT, WITHOUT ROWID""",
    "packs": """CREATE TABLE packs (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE,
 size INTEGER NOT NULL) STRICT""",
    "sessions": """CREATE TABLE sessions (id INTEGER NOT NULL PRIMARY KEY, floor INTEGER NOT NULL,
 lock TEXT NOT NULL, since_ns INTEGER NOT NULL) STRICT""",
    "numbers": """CREATE TABLE numbers (name TEXT NOT NULL PRIMARY KEY, last INTEGER NOT NULL)
 STRICT, WITHOUT ROWID""",
}


def _define_column(column: Column) -> str:
    return f"{column.name} {column.type}" + ("" if column.nullable else " NOT NULL")


def _define_table(table: Table) -> str:
    parts = [_define_column(column) for column in table.columns]
    if table.numbered:
        parts[0] += " PRIMARY KEY"
    if table.sealed:
        parts.append(f"{SEAL_COLUMN} BLOB NOT NULL")
    if not table.numbered:
        parts.append(f"PRIMARY KEY ({', '.join(table.key)})")
    suffix = "STRICT" if table.numbered else "STRICT, WITHOUT ROWID"
    return f"CREATE TABLE {table.name} ({', '.join(parts)}) {suffix}"


def define_schema(tables: Sequence[Table]) -> dict[str, str]:
    """Return the statement that makes each table and index, by name."""
    statements = dict(_OWN)
    for table in tables:
        statements[table.name] = _define_table(table)
        for index in table.indexes:
            name = f"{table.name}__{'__'.join(index)}"
            statements[name] = f"CREATE INDEX {name} ON {table.name} ({', '.join(index)})"
    return statements


def create_schema(connection: Database, tables: Sequence[Table], uuid: str) -> None:
    """Fill an empty database file that nobody else sees yet, and leave it in WAL mode.

    Durability: none; the caller syncs the file.
    """
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = MEMORY").fetchall()
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in define_schema(tables).values():
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", [("format", FORMAT), ("uuid", uuid), ("deletions", 0), ("named", 0)]
    )
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = WAL").fetchall()


def check_schema(connection: Database, path: Path, tables: Sequence[Table]) -> str:
    """Return the store's uuid if the file is a store with these tables.

    Raises:
        Corrupt: the application id, the uuid or a table is missing or different.
        FormatUnsupported: a newer version wrote the store.
    """
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise Corrupt(f"{path} is not a store: its application id is missing")
    found = {
        str(name): str(sql)
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema").fetchall()
    }
    if "meta" not in found:
        raise Corrupt(f"{path} is damaged: table meta is missing")
    rows = cast("list[tuple[str, Value]]", connection.execute("SELECT name, value FROM meta").fetchall())
    meta = dict(rows)
    version, uuid = meta.get("format"), meta.get("uuid")
    if (
        not isinstance(version, int)
        or not isinstance(uuid, str)
        or not all(isinstance(meta.get(name), int) for name in ("deletions", "named"))
    ):
        raise Corrupt(f"{path} is damaged: its format, its uuid or a number in meta is missing")
    if version > FORMAT:
        raise FormatUnsupported(f"{path} has format {version}; this version knows formats up to {FORMAT}")
    for name, statement in define_schema(tables).items():
        if found.get(name) != statement:
            state = "different from what it should be" if name in found else "missing"
            raise Corrupt(f"{path} is damaged: table or index {name} is {state}")
    return uuid

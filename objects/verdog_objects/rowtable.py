"""The tables of the layer above as tables of the database: queries, guards and writes."""
# ruff: noqa: S608  (names of tables and columns were checked, values are bound)

from collections.abc import Mapping
from typing import cast

from verdog_objects import rows
from verdog_objects.connections import Database
from verdog_objects.errors import Conflict, Corrupt
from verdog_objects.store import PAGE_ROWS, Guard, PutRow, Query, Row, Table, Value, Write


class Statements:
    """The statements for one table, built once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        names = [column.name for column in table.columns]
        stored = [*names, rows.SEAL_COLUMN] if table.sealed else names
        self.columns = ", ".join(stored)
        marks = ", ".join("?" * len(stored))
        where = " AND ".join(f"{name} = ?" for name in table.key)
        self.find = f"SELECT {self.columns} FROM {table.name} WHERE {where}"
        self.remove = f"DELETE FROM {table.name} WHERE {where}"
        self.put = f"INSERT INTO {table.name} ({self.columns}) VALUES ({marks})"
        if not table.numbered:
            changed = [name for name in stored if name not in table.key]
            action = "UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in changed)
            self.put += f" ON CONFLICT ({', '.join(table.key)}) DO {action if changed else 'NOTHING'}"
        self.last = f"""SELECT max(coalesce((SELECT max({names[0]}) FROM {table.name}), 0),
 coalesce((SELECT last FROM numbers WHERE name = '{table.name}'), 0))"""
        self._queries: dict[tuple[object, ...], str] = {}

    def open_row(self, stored: tuple[Value, ...]) -> Row:
        """Return a stored row without its seal, which must match."""
        if not self.table.sealed:
            return stored
        row = stored[:-1]
        rows.check_seal(self.table, row, stored[-1])
        return row

    def query(self, query: Query) -> str:
        """Return the statement for queries of this shape."""
        shape = (
            tuple(name for name, _ in query.equal),
            query.at_least and query.at_least[0],
            query.below and query.below[0],
            query.order,
            query.descending,
        )
        statement = self._queries.get(shape)
        if statement is None:
            direction = " DESC" if query.descending else ""
            order = ", ".join(name + direction for name in rows.full_order(query))
            statement = (
                f"SELECT {self.columns} FROM {self.table.name}{_where(query)} ORDER BY {order} LIMIT ?"
            )
            self._queries[shape] = statement
        return statement


def _where(query: Query) -> str:
    conditions = [f"{name} IS ?" for name, _ in query.equal]
    if query.at_least is not None:
        conditions.append(f"{query.at_least[0]} >= ?")
    if query.below is not None:
        conditions.append(f"{query.below[0]} < ?")
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _bindings(query: Query) -> list[Value]:
    values = [value for _, value in query.equal]
    if query.at_least is not None:
        values.append(query.at_least[1])
    if query.below is not None:
        values.append(query.below[1])
    return values


class RowTables:
    """The declared tables of one store."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables
        self._statements = {name: Statements(table) for name, table in tables.items()}

    def select(self, connection: Database, query: Query) -> list[Row]:
        """Return one page of rows, each with its seal checked."""
        statements = self._statements[query.table.name]
        found = connection.execute(statements.query(query), [*_bindings(query), query.limit]).fetchall()
        return [statements.open_row(row) for row in found] if query.table.sealed else found

    def count(self, connection: Database, query: Query) -> int:
        """Return how many rows match."""
        statement = f"SELECT count(*) FROM {query.table.name}{_where(query)}"
        row = connection.execute(statement, _bindings(query)).fetchone()
        return cast("int", row[0]) if row is not None else 0

    def check_guard(self, connection: Database, guard: Guard) -> None:
        """Raise `Conflict` unless a guard holds."""
        statements = self._statements[guard.table.name]
        stored = connection.execute(statements.find, guard.key).fetchone()
        found = None if stored is None else statements.open_row(stored)
        if found != guard.expected:
            raise Conflict(f"table {guard.table.name}: the row at {guard.key!r} is not as expected")

    def write(self, connection: Database, write: Write) -> None:
        """Put or remove one row."""
        statements = self._statements[write.table.name]
        if isinstance(write, PutRow):
            row = write.row
            if write.table.numbered:
                row = (self._last_number(connection, statements) + 1, *row)
            if write.table.sealed:
                row = (*row, rows.seal_row(write.table, row))
            connection.execute(statements.put, row)
        else:
            if write.table.numbered:
                self._keep_number(connection, statements)
            connection.execute(statements.remove, write.key)

    @staticmethod
    def _last_number(connection: Database, statements: Statements) -> int:
        row = connection.execute(statements.last).fetchone()
        return cast("int", row[0]) if row is not None else 0

    def _keep_number(self, connection: Database, statements: Statements) -> None:
        """Remember the highest number that was given, so that it is not given again once its row is gone."""
        connection.execute(
            "INSERT INTO numbers VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET last = excluded.last",
            (statements.table.name, self._last_number(connection, statements)),
        )

    def check_seals(self, connection: Database, table: Table) -> list[str]:
        """Return a sentence for each row of a sealed table that does not match its seal."""
        if not table.sealed:
            return []
        statements = self._statements[table.name]
        order = ", ".join(table.key)
        problems: list[str] = []
        offset = 0
        while True:
            statement = f"SELECT {statements.columns} FROM {table.name} ORDER BY {order} LIMIT ? OFFSET ?"
            page = connection.execute(statement, (PAGE_ROWS, offset)).fetchall()
            for stored in page:
                try:
                    statements.open_row(stored)
                except Corrupt as error:
                    problems.append(str(error))
            if len(page) < PAGE_ROWS:
                return problems
            offset += len(page)

"""Checks of tables, rows and queries that every store makes before it acts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from blake3 import blake3

from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.oid import OID_BYTES, Kind, Oid
from verdog_objects.store import PAGE_ROWS, Column, ColumnType, Guard, PutRow, Query, Row, Table, Value, Write

RESERVED_NAMES = frozenset({"meta", "numbers", "objects", "packs", "sessions"})
"""Tables that belong to the store itself."""

SEAL_COLUMN = "seal"
SEAL_BYTES = 32

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_PYTHON_TYPES: dict[ColumnType, type] = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.BLOB: bytes,
}
_INTEGER_LIMIT = 1 << 63
_HEX_DIGITS = frozenset("0123456789abcdef")


def check_tables(tables: Sequence[Table]) -> dict[str, Table]:
    """Return the tables by name.

    Raises:
        InvalidInput: a name is malformed, reserved or used twice, or a key or index names what it cannot.
    """
    found: dict[str, Table] = {}
    for table in tables:
        if table.name in RESERVED_NAMES or table.name.startswith("sqlite_") or table.name in found:
            raise InvalidInput(f"table name {table.name!r} is taken")
        _check_table(table)
        found[table.name] = table
    return found


def _check_table(table: Table) -> None:
    columns = {column.name: column for column in table.columns}
    for name in (table.name, *columns):
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"{name!r} is no name for a table or column")
    if len(columns) != len(table.columns) or SEAL_COLUMN in columns:
        raise InvalidInput(f"table {table.name} names a column twice, or names one {SEAL_COLUMN!r}")
    if not table.key or len(set(table.key)) != len(table.key):
        raise InvalidInput(f"table {table.name} needs a key of distinct columns")
    for name in table.key:
        if name not in columns or columns[name].nullable:
            raise InvalidInput(f"table {table.name}: key column {name!r} is missing or nullable")
    for index in table.indexes:
        if not index or len(set(index)) != len(index) or not columns.keys() >= set(index):
            raise InvalidInput(f"table {table.name}: index {index!r} is empty or names an unknown column")
    if table.numbered:
        first = table.columns[0]
        if table.key != (first.name,) or first.type is not ColumnType.INTEGER or len(table.columns) < 2:
            raise InvalidInput(f"numbered table {table.name} needs an integer first column as its key")


def check_known(tables: Mapping[str, Table], table: Table) -> None:
    """Refuse a table that was not declared when the store was opened."""
    known = tables.get(table.name)
    if known is not table and known != table:
        raise InvalidInput(f"table {table.name!r} was not declared to this store")


def check_value(table: Table, column: Column, value: Value) -> None:
    """Refuse a value that the column cannot hold."""
    if value is None:
        if not column.nullable:
            raise InvalidInput(f"{table.name}.{column.name} cannot be None")
        return
    if type(value) is not _PYTHON_TYPES[column.type]:
        raise InvalidInput(f"{table.name}.{column.name} holds {column.type}, not {type(value).__name__}")
    if isinstance(value, int):
        if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            raise InvalidInput(f"{table.name}.{column.name}: {value} does not fit 64 bits")
    elif isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(f"{table.name}.{column.name}: {value!r} is no Unicode text") from error


def _check_values(table: Table, columns: Sequence[Column], values: Row, what: str) -> None:
    if type(values) is not tuple or len(values) != len(columns):
        raise InvalidInput(f"{what} of table {table.name} is a tuple of {len(columns)} values")
    for column, value in zip(columns, values, strict=True):
        check_value(table, column, value)


def check_row(table: Table, row: Row) -> None:
    """Refuse a row that does not fit the table's columns."""
    _check_values(table, table.columns, row, "a row")


def check_new_row(table: Table, row: Row) -> None:
    """Refuse a row to be put that does not fit; a numbered table's row comes without its number."""
    _check_values(table, table.columns[1:] if table.numbered else table.columns, row, "a new row")


def check_key(table: Table, key: Row) -> None:
    """Refuse a key that does not fit the table's key columns."""
    _check_values(table, [table.columns[table.position(name)] for name in table.key], key, "a key")


def row_key(table: Table, row: Row) -> Row:
    """Return the key of a full row."""
    return tuple(row[table.position(name)] for name in table.key)


def check_column(table: Table, name: str) -> Column:
    """Return a column by name, or refuse an unknown one."""
    for column in table.columns:
        if column.name == name:
            return column
    raise InvalidInput(f"table {table.name} has no column {name!r}")


def check_equal(table: Table, equal: Sequence[tuple[str, Value]]) -> None:
    """Refuse conditions on unknown columns or with values that the columns cannot hold."""
    for name, value in equal:
        check_value(table, check_column(table, name), value)


def check_query(query: Query) -> None:
    """Refuse a query that names unknown columns, compares with wrong types or asks for too many rows."""
    table = query.table
    check_equal(table, query.equal)
    for bound in (query.at_least, query.below):
        if bound is not None:
            name, value = bound
            column = check_column(table, name)
            if value is None:
                raise InvalidInput(f"a bound of {table.name}.{name} cannot be None")
            check_value(table, column, value)
    for name in query.order:
        check_column(table, name)
    if len(set(query.order)) != len(query.order):
        raise InvalidInput(f"the order of a query on {table.name} names a column twice")
    check_limit(query.limit)


def check_limit(limit: int) -> None:
    """Refuse a page that is larger than `PAGE_ROWS`."""
    if type(limit) is not int or not 0 <= limit <= PAGE_ROWS:
        raise InvalidInput(f"a page has 0 to {PAGE_ROWS} rows, not {limit!r}")


def full_order(query: Query) -> tuple[str, ...]:
    """Return the columns that a query sorts by: ties of its order are broken by the key."""
    return query.order + tuple(name for name in query.table.key if name not in query.order)


def check_batch(tables: Mapping[str, Table], guards: Sequence[Guard], writes: Sequence[Write]) -> None:
    """Refuse a batch in which a guard or write does not fit its table."""
    for guard in guards:
        check_known(tables, guard.table)
        check_key(guard.table, guard.key)
        if guard.expected is not None:
            check_row(guard.table, guard.expected)
    for write in writes:
        check_known(tables, write.table)
        if isinstance(write, PutRow):
            check_new_row(write.table, write.row)
        else:
            check_key(write.table, write.key)


def check_oid(oid: Oid) -> None:
    """Refuse what cannot be an object id."""
    if type(oid) is not bytes or len(oid) != OID_BYTES:
        raise InvalidInput(f"{oid!r} is no object id")


def check_oids(oids: Iterable[Oid]) -> Iterator[Oid]:
    """Yield ids, and refuse what cannot be one."""
    for oid in oids:
        check_oid(oid)
        yield oid


def check_object(kind: Kind, payload: bytes) -> None:
    """Refuse what cannot be stored as an object."""
    if type(kind) is not Kind or type(payload) is not bytes:
        raise InvalidInput(
            f"an object is a Kind with bytes, not {type(kind).__name__}, {type(payload).__name__}"
        )


def prefix_range(digits: str) -> tuple[bytes, bytes]:
    """Return the first and the last possible id that begin with some hexadecimal digits."""
    if len(digits) > 2 * OID_BYTES or not _HEX_DIGITS.issuperset(digits):
        raise InvalidInput(f"{digits!r} does not begin an object id: lower-case hexadecimal digits expected")
    width = 2 * OID_BYTES
    return bytes.fromhex(digits.ljust(width, "0")), bytes.fromhex(digits.ljust(width, "f"))


def seal_row(table: Table, row: Row) -> bytes:
    """Return the BLAKE3 of a full row under its table's name: no two rows encode to the same bytes."""
    name = table.name.encode()
    parts = [b"verdog row %d:%b" % (len(name), name)]
    for value in row:
        if value is None:
            parts.append(b"n")
        elif isinstance(value, int):
            parts.append(b"i%d;" % value)
        elif isinstance(value, str):
            text = value.encode()
            parts.append(b"t%d:%b" % (len(text), text))
        else:
            parts.append(b"b%d:%b" % (len(value), value))
    return blake3(b"".join(parts)).digest(SEAL_BYTES)


def check_seal(table: Table, row: Row, seal: Value) -> None:
    """Raise `Corrupt`, naming the table and the key, when a stored row does not match its seal."""
    try:
        matches = seal_row(table, row) == seal
    except UnicodeEncodeError:
        matches = False
    if not matches:
        key = ", ".join(repr(value) for value in row_key(table, row))
        raise Corrupt(f"table {table.name}: the row at ({key}) does not match its seal")

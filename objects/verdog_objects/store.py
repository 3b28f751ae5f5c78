"""The object store's protocol: what each call promises, whoever implements it.

A store holds two things. *Objects* are immutable bytes named by their `Oid`. *Tables* hold rows whose meaning
belongs to the layer above; the store only knows their columns. `ObjectStore.apply` changes both in one atomic
step, under guards, and is the only way a row changes.

Every implementation passes `tests/contract/store.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from verdog_objects.oid import Kind, Oid

Value = str | int | bytes | None
Row = tuple[Value, ...]

PAGE_ROWS = 1000
"""The most rows or ids that one call returns. Ask again from the last key for more."""


class ColumnType(StrEnum):
    """The type of a column's values. Integers are signed 64-bit; text is compared by its UTF-8 bytes."""

    TEXT = "TEXT"
    INTEGER = "INTEGER"
    BLOB = "BLOB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str
    type: ColumnType
    nullable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that the layer above declares.

    Attributes:
        key: the columns whose values name a row.
        indexes: further column tuples that queries filter or order by.
        numbered: an append log: the first column is an integer that the store assigns, 1, 2, 3 and so on in
            the order of commits. Such a table's key is that column. A number is never given twice.
        sealed: each row is stored with the BLAKE3 of its columns; one that does not match is `Corrupt`.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    numbered: bool = False
    sealed: bool = False

    def position(self, column: str) -> int:
        """Return the index of a column in a row."""
        for index, each in enumerate(self.columns):
            if each.name == column:
                return index
        raise KeyError(column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A page of rows of one table.

    Attributes:
        equal: columns with the value that each row must have.
        at_least: a column and its inclusive lower bound, or None.
        below: a column and its exclusive upper bound, or None.
        order: columns to sort by; rows that are equal in them come in the order of their keys. None is first.
        descending: reverses the whole order.
        limit: at most `PAGE_ROWS`.
    """

    table: Table
    equal: tuple[tuple[str, Value], ...] = ()
    at_least: tuple[str, Value] | None = None
    below: tuple[str, Value] | None = None
    order: tuple[str, ...] = ()
    descending: bool = False
    limit: int = PAGE_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A condition of a batch: the row at `key` equals `expected` in every column, or is absent when None."""

    table: Table
    key: Row
    expected: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRow:
    """Insert a row, or replace the one with the same key. A numbered table's row comes without its number."""

    table: Table
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveRow:
    """Remove the row at `key`, if it is there."""

    table: Table
    key: Row


Write = PutRow | RemoveRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectInfo:
    """What is known of a stored object without reading its payload.

    Attributes:
        size_bytes: the payload's length.
        stored_bytes: how much the compressed form takes.
        place: `row`, or the name of the pack that holds it.
    """

    oid: Oid
    kind: Kind
    size_bytes: int
    stored_bytes: int
    place: str


class ObjectReader(Protocol):
    """Where objects are read from."""

    def get(self, kind: Kind, oid: Oid) -> bytes:
        """Return an object's payload; its hash was checked.

        Raises:
            Missing: no object of this id.
            Corrupt: the stored bytes do not hash to the id, or the object is of another kind.
        """
        ...


class ObjectWriter(ObjectReader, Protocol):
    """Where objects are put while a change is being built. Reads see what was put."""

    def put(self, kind: Kind, payload: bytes) -> Oid:
        """Stage one object and return its id. An object that is already stored is not stored twice.

        Durability: none until the writer's staged objects were applied.
        """
        ...


class Writer(ObjectWriter, Protocol):
    """The objects of one change, collected before `ObjectStore.apply` makes them durable together.

    Used by one thread. While it is open, garbage collection keeps what it staged. A writer is applied or
    abandoned once; leaving its `with` block without having been applied abandons it. After an `apply` that
    raised, it is still open: it can be applied again, with other guards, or abandoned.
    """

    def abandon(self) -> None:
        """Forget what was staged and release the pack, if one was taken. Safe to call twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class ObjectStore(ObjectReader, Protocol):
    """Objects and tables. Every method may be called from any thread."""

    def get_many(self, oids: Sequence[Oid]) -> dict[Oid, tuple[Kind, bytes]]:
        """Return the objects that exist, each checked against its id. Missing ids are left out.

        Raises:
            Corrupt: naming the object whose stored bytes do not match.
        """
        ...

    def has_many(self, oids: Iterable[Oid]) -> set[Oid]:
        """Return which of the ids are stored, without reading payloads. An object found damaged is not."""
        ...

    def put_many(self, objects: Sequence[tuple[Kind, bytes]]) -> list[Oid]:
        """Store objects that nothing refers to yet, durably, and return their ids."""
        ...

    def delete_many(self, oids: Sequence[Oid]) -> int:
        """Delete objects and return how many there were. Only garbage collection calls this."""
        ...

    def prefix(self, digits: str, limit: int = PAGE_ROWS) -> list[Oid]:
        """Return the ids that begin with these hexadecimal digits, in order."""
        ...

    def scan(self, after: Oid | None = None, limit: int = PAGE_ROWS) -> list[ObjectInfo]:
        """Return the objects after an id in id order. An empty list is the end."""
        ...

    def writer(self) -> Writer:
        """Begin to collect the objects of a change."""
        ...

    def apply(
        self, writer: Writer | None = None, *, guards: Sequence[Guard] = (), writes: Sequence[Write] = ()
    ) -> None:
        """Make a writer's objects and the row changes durable in one atomic step, if every guard holds.

        Later writes to the same key win over earlier ones.

        Raises:
            Conflict: a guard does not hold, or an object that the writer found stored is gone; no change.
            Unavailable: the disk is full or read-only; nothing changed.

        Durability: all of it once the call returned, none of it before.
        """
        ...

    def select(self, query: Query) -> list[Row]:
        """Return one page of rows.

        Raises:
            Corrupt: a sealed row does not match its seal.
        """
        ...

    def count(self, table: Table, equal: Mapping[str, Value]) -> int:
        """Return how many rows have these values."""
        ...

    def close(self) -> None:
        """Release files and locks. Safe to call twice."""
        ...

"""The SQLite store against the memory store, under random histories."""

import shutil
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.contract.tables import EVENTS, MARKS, REFS, STEPS, TABLES
from verdog_objects import rownames
from verdog_objects.errors import VerdogError
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, compute_oid
from verdog_objects.sqlite import SqliteStore, create_store, open_store
from verdog_objects.store import ColumnType, Guard, ObjectStore, PutRow, Query, RemoveRow, Table, Value, Write

PAYLOADS = [b"", b"a", b"b" * 50, bytes(range(256)) * 20, b"c" * 4096, b"d" * 4097]
OBJECTS = [(kind, payload) for kind in (Kind.BLOB, Kind.CHUNK) for payload in PAYLOADS]
OIDS = [compute_oid(kind, payload) for kind, payload in OBJECTS]
WHICH = st.integers(0, len(OBJECTS) - 1)

VALUES: dict[ColumnType, list[Value]] = {
    ColumnType.TEXT: ["", "a", "b", "é", "\U0001f600", "\uffff", "a\0b"],
    ColumnType.INTEGER: [-(1 << 63), -1, 0, 1, 2, (1 << 63) - 1],
    ColumnType.BLOB: [b"", b"\0", b"a", b"\xff\xff"],
}
TABLE = st.sampled_from(TABLES)


def value_of(table: Table, name: str, *, nullable: bool = True) -> st.SearchStrategy[Value]:
    column = table.columns[table.position(name)]
    values = VALUES[column.type]
    return st.sampled_from([*values, None] if column.nullable and nullable else values)


def row_of(table: Table) -> st.SearchStrategy[tuple[Value, ...]]:
    names = [column.name for column in table.columns]
    return st.tuples(*(value_of(table, name) for name in (names[1:] if table.numbered else names)))


def key_of(table: Table) -> st.SearchStrategy[tuple[Value, ...]]:
    if table.numbered:
        return st.tuples(st.integers(1, 8))
    return st.tuples(*(value_of(table, name) for name in table.key))


def write_of(table: Table) -> st.SearchStrategy[Write]:
    return st.one_of(
        row_of(table).map(lambda row: PutRow(table=table, row=row)),
        key_of(table).map(lambda key: RemoveRow(table=table, key=key)),
    )


@st.composite
def queries(draw: st.DrawFn) -> Query:
    table = draw(TABLE)
    names = st.sampled_from([column.name for column in table.columns])

    def bound() -> tuple[str, Value] | None:
        name = draw(st.none() | names)
        return None if name is None else (name, draw(value_of(table, name, nullable=False)))

    equal = [(name, draw(value_of(table, name))) for name in draw(st.lists(names, max_size=2))]
    return Query(
        table=table,
        equal=tuple(equal),
        at_least=bound(),
        below=bound(),
        order=tuple(draw(st.lists(names, max_size=2, unique=True))),
        descending=draw(st.booleans()),
        limit=draw(st.sampled_from([0, 1, 3, 1000])),
    )


def outcome(action: Any, *arguments: Any, **options: Any) -> Any:
    """Return what a call returned, or the class of the house error it raised."""
    try:
        return action(*arguments, **options)
    except VerdogError as error:
        return type(error)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="stores-"))
        self.model = MemoryStore(TABLES)
        self.real: SqliteStore | None = None
        self.other: SqliteStore | None = None  # another process's view of it
        self.patch = mock.patch.object(rownames, "RECENT_ROWS", 3)  # so that rows are listed now and then
        self.patch.start()
        self.newest = mock.patch.object(rownames, "NEWEST_ROWS", 1)
        self.newest.start()
        self.writers: list[tuple[Any, Any]] = []

    @initialize()
    def create(self) -> None:
        self.real = create_store(self.directory / "store", TABLES)
        self.other = open_store(self.directory / "store", TABLES)

    @precondition(lambda self: not self.writers)
    @rule()
    def go_on_elsewhere(self) -> None:
        self.real, self.other = self.other, self.real

    @property
    def stores(self) -> tuple[ObjectStore, ObjectStore]:
        assert self.real is not None
        return self.model, self.real

    def agree(self, name: str, *arguments: Any, **options: Any) -> Any:
        model, real = (outcome(getattr(store, name), *arguments, **options) for store in self.stores)
        assert real == model
        return model

    def teardown(self) -> None:
        for pair in self.writers:
            for writer in pair:
                writer.abandon()
        if self.real is not None:
            assert self.real.check() == []
            self.real.close()
        if self.other is not None:
            self.other.close()
        self.patch.stop()
        self.newest.stop()
        shutil.rmtree(self.directory)

    @precondition(lambda self: len(self.writers) < 2)
    @rule()
    def begin(self) -> None:
        model, real = self.stores
        self.writers.append((model.writer(), real.writer()))

    @precondition(lambda self: self.writers)
    @rule(data=st.data(), chosen=st.lists(WHICH, min_size=1, max_size=5))
    def stage(self, data: st.DataObject, chosen: list[int]) -> None:
        model, real = data.draw(st.sampled_from(self.writers))
        for kind, payload in (OBJECTS[which] for which in chosen):
            assert model.put(kind, payload) == real.put(kind, payload)

    @precondition(lambda self: self.writers)
    @rule(data=st.data(), kind=st.sampled_from([Kind.BLOB, Kind.CHUNK]), which=WHICH)
    def read_staged(self, data: st.DataObject, kind: Kind, which: int) -> None:
        model, real = data.draw(st.sampled_from(self.writers))
        assert outcome(model.get, kind, OIDS[which]) == outcome(real.get, kind, OIDS[which])

    @precondition(lambda self: self.writers)
    @rule(data=st.data())
    def abandon(self, data: st.DataObject) -> None:
        pair = self.writers.pop(data.draw(st.integers(0, len(self.writers) - 1)))
        for writer in pair:
            writer.abandon()

    @rule(data=st.data(), with_writer=st.booleans())
    def apply(self, data: st.DataObject, with_writer: bool) -> None:
        writes = data.draw(st.lists(TABLE.flatmap(write_of), max_size=4))
        guards = [self.draw_guard(data) for _ in range(data.draw(st.integers(0, 2)))]
        pair = data.draw(st.sampled_from(self.writers)) if with_writer and self.writers else (None, None)
        results = [
            outcome(store.apply, writer, guards=guards, writes=writes)
            for store, writer in zip(self.stores, pair, strict=True)
        ]
        assert results[0] == results[1]
        if results[0] is None and pair in self.writers:
            self.writers.remove(pair)

    def draw_guard(self, data: st.DataObject) -> Guard:
        """Draw a guard that holds more often than not."""
        table = data.draw(TABLE)
        stored = self.model.select(Query(table=table))
        if stored and data.draw(st.booleans()):
            row = data.draw(st.sampled_from(stored))
            key = tuple(row[table.position(name)] for name in table.key)
            return Guard(table=table, key=key, expected=row if data.draw(st.integers(0, 3)) else None)
        return Guard(table=table, key=data.draw(key_of(table)), expected=None)

    @rule(chosen=st.lists(WHICH, max_size=4))
    def put_many(self, chosen: list[int]) -> None:
        self.agree("put_many", [OBJECTS[which] for which in chosen])

    @rule(chosen=st.lists(WHICH, max_size=3, unique=True))
    def delete_many(self, chosen: list[int]) -> None:
        self.agree("delete_many", [OIDS[which] for which in chosen])

    @rule(kind=st.sampled_from([Kind.BLOB, Kind.CHUNK]), which=WHICH)
    def get(self, kind: Kind, which: int) -> None:
        self.agree("get", kind, OIDS[which])

    @rule(query=queries())
    def select(self, query: Query) -> None:
        self.agree("select", query)
        self.agree("count", query.table, dict(query.equal))

    @rule(digits=st.text("0123456789abcdef", max_size=2), limit=st.sampled_from([0, 1, 1000]))
    def prefix(self, digits: str, limit: int) -> None:
        self.agree("prefix", digits, limit)

    @rule()
    def reopen(self) -> None:
        assert self.real is not None
        for pair in self.writers:
            for writer in pair:
                writer.abandon()
        self.writers = []
        self.real.close()
        self.real = open_store(self.directory / "store", TABLES)

    @invariant()
    def both_hold_the_same(self) -> None:
        if self.real is None:
            return
        self.agree("has_many", OIDS)
        self.agree("get_many", OIDS)
        for table in (REFS, STEPS, EVENTS, MARKS):
            self.agree("select", Query(table=table))
        described = [
            [(info.oid, info.kind, info.size_bytes) for info in store.scan()] for store in self.stores
        ]
        assert described[0] == described[1]


TestStores = StoreMachine.TestCase
TestStores.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

"""What every `ObjectStore` promises. A test module inherits `StoreContract` and gives it a store."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.tables import EVENTS, MARKS, REFS, STEPS
from verdog_objects.errors import Conflict, Corrupt, InvalidInput, NotFound
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid
from verdog_objects.store import (
    PAGE_ROWS,
    Guard,
    ObjectStore,
    PutRow,
    Query,
    RemoveRow,
    Table,
)

SMALL = b"a small value"
LARGE = bytes(range(256)) * 400


def put(store: ObjectStore, kind: Kind, payload: bytes) -> Oid:
    return store.put_many([(kind, payload)])[0]


class StoreContract:
    """Inherit this and override the fixture `make_store`."""

    @pytest.fixture
    def make_store(self) -> Callable[[], ObjectStore]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, make_store: Callable[[], ObjectStore]) -> Iterator[ObjectStore]:
        store = make_store()
        yield store
        store.close()

    # Objects

    @pytest.mark.parametrize("payload", [b"", b"x", SMALL, LARGE, b"z" * 4096, b"z" * 4097])
    def test_a_stored_object_is_returned_as_it_was_put(self, store: ObjectStore, payload: bytes) -> None:
        oid = put(store, Kind.BLOB, payload)
        assert oid == compute_oid(Kind.BLOB, payload)
        assert store.get(Kind.BLOB, oid) == payload
        assert store.get_many([oid]) == {oid: (Kind.BLOB, payload)}

    def test_an_unknown_object_is_not_found(self, store: ObjectStore) -> None:
        oid = compute_oid(Kind.BLOB, SMALL)
        with pytest.raises(NotFound, match=format_oid(oid)):
            store.get(Kind.BLOB, oid)
        assert store.get_many([oid]) == {}
        assert store.has_many([oid]) == set()

    @pytest.mark.parametrize("payload", [SMALL, LARGE])
    def test_an_object_asked_for_as_another_kind_is_corrupt(self, store: ObjectStore, payload: bytes) -> None:
        oid = put(store, Kind.BLOB, payload)
        with pytest.raises(Corrupt, match=format_oid(oid)):
            store.get(Kind.CHUNK, oid)
        assert store.get(Kind.BLOB, oid) == payload

    def test_what_cannot_be_an_object_is_refused(self, store: ObjectStore) -> None:
        with store.writer() as writer:
            with pytest.raises(InvalidInput):
                writer.put(1, SMALL)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput):
                writer.put(Kind.BLOB, bytearray(SMALL))  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            store.get(Kind.BLOB, Oid(b"short"))

    @pytest.mark.parametrize("oid", [b"short", b"x" * 33, "x" * 32, None])
    def test_what_cannot_be_an_id_is_refused(self, store: ObjectStore, oid: Any) -> None:
        kept = put(store, Kind.BLOB, SMALL)
        with pytest.raises(InvalidInput):
            store.get_many([oid])
        with pytest.raises(InvalidInput):
            store.has_many([kept, oid])
        with pytest.raises(InvalidInput):
            store.delete_many([kept, oid])
        assert store.has_many([kept]) == {kept}

    def test_equal_payloads_of_two_kinds_are_two_objects(self, store: ObjectStore) -> None:
        first, second = put(store, Kind.BLOB, SMALL), put(store, Kind.VALUE, SMALL)
        assert first != second
        assert [info.kind for info in store.scan()] == [
            kind for _, kind in sorted([(first, Kind.BLOB), (second, Kind.VALUE)])
        ]

    def test_put_many_returns_the_ids_in_order(self, store: ObjectStore) -> None:
        payloads = [SMALL, LARGE, SMALL, b""]
        oids = store.put_many([(Kind.BLOB, payload) for payload in payloads])
        assert oids == [compute_oid(Kind.BLOB, payload) for payload in payloads]
        assert store.has_many(oids) == set(oids)

    def test_many_ids_are_answered_at_once(self, store: ObjectStore) -> None:
        payloads = [b"%d" % number for number in range(PAGE_ROWS + 300)]
        oids = store.put_many([(Kind.BLOB, payload) for payload in payloads])
        missing = [compute_oid(Kind.NODE, payload) for payload in payloads]
        assert store.has_many([*oids, *missing]) == set(oids)
        assert store.get_many([*missing, *oids]) == {
            oid: (Kind.BLOB, payload) for oid, payload in zip(oids, payloads, strict=True)
        }

    def test_deleted_objects_are_gone_and_counted(self, store: ObjectStore) -> None:
        kept, first, second = store.put_many([(Kind.BLOB, b"1"), (Kind.BLOB, b"2"), (Kind.BLOB, LARGE)])
        absent = compute_oid(Kind.BLOB, b"absent")
        assert store.delete_many([first, second, absent]) == 2
        assert store.has_many([kept, first, second]) == {kept}
        assert store.delete_many([]) == 0

    def test_a_prefix_returns_the_ids_that_begin_with_it_in_order(self, store: ObjectStore) -> None:
        oids = sorted(store.put_many([(Kind.BLOB, b"%d" % number) for number in range(600)]))
        for digits in ("", "0", "f", "a7", "7f3", format_oid(oids[10]), format_oid(oids[-1])[:9]):
            assert store.prefix(digits) == [oid for oid in oids if format_oid(oid).startswith(digits)]
        assert store.prefix("", 7) == oids[:7]
        assert store.prefix("", 0) == []

    @pytest.mark.parametrize("digits", ["g", "AB", "0" * 65, "0x", " "])
    def test_a_prefix_that_is_not_hexadecimal_is_refused(self, store: ObjectStore, digits: str) -> None:
        with pytest.raises(InvalidInput):
            store.prefix(digits)

    def test_a_scan_pages_through_all_objects_in_order(self, store: ObjectStore) -> None:
        payloads = [b"%d" % number for number in range(20)] + [LARGE]
        store.put_many([(Kind.BLOB, payload) for payload in payloads])
        found, after = list[Oid](), None
        while page := store.scan(after, 4):
            assert len(page) <= 4
            found += [info.oid for info in page]
            after = page[-1].oid
        assert found == sorted(compute_oid(Kind.BLOB, payload) for payload in payloads)
        sizes = {info.oid: info.size_bytes for info in store.scan()}
        assert sizes[compute_oid(Kind.BLOB, LARGE)] == len(LARGE)

    @pytest.mark.parametrize("limit", [PAGE_ROWS + 1, -1, True])
    def test_a_page_over_the_limit_is_refused(self, store: ObjectStore, limit: int) -> None:
        with pytest.raises(InvalidInput):
            store.scan(None, limit)
        with pytest.raises(InvalidInput):
            store.prefix("", limit)
        with pytest.raises(InvalidInput):
            store.select(Query(table=REFS, limit=limit))

    # Writers

    @pytest.mark.parametrize("payload", [SMALL, LARGE])
    def test_a_writer_reads_what_it_staged_and_the_store_does_not(
        self, store: ObjectStore, payload: bytes
    ) -> None:
        stored = put(store, Kind.BLOB, b"stored")
        with store.writer() as writer:
            oid = writer.put(Kind.BLOB, payload)
            assert writer.get(Kind.BLOB, oid) == payload
            assert writer.get(Kind.BLOB, stored) == b"stored"
            assert store.has_many([oid]) == set()
            with pytest.raises(Corrupt):
                writer.get(Kind.NODE, oid)

    @pytest.mark.parametrize("payload", [SMALL, LARGE])
    def test_an_abandoned_writer_leaves_nothing(self, store: ObjectStore, payload: bytes) -> None:
        with store.writer() as writer:
            writer.put(Kind.BLOB, payload)
        writer.abandon()
        assert store.scan() == []
        with pytest.raises(InvalidInput):
            store.apply(writer)

    def test_an_applied_writer_is_closed(self, store: ObjectStore) -> None:
        writer = store.writer()
        oid = writer.put(Kind.BLOB, SMALL)
        store.apply(writer)
        for action in (
            lambda: writer.put(Kind.BLOB, SMALL),
            lambda: writer.get(Kind.BLOB, oid),
            lambda: store.apply(writer),
        ):
            with pytest.raises(InvalidInput):
                action()
        writer.abandon()
        assert store.get(Kind.BLOB, oid) == SMALL

    def test_a_writer_of_another_store_is_refused(
        self, store: ObjectStore, make_store: Callable[[], ObjectStore]
    ) -> None:
        other = make_store()
        with other.writer() as writer:
            writer.put(Kind.BLOB, SMALL)
            with pytest.raises(InvalidInput):
                store.apply(writer)
        other.close()

    @pytest.mark.parametrize("payload", [SMALL, LARGE])
    def test_putting_what_is_stored_stores_it_once(self, store: ObjectStore, payload: bytes) -> None:
        put(store, Kind.BLOB, payload)
        with store.writer() as writer:
            oid = writer.put(Kind.BLOB, payload)
            assert writer.put(Kind.BLOB, payload) == oid
            store.apply(writer)
        assert [info.oid for info in store.scan()] == [oid]

    @pytest.mark.parametrize("payload", [SMALL, LARGE])
    def test_two_open_writers_may_stage_the_same_object(self, store: ObjectStore, payload: bytes) -> None:
        with store.writer() as first, store.writer() as second:
            oid = first.put(Kind.BLOB, payload)
            second.put(Kind.BLOB, payload)
            store.apply(second)
            store.apply(first)
        assert store.get(Kind.BLOB, oid) == payload

    def test_a_found_object_that_was_deleted_meanwhile_is_a_conflict(self, store: ObjectStore) -> None:
        oid = put(store, Kind.CHUNK, LARGE)
        with store.writer() as writer:
            writer.put(Kind.CHUNK, LARGE)
            other = writer.put(Kind.BLOB, b"other")
            store.delete_many([oid])
            with pytest.raises(Conflict, match=format_oid(oid)):
                store.apply(writer, writes=[PutRow(table=REFS, row=("r", None, 1))])
        assert store.has_many([oid, other]) == set()
        assert store.select(Query(table=REFS)) == []

    def test_the_deletion_of_other_objects_is_no_conflict(self, store: ObjectStore) -> None:
        kept, gone = store.put_many([(Kind.CHUNK, LARGE), (Kind.BLOB, b"gone")])
        with store.writer() as writer:
            writer.put(Kind.CHUNK, LARGE)
            store.delete_many([gone])
            store.apply(writer)
        assert store.has_many([kept, gone]) == {kept}

    def test_a_writer_can_be_applied_again_after_a_conflict(self, store: ObjectStore) -> None:
        guard = Guard(table=REFS, key=("r",), expected=("r", b"1", 1))
        with store.writer() as writer:
            oids = [writer.put(Kind.BLOB, SMALL), writer.put(Kind.CHUNK, LARGE)]
            with pytest.raises(Conflict):
                store.apply(writer, guards=[guard])
            assert writer.get(Kind.BLOB, oids[0]) == SMALL
            assert writer.get(Kind.CHUNK, oids[1]) == LARGE
            store.apply(writer)
        assert store.get_many(oids) == {oids[0]: (Kind.BLOB, SMALL), oids[1]: (Kind.CHUNK, LARGE)}

    # Rows

    def test_rows_are_put_replaced_and_removed(self, store: ObjectStore) -> None:
        store.apply(writes=[PutRow(table=REFS, row=("b", b"1", 1)), PutRow(table=REFS, row=("a", None, -1))])
        assert store.select(Query(table=REFS)) == [("a", None, -1), ("b", b"1", 1)]
        store.apply(writes=[PutRow(table=REFS, row=("b", b"2", 2)), RemoveRow(table=REFS, key=("a",))])
        assert store.select(Query(table=REFS)) == [("b", b"2", 2)]
        store.apply(writes=[RemoveRow(table=REFS, key=("absent",))])
        assert store.count(REFS, {}) == 1

    def test_later_writes_of_a_batch_win(self, store: ObjectStore) -> None:
        store.apply(
            writes=[
                PutRow(table=REFS, row=("a", b"1", 1)),
                PutRow(table=REFS, row=("a", b"2", 2)),
                PutRow(table=REFS, row=("b", b"1", 1)),
                RemoveRow(table=REFS, key=("b",)),
                RemoveRow(table=REFS, key=("c",)),
                PutRow(table=REFS, row=("c", b"3", 3)),
            ]
        )
        assert store.select(Query(table=REFS)) == [("a", b"2", 2), ("c", b"3", 3)]

    def test_a_table_of_keys_alone_works(self, store: ObjectStore) -> None:
        for _ in range(2):
            store.apply(writes=[PutRow(table=MARKS, row=(b"\0\xff",)), PutRow(table=MARKS, row=(b"",))])
        assert store.select(Query(table=MARKS)) == [(b"",), (b"\0\xff",)]

    def test_numbered_rows_count_up_in_the_order_of_commits(self, store: ObjectStore) -> None:
        store.apply(writes=[PutRow(table=EVENTS, row=("a",)), PutRow(table=EVENTS, row=("b",))])
        store.apply(writes=[PutRow(table=EVENTS, row=("c",))])
        assert store.select(Query(table=EVENTS)) == [(1, "a"), (2, "b"), (3, "c")]

    def test_a_number_is_never_given_twice(self, store: ObjectStore) -> None:
        store.apply(writes=[PutRow(table=EVENTS, row=("a",)), PutRow(table=EVENTS, row=("b",))])
        store.apply(writes=[RemoveRow(table=EVENTS, key=(2,)), RemoveRow(table=EVENTS, key=(1,))])
        store.apply(writes=[PutRow(table=EVENTS, row=("c",)), RemoveRow(table=EVENTS, key=(7,))])
        store.apply(writes=[PutRow(table=EVENTS, row=("d",))])
        assert store.select(Query(table=EVENTS)) == [(3, "c"), (4, "d")]

    def test_a_conflict_gives_no_number_away(self, store: ObjectStore) -> None:
        absent = Guard(table=REFS, key=("r",), expected=("r", None, 1))
        with pytest.raises(Conflict):
            store.apply(guards=[absent], writes=[PutRow(table=EVENTS, row=("a",))])
        store.apply(writes=[PutRow(table=EVENTS, row=("b",))])
        assert store.select(Query(table=EVENTS)) == [(1, "b")]

    # Guards

    @pytest.mark.parametrize(
        "guard",
        [
            Guard(table=REFS, key=("a",), expected=None),
            Guard(table=REFS, key=("a",), expected=("a", b"1", 2)),
            Guard(table=REFS, key=("a",), expected=("a", None, 1)),
            Guard(table=REFS, key=("b",), expected=("b", b"1", 1)),
            Guard(table=EVENTS, key=(1,), expected=(1, "other")),
        ],
    )
    def test_a_guard_that_does_not_hold_changes_nothing(self, store: ObjectStore, guard: Guard) -> None:
        store.apply(writes=[PutRow(table=REFS, row=("a", b"1", 1)), PutRow(table=EVENTS, row=("a",))])
        with store.writer() as writer:
            oids = [writer.put(Kind.BLOB, SMALL), writer.put(Kind.BLOB, LARGE)]
            holds = Guard(table=REFS, key=("a",), expected=("a", b"1", 1))
            with pytest.raises(Conflict, match=guard.table.name):
                store.apply(writer, guards=[holds, guard], writes=[RemoveRow(table=REFS, key=("a",))])
        assert store.has_many(oids) == set()
        assert store.select(Query(table=REFS)) == [("a", b"1", 1)]

    def test_guards_that_hold_let_the_batch_through(self, store: ObjectStore) -> None:
        store.apply(writes=[PutRow(table=REFS, row=("a", None, 1)), PutRow(table=EVENTS, row=("a",))])
        with store.writer() as writer:
            oid = writer.put(Kind.BLOB, SMALL)
            store.apply(
                writer,
                guards=[
                    Guard(table=REFS, key=("a",), expected=("a", None, 1)),
                    Guard(table=REFS, key=("b",), expected=None),
                    Guard(table=EVENTS, key=(1,), expected=(1, "a")),
                    Guard(table=STEPS, key=("a", 1), expected=None),
                ],
                writes=[PutRow(table=REFS, row=("a", b"tip", 1))],
            )
        assert store.get(Kind.BLOB, oid) == SMALL
        assert store.select(Query(table=REFS)) == [("a", b"tip", 1)]

    def test_guards_see_the_rows_as_they_were_before_the_batch(self, store: ObjectStore) -> None:
        store.apply(
            guards=[Guard(table=REFS, key=("a",), expected=None)],
            writes=[PutRow(table=REFS, row=("a", None, 1))],
        )
        assert store.count(REFS, {"run": "a"}) == 1

    # Queries

    @pytest.fixture
    def steps(self, store: ObjectStore) -> list[tuple[str, int, str | None, bytes]]:
        rows = [
            (run, sequence, None if sequence % 3 == 0 else f"label {sequence % 4}", bytes([sequence % 5]))
            for run in ("b", "a", "é", "\U0001f600", "\uffff")
            for sequence in (3, 1, 2, 10, -1)
        ]
        store.apply(writes=[PutRow(table=STEPS, row=row) for row in rows])
        return sorted(rows)

    def test_rows_come_in_key_order(self, store: ObjectStore, steps: list[tuple[object, ...]]) -> None:
        assert store.select(Query(table=STEPS)) == steps
        assert store.select(Query(table=STEPS, descending=True)) == steps[::-1]
        assert store.select(Query(table=STEPS, limit=3)) == steps[:3]
        assert store.select(Query(table=STEPS, limit=0)) == []

    def test_equal_values_select(self, store: ObjectStore, steps: list[tuple[object, ...]]) -> None:
        for name, value in (("run", "é"), ("label", None), ("label", "label 1"), ("digest", b"\2")):
            position = STEPS.position(name)
            expected = [row for row in steps if row[position] == value]
            assert store.select(Query(table=STEPS, equal=((name, value),))) == expected
            assert store.count(STEPS, {name: value}) == len(expected)
        both = Query(table=STEPS, equal=(("run", "a"), ("sequence", 2)))
        assert [row[:2] for row in store.select(both)] == [("a", 2)]

    def test_bounds_select_from_the_first_to_before_the_second(
        self, store: ObjectStore, steps: list[tuple[object, ...]]
    ) -> None:
        query = Query(table=STEPS, equal=(("run", "a"),), at_least=("sequence", 1), below=("sequence", 3))
        assert [row[1] for row in store.select(query)] == [1, 2]
        labels = store.select(Query(table=STEPS, at_least=("label", "label 1")))
        assert labels == [row for row in steps if row[2] is not None and str(row[2]) >= "label 1"]
        texts = store.select(Query(table=STEPS, at_least=("run", "b"), below=("run", "\U0001f600")))
        assert {row[0] for row in texts} == {"b", "é", "\uffff"}
        assert store.select(Query(table=STEPS, below=("digest", b""))) == []

    @pytest.mark.parametrize("descending", [False, True])
    def test_an_order_breaks_its_ties_by_the_key(
        self, store: ObjectStore, steps: list[tuple[object, ...]], descending: bool
    ) -> None:
        query = Query(table=STEPS, order=("label",), descending=descending)
        expected = sorted(steps, key=lambda row: (row[2] is not None, row[2] or "", row[0], row[1]))
        assert store.select(query) == (expected[::-1] if descending else expected)

    def test_a_query_can_be_paged_by_its_last_key(self, store: ObjectStore) -> None:
        for start in range(0, 2500, 500):
            rows = [("r", number, None, b"") for number in range(start, start + 500)]
            store.apply(writes=[PutRow(table=STEPS, row=row) for row in rows])
        found = 0
        while page := store.select(Query(table=STEPS, equal=(("run", "r"),), at_least=("sequence", found))):
            assert len(page) <= PAGE_ROWS
            found = int(str(page[-1][1])) + 1
        assert found == 2500 == store.count(STEPS, {"run": "r"})

    # Refusals

    @pytest.mark.parametrize(
        "row",
        [
            ("a", b"1"),
            ("a", b"1", 1, 1),
            (b"a", b"1", 1),
            ("a", "1", 1),
            ("a", b"1", "1"),
            ("a", b"1", True),
            ("a", b"1", 1.0),
            ("a", b"1", None),
            (None, b"1", 1),
            ("a", b"1", 1 << 63),
            ("a", b"1", -(1 << 63) - 1),
            ("\ud800", b"1", 1),
            ["a", b"1", 1],
        ],
    )
    def test_a_row_that_does_not_fit_is_refused(self, store: ObjectStore, row: tuple[object, ...]) -> None:
        with pytest.raises(InvalidInput):
            store.apply(writes=[PutRow(table=REFS, row=row)])  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            store.apply(guards=[Guard(table=REFS, key=("a",), expected=row)])  # type: ignore[arg-type]
        assert store.select(Query(table=REFS)) == []

    def test_the_widest_values_fit(self, store: ObjectStore) -> None:
        rows = [("\0\U0010ffff", b"\0" * 5000, (1 << 63) - 1), ("", b"", -(1 << 63))]
        store.apply(writes=[PutRow(table=REFS, row=row) for row in rows])
        assert store.select(Query(table=REFS)) == sorted(rows)

    def test_a_number_given_by_the_caller_is_refused(self, store: ObjectStore) -> None:
        with pytest.raises(InvalidInput):
            store.apply(writes=[PutRow(table=EVENTS, row=(1, "a"))])

    @pytest.mark.parametrize("key", [(), ("a", "b"), (1,), (None,)])
    def test_a_key_that_does_not_fit_is_refused(self, store: ObjectStore, key: tuple[object, ...]) -> None:
        with pytest.raises(InvalidInput):
            store.apply(writes=[RemoveRow(table=REFS, key=key)])  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            store.apply(guards=[Guard(table=REFS, key=key, expected=None)])  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "query",
        [
            Query(table=REFS, equal=(("nothing", 1),)),
            Query(table=REFS, equal=(("epoch", "1"),)),
            Query(table=REFS, equal=(("epoch", None),)),
            Query(table=REFS, at_least=("tip", None)),
            Query(table=REFS, below=("nothing", 1)),
            Query(table=REFS, order=("nothing",)),
            Query(table=REFS, order=("run", "run")),
            Query(table=Table(name="other", columns=REFS.columns, key=("run",))),
            Query(table=Table(name="refs", columns=REFS.columns, key=("run",))),
        ],
    )
    def test_a_query_that_does_not_fit_is_refused(self, store: ObjectStore, query: Query) -> None:
        with pytest.raises(InvalidInput):
            store.select(query)

    def test_writes_to_an_undeclared_table_are_refused(self, store: ObjectStore) -> None:
        other = Table(name="other", columns=REFS.columns, key=("run",))
        with pytest.raises(InvalidInput):
            store.apply(writes=[PutRow(table=other, row=("a", None, 1))])
        with pytest.raises(InvalidInput):
            store.count(other, {})

    def test_a_refused_batch_leaves_its_writer_open(self, store: ObjectStore) -> None:
        with store.writer() as writer:
            oid = writer.put(Kind.BLOB, SMALL)
            with pytest.raises(InvalidInput):
                store.apply(writer, writes=[PutRow(table=REFS, row=())])
            assert writer.get(Kind.BLOB, oid) == SMALL

    def test_closing_twice_is_safe(self, store: ObjectStore) -> None:
        store.close()
        store.close()

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.repo.samples import at, boundary
from verdog_objects.canonical import decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_objects.oid import Oid
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind, StateChange
from verdog_repo.names import OperationId, RunId
from verdog_repo.record import (
    Boundary,
    CheckpointKind,
    CheckpointRecord,
    LedgerSeal,
    SessionIssue,
    Sessions,
    decode_record,
    decode_state,
    encode_record,
)

A, B, C = (Oid(bytes([number]) * 32) for number in (1, 2, 3))

PLAIN = CheckpointRecord(
    run=RunId("run"),
    sequence=1,
    kind=CheckpointKind.ENTRY,
    operation=OperationId("0123456789abcdef"),
    created_at=at(0),
    artifacts=A,
    state=B,
)
FULL = CheckpointRecord(
    run=RunId("run"),
    sequence=9,
    kind=CheckpointKind.FORK,
    operation=OperationId("0123456789abcdef"),
    created_at=at(1),
    completed=boundary("work", 3, "call#1/child#2"),
    next=boundary("next", 4),
    restorable=False,
    unavailable_code="checkpoint.serialization_failed",
    reason="input.items[3].callback is a function",
    branchable=False,
    fork_fresh=False,
    sessions=Sessions(
        persistent=2,
        issues=(SessionIssue(address="s", provider="p", code="session.tainted", message="it is tainted"),),
    ),
    swept=True,
    late=(b"a/\xff", b"b\n", "é".encode()),
    artifacts=A,
    state=None,
    environments=(A, B),
    ledger=LedgerSeal(length=3, head=A, root=B),
    duration_ns=10**12,
    files_added=1,
    bytes_added=2**70,
    previous=C,
    parent=Lineage(
        run=RunId("other"),
        operation=LineageKind.FORK,
        checkpoint=3,
        arguments=ArgumentsKind.CHECKPOINT,
        changes=(StateChange(address="node:work", before=A, after=None),),
    ),
    resumed_from=7,
    waiting={"for": ["you"]},
)
KEYS = [
    "artifacts",
    "branchable",
    "bytes_added",
    "completed",
    "created_at",
    "duration_ns",
    "environments",
    "files_added",
    "fork_fresh",
    "format",
    "kind",
    "late",
    "ledger",
    "next",
    "operation",
    "parent",
    "previous",
    "reason",
    "restorable",
    "resumed_from",
    "run",
    "sequence",
    "sessions",
    "state",
    "swept",
    "unavailable_code",
    "waiting",
]


@pytest.mark.parametrize("record", [PLAIN, FULL])
def test_a_record_survives_its_bytes(record: CheckpointRecord) -> None:
    assert decode_record(encode_record(record)) == record


@pytest.mark.parametrize("record", [PLAIN, FULL])
def test_a_record_has_every_key_of_its_format(record: CheckpointRecord) -> None:
    value = decode_json(encode_record(record))
    assert isinstance(value, dict)
    assert sorted(value) == KEYS


def test_the_full_sample_differs_from_the_plain_one_in_every_field_that_can() -> None:
    same = {each.name for each in fields(PLAIN) if getattr(PLAIN, each.name) == getattr(FULL, each.name)}
    assert same == {"run", "operation", "artifacts"}


@pytest.mark.parametrize("key", KEYS)
def test_a_missing_key_is_corrupt(key: str) -> None:
    value = decode_json(encode_record(PLAIN))
    assert isinstance(value, dict)
    del value[key]
    with pytest.raises(Corrupt, match=key):
        decode_record(encode_json(value))


@pytest.mark.parametrize("inside", [None, "completed", "ledger", "sessions", "parent"])
def test_an_unknown_key_is_corrupt(inside: str | None) -> None:
    value = decode_json(encode_record(FULL))
    assert isinstance(value, dict)
    target = value if inside is None else value[inside]
    assert isinstance(target, dict)
    target["zz"] = None
    with pytest.raises(Corrupt, match="'zz'"):
        decode_record(encode_json(value))


def test_another_format_is_unsupported() -> None:
    data = encode_record(PLAIN).replace(b'"format":1', b'"format":2')
    with pytest.raises(FormatUnsupported, match="format 2"):
        decode_record(data)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("run", "../x"),
        ("run", None),
        ("sequence", 0),
        ("sequence", True),
        ("sequence", "1"),
        ("kind", "nod"),
        ("operation", "x"),
        ("created_at", "yesterday"),
        ("restorable", 1),
        ("restorable", False),
        ("unavailable_code", "x"),
        ("late", "x"),
        ("late", [1]),
        ("late", ["\ud800"]),
        ("late", ["\udcc3\udca9"]),
        ("artifacts", "00"),
        ("artifacts", None),
        ("environments", [None]),
        ("environments", ["A" * 64]),
        ("ledger", []),
        ("duration_ns", -1),
        ("completed", {}),
        ("sessions", None),
        ("parent", {"run": "x"}),
        ("waiting", []),
        ("format", "1"),
        ("resumed_from", 0),
    ],
)
def test_a_value_that_cannot_be_is_corrupt(key: str, wrong: object) -> None:
    value = decode_json(encode_record(PLAIN))
    assert isinstance(value, dict)
    value[key] = wrong  # type: ignore[assignment]
    with pytest.raises(Corrupt):
        decode_record(encode_json(value))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", encode_record(PLAIN) + b" "])
def test_other_bytes_are_corrupt(data: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_record(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": None},
        {"artifacts": None},
        {"unavailable_code": "x"},
        {"restorable": False},
        {"sequence": 0},
        {"duration_ns": -1},
        {"created_at": ""},
    ],
)
def test_a_record_that_contradicts_itself_cannot_be_made(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        replace(PLAIN, **changes)  # type: ignore[arg-type]


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_OIDS = st.binary(min_size=32, max_size=32).map(Oid)
_BOUNDARIES = st.builds(
    Boundary,
    project_path=_TEXTS,
    graph=_TEXTS,
    node=_TEXTS,
    visit=st.integers(0, 2**70),
    call_path=_TEXTS,
)


@given(
    st.builds(
        CheckpointRecord,
        run=st.sampled_from([RunId("a"), RunId("B-2")]),
        sequence=st.integers(1),
        kind=st.sampled_from(CheckpointKind),
        operation=st.just(OperationId("0" * 16)),
        created_at=st.just(at(0)),
        completed=st.none() | _BOUNDARIES,
        next=st.none() | _BOUNDARIES,
        reason=st.none() | _TEXTS,
        branchable=st.booleans(),
        late=st.lists(st.binary(max_size=6), max_size=3).map(tuple),
        artifacts=_OIDS,
        state=_OIDS,
        environments=st.lists(_OIDS, max_size=2).map(tuple),
        duration_ns=st.integers(0),
        previous=st.none() | _OIDS,
        resumed_from=st.none() | st.integers(1),
    )
)
def test_any_record_survives_its_bytes(record: CheckpointRecord) -> None:
    assert decode_record(encode_record(record)) == record


@pytest.mark.parametrize("record", [PLAIN, FULL])
def test_the_state_alone_is_what_the_whole_record_says(record: CheckpointRecord) -> None:
    assert decode_state(encode_record(record)) == record.state


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"state":1}', b'{"state":"x"}', b"[" * 10**5])
def test_the_state_of_what_is_no_record_is_damage(data: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_state(data)

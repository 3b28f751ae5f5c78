"""Frozen by format 1: the bytes of records and headers, and the ids of their objects and commits."""

from tests.repo.test_record import FULL, PLAIN
from tests.repo.test_runs import FULL as FULL_HEADER
from verdog_objects.oid import Kind, compute_oid, format_oid
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.derive import derive_checkpoint
from verdog_repo.record import CheckpointRecord, encode_record
from verdog_repo.runs import encode_header

PLAIN_BYTES = (
    b'{"artifacts":"0101010101010101010101010101010101010101010101010101010101010101","branchabl'
    b'e":true,"bytes_added":0,"completed":null,"created_at":"2026-09-21T14:13:20.000000Z","durat'
    b'ion_ns":0,"environments":[],"files_added":0,"fork_fresh":true,"format":1,"kind":"entry","l'
    b'ate":[],"ledger":{"head":null,"length":0,"root":null},"next":null,"operation":"0123456789a'
    b'bcdef","parent":null,"previous":null,"reason":null,"restorable":true,"resumed_from":null,"'
    b'run":"run","sequence":1,"sessions":{"issues":[],"persistent":0},"state":"02020202020202020'
    b'20202020202020202020202020202020202020202020202","swept":false,"unavailable_code":null,"wa'
    b'iting":null}'
)
HEADER_BYTES = (
    b'{"arguments":["--input.value","3"],"changed_code":["src/census.py changed"],"checkpointing'
    b'":"required","definition_id":"other.main","error":{"message":"no\\nvalue","traceback":"Trac'
    b'eback ...","type":"ValueError"},"format":1,"module":"other","output_dir":"/somewhere/else"'
    b',"parent":{"arguments":"overridden","changes":[],"checkpoint":null,"operation":"restart","'
    b'run":"parent"},"result":"0101010101010101010101010101010101010101010101010101010101010101"'
    b',"result_text":"Result(3)","run":"run","source":{"name":"census","path":"census.py"},"star'
    b'ted_at":"2026-09-21T14:13:21.000000Z","status":"failed","trusted":true,"updated_at":"2026-'
    b'09-21T14:13:22.000000Z","workflow":"other"}'
)
COMMIT_BYTES = (
    b"tree da7e20a2e4deda10fd74880828aef03d5383acef\nparent 7c9547feefd27c6daed2f9d72ffe94555c697"
    b"a04\nauthor verdog <verdog@localhost> 1790000001 +0000\ncommitter verdog <verdog@localhost> "
    b"1790000001 +0000\n\ncall#1/child#2/work/3 -> next\n\nRun: run\nCheckpoint: 9\nOperation: 0123456"
    b"789abcdef\n"
)


def derive(record: CheckpointRecord, parent: Checkpoint | None) -> tuple[Checkpoint, bytes]:
    payload = encode_record(record)
    return derive_checkpoint(record, compute_oid(Kind.RECORD, payload), payload, parent)


def test_the_bytes_of_a_record_are_these() -> None:
    assert encode_record(PLAIN) == PLAIN_BYTES


def test_the_ids_of_records_are_these() -> None:
    ids = [format_oid(compute_oid(Kind.RECORD, encode_record(each))) for each in (PLAIN, FULL)]
    assert ids == [
        "c9c31153f064b343a89c79354807fd0ab531a9eab04cc4d8215d3ec5034fd4b7",
        "0e619e526bf720a670356cd0768105bd0d4a18b7163acabd9bd3b3c508a8c7b0",
    ]


def test_the_ids_of_commits_are_these() -> None:
    root, _ = derive(PLAIN, None)
    child, raw = derive(FULL, root)
    assert root.commit.hex() == "7c9547feefd27c6daed2f9d72ffe94555c697a04"
    assert child.commit.hex() == "c7eea4bebf999452914bf435f9dd90f4793c5791"
    assert raw == COMMIT_BYTES


def test_the_bytes_of_a_header_are_these() -> None:
    assert encode_header(FULL_HEADER) == HEADER_BYTES

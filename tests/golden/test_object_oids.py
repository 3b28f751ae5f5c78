"""The ids of fixed inputs. They change only with the number of the format: what is stored stays readable."""

import hashlib

from tests.objects.counting import DIRECTORY, CountingObjects, make_tree
from verdog_objects import manifest
from verdog_objects.canonical import Json, encode_json
from verdog_objects.chunking import Chunker, encode_chunks
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind, Oid, compute_oid, format_oid


def stretch(count: int) -> bytes:
    """Return bytes that look random and are the same everywhere."""
    return hashlib.shake_256(b"verdog").digest(count)


def test_the_id_of_an_empty_blob() -> None:
    assert format_oid(EMPTY_OID) == "9b779f74b305adc3ec513485085d52e95f9ce4fbaf9e56cb02d38a07e19353df"


def test_the_id_of_each_kind() -> None:
    found = {kind.name: compute_oid(kind, b"the same bytes").hex()[:16] for kind in Kind}
    assert found == {
        "BLOB": "58703f6752c5fb9e",
        "CHUNK": "311b05368298cd7b",
        "CHUNKS": "590b46a9eef31fe3",
        "NODE": "97bfdbaa6ef36063",
        "VALUE": "2fde18b9651d6df9",
        "RECORD": "6f1ac4c7c9a9e910",
        "HEADER": "5b324d3bc2dafe8a",
        "ENVIRONMENT": "86d7a377e5afc8e5",
        "LEDGER": "29e3282bd924cd2f",
    }


def test_the_id_of_a_record() -> None:
    value: Json = {
        "sequence": 12,
        "node": "wörk",
        "late": ["a\udcff"],
        "previous": None,
        "big": 2**80,
        "": True,
    }
    assert (
        compute_oid(Kind.RECORD, encode_json(value)).hex()
        == "dc45d49b3cd8db895bafa566b5d1bbdc502f6b83aa95e9687482c780448fc2df"
    )


def test_the_root_of_the_empty_manifest() -> None:
    assert (
        manifest.empty(CountingObjects()).hex()
        == "efb911267a46cc39a019dd01cfe1fb75162bc78fcfca9327eccf27365ea01e18"
    )


def test_the_root_of_a_manifest_of_each_kind_of_entry() -> None:
    items = [
        (b"dir", DIRECTORY),
        (b"dir\0file", Entry(EntryKind.FILE, 0o4755, 5, compute_oid(Kind.BLOB, b"bytes"))),
        (b"dir\0large", Entry(EntryKind.FILE, 0o600, 70_000, compute_oid(Kind.CHUNKS, b"a list"))),
        (b"link", Entry(EntryKind.SYMLINK, 0o777, 3, compute_oid(Kind.BLOB, b"dir"))),
        (b"node:work", Entry(EntryKind.VALUE, 0, 9, compute_oid(Kind.VALUE, b"a value"))),
    ]
    objects = CountingObjects()
    root = manifest.build(objects, items)
    assert objects.payloads[root].hex() == (
        "0102000364697203050066696c65010400020081a3049678b1bf4590cbb291a09b61bcd6fca1c1d05569fb4356"
        "e751228dab1ec4794dec582b76ad4eb730da27c539e4d1e2b544446ed405238d59f464211326d6f81d"
    )
    assert root.hex() == "8eebd4359453c2173e816fde7b296ca5001c3e5e740d8122391174d84d420ffd"


def test_the_root_of_a_manifest_with_many_nodes() -> None:
    objects = CountingObjects()
    root = manifest.build(objects, sorted(make_tree(1_000).items()))
    assert (len(objects.payloads), root.hex()) == (
        302,
        "aea3c2a8b9d9525371e13c17b535317d11e1771a04a8e5f0b3799089a677e6c0",
    )


def test_the_root_of_a_manifest_with_forced_cuts() -> None:
    items = [(b"%04d" % number + b"k" * 9_000, DIRECTORY) for number in range(300)]
    assert (
        manifest.build(CountingObjects(), items).hex()
        == "2174ede33cd86bec3385a24720ee9e032bbfcd2bc0c6c18afc53c8e65a94aecc"
    )


def test_the_cuts_of_a_large_file() -> None:
    content = stretch(600_000) + bytes(600_000)
    chunker = Chunker()
    chunks = chunker.feed(content) + chunker.finish()
    assert [len(chunk) for chunk in chunks] == [
        73962,
        74983,
        28124,
        80320,
        81626,
        113026,
        58812,
        76225,
        262144,
        262144,
        88634,
    ]
    listed: list[tuple[Oid, int]] = [(compute_oid(Kind.CHUNK, chunk), len(chunk)) for chunk in chunks]
    assert (
        compute_oid(Kind.CHUNKS, encode_chunks(listed)).hex()
        == "592f4fa2f0b0262e36ffeaf428090b45627601b486a0dcab993b0b45a225f146"
    )

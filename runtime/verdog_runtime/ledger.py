"""The ledger: a hash-chained list of what a run learned that executing it again would not tell it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from blake3 import blake3

from verdog_objects.canonical import decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_objects.oid import OID_BYTES, Oid, format_oid
from verdog_repo.fields import Fields, format_optional

ENTRY_FORMAT: Final = 1
NO_HASH: Final = Oid(bytes(OID_BYTES))
"""What comes before the first entry."""

_DOMAIN: Final = b"verdog ledger entry 1\0"


@unique
class Outcome(StrEnum):
    """How far an effect is."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectKey:
    """Which effect of a run it is, the same when the visit is repeated.

    Attributes:
        kind: what is asked: an agent, a tool, the clock.
        scope: the calls that lead to the graph; empty for the root graph.
        visit: the ordinal of the transition, not the number of a directory.
        ordinal: counts the effects of this kind in the visit, from 1.
    """

    kind: str
    scope: str
    node: str
    visit: int
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One entry.

    Attributes:
        sequence: its place in the ledger, from 1.
        request: the digest of what was asked, with the run's own paths replaced by tokens.
        result: the digest of the answer, or None while there is none.
        at: RFC 3339 text in UTC.
        actor: who answered.
        attempt: counts the tries, from 1.
        previous: the hash of the entry before it.
    """

    sequence: int
    key: EffectKey
    request: Oid
    result: Oid | None
    outcome: Outcome
    at: str
    actor: str
    attempt: int
    previous: Oid

    def __post_init__(self) -> None:
        if min(self.sequence, self.attempt, self.key.ordinal) < 1 or self.key.visit < 0:
            raise ValueError("entries, attempts and ordinals are counted from 1")
        if (self.result is None) is not (self.outcome is Outcome.STARTED):
            raise ValueError("an effect has a result unless it only started")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerHead:
    """The end of a ledger: how many entries there are, and the hash of the last one."""

    length: int = 0
    hash: Oid = NO_HASH


EMPTY_LEDGER: Final = LedgerHead()


def encode_entry(entry: LedgerEntry) -> bytes:
    """Return the canonical JSON of an entry."""
    return encode_json(
        {
            "format": ENTRY_FORMAT,
            "seq": entry.sequence,
            "kind": entry.key.kind,
            "scope": entry.key.scope,
            "node": entry.key.node,
            "visit": entry.key.visit,
            "ordinal": entry.key.ordinal,
            "request": format_oid(entry.request),
            "result": format_optional(entry.result),
            "outcome": entry.outcome.value,
            "at": entry.at,
            "actor": entry.actor,
            "attempt": entry.attempt,
            "previous": format_oid(entry.previous),
        }
    )


def decode_entry(data: bytes) -> LedgerEntry:
    """Return the entry that was encoded.

    Raises:
        FormatUnsupported: it says that it has another format.
        Corrupt: the bytes are not what `encode_entry` writes.
    """
    fields = Fields(decode_json(data), "ledger entry")
    number = fields.integer("format")
    if number != ENTRY_FORMAT:
        raise FormatUnsupported(f"ledger entry of format {number}; this version knows format {ENTRY_FORMAT}")
    try:
        entry = LedgerEntry(
            sequence=fields.positive("seq"),
            key=EffectKey(
                kind=fields.text("kind"),
                scope=fields.text("scope"),
                node=fields.text("node"),
                visit=fields.integer("visit"),
                ordinal=fields.positive("ordinal"),
            ),
            request=fields.oid("request"),
            result=fields.optional("result", fields.oid),
            outcome=fields.choice("outcome", Outcome),
            at=fields.text("at"),
            actor=fields.text("actor"),
            attempt=fields.positive("attempt"),
            previous=fields.oid("previous"),
        )
    except ValueError as error:
        raise Corrupt(f"ledger entry: {error}") from error
    fields.done()
    return entry


def hash_entry(payload: bytes) -> Oid:
    """Return the hash that the next entry names. No object of the store can have the same preimage."""
    return Oid(blake3(_DOMAIN + payload).digest())


def extend_chain(head: LedgerHead, entry: LedgerEntry) -> LedgerHead:
    """Return the end of a ledger after one more entry.

    Raises:
        Corrupt: the entry does not follow.
    """
    if entry.sequence != head.length + 1:
        raise Corrupt(f"ledger: entry {entry.sequence} follows entry {head.length}")
    if entry.previous != head.hash:
        raise Corrupt(f"ledger: entry {entry.sequence} does not name the one before it")
    return LedgerHead(length=entry.sequence, hash=hash_entry(encode_entry(entry)))


def verify_chain(entries: Iterable[LedgerEntry], sealed: LedgerHead) -> None:
    """Check that entries are exactly the ledger that was sealed.

    Raises:
        Corrupt: naming the first entry that is not.
    """
    head = EMPTY_LEDGER
    for entry in entries:
        head = extend_chain(head, entry)
    if head != sealed:
        raise Corrupt(f"ledger: {head.length} entries do not end in the sealed hash of entry {sealed.length}")

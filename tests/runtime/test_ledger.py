from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.canonical import decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported, InvalidInput
from verdog_objects.oid import Oid
from verdog_runtime.effects import DirectEffects, Effects, RefusedEffects, tokenise
from verdog_runtime.ledger import (
    EMPTY_LEDGER,
    NO_HASH,
    EffectKey,
    LedgerEntry,
    LedgerHead,
    Outcome,
    decode_entry,
    encode_entry,
    extend_chain,
    hash_entry,
    verify_chain,
)

KEY = EffectKey(kind="agent", scope="", node="ask", visit=3, ordinal=1)
oids = st.binary(min_size=32, max_size=32).map(Oid)
keys = st.builds(
    EffectKey, kind=st.text(), scope=st.text(), node=st.text(), visit=st.integers(0), ordinal=st.integers(1)
)


def entry(sequence: int = 1, previous: Oid = NO_HASH, **changes: object) -> LedgerEntry:
    made = LedgerEntry(
        sequence=sequence,
        key=KEY,
        request=Oid(b"q" * 32),
        result=Oid(b"r" * 32),
        outcome=Outcome.SUCCEEDED,
        at="2026-01-31T12:00:00Z",
        actor="codex",
        attempt=1,
        previous=previous,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def chain(count: int) -> tuple[list[LedgerEntry], LedgerHead]:
    head, entries = EMPTY_LEDGER, list[LedgerEntry]()
    for number in range(1, count + 1):
        entries.append(entry(number, head.hash, actor=f"actor {number}"))
        head = extend_chain(head, entries[-1])
    return entries, head


@given(keys, oids, oids, st.text(), st.integers(1))
def test_an_entry_comes_back(key: EffectKey, request: Oid, result: Oid, actor: str, attempt: int) -> None:
    value = entry(key=key, request=request, result=result, actor=actor, attempt=attempt)
    assert decode_entry(encode_entry(value)) == value


def test_an_effect_that_only_started_has_no_result() -> None:
    started = entry(result=None, outcome=Outcome.STARTED)
    assert decode_entry(encode_entry(started)) == started
    with pytest.raises(ValueError, match="result"):
        entry(result=None)
    with pytest.raises(ValueError, match="result"):
        entry(outcome=Outcome.STARTED)


@pytest.mark.parametrize(
    ("name", "value"),
    [("seq", 0), ("outcome", "lost"), ("result", None), ("request", "x"), ("more", 1), ("visit", -1)],
)
def test_an_entry_of_another_form_is_corrupt(name: str, value: object) -> None:
    document = decode_json(encode_entry(entry()))
    assert isinstance(document, dict)
    with pytest.raises(Corrupt):
        decode_entry(encode_json({**document, name: value}))  # type: ignore[dict-item]


def test_an_entry_of_another_format_is_not_supported() -> None:
    with pytest.raises(FormatUnsupported):
        decode_entry(encode_json({"format": 2}))


def test_a_chain_is_what_was_sealed() -> None:
    entries, head = chain(4)
    assert head == LedgerHead(length=4, hash=hash_entry(encode_entry(entries[-1])))
    verify_chain(entries, head)
    verify_chain([], EMPTY_LEDGER)


def test_an_entry_that_is_missing_changed_or_moved_is_found() -> None:
    entries, head = chain(4)
    changed = [*entries[:2], replace(entries[2], actor="somebody else"), entries[3]]
    for damaged in (entries[:3], entries[1:], changed, [entries[1], entries[0], *entries[2:]]):
        with pytest.raises(Corrupt, match="ledger"):
            verify_chain(damaged, head)


def test_without_recording_the_world_is_asked_each_time() -> None:
    answers = iter([b"one", b"two"])
    effects: Effects = DirectEffects()
    assert [effects.observe(KEY, b"q", lambda: next(answers)) for _ in range(2)] == [b"one", b"two"]


def test_where_nothing_can_be_recorded_nothing_is_asked() -> None:
    effects: Effects = RefusedEffects()
    with pytest.raises(InvalidInput, match="node ask"):
        effects.observe(KEY, b"q", lambda: pytest.fail("it was asked"))


def test_the_runs_own_paths_are_tokens_in_a_request() -> None:
    own = {b"/out": b"${OUT}", b"/out/ask/000002": b"${NODE}"}
    assert tokenise(b"read /out/ask/000002/x and /out/y", own) == b"read ${NODE}/x and ${OUT}/y"

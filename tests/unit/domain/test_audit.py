from dataclasses import replace
from typing import Any

import pytest

from keepsake.domain.audit import Action, Actor, AuditEntry, AuditEvent, ChainHead, Fault, follow, has_proof, linked, proven
from keepsake.domain.hashing import KeyedHash

KEYED = KeyedHash("v1", b"k" * 32)
CHAIN = "session.x"


def make_chain(length: int, *, keyed: KeyedHash = KEYED) -> tuple[list[AuditEntry], ChainHead]:
    head, entries = ChainHead(), []
    for number in range(length):
        event = AuditEvent(Action.TURN_WRITTEN, Actor.SELF, number, {"turn": 1}, {"turn": f"v1.{number}"})
        entry, head = linked(CHAIN, head, event, keyed)
        entries.append(entry)
    return entries, head


def test_an_untouched_chain_holds_together() -> None:
    entries, head = make_chain(5)
    found = follow(CHAIN, ChainHead(), entries, KEYED)
    assert found.broken is None
    assert found.head == head


@pytest.mark.parametrize("field", ["actor", "at_ms", "counts", "refs", "action"])
def test_a_changed_entry_is_named(field: str) -> None:
    other: dict[str, Any] = {
        "actor": "admin",
        "at_ms": 99,
        "counts": {"turn": 2},
        "refs": {},
        "action": Action.SESSION_OPENED,
    }
    entries, _ = make_chain(5)
    entries[2] = replace(entries[2], event=replace(entries[2].event, **{field: other[field]}))
    broken = follow(CHAIN, ChainHead(), entries, KEYED).broken
    assert broken is not None
    assert (broken.sequence, broken.fault) == (3, Fault.CHANGED)


def test_an_entry_forged_without_the_key_is_named() -> None:
    entries, _ = make_chain(5)
    forged, _ = make_chain(5, keyed=KeyedHash("v1", b"z" * 32))
    entries[3] = replace(forged[3], previous=entries[2].hash)
    broken = follow(CHAIN, ChainHead(), entries, KEYED).broken
    assert broken is not None
    assert (broken.sequence, broken.fault) == (4, Fault.CHANGED)


def test_a_dropped_entry_is_named() -> None:
    entries, _ = make_chain(5)
    broken = follow(CHAIN, ChainHead(), entries[:1] + entries[2:], KEYED).broken
    assert broken is not None
    assert (broken.sequence, broken.fault) == (2, Fault.DROPPED)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (0, 4), (1, 3)])
def test_swapped_entries_are_named(first: int, second: int) -> None:
    entries, _ = make_chain(5)
    one, two = entries[first], entries[second]
    entries[first], entries[second] = replace(two, sequence=one.sequence), replace(one, sequence=two.sequence)
    broken = follow(CHAIN, ChainHead(), entries, KEYED).broken
    assert broken is not None
    assert (broken.sequence, broken.fault) == (first + 1, Fault.REORDERED)


def test_a_head_has_a_proof_as_long_as_all_heads_before_it_had_one() -> None:
    entries, _ = make_chain(3)
    heads = [ChainHead(entry.sequence, entry.hash) for entry in entries]
    first = proven(CHAIN, heads[0], ChainHead(), KEYED)
    second = proven(CHAIN, heads[1], first, KEYED)
    assert has_proof(CHAIN, second, KEYED)
    assert not has_proof("session.y", second, KEYED)
    set_back = replace(second, sequence=1, hash=entries[0].hash)
    assert not has_proof(CHAIN, set_back, KEYED)
    assert not has_proof(CHAIN, proven(CHAIN, heads[1], set_back, KEYED), KEYED)


def test_an_entry_of_another_chain_does_not_fit() -> None:
    entries, _ = make_chain(2)
    broken = follow("session.y", ChainHead(), entries, KEYED).broken
    assert broken is not None
    assert broken.fault is Fault.CHANGED

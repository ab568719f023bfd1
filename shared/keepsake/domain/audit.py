"""The audit's entries and the chains they form. An entry tells who did what kind of thing to how many items, never the words.

Each entry's hash covers all of it and the hash before it, under a key that the stores do not hold: who can write to the table can
break a chain, but not mend it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keepsake.domain.hashing import KeyedHash

_PURPOSE = "audit-entry"
_HEAD_PURPOSE = "audit-head"
# The proof of a head that follows one without a proof. It never becomes a good one again.
_BROKEN_PROOF = "broken"
# How far behind its true place a moved entry is still recognised as moved rather than changed.
_MOVED_AT_MOST = 1024


class Action(StrEnum):
    """What was done. Words of the audit: they never change their meaning."""

    SESSION_OPENED = "session.opened"
    SESSION_CLOSED = "session.closed"
    SESSION_CONSOLIDATED = "session.consolidated"
    TURN_WRITTEN = "turn.written"
    ARTIFACT_PUT = "artifact.put"
    ARTIFACT_DELETED = "artifact.deleted"
    PROFILE_EDITED = "profile.edited"
    PROFILE_RESET = "profile.reset"
    MEMORY_LEARNED = "memory.learned"
    MEMORY_TOLD = "memory.told"
    MEMORY_CORRECTED = "memory.corrected"
    MEMORY_CONFIRMED = "memory.confirmed"
    MEMORY_DENIED = "memory.denied"
    MEMORY_FORGOTTEN = "memory.forgotten"
    DOCUMENT_PUT = "document.put"
    DOCUMENT_DELETED = "document.deleted"
    INDEX_UPDATED = "index.updated"
    REINDEX_STARTED = "reindex.started"
    INDEX_REPAIRED = "index.repaired"


class Actor(StrEnum):
    """On whose word. Other people's ids stand here as keyed hashes, never as themselves."""

    SELF = "self"
    ADMIN = "admin"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What is to be entered: `counts` by kind of item, `refs` only ids that we made or keyed hashes."""

    action: Action
    actor: str
    at_ms: int
    counts: Mapping[str, int]
    refs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last entry of a chain; sequence 0 and no hash before the first.

    A head that is stored carries a proof, since without one a chain could be cut and its head set back to an earlier entry.
    """

    sequence: int = 0
    hash: str = ""
    proof: str = field(default="", compare=False)


EMPTY_CHAIN = ChainHead()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One event in its place. Sequences count from 1 without a gap."""

    chain: str
    sequence: int
    event: AuditEvent
    previous: str
    hash: str


def linked(chain: str, head: ChainHead, event: AuditEvent, keyed: KeyedHash) -> tuple[AuditEntry, ChainHead]:
    """The entry that follows `head`, and the head after it."""
    sequence = head.sequence + 1
    digest = keyed.of(_PURPOSE, chain, str(sequence), head.hash, canonical(event))
    return AuditEntry(chain, sequence, event, head.hash, digest), ChainHead(sequence, digest)


def proven(chain: str, head: ChainHead, before: ChainHead, keyed: KeyedHash) -> ChainHead:
    """`head` with its proof, if the head before it had one."""
    genuine = before == EMPTY_CHAIN or has_proof(chain, before, keyed)
    return replace(head, proof=_proof(chain, head, keyed) if genuine else _BROKEN_PROOF)


def has_proof(chain: str, head: ChainHead, keyed: KeyedHash) -> bool:
    """Whether the head was written by us, after heads that all were."""
    return head == EMPTY_CHAIN or head.proof == _proof(chain, head, keyed)


def _proof(chain: str, head: ChainHead, keyed: KeyedHash) -> str:
    return keyed.of(_HEAD_PURPOSE, chain, str(head.sequence), head.hash)


def canonical(event: AuditEvent) -> str:
    """The one spelling of an event that its hash covers."""
    record = {
        "action": event.action,
        "actor": event.actor,
        "at": event.at_ms,
        "counts": dict(event.counts),
        "refs": dict(event.refs),
    }
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


class Fault(StrEnum):
    """What is wrong with the first broken entry of a chain."""

    CHANGED = "changed"  # its content is not what its hash covers
    DROPPED = "dropped"  # entries are missing where it should stand
    INSERTED = "inserted"  # it stands where the chain has no place for it
    REORDERED = "reordered"  # it is genuine, but of another place


@dataclass(frozen=True, slots=True)
class Broken:
    """The first entry of a chain that does not fit, by its place."""

    chain: str
    sequence: int
    fault: Fault


@dataclass(frozen=True, slots=True)
class Verified:
    """How far a chain was followed: its head there, and the first fault, if any."""

    head: ChainHead
    broken: Broken | None = None


def follow(chain: str, head: ChainHead, entries: Iterable[AuditEntry], keyed: KeyedHash) -> Verified:
    """Follow `entries`, which are read in order, from `head` on; stop at the first fault."""
    for entry in entries:
        fault = _fault(chain, head, entry, keyed)
        if fault:
            return Verified(head, Broken(chain, head.sequence + 1, fault))
        head = ChainHead(entry.sequence, entry.hash)
    return Verified(head)


def _fault(chain: str, head: ChainHead, entry: AuditEntry, keyed: KeyedHash) -> Fault | None:
    """What is wrong with `entry` as the successor of `head`."""
    expected, _ = linked(chain, head, entry.event, keyed)
    if entry.sequence == expected.sequence and entry.previous == head.hash:
        return None if entry.hash == expected.hash else _changed_or_moved(chain, entry, keyed)
    if entry.sequence > expected.sequence:
        return Fault.DROPPED
    if entry.sequence < expected.sequence:
        return Fault.INSERTED
    return _changed_or_moved(chain, entry, keyed)


def _changed_or_moved(chain: str, entry: AuditEntry, keyed: KeyedHash) -> Fault:
    """A genuine entry of another place carries a hash that fits its own `previous`, only not here."""
    for sequence in range(1, entry.sequence + _MOVED_AT_MOST):
        moved = keyed.of(_PURPOSE, chain, str(sequence), entry.previous, canonical(entry.event))
        if moved == entry.hash:
            return Fault.REORDERED
    return Fault.CHANGED

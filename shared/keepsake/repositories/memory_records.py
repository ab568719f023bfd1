"""How claims and digests are laid out as items."""

from typing import Any

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.digest import Digest
from keepsake.domain.memories.claims import Claim, Claims, Stance
from keepsake.domain.memories.values import MadeBy, Memory, MemoryType, Slot, Source, SourceType
from keepsake.ports.item_store import Item, Value
from keepsake.repositories.records import packed, raw, unpacked


def claims_attributes(claims: Claims) -> dict[str, Value]:
    """All that was said of a slot, as one compressed attribute."""
    body = {
        "slot": [claims.slot.subject, claims.slot.attribute, claims.slot.value_key],
        "type": claims.type.value,
        "claims": [_claim_record(claim) for claim in claims.claims],
        "repeats": sorted(claims.repeats),
        "forgotten": sorted([value_id, clearance_record(clearance)] for value_id, clearance in claims.forgotten),
    }
    return {"body": packed(body)}


def claims_of(item: Item) -> Claims:
    """The claims that an item holds."""
    body = unpacked(raw(item, "body"))
    return Claims(
        slot=Slot(*body["slot"]),
        type=MemoryType(body["type"]),
        claims=tuple(_claim(record) for record in body["claims"]),
        repeats=frozenset(body["repeats"]),
        forgotten=frozenset((value_id, clearance_from(record)) for value_id, record in body["forgotten"]),
    )


def digest_attributes(digest: Digest) -> dict[str, Value]:
    """A digest."""
    body = {"entries": [_memory_record(memory) for memory in digest.entries], "names": list(digest.names.items())}
    return {"body": packed(body), "checked_at": digest.checked_at_ms}


def digest_of(item: Item) -> Digest:
    """The digest that an item holds."""
    body = unpacked(raw(item, "body"))
    checked = item.attributes.get("checked_at", 0)
    entries = tuple(_memory(record) for record in body["entries"])
    return Digest(entries, dict(body["names"]), checked if isinstance(checked, int) else 0)


def clearance_record(clearance: Clearance) -> list[Any]:
    """A clearance; empty for an open one."""
    return [] if clearance.is_open else [clearance.level, sorted(clearance.compartments)]


def clearance_from(record: list[Any]) -> Clearance:
    """What `clearance_record` was given."""
    return Clearance(record[0], frozenset(record[1])) if record else OPEN


def _claim_record(claim: Claim) -> dict[str, Any]:
    record = {
        "id": claim.claim_id,
        "of": claim.subject,
        "v": claim.value_id,
        "value": claim.value,
        "text": claim.text,
        "stance": claim.stance.value,
        "said": claim.said_at_ms,
        "rec": claim.recorded_at_ms,
        "conf": claim.confidence,
        "imp": claim.importance,
        "by": claim.made_by.value,
        "src": _source_record(claim.source),
        "from": claim.valid_from_ms,
        "to": claim.valid_to_ms,
        "ok": claim.confirmed,
        "clear": clearance_record(claim.clearance),
        "n": claim.place or None,
        "type": claim.type.value if claim.type else None,
    }
    return {name: value for name, value in record.items() if value not in (None, False, [])}


def _claim(record: dict[str, Any]) -> Claim:
    return Claim(
        claim_id=record["id"],
        subject=record["of"],
        value_id=record["v"],
        value=record["value"],
        text=record["text"],
        stance=Stance(record["stance"]),
        said_at_ms=record["said"],
        recorded_at_ms=record["rec"],
        confidence=record["conf"],
        importance=record["imp"],
        made_by=MadeBy(record["by"]),
        source=_source(record["src"]),
        valid_from_ms=record.get("from"),
        valid_to_ms=record.get("to"),
        confirmed=record.get("ok", False),
        clearance=clearance_from(record.get("clear", [])),
        place=record.get("n", 0),
        type=MemoryType(record["type"]) if "type" in record else None,
    )


def _source_record(source: Source) -> list[Any]:
    return [source.type.value, source.at_ms, source.session_id, source.turn_id, source.document_id]


def _source(record: list[Any]) -> Source:
    return Source(SourceType(record[0]), *record[1:])


def _memory_record(memory: Memory) -> list[Any]:
    return [
        memory.memory_id,
        memory.type.value,
        memory.subject,
        memory.attribute,
        memory.value,
        memory.text,
        memory.confidence,
        memory.importance,
        memory.valid_from_ms,
        memory.recorded_at_ms,
        memory.made_by.value,
        [_source_record(source) for source in memory.sources],
        memory.said,
        memory.last_said_ms,
        memory.last_recorded_ms,
        memory.confirmed,
        clearance_record(memory.clearance),
        clearance_record(memory.heard),
        [clearance_record(clearance) for clearance in memory.unheard],
        memory.valid_to_ms,
    ]


def _memory(record: list[Any]) -> Memory:
    return Memory(
        memory_id=record[0],
        type=MemoryType(record[1]),
        subject=record[2],
        attribute=record[3],
        value=record[4],
        text=record[5],
        confidence=record[6],
        importance=record[7],
        valid_from_ms=record[8],
        valid_to_ms=record[19],
        recorded_at_ms=record[9],
        made_by=MadeBy(record[10]),
        sources=tuple(_source(source) for source in record[11]),
        said=record[12],
        last_said_ms=record[13],
        last_recorded_ms=record[14],
        confirmed=record[15],
        clearance=clearance_from(record[16]),
        heard=clearance_from(record[17]),
        unheard=tuple(clearance_from(each) for each in record[18]),
    )

"""How buffers, headers, turns and turn markers are laid out as items."""

from dataclasses import dataclass
from typing import Any

from keepsake.domain.audit import ChainHead
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.header import SessionHeader
from keepsake.domain.intents import IntentStack
from keepsake.domain.scratch_pad import Artifact, ScratchPad
from keepsake.domain.session import SessionBuffer
from keepsake.domain.summary import SessionSummary, SummaryLine
from keepsake.domain.turns import Role, Turn
from keepsake.ports.item_store import Item, Value
from keepsake.repositories.keys import session_id_of
from keepsake.repositories.records import clearance_attributes, clearance_of, packed, raw, text, unpacked, whole

# Text beyond this is compressed in the log. Below it compression saves no billed kilobyte.
_COMPRESS_FROM = 1024


@dataclass(frozen=True, slots=True)
class TurnMarker:
    """That a turn id was seen: where its turn stands, what it held (keyed hash), by which request it was written, and whether it
    opened its session.
    """

    place_ms: int
    content: str
    write_id: str
    expires_at: int
    opened: bool


def seconds(at_ms: int) -> int:
    """Epoch seconds for the store's expiry, never before `at_ms`."""
    return -(-at_ms // 1000)


def buffer_attributes(buffer: SessionBuffer) -> dict[str, Value]:
    """A buffer; its turns, scratch pad and summary as one compressed attribute."""
    body = {
        "turns": [turn_record(turn) for turn in buffer.turns],
        "intents": buffer.intents.to_record(),
        "pad": [_artifact_record(artifact) for artifact in buffer.scratch_pad.artifacts],
        "summary": buffer.summary.to_record(),
    }
    return {
        "incarnation": buffer.incarnation,
        "started_at": buffer.started_at_ms,
        "turn_count": buffer.turn_count,
        "hidden_after": buffer.hidden_after_ms,
        "expires_at": seconds(buffer.hidden_after_ms),
        "body": packed(body),
    }


def buffer_of(item: Item) -> SessionBuffer:
    """The buffer that an item holds."""
    body = unpacked(raw(item, "body"))
    return SessionBuffer(
        incarnation=text(item, "incarnation"),
        started_at_ms=whole(item, "started_at"),
        hidden_after_ms=whole(item, "hidden_after"),
        turns=tuple(turn_from_record(record) for record in body["turns"]),
        turn_count=whole(item, "turn_count"),
        intents=IntentStack.from_record(body["intents"]),
        scratch_pad=ScratchPad(tuple(_artifact(record) for record in body["pad"])),
        summary=_summary(body),
    )


def header_attributes(header: SessionHeader, shard: str) -> dict[str, Value]:
    """A header. Only a pending one carries the index's attributes, so that the index lists no other."""
    attributes: dict[str, Value] = {
        "incarnation": header.incarnation,
        "created_at": header.created_at_ms,
        "started_at": header.started_at_ms,
        "hidden_after": header.hidden_after_ms,
        "last_turn": header.last_turn_ms,
        "turn_count": header.turn_count,
        "watermark": header.watermark_ms,
        "chain_sequence": header.chain.sequence,
        "chain_hash": header.chain.hash,
        "chain_proof": header.chain.proof,
    }
    if header.pending_since_ms is not None:
        attributes |= {"pending_shard": shard, "pending_since": header.pending_since_ms, "pending_turns": header.pending_turns}
    return attributes


def header_of(item: Item) -> SessionHeader:
    """The header that an item holds."""
    return SessionHeader(
        session_id=session_id_of(item.key),
        incarnation=text(item, "incarnation"),
        created_at_ms=whole(item, "created_at"),
        started_at_ms=whole(item, "started_at"),
        hidden_after_ms=whole(item, "hidden_after"),
        last_turn_ms=whole(item, "last_turn"),
        turn_count=whole(item, "turn_count"),
        watermark_ms=whole(item, "watermark"),
        pending_since_ms=whole(item, "pending_since") if "pending_since" in item.attributes else None,
        pending_turns=whole(item, "pending_turns", 0),
        chain=ChainHead(whole(item, "chain_sequence"), text(item, "chain_hash"), text(item, "chain_proof")),
    )


def turn_attributes(turn: Turn, incarnation: str, hidden_after_ms: int) -> dict[str, Value]:
    """A turn of the log. Optional parts are there only when the turn has them."""
    attributes: dict[str, Value] = {
        "incarnation": incarnation,
        "turn_id": turn.turn_id,
        "role": turn.role.value,
        "occurred_at": turn.occurred_at_ms,
        "tokens": turn.tokens,
        "text": turn.text if turn.size < _COMPRESS_FROM else packed(turn.text),
        "hidden_after": hidden_after_ms,
        "expires_at": seconds(hidden_after_ms),
        **clearance_attributes(turn.clearance),
    }
    if turn.name is not None:
        attributes["name"] = turn.name
    if turn.in_reply_to is not None:
        attributes["in_reply_to"] = turn.in_reply_to
    return attributes


def turn_of(item: Item) -> Turn:
    """The turn that an item of the log holds."""
    stored = item.attributes["text"]
    return Turn(
        turn_id=text(item, "turn_id"),
        role=Role(text(item, "role")),
        text=unpacked(stored) if isinstance(stored, bytes) else text(item, "text"),
        timestamp_ms=int(item.key.sort),
        occurred_at_ms=whole(item, "occurred_at"),
        tokens=whole(item, "tokens"),
        name=text(item, "name") if "name" in item.attributes else None,
        in_reply_to=text(item, "in_reply_to") if "in_reply_to" in item.attributes else None,
        clearance=clearance_of(item),
    )


def marker_attributes(marker: TurnMarker) -> dict[str, Value]:
    """A turn marker."""
    return {
        "place": marker.place_ms,
        "content": marker.content,
        "write_id": marker.write_id,
        "opened": marker.opened,
        "expires_at": marker.expires_at,
    }


def marker_of(item: Item) -> TurnMarker:
    """The turn marker that an item holds."""
    return TurnMarker(
        place_ms=whole(item, "place"),
        content=text(item, "content"),
        write_id=text(item, "write_id"),
        expires_at=whole(item, "expires_at"),
        opened=bool(item.attributes["opened"]),
    )


def turn_record(turn: Turn) -> list[Any]:
    """A turn in the buffer: a list, since the names of fields would stand there twenty times over."""
    return [
        turn.turn_id,
        turn.role.value,
        turn.text,
        turn.timestamp_ms,
        turn.occurred_at_ms,
        turn.tokens,
        turn.name,
        turn.in_reply_to,
        *_clearance_record(turn.clearance),
    ]


def turn_from_record(record: list[Any]) -> Turn:
    """What `turn_record` was given."""
    turn_id, role, content, timestamp_ms, occurred_at_ms, tokens, name, in_reply_to, *clearance = record
    return Turn(turn_id, Role(role), content, timestamp_ms, occurred_at_ms, tokens, name, in_reply_to, _clearance(clearance))


def _artifact_record(artifact: Artifact) -> list[Any]:
    return [
        artifact.name,
        artifact.kind,
        artifact.content,
        artifact.version,
        artifact.updated_at_ms,
        artifact.tokens,
        *_clearance_record(artifact.clearance),
    ]


def _artifact(record: list[Any]) -> Artifact:
    name, kind, content, version, updated_at_ms, tokens, *clearance = record
    return Artifact(name, kind, content, version, updated_at_ms, tokens, _clearance(clearance))


def _summary(body: dict[str, Any]) -> SessionSummary:
    """The summary of a buffer; also of one written before summaries had more than lines, and those no places."""
    record = body["summary"]
    if not isinstance(record, list):
        return SessionSummary.from_record(record)
    return SessionSummary(tuple(_unplaced_line(line) for line in record), body["summarized"])


def _unplaced_line(record: list[Any]) -> SummaryLine:
    said, tokens, weight, *clearance = record
    return SummaryLine(said, tokens, weight, _clearance(clearance))


def _clearance_record(clearance: Clearance) -> list[Any]:
    return [] if clearance.is_open else [clearance.level, *sorted(clearance.compartments)]


def _clearance(record: list[Any]) -> Clearance:
    return Clearance(int(record[0]), frozenset(record[1:])) if record else OPEN

"""Memories, hits and documents as the JSON that tools outside rely on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from keepsake.api.wire import cursor, timestamp

if TYPE_CHECKING:  # every function that answers a turn or a session reads this, and few load what stands behind these
    from keepsake.domain.clearance import Clearance
    from keepsake.domain.knowledge import KnowledgeDocument
    from keepsake.domain.memories.values import Memory, Source
    from keepsake.domain.recall import RecallHit
    from keepsake.ports.recall import Recalled
    from keepsake.repositories.jobs import ReindexJob
    from keepsake.services.drift import Drift
    from keepsake.services.memories import MemoryPage


def memory_read(memory: Memory) -> dict[str, Any]:
    """A memory."""
    return {
        "memory_id": memory.memory_id,
        "type": memory.type,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value": memory.value,
        "text": memory.text,
        "confidence": round(memory.confidence, 2),
        "importance": round(memory.importance, 2),
        "valid_from": timestamp(memory.valid_from_ms),
        "valid_to": _time(memory.valid_to_ms),
        "recorded_at": timestamp(memory.recorded_at_ms),
        "sources": [_source(source) for source in memory.sources],
        "made_by": memory.made_by,
        "reference_count": memory.said,
        "last_seen_at": timestamp(memory.last_said_ms),
        "confirmed": memory.confirmed,
        "denied": memory.denied,
        "superseded_by": memory.superseded_by,
        **clearance_shown(memory.clearance),
    }


def memories_listed(page: MemoryPage) -> dict[str, Any]:
    """A page of memories."""
    return {"memories": [memory_read(memory) for memory in page.memories], "next": cursor(page.next)}


def history_read(memories: Iterable[Memory]) -> dict[str, Any]:
    """All that was held of one thing, in order."""
    return {"memories": [memory_read(memory) for memory in memories]}


def recalled(found: Recalled) -> dict[str, Any]:
    """The answer to a search."""
    return {"hits": hits_read(found.hits), "degraded": found.degraded, "reason": found.reason}


def hits_read(hits: Iterable[RecallHit]) -> list[dict[str, Any]]:
    """Hits, best first."""
    return [_hit(hit) for hit in hits]


def _hit(hit: RecallHit) -> dict[str, Any]:
    source = hit.source
    return {
        "kind": hit.kind,
        "id": hit.id,
        "text": hit.text,
        "title": hit.title,
        "speaker": hit.speaker,
        "score": round(hit.score, 4),
        "parts": {name: round(part, 4) for name, part in hit.parts.items()},
        "occurred_at": timestamp(hit.occurred_at_ms),
        "valid_to": _time(hit.valid_to_ms),
        "source": {
            "type": source.type,
            "session_id": source.session_id,
            "turn_ids": [source.turn_id] if source.turn_id is not None else [],
            "document_id": source.document_id,
        },
        "confidence": round(hit.confidence, 2),
        "needs_confirmation": hit.needs_confirmation,
        "question": hit.question,
        "institutional": hit.institutional,
        **clearance_shown(hit.clearance),
    }


def document_read(document: KnowledgeDocument, *, institutional: bool, whole: bool = True) -> dict[str, Any]:
    """A knowledge document; its text only when the whole is wanted."""
    return {
        "document_id": document.document_id,
        "title": document.title,
        "kind": document.kind,
        "recorded_at": timestamp(document.recorded_at_ms),
        "occurred_at": timestamp(document.occurred_at_ms),
        "institutional": institutional,
        **({"text": document.text} if whole else {}),
        **clearance_shown(document.clearance),
    }


def job_read(job: ReindexJob) -> dict[str, Any]:
    """How far a reindex is."""
    return {
        "job_id": job.job_id,
        "status": "running" if job.is_running else "complete",
        "from_index": job.source,
        "to_index": job.target,
        "progress": {"done": job.done, "total": job.total, "dropped": job.dropped},
        "started_at": timestamp(job.started_ms),
        "updated_at": timestamp(job.updated_ms),
        "completed_at": _time(job.completed_ms),
    }


def drift_read(drift: Drift) -> dict[str, Any]:
    """What the index holds of a user beside what it should."""
    return {
        "documents": drift.documents,
        "pointers": drift.pointers,
        "memories": drift.memories,
        "documents_without_pointer": drift.strays,
        "pointers_without_document": drift.lost,
        "memories_without_document": drift.unindexed,
        "documents_without_truth": drift.dead,
        "repaired": drift.repaired,
    }


def clearance_shown(clearance: Clearance) -> dict[str, Any]:
    """A clearance; nothing of an open one."""
    if clearance.is_open:
        return {}
    return {"clearance": {"level": clearance.level, "compartments": sorted(clearance.compartments)}}


def _source(source: Source) -> dict[str, Any]:
    return {
        "type": source.type,
        "session_id": source.session_id,
        "turn_id": source.turn_id,
        "document_id": source.document_id,
        "occurred_at": timestamp(source.at_ms),
    }


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else timestamp(at_ms)

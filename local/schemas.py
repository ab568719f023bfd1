"""The shapes of the API's answers, for its description: one table by route, of a few named records.

Answers may hold more than is said here, as the API grows. Tests hold every real answer to exactly this.
"""

from collections.abc import Mapping
from typing import Any

from keepsake.domain.context import Tier
from keepsake.domain.knowledge import KnowledgeKind
from keepsake.domain.memories.values import MadeBy, MemoryType, SourceType
from keepsake.domain.profile import MadeBy as ProfileMadeBy
from keepsake.domain.search import DocumentKind
from keepsake.domain.turns import Role
from keepsake.repositories.jobs import JobStatus

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
NEXT: Schema = {"type": ["string", "null"], "description": "Where the next page goes on; null at the end."}


def one_of(words: Any) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": [str(word) for word in words]}


def or_null(schema: Schema) -> Schema:
    """A schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": schema}


def named(name: str) -> Schema:
    """A record of RECORDS."""
    return {"$ref": f"#/components/schemas/{name}"}


def record(properties: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object: what it always has, and what it may have."""
    return {"type": "object", "required": list(properties), "properties": {**properties, **(optional or {})}}


CLEARED = {"clearance": named("Clearance")}
SESSION = {"session_id": TEXT, "turn_count": WHOLE, "expires_at": TIME}
LISTED_SESSION = {**SESSION, "created_at": TIME, "started_at": TIME, "last_turn_at": or_null(TIME)}
LEARNED = {"name": TEXT, "weight": NUMBER, "last_seen_at": TIME, "made_by": one_of(ProfileMadeBy)}
SOURCE = {"type": one_of(SourceType), "session_id": or_null(TEXT), "document_id": or_null(TEXT)}
DOCUMENT = {
    "document_id": TEXT,
    "title": TEXT,
    "kind": one_of(KnowledgeKind),
    "recorded_at": TIME,
    "occurred_at": TIME,
    "institutional": FLAG,
}

RECORDS: dict[str, Schema] = {
    "Clearance": record({"level": WHOLE, "compartments": many(TEXT)}),
    "Turn": record(
        {
            "turn_id": TEXT,
            "role": one_of(Role),
            "name": or_null(TEXT),
            "content": TEXT,
            "occurred_at": TIME,
            "timestamp_ms": WHOLE,
            "in_reply_to": or_null(TEXT),
        },
        CLEARED,
    ),
    "Artifact": record({"name": TEXT, "kind": TEXT, "content": TEXT, "version": WHOLE, "updated_at": TIME}, CLEARED),
    "Placement": record({"ref": TEXT, "tier": one_of(Tier), "tokens": WHOLE, "reason": TEXT}, {"duplicate_of": TEXT}),
    "Context": record(
        {
            "text": TEXT,
            "tokens": WHOLE,
            "budget": WHOLE,
            "available": WHOLE,
            "model_profile": TEXT,
            "sanitized": FLAG,
            "tiers": many(record({"tier": one_of(Tier), "budget": WHOLE, "tokens": WHOLE})),
            "included": many(named("Placement")),
            "excluded": many(named("Placement")),
        }
    ),
    "Hit": record(
        {
            "kind": one_of(DocumentKind),
            "id": TEXT,
            "text": TEXT,
            "title": or_null(TEXT),
            "speaker": or_null(TEXT),
            "score": NUMBER,
            "parts": {"type": "object", "additionalProperties": NUMBER, "description": "What the score is the sum of."},
            "occurred_at": TIME,
            "valid_to": or_null(TIME),
            "source": record({**SOURCE, "turn_ids": many(TEXT)}),
            "confidence": SHARE,
            "needs_confirmation": FLAG,
            "question": or_null(TEXT),
            "institutional": FLAG,
        },
        CLEARED,
    ),
    "Memory": record(
        {
            "memory_id": TEXT,
            "type": one_of(MemoryType),
            "subject": TEXT,
            "attribute": TEXT,
            "value": TEXT,
            "text": TEXT,
            "confidence": SHARE,
            "importance": SHARE,
            "valid_from": TIME,
            "valid_to": or_null(TIME),
            "recorded_at": TIME,
            "sources": many(record({**SOURCE, "turn_id": or_null(TEXT), "occurred_at": TIME})),
            "made_by": one_of(MadeBy),
            "reference_count": WHOLE,
            "last_seen_at": TIME,
            "confirmed": FLAG,
            "denied": FLAG,
            "superseded_by": or_null(TEXT),
        },
        CLEARED,
    ),
    "Profile": record(
        {
            "interests": many(record(LEARNED)),
            "expertise": many(
                record({"name": TEXT, "level": SHARE, "interactions": WHOLE, "made_by": one_of(ProfileMadeBy)}),
            ),
            "preferences": many(record({**LEARNED, "group": or_null(TEXT)})),
            "frequently_used": many(record({**LEARNED, "uses": WHOLE})),
            "last_topics": many(TEXT),
            "interactions": WHOLE,
            "version": WHOLE,
            "updated_at": or_null(TIME),
        }
    ),
    "ReindexJob": record(
        {
            "job_id": TEXT,
            "status": one_of(JobStatus),
            "from_index": TEXT,
            "to_index": TEXT,
            "progress": record({"done": WHOLE, "total": WHOLE, "dropped": WHOLE}),
            "started_at": TIME,
            "updated_at": TIME,
            "completed_at": or_null(TIME),
        }
    ),
}

ANSWERS: dict[str, Schema] = {
    "POST /v1/sessions/{session_id}/turns": record(
        {
            "session": record({**SESSION, "is_new": FLAG, "previous_expired": FLAG}),
            "turn": record({"turn_id": TEXT, "timestamp_ms": WHOLE, "replayed": FLAG, "quarantined": {"type": "null"}}),
            "context": named("Context"),
            "recall": record({"ran": FLAG, "reason": TEXT, "degraded": FLAG, "hits": many(named("Hit"))}),
            "topics": many(TEXT),
            "signals": many({"type": "object"}),
        }
    ),
    "GET /v1/sessions": record({"sessions": many(record(LISTED_SESSION)), "next": NEXT}),
    "GET /v1/sessions/{session_id}": record(
        {
            "session": record(LISTED_SESSION),
            "turns": many(named("Turn")),
            "topics": many(TEXT),
            "scratchpad": many(named("Artifact")),
        }
    ),
    "GET /v1/sessions/{session_id}/turns": record({"turns": many(named("Turn")), "next": NEXT}),
    "GET /v1/sessions/{session_id}/scratchpad/{name}": named("Artifact"),
    "PUT /v1/sessions/{session_id}/scratchpad/{name}": named("Artifact"),
    "GET /v1/profile": named("Profile"),
    "PUT /v1/profile": named("Profile"),
    "POST /v1/profile/reset": named("Profile"),
    "GET /v1/memories": record({"memories": many(named("Memory")), "next": NEXT}),
    "POST /v1/memories": named("Memory"),
    "GET /v1/memories/{memory_id}": named("Memory"),
    "PATCH /v1/memories/{memory_id}": named("Memory"),
    "GET /v1/memories/{memory_id}/history": record({"memories": many(named("Memory"))}),
    "POST /v1/memories/{memory_id}/confirm": named("Memory"),
    "POST /v1/recall": record({"hits": many(named("Hit")), "degraded": FLAG, "reason": TEXT}),
    "POST /v1/documents": record(DOCUMENT, CLEARED),
    "GET /v1/documents/{document_id}": record({**DOCUMENT, "text": TEXT}, CLEARED),
    "POST /v1/admin/reindex": named("ReindexJob"),
    "GET /v1/admin/reindex/{job_id}": named("ReindexJob"),
    "POST /v1/admin/drift": record(
        {
            "documents": WHOLE,
            "pointers": WHOLE,
            "memories": WHOLE,
            "documents_without_pointer": WHOLE,
            "pointers_without_document": WHOLE,
            "memories_without_document": WHOLE,
            "documents_without_truth": WHOLE,
            "repaired": WHOLE,
        }
    ),
    "POST /v1/audit/verify": record(
        {
            "valid": FLAG,
            "complete": FLAG,
            "chains": WHOLE,
            "entries": WHOLE,
            "broken": or_null(record({"chain": TEXT, "sequence": WHOLE, "fault": TEXT})),
            "next": or_null(WHOLE),
        }
    ),
    "GET /v1/health": record(
        {"status": one_of(["ok", "degraded"]), "version": TEXT},
        {"dependencies": many(record({"name": TEXT, "ok": FLAG, "detail": TEXT}))},
    ),
}

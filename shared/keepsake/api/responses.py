"""Outcomes as the JSON that tools outside rely on. Times are RFC 3339 in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from keepsake.api.memory_responses import clearance_shown, hits_read
from keepsake.api.wire import cursor, timestamp

if TYPE_CHECKING:
    from keepsake.domain.context import ContextWindow, Entry
    from keepsake.domain.header import SessionHeader
    from keepsake.domain.profile import FrequentThing, Interest, Preference, Profile
    from keepsake.domain.scratch_pad import Artifact
    from keepsake.domain.turns import Turn
    from keepsake.repositories.sessions import HeaderPage, TurnPage
    from keepsake.services.planning import PlanReport
    from keepsake.services.sessions import SessionView
    from keepsake.services.turns import TurnOutcome
    from keepsake.services.verification import Verification


def turn_taken(outcome: TurnOutcome) -> dict[str, Any]:
    """The answer to a turn."""
    return {
        "session": {
            "session_id": outcome.session_id,
            "is_new": outcome.is_new,
            "previous_expired": outcome.previous_expired,
            "turn_count": outcome.turn_count,
            "expires_at": timestamp(outcome.expires_at_ms),
        },
        "turn": {
            "turn_id": outcome.turn_id,
            "timestamp_ms": outcome.place_ms,
            "replayed": outcome.replayed,
            "quarantined": None,
        },
        "context": _context(outcome.window),
        "recall": {
            "ran": outcome.recalled.ran,
            "reason": outcome.recalled.reason,
            "degraded": outcome.recalled.degraded,
            "hits": hits_read(outcome.recalled.hits),
        },
        "topics": list(outcome.topics),
        "signals": [],
    }


def session_read(view: SessionView) -> dict[str, Any]:
    """A live session."""
    return {
        "session": {**_session(view.header), "expires_at": timestamp(view.expires_at_ms)},
        "turns": [_turn(turn) for turn in view.turns],
        "topics": list(view.topics),
        "scratchpad": [artifact_read(artifact) for artifact in view.artifacts],
    }


def sessions_listed(page: HeaderPage) -> dict[str, Any]:
    """A page of sessions."""
    return {"sessions": [_session(header) for header in page.headers], "next": cursor(page.next)}


def turns_listed(page: TurnPage) -> dict[str, Any]:
    """A page of a session's log."""
    return {"turns": [_turn(turn) for turn in page.turns], "next": cursor(page.next)}


def artifact_read(artifact: Artifact) -> dict[str, Any]:
    """An artifact of the scratch pad."""
    return {
        "name": artifact.name,
        "kind": artifact.kind,
        "content": artifact.content,
        "version": artifact.version,
        "updated_at": timestamp(artifact.updated_at_ms),
        **clearance_shown(artifact.clearance),
    }


def profile_read(profile: Profile) -> dict[str, Any]:
    """The research profile, whole: nothing that was learned is kept from its owner."""
    return {
        "interests": [_learned(each) for each in profile.interests],
        "expertise": [
            {"name": each.name, "level": round(each.level, 2), "interactions": each.interactions, "made_by": each.made_by}
            for each in profile.expertise
        ],
        "preferences": [{**_learned(each), "group": each.group} for each in profile.preferences],
        "frequently_used": [{**_learned(each), "uses": each.uses} for each in profile.frequently_used],
        "last_topics": [topic.name for topic in profile.last_topics],
        "interactions": profile.interactions,
        "version": profile.version,
        "updated_at": timestamp(profile.updated_at_ms) if profile.version else None,
    }


def _learned(entry: Interest | Preference | FrequentThing) -> dict[str, Any]:
    return {
        "name": entry.name,
        "weight": round(entry.weight, 3),
        "last_seen_at": timestamp(entry.at_ms),
        "made_by": entry.made_by,
    }


def verified(found: Verification) -> dict[str, Any]:
    """The finding of a verification. `valid` says nothing of what lies after `next`."""
    broken = found.broken
    return {
        "valid": broken is None,
        "complete": found.next is None and broken is None,
        "chains": found.chains,
        "entries": found.entries,
        "broken": {"chain": broken.chain, "sequence": broken.sequence, "fault": broken.fault} if broken else None,
        "next": found.next,
    }


def planned(report: PlanReport) -> dict[str, Any]:
    """What a run of the planner did."""
    return {
        "sent": report.sent,
        "waiting": report.waiting,
        "complete": report.complete,
        "needs_reindex": report.needs_reindex,
    }


def _session(header: SessionHeader) -> dict[str, Any]:
    return {
        "session_id": header.session_id,
        "created_at": timestamp(header.created_at_ms),
        "started_at": timestamp(header.started_at_ms),
        "last_turn_at": timestamp(header.last_turn_ms) if header.last_turn_ms else None,
        "turn_count": header.turn_count,
        "expires_at": timestamp(header.hidden_after_ms),
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.turn_id,
        "role": turn.role,
        "name": turn.name,
        "content": turn.text,
        "occurred_at": timestamp(turn.occurred_at_ms),
        "timestamp_ms": turn.timestamp_ms,
        "in_reply_to": turn.in_reply_to,
        **clearance_shown(turn.clearance),
    }


def _context(window: ContextWindow) -> dict[str, Any]:
    return {
        "text": window.text,
        "tokens": window.tokens,
        "budget": window.budget,
        "available": window.available,
        "model_profile": window.model_profile,
        "sanitized": False,
        "tiers": [{"tier": share.tier, "budget": share.budget, "tokens": share.tokens} for share in window.tiers],
        "included": _placements(window.included),
        "excluded": _placements(window.excluded),
    }


def _placements(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [
        {"ref": entry.ref, "tier": entry.tier, "tokens": entry.tokens, "reason": entry.reason}
        | ({"duplicate_of": entry.duplicate_of} if entry.duplicate_of else {})
        for entry in entries
    ]

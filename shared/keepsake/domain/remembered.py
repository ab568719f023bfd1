"""What is remembered, as items that ask for a place in a context window: each with its date and where it comes from.

Everything here was said or written by somebody and may hold anything: its further lines are indented, so that none can pass for a
section of the window or for a turn.
"""

from datetime import UTC, datetime

from keepsake.domain.context import ContextItem, Tier
from keepsake.domain.digest import Digest, weight
from keepsake.domain.memories.values import Memory
from keepsake.domain.recall import RecallHit
from keepsake.domain.search import DocumentKind
from keepsake.domain.turns import indented

# Of the digest, in every window; what a turn asks for beside it comes by recall.
MOST_FROM_DIGEST = 12
# What was found for this very turn comes before what is known anyway.
_FOUND = 1.0
_MOST_CHARACTERS = 2_000


def remembered_items(digest: Digest, hits: tuple[RecallHit, ...]) -> tuple[ContextItem, ...]:
    """Items of the hits, and of the digest's first memories that are not among them. What they hold is visible to the reader."""
    found = {hit.id for hit in hits if hit.kind is DocumentKind.MEMORY}
    known = [memory for memory in digest.entries if memory.memory_id not in found][:MOST_FROM_DIGEST]
    return (*(_of_hit(hit) for hit in hits), *(_of_memory(memory) for memory in known))


def _of_hit(hit: RecallHit) -> ContextItem:
    return ContextItem(
        ref=f"{hit.kind}:{hit.id}",
        tier=_tier(hit),
        text=_shown(hit.text),
        title=_title(hit),
        score=_FOUND + hit.score,
        clearance=hit.clearance,
    )


def _tier(hit: RecallHit) -> Tier:
    if hit.kind is not DocumentKind.DOCUMENT:
        return Tier.EPISODIC
    return Tier.INSTITUTIONAL if hit.institutional else Tier.DOMAIN


def _title(hit: RecallHit) -> str:
    day = day_of(hit.occurred_at_ms)
    match hit.kind:
        case DocumentKind.TURN:
            return f"{day}, {hit.speaker} said"
        case DocumentKind.SUMMARY:
            return f"{day}, an earlier conversation"
        case DocumentKind.DOCUMENT:
            return f"{day}, from {hit.title}"
        case DocumentKind.MEMORY:
            return f"{day}, remembered" + ("; to be confirmed before use" if hit.needs_confirmation else "")


def _of_memory(memory: Memory) -> ContextItem:
    return ContextItem(
        ref=f"memory:{memory.memory_id}",
        tier=Tier.EPISODIC,
        text=_shown(memory.told),
        title=f"{day_of(memory.last_said_ms)}, remembered",
        score=weight(memory),
        clearance=memory.clearance,
    )


def _shown(text: str) -> str:
    return indented(text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + " […]")


def day_of(at_ms: int) -> str:
    """The day, in UTC, as an ISO date."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "undated"

"""What waits: sessions for consolidation, and documents that the index has yet to be told of. Small lists, one of each a user."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from keepsake.domain.errors import OutboxFullError

# More sessions than this wait only when consolidation stands still; of those the longest known are named.
MAX_PENDING = 64
MAX_OUTBOX = 2000
# Half of what an item may hold in the store; references hold ids that callers chose, of up to a kilobyte each.
MAX_OUTBOX_BYTES = 200 * 1024


@dataclass(frozen=True, slots=True)
class PendingSessions:
    """Sessions with turns that consolidation has not dealt with, by id, and the place of the first such turn."""

    since_ms: Mapping[str, int] = field(default_factory=dict)

    def with_session(self, session_id: str, place_ms: int) -> "PendingSessions":
        """With a session that waits from that place on."""
        newest = sorted({**self.since_ms, session_id: place_ms}.items(), key=lambda one: (one[1], one[0]))[-MAX_PENDING:]
        return PendingSessions(dict(newest))

    def without_session(self, session_id: str) -> "PendingSessions":
        """Without a session."""
        return PendingSessions({name: place for name, place in self.since_ms.items() if name != session_id})


@dataclass(frozen=True, slots=True)
class Outbox:
    """References to items of the truth whose documents the index has yet to be told of, since when, oldest first."""

    refs: tuple[str, ...] = ()
    since_ms: int = 0

    def with_refs(self, refs: Iterable[str], now_ms: int) -> "Outbox":
        """With more references; one that waits already waits no longer for it.

        Raises OutboxFullError when it cannot hold them.
        """
        merged = tuple(dict.fromkeys((*self.refs, *refs)))
        if len(merged) > len(self.refs) and not _fits(merged):
            raise OutboxFullError("the search index is behind: it has yet to be told of too much", retry_after=60)
        return Outbox(merged, self.since_ms if self.refs else now_ms)

    def without_refs(self, refs: Iterable[str]) -> "Outbox":
        """Without those that were dealt with."""
        done = frozenset(refs)
        left = tuple(ref for ref in self.refs if ref not in done)
        return Outbox(left, self.since_ms if left else 0)


def _fits(refs: Sequence[str]) -> bool:
    return len(refs) <= MAX_OUTBOX and sum(len(ref.encode()) for ref in refs) <= MAX_OUTBOX_BYTES

"""The session header: what outlives the buffer of a session, and marks it for consolidation."""

from dataclasses import dataclass, field, replace

from keepsake.domain.audit import EMPTY_CHAIN, ChainHead


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """One session of a user through all its incarnations.

    `last_turn_ms` is the place of its last turn in the log, `watermark_ms` that of the last one consolidated (0: none).
    `pending_since_ms` is the place of the first turn that consolidation has not dealt with, None when there is none;
    `pending_turns` counts them. `turn_count` and `started_at_ms` are of the current incarnation. `chain` is the head of its audit
    chain.
    """

    session_id: str
    incarnation: str
    created_at_ms: int
    started_at_ms: int
    hidden_after_ms: int
    last_turn_ms: int = 0
    turn_count: int = 0
    watermark_ms: int = 0
    pending_since_ms: int | None = None
    pending_turns: int = 0
    chain: ChainHead = field(default=EMPTY_CHAIN)

    def next_place(self, now_ms: int) -> int:
        """The log's place for a turn that arrives now: strictly after the last one, even within a millisecond."""
        return max(now_ms, self.last_turn_ms + 1)

    def with_turn(self, place_ms: int, turn_count: int, hidden_after_ms: int) -> "SessionHeader":
        """The header after a turn was written at that place."""
        return replace(
            self,
            last_turn_ms=place_ms,
            turn_count=turn_count,
            hidden_after_ms=max(hidden_after_ms, self.hidden_after_ms),
            pending_since_ms=place_ms if self.pending_since_ms is None else self.pending_since_ms,
            pending_turns=self.pending_turns + 1,
        )

    def consolidated(self, watermark_ms: int, turns: int) -> "SessionHeader":
        """The header after consolidation dealt with all turns up to the watermark, `turns` of them; pending only if more came."""
        if self.last_turn_ms <= watermark_ms:
            return replace(self, watermark_ms=watermark_ms, pending_since_ms=None, pending_turns=0)
        left = max(1, self.pending_turns - turns)
        return replace(self, watermark_ms=watermark_ms, pending_since_ms=watermark_ms + 1, pending_turns=left)

    def is_due(self, now_ms: int, *, idle_ms: int, turns: int) -> bool:
        """Whether consolidation should deal with it now: it has been idle for long enough, or has enough turns waiting."""
        waits = self.pending_since_ms is not None
        return waits and (now_ms - self.last_turn_ms >= idle_ms or self.pending_turns >= turns)

    def reopened(self, incarnation: str, started_at_ms: int, hidden_after_ms: int) -> "SessionHeader":
        """The header of the session's next incarnation; the log, the watermark and the pending mark go on."""
        return replace(
            self,
            incarnation=incarnation,
            started_at_ms=started_at_ms,
            hidden_after_ms=hidden_after_ms,
            turn_count=0,
            chain=EMPTY_CHAIN,
        )

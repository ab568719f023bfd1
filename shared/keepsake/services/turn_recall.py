"""Recall in a turn: whether the turn asks for the past, and if so what the past holds on it."""

from dataclasses import dataclass, replace

from keepsake.domain.digest import Digest
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.pending import PendingSessions
from keepsake.domain.principal import Principal
from keepsake.domain.recall import RecallHit
from keepsake.domain.recall_intent import KnownNames, RecallGate
from keepsake.domain.session import SessionBuffer
from keepsake.domain.topics import TopicLexicon
from keepsake.domain.turns import Role, Turn, visible_exchanges
from keepsake.ports.recall import Asked, Recall, Recalled, RecallRequest, RecallScene, RecallWish
from keepsake.repositories.keys import Keys
from keepsake.repositories.sessions import SessionSnapshot

# Hits that a turn asks for; how many have room is the context window's business.
HITS = 10
ASKED, DECLINED, NOT_THE_USER = "asked_by_caller", "declined_by_caller", "not_the_users_turn"
# Turns before this one that the gate looks at.
_CONTEXT = 4
_BEFORE_CHARACTERS = 400
_NEAR_THE_BEST = 0.4
# What shares nothing with a question still has something of the speaker's and the newest's part: less than this.
_LEAST = 0.15


@dataclass(frozen=True, slots=True)
class TurnRecall:
    """Decides, and recalls."""

    recall: Recall
    gate: RecallGate
    lexicon: TopicLexicon
    keyed: KeyedHash

    def recalled(self, principal: Principal, asked: Asked, snapshot: SessionSnapshot, buffer: SessionBuffer) -> Recalled:
        """What the turn recalls; `buffer` is the session before it. Raises StoreUnavailableError."""
        if asked.wish is RecallWish.NEVER:
            return Recalled(ran=False, reason=DECLINED)
        if asked.wish is RecallWish.AUTO and asked.role is not Role.USER:
            return Recalled(ran=False, reason=NOT_THE_USER)
        digest = (snapshot.digest.value or Digest()).visible(principal.clearance)
        earlier = visible_exchanges(principal.clearance, buffer.turns)[-_CONTEXT:]
        intent = self.gate.intent(asked.text, [turn.text for turn in earlier], KnownNames(frozenset(digest.names)))
        if asked.wish is RecallWish.AUTO and not intent.wanted:
            return Recalled(ran=False, reason=intent.reason)
        before = _said_before(earlier)
        # What follows up on something is about what it follows up on.
        text = f"{asked.text}\n{before}" if before and self.lexicon.is_follow_up(asked.text) else asked.text
        request = RecallRequest(text, asked.at_ms, HITS, about_me=intent.about_me, before=before)
        keys = Keys(principal.user_id, self.keyed)
        shown = frozenset(keys.turn_document(asked.session_id, turn.timestamp_ms) for turn in buffer.turns)
        scene = RecallScene(snapshot.fence.epoch, digest, snapshot.pending.value or PendingSessions(), shown)
        recalled = self.recall.recall(principal, request, scene)
        return replace(
            recalled,
            hits=recalled.hits if intent.about_me else _telling(recalled.hits),
            reason=ASKED if asked.wish is RecallWish.ALWAYS else intent.reason,
        )


def _telling(hits: tuple[RecallHit, ...]) -> tuple[RecallHit, ...]:
    """Those that come near the best: the context window has better uses for its room than the rest."""
    least = max(_LEAST, _NEAR_THE_BEST * hits[0].score) if hits else 0.0
    return tuple(hit for hit in hits if hit.score >= least)


def _said_before(earlier: tuple[Turn, ...]) -> str:
    """What the user said last."""
    return next((turn.text for turn in reversed(earlier) if turn.role is Role.USER), "")[:_BEFORE_CHARACTERS]

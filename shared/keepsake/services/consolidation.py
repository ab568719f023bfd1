"""Consolidation: turns that were said become what is known. For now it folds them into the research profile.

A page of turns, the profile they change, the new watermark and the audit entry are one transaction: a crash anywhere repeats
nothing and loses nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.errors import KeepsakeError, StoreUnavailableError
from keepsake.domain.profile import Profile
from keepsake.domain.profile_learner import ProfilePatterns, ProfileTurn, learn_from_conversation
from keepsake.domain.topics import TopicLexicon
from keepsake.domain.turns import Role, Turn
from keepsake.ports.surroundings import Clock
from keepsake.repositories.keys import PENDING_SHARDS, pending_shard
from keepsake.repositories.sessions import SessionChange, Sessions
from keepsake.services.retrying import Retrying

_PAGE = 200


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What a run did. `left` counts sessions it could not deal with: they stay pending. Not `complete`: time ran out."""

    sessions: int
    turns: int
    left: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Finds pending sessions in the sharded index, never by a scan, and folds their new turns in."""

    sessions: Sessions
    lexicon: TopicLexicon
    patterns: ProfilePatterns
    clock: Clock
    retrying: Retrying

    def run(self, *, until_ms: int) -> ConsolidationReport:
        """Consolidate every pending session, or as many as there is time for before `until_ms`. Raises StoreUnavailableError."""
        done = turns = left = 0
        for user_id, session_id in self._pending():
            if self.clock.now_ms() >= until_ms:
                return ConsolidationReport(done, turns, left, complete=False)
            try:
                turns += self.consolidate(user_id, session_id)
                done += 1
            except StoreUnavailableError:
                raise
            except KeepsakeError:
                # One session that cannot be dealt with must not keep all others waiting.
                left += 1
        return ConsolidationReport(done, turns, left, complete=True)

    def consolidate(self, user_id: str, session_id: str) -> int:
        """Deal with the session's turns after its watermark; how many there were.

        Raises LostRaceError, SubjectErasedError and StoreError.
        """
        total = 0
        while True:
            count, more = self.retrying.call(lambda: self._fold_page(user_id, session_id))
            total += count
            if not more:
                return total

    def _pending(self) -> Iterator[tuple[str, str]]:
        for shard in range(PENDING_SHARDS):
            # Read whole before the first of it is dealt with, which takes it out of the index.
            yield from list(self.sessions.list_pending(pending_shard(shard)))

    def _fold_page(self, user_id: str, session_id: str) -> tuple[int, bool]:
        """One page of turns: how many, and whether more follow."""
        now_ms = self.clock.now_ms()
        snapshot = self.sessions.load(user_id, session_id, now_ms=now_ms, buffer=False)
        header = snapshot.header.value
        if header is None or header.pending_since_ms is None:
            return 0, False
        page = self.sessions.read_log(
            user_id, session_id, after=header.watermark_ms, limit=_PAGE, now_ms=now_ms, fence=snapshot.fence
        )
        # Without a further page everything up to the header's last turn is dealt with, also what has left the log by its age.
        watermark_ms = page.next if page.next is not None else header.last_turn_ms
        profile = snapshot.profile.value or Profile()
        learned = learn_from_conversation(profile, _lessons(page.turns, profile), self.lexicon, self.patterns)
        counts = {"turn": len(page.turns), "profile": int(learned != profile)}
        self.sessions.commit(
            user_id,
            session_id,
            snapshot,
            SessionChange(
                at_ms=now_ms,
                header=header.consolidated(watermark_ms),
                events=(AuditEvent(Action.SESSION_CONSOLIDATED, Actor.SCHEDULE, now_ms, counts, {}),),
                profile=learned if learned != profile else None,
            ),
        )
        return len(page.turns), page.next is not None


def _lessons(turns: tuple[Turn, ...], profile: Profile) -> list[ProfileTurn]:
    """What the profile may learn from: the user's own words since the last reset, if all the user's principals may see them."""
    own = (turn for turn in turns if turn.role is Role.USER and turn.clearance.is_open)
    return [ProfileTurn(turn.text, turn.occurred_at_ms) for turn in own if turn.timestamp_ms > profile.reset_at_ms]

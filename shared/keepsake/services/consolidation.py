"""Consolidation: what was said becomes what is known.

A session's turns after its watermark are dealt with page by page, each in three steps: learn (summary, memories, archive,
pointers), index, finish (pointers confirmed, profile, watermark). Each step may be done again after a crash and ends the same:
ids are made of the source, and the summary says how far was learned. The watermark moves last: until then recall finds the turns
in the log. Turns leave the log after a week: where the index cannot be told before, the outbox remembers what it is to be told.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.errors import (
    DependencyUnavailableError,
    LeaseLostError,
    OutboxFullError,
    ReindexNeededError,
    SubjectErasedError,
)
from keepsake.domain.pending import Outbox, PendingSessions
from keepsake.domain.profile import Profile
from keepsake.domain.profile_learner import ProfilePatterns, ProfileTurn, learn_from_conversation
from keepsake.domain.search import DocumentKind
from keepsake.domain.topics import TopicLexicon
from keepsake.domain.turns import Role, Turn
from keepsake.ports.item_store import Write
from keepsake.ports.surroundings import Clock
from keepsake.repositories.background import MAX_WRITES
from keepsake.repositories.keys import MEMORY_PREFIX, Keys
from keepsake.repositories.leases import Lease
from keepsake.repositories.refs import TruthRef
from keepsake.repositories.sessions import SessionChange, Sessions
from keepsake.services.indexing import Indexed
from keepsake.services.page_learning import LearnedPage, PageLearning
from keepsake.services.pages import Page, Pages
from keepsake.services.retrying import Retrying

# What the last transaction of a page writes beside confirmed pointers.
_OTHERS = 10
# So long the turns of a page wait for an index that takes nothing; they are in the log for two days more.
_PATIENCE_MS = 5 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What was done for one session. Not `complete`: time ran out, and the rest stays pending.

    `refused` counts documents that the index will never take, `dropped` what a model answered that could not be believed.
    """

    turns: int = 0
    memories: int = 0
    documents: int = 0
    refused: int = 0
    dropped: int = 0
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Consolidates sessions."""

    sessions: Sessions
    pages: Pages
    learning: PageLearning
    lexicon: TopicLexicon
    patterns: ProfilePatterns
    clock: Clock
    retrying: Retrying

    def consolidate(self, user_id: str, session_id: str, *, until_ms: int) -> ConsolidationReport:
        """Deal with a session's turns after its watermark, as far as there is time.

        Raises LeaseHeldError, LeaseLostError, ReindexNeededError, IndexUnavailableError, ModelUnavailableError, LostRaceError and
        StoreError: then what is not done stays pending.
        """
        with self.learning.leased.lease(user_id) as lease:
            return self._all_pages(lease, session_id, until_ms)

    def _all_pages(self, lease: Lease, session_id: str, until_ms: int) -> ConsolidationReport:
        report = ConsolidationReport()
        while page := self.pages.next(lease.user_id, session_id):
            if self.clock.now_ms() >= until_ms:
                return replace(report, complete=False)
            report = self._dealt_with(lease, page, report)
            if not page.more:
                break
        return report

    def _dealt_with(self, lease: Lease, page: Page, report: ConsolidationReport) -> ConsolidationReport:
        indexed, learned = Indexed((), 0), LearnedPage(())
        removed: list[Write] = []
        if page.turns:
            learned = self.learning.learn(lease, page)
            indexed, removed = self._indexed(lease, page, learned)
        self.retrying.call(lambda: self._finish(lease, page, indexed, removed))
        return ConsolidationReport(
            report.turns + len(page.turns),
            report.memories + learned.changed,
            report.documents + len(indexed.confirmed),
            report.refused + indexed.refused,
            report.dropped + learned.dropped,
        )

    def _indexed(self, lease: Lease, page: Page, learned: LearnedPage) -> tuple[Indexed, list[Write]]:
        """Tell the index of a page that was learned; what it took, and the writes that remove pointers to what it removed."""
        if (indexing := self.learning.indexing) is None:
            return Indexed((), 0), []
        try:
            difference = self.learning.difference(lease, page, learned, indexing)
            return indexing.put(lease, difference.drafts), indexing.removed_writes(lease, difference.gone)
        except (DependencyUnavailableError, ReindexNeededError):
            if self.clock.now_ms() - page.turns[0].timestamp_ms < _PATIENCE_MS:
                raise
            # Where also the outbox is full, the drift check finds the pointers, which are not confirmed.
            with suppress(OutboxFullError):
                self.retrying.call(lambda: self._put_off(lease, page, learned))
            return Indexed((), 0), []

    def _put_off(self, lease: Lease, page: Page, learned: LearnedPage) -> None:
        """Have the outbox remember what the index is to be told of a page. Raises OutboxFullError."""
        memories, user_id = self.learning.memories, lease.user_id
        state = memories.load(user_id)
        refs = [TruthRef(DocumentKind.SUMMARY, str(Keys(user_id, memories.keyed).summary(page.session_id).sort))]
        refs += [TruthRef(DocumentKind.MEMORY, MEMORY_PREFIX + slot_id) for slot_id in learned.touched]
        outbox = (state.outbox.value or Outbox()).with_refs(map(str, refs), self.clock.now_ms())
        put = memories.put_outbox(user_id, outbox, state.outbox, lease.fence)
        self.learning.leased.write_once(lease, state, [put], Action.INDEX_UPDATED, item=len(refs))

    def _finish(self, lease: Lease, page: Page, indexed: Indexed, removed: list[Write]) -> None:
        """Confirm the pointers, fold the page into the profile, and move the watermark."""
        now_ms, user_id = self.clock.now_ms(), lease.user_id
        snapshot = self.sessions.load(user_id, page.session_id, now_ms=now_ms, buffer=False)
        header = snapshot.header.value
        if header is None or snapshot.fence.revision > lease.fence.revision:
            raise LeaseLostError("something of the user was erased while this was under way")
        if header.watermark_ms >= page.end_ms:
            return  # an unanswered write of ours had taken effect
        moved = header.consolidated(page.end_ms, len(page.turns))
        profile = snapshot.profile.value or Profile()
        learned = learn_from_conversation(profile, _lessons(page.turns, profile), self.lexicon, self.patterns)
        pending = snapshot.pending.value or PendingSessions()
        waits = page.session_id in pending.since_ms
        counts = {"turn": len(page.turns), "document": len(indexed.confirmed), "profile": int(learned != profile)}
        change = SessionChange(
            at_ms=now_ms,
            header=moved,
            events=(AuditEvent(Action.SESSION_CONSOLIDATED, Actor.SCHEDULE, now_ms, counts, {}),),
            profile=learned if learned != profile else None,
            pending=pending.without_session(page.session_id) if waits and moved.pending_since_ms is None else None,
            others=tuple(self._confirmations(lease, indexed, removed)),
            background=True,
        )
        try:
            self.sessions.commit(user_id, page.session_id, snapshot, change)
        except SubjectErasedError as error:
            raise LeaseLostError("something of the user was erased while this was under way") from error

    def _confirmations(self, lease: Lease, indexed: Indexed, removed: list[Write]) -> list[Write]:
        """The writes of pointers, confirmed or removed, and of the lease; what does not fit beside the watermark comes first."""
        learning = self.learning
        writes = (learning.indexing.confirmed_writes(lease, indexed) if learning.indexing else []) + removed
        if len(writes) > MAX_WRITES - _OTHERS:
            learning.leased.write(lease, writes, Action.INDEX_UPDATED, document=len(writes))
            writes = []
        return [*learning.leased.held(lease), *writes]


def _lessons(turns: tuple[Turn, ...], profile: Profile) -> list[ProfileTurn]:
    """What the profile may learn from: the user's own words since the last reset, if all the user's principals may see them."""
    own = (turn for turn in turns if turn.role is Role.USER and turn.clearance.is_open)
    return [ProfileTurn(turn.text, turn.occurred_at_ms) for turn in own if turn.timestamp_ms > profile.reset_at_ms]

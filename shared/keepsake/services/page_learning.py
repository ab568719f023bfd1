"""Learning from a page of a session: its summary, memories, the archive, and what is to be found of it later.

All of it is written before the index hears of anything, pointers included, and the summary last: it says how far was learned, so
that after a crash nothing is asked of a model twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.domain.archive import ArchiveChunk, chunked
from keepsake.domain.audit import Action
from keepsake.domain.digest import Digest
from keepsake.domain.entities import EntityPatterns, entities_in
from keepsake.domain.memories.claims import Claims
from keepsake.domain.memories.histories import readings
from keepsake.domain.memories.values import Memory
from keepsake.domain.summary import SessionSummary, TurnReader
from keepsake.domain.turns import Role
from keepsake.ports.item_store import Write
from keepsake.repositories.leases import Lease
from keepsake.repositories.long_term import LearnedSession, LongTerm
from keepsake.repositories.memories import Memories, MemoryState
from keepsake.repositories.pointers import Pointer
from keepsake.repositories.stored import Stored
from keepsake.services.drafts import REACH, Draft, DraftMaker, Drafts, memories_prefix
from keepsake.services.indexing import Difference, Indexing
from keepsake.services.learning import ChangedSlot, Learning, SlotClaims, merged
from keepsake.services.leased_work import LeasedWork
from keepsake.services.pages import Page
from keepsake.services.statements import StatementSource

_Known = tuple[MemoryState, Stored[LearnedSession]]


@dataclass(frozen=True, slots=True)
class LearnedPage:
    """What a page has left to be indexed: the slots of memory it touched. `changed` counts those that it changed.

    `dropped` counts what a model answered that could not be believed. `turns` are the drafts of its turns, `summary` those
    of the session's summary, and `memories` those of memories that are new or other than before; None where the page was learned
    before a crash.
    """

    touched: tuple[str, ...]
    changed: int = 0
    dropped: int = 0
    turns: Sequence[Draft] | None = None
    summary: Sequence[Draft] | None = None
    memories: frozenset[Draft] | None = None


@dataclass(frozen=True, slots=True)
class PageLearning:
    """Learns from pages."""

    memories: Memories
    long_term: LongTerm
    leased: LeasedWork
    makes: DraftMaker
    indexing: Indexing | None
    learning: Learning
    source: StatementSource
    reader: TurnReader
    entities: EntityPatterns
    archive_ms: int

    def learn(self, lease: Lease, page: Page) -> LearnedPage:
        """Learn from a page, unless that was done before a crash.

        Raises ModelUnavailableError while a model is to be asked again, LostRaceError, LeaseLostError and StoreUnavailableError.
        """
        known = self._summary(lease, page.session_id)
        if known.value and known.value.summary.covered_ms >= page.last.timestamp_ms:
            return LearnedPage(known.value.touched)
        state = self.memories.load(lease.user_id)
        extracted = self.source.statements(lease.user_id, page, (state.digest.value or Digest()).entries)
        found = self.learning.from_turns(lease.user_id, page.session_id, page.turns, extracted.statements)
        turns = self._turn_drafts(lease, page, self.indexing) if self.indexing else []
        # What was read already serves the first attempt: where it is no longer so, the write is refused.
        fresh = [(state, known)]
        changed, summary, memories = self.leased.retrying.call(
            lambda: self._write(lease, page, found, turns, fresh.pop() if fresh else self._read(lease, page))
        )
        touched = tuple(one.slot_id for one in found)
        return LearnedPage(touched, changed, sum(extracted.dropped.values()), turns, summary, frozenset(memories))

    def difference(self, lease: Lease, page: Page, learned: LearnedPage, indexing: Indexing) -> Difference:
        """All that the index is to be told of a learned page: its turns and those before it whose windows it completes, the
        session's summary, and the memories it touched.
        """
        drafts = [*(self._turn_drafts(lease, page, indexing) if learned.turns is None else learned.turns)]
        if learned.summary is not None:
            drafts += learned.summary
        elif summary := self._summary(lease, page.session_id).value:
            drafts += self._drafts(lease).summary(page.session_id, summary)
        gone: list[Pointer] = []
        slots = self.memories.slots(lease.user_id, learned.touched, lease.fence)
        for slot_id, found in slots.items():
            memories = readings(slot_id, found.value) if found.value else ()
            wanted = self._drafts(lease).memories(memories)
            # What a slot held long ago is not embedded anew for each new thing that is said of it.
            drafts += [draft for draft in wanted if learned.memories is None or draft in learned.memories]
            gone += self._outlived(lease, slot_id, memories, wanted, indexing)
        return Difference(drafts, gone)

    def _outlived(
        self, lease: Lease, slot_id: str, memories: Sequence[Memory], wanted: Sequence[Draft], indexing: Indexing
    ) -> list[Pointer]:
        """Pointers to documents that a slot has no more: of what is denied now, or heard by other readers than before."""
        if all(memory.clearance.is_open and not memory.denied for memory in memories):
            return []
        there = indexing.pointers_under(lease.user_id, memories_prefix(slot_id))
        names = {draft.document_id for draft in wanted}
        return [pointer for pointer in there if pointer.document_id not in names]

    def _read(self, lease: Lease, page: Page) -> _Known:
        return self.memories.load(lease.user_id), self._summary(lease, page.session_id)

    def _write(
        self, lease: Lease, page: Page, found: Sequence[SlotClaims], turns: Sequence[Draft], read: _Known
    ) -> tuple[int, Sequence[Draft], Sequence[Draft]]:
        """Write all of it; how many slots of memory changed, drafts of the summary, and those of the memories that changed."""
        state, before = read
        slots = self.memories.slots(lease.user_id, (one.slot_id for one in found), lease.fence)
        changed = merged(found, slots)
        summary = (before.value.summary if before.value else SessionSummary()).extended(page.turns, self.reader)
        # Also what is not changed was touched: a crash may have come between the slots and the summary.
        learned = (before.value or LearnedSession(summary)).extended(summary, page.turns, tuple(one.slot_id for one in found))
        known = state.digest.value or Digest(checked_at_ms=self.leased.clock.now_ms())
        now = _as_they_are(found, slots, changed)
        told = {slot_id: readings(slot_id, claims) for slot_id, claims in now.items()}
        digest = known.with_slots(told)
        digest = digest.knowing(self._named(page))
        memories = [
            draft for one in found if one.slot_id in now for draft in self._new(lease, one, now[one.slot_id], told[one.slot_id])
        ]
        summaries = self._drafts(lease).summary(page.session_id, learned)
        writes = self._announced(lease, [*turns, *summaries, *memories]) + self._kept(lease, page, changed)
        if digest != state.digest.value:
            writes.append(self.memories.put_digest(lease.user_id, digest, state.digest, lease.fence))
        writes.append(self.long_term.put_summary(lease.user_id, page.session_id, learned, before, lease.fence))
        self.leased.write_once(lease, state, writes, Action.MEMORY_LEARNED, turn=len(page.turns), memory=len(changed))
        return len(changed), summaries, memories

    def _new(self, lease: Lease, found: SlotClaims, now: Claims, told: Sequence[Memory]) -> list[Draft]:
        """Drafts of a slot's memories that are new, or other than they would be without what this page claims.

        Not: other than they were. An attempt that did not come to its end may have written them, and told the index of none.
        """
        ids = frozenset(claim.claim_id for claim in found.claims)
        without = replace(now, claims=tuple(claim for claim in now.claims if claim.claim_id not in ids))
        makes = self._drafts(lease)
        known = frozenset(makes.memories(readings(found.slot_id, without)))
        return [draft for draft in makes.memories(told) if draft not in known]

    def _named(self, page: Page) -> Iterator[tuple[str, int]]:
        """What the user's own open turns name, which may be told to be known, and when."""
        for turn in page.turns:
            if turn.role is Role.USER and turn.clearance.is_open:
                yield from ((name, turn.occurred_at_ms) for name in entities_in(turn.text, self.entities))

    def _announced(self, lease: Lease, drafts: Sequence[Draft]) -> list[Write]:
        """The pointers of all that will be indexed."""
        return [*self.indexing.announced(lease.user_id, drafts, lease.fence)] if self.indexing else []

    def _kept(self, lease: Lease, page: Page, changed: Iterable[ChangedSlot]) -> list[Write]:
        """Archive and slots. Archived turns live as long from their own arrival as all others."""
        user_id, fence = lease.user_id, lease.fence
        writes: list[Write] = [
            self.long_term.put_chunk(user_id, chunk, chunk.turns[-1].timestamp_ms + self.archive_ms, fence)
            for chunk in self._chunks(page)
        ]
        writes += [self.memories.put_slot(user_id, slot.slot_id, slot.claims, slot.replaced, fence) for slot in changed]
        return writes

    def _turn_drafts(self, lease: Lease, page: Page, indexing: Indexing) -> list[Draft]:
        """Drafts of a page's turns, and of those before it whose windows reach into it; none without an archive."""
        chunks = self._chunks(page)
        if not chunks:
            return []
        makes = self._drafts(lease)
        refs = makes.refs_of(chunks)
        completed = {makes.keys.turn_document(page.session_id, turn.timestamp_ms): turn for turn in page.before[-REACH:]}
        known = indexing.pointers.load(lease.user_id, list(completed), lease.fence) if completed else {}
        refs |= {completed[document_id].timestamp_ms: pointer.ref for document_id, pointer in known.items()}
        turns = (*page.before, *page.turns)
        return makes.turns(
            page.session_id, turns, refs, {turn.timestamp_ms: turn.timestamp_ms + self.archive_ms for turn in turns}
        )

    def _chunks(self, page: Page) -> list[ArchiveChunk]:
        return list(chunked(page.session_id, page.turns)) if self.archive_ms else []

    def _drafts(self, lease: Lease) -> Drafts:
        return self.makes.of(lease.user_id)

    def _summary(self, lease: Lease, session_id: str) -> Stored[LearnedSession]:
        return self.long_term.summary(lease.user_id, session_id, lease.fence)


def _as_they_are(
    found: Iterable[SlotClaims], before: Mapping[str, Stored[Claims]], changed: Iterable[ChangedSlot]
) -> dict[str, Claims]:
    """All slots that were spoken of; also unchanged ones: a crash may have kept them from the digest and the index."""
    now = {one.slot_id: before[one.slot_id].value for one in found} | {slot.slot_id: slot.claims for slot in changed}
    return {slot_id: claims for slot_id, claims in now.items() if claims}

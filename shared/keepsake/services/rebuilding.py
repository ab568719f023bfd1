"""Rebuilding documents of the index from the truth, wherever they came from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.archive import ArchiveChunk
from keepsake.domain.memories.histories import readings
from keepsake.domain.search import DocumentKind
from keepsake.domain.turns import Turn
from keepsake.ports.surroundings import Clock
from keepsake.repositories.keys import ARCHIVE_PREFIX, MEMORY_PREFIX, unescaped
from keepsake.repositories.long_term import LongTerm, document_id_of, session_of_summary
from keepsake.repositories.memories import Memories
from keepsake.repositories.refs import TruthRef
from keepsake.repositories.stored import Fence
from keepsake.services.drafts import Draft, DraftMaker, Drafts


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """Makes drafts of documents by their references."""

    memories: Memories
    long_term: LongTerm
    makes: DraftMaker
    clock: Clock

    def drafts(self, owner: str, refs: Iterable[str], fence: Fence) -> Mapping[str, Draft]:
        """Drafts by document id, of all that still has a truth. May hold more than was asked for: what shares an item with it."""
        makes = self.makes.of(owner)
        by_kind: dict[DocumentKind, dict[str, None]] = {kind: {} for kind in DocumentKind}
        for ref in map(TruthRef.parse, refs):
            by_kind[ref.kind][ref.sort] = None
        found = [
            *self._turns(makes, by_kind[DocumentKind.TURN], fence),
            *self._memories(makes, by_kind[DocumentKind.MEMORY], fence),
            *self._summaries(makes, by_kind[DocumentKind.SUMMARY], fence),
            *self._passages(makes, by_kind[DocumentKind.DOCUMENT], fence),
        ]
        return {draft.document_id: draft for draft in found}

    def session(self, owner: str, session_id: str, fence: Fence) -> list[Draft]:
        """Drafts of all that is kept of a session: its archived turns and its summary."""
        makes = self.makes.of(owner)
        summary = str(makes.keys.summary(session_id).sort)
        return [*self._archived(makes, [session_id], fence), *self._summaries(makes, [summary], fence)]

    def _turns(self, makes: Drafts, sorts: Iterable[str], fence: Fence) -> list[Draft]:
        """All turns of the sessions that the chunks belong to, since windows reach over their ends."""
        sessions = dict.fromkeys(unescaped(sort.removeprefix(ARCHIVE_PREFIX).rpartition("#")[0]) for sort in sorts)
        return self._archived(makes, sessions, fence)

    def _archived(self, makes: Drafts, sessions: Iterable[str], fence: Fence) -> list[Draft]:
        drafts: list[Draft] = []
        for session_id in sessions:
            chunks = self.long_term.chunks(makes.keys.user_id, session_id, fence, now_ms=self.clock.now_ms())
            refs = makes.refs_of(chunk for chunk, _ in chunks)
            turns = _in_order(chunk for chunk, _ in chunks)
            expires = {turn.timestamp_ms: until_ms for chunk, until_ms in chunks for turn in chunk.turns}
            drafts += makes.turns(session_id, turns, refs, expires)
        return drafts

    def _memories(self, makes: Drafts, sorts: Iterable[str], fence: Fence) -> list[Draft]:
        slot_ids = [sort.removeprefix(MEMORY_PREFIX) for sort in sorts]
        found = self.memories.slots(makes.keys.user_id, slot_ids, fence)
        return [draft for slot_id, slot in found.items() if slot.value for draft in makes.memories(readings(slot_id, slot.value))]

    def _summaries(self, makes: Drafts, sorts: Iterable[str], fence: Fence) -> list[Draft]:
        drafts: list[Draft] = []
        for sort in sorts:
            session_id = session_of_summary(sort)
            learned = self.long_term.summary(makes.keys.user_id, session_id, fence).value
            if learned:
                drafts += makes.summary(session_id, learned)
        return drafts

    def _passages(self, makes: Drafts, sorts: Iterable[str], fence: Fence) -> list[Draft]:
        drafts: list[Draft] = []
        for sort in sorts:
            document = self.long_term.document(makes.keys.user_id, document_id_of(sort), fence).value
            if document:
                drafts += makes.passages(document)
        return drafts


def _in_order(chunks: Iterable[ArchiveChunk]) -> Sequence[Turn]:
    """The turns of chunks, each once: a chunk that was written again after a crash may overlap with the next."""
    turns = {turn.timestamp_ms: turn for chunk in chunks for turn in chunk.turns}
    return [turns[place] for place in sorted(turns)]

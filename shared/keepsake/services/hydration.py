"""From candidates to hits: the truth is read again before anything is answered, so that a stale document never speaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.clearance import Clearance
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.knowledge import INSTITUTION, KnowledgeKind, passages
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.memories.histories import history, value_of
from keepsake.domain.memories.values import Memory, Source, SourceType
from keepsake.domain.ranking import Ranked
from keepsake.domain.recall import RecallHit, confirmation_question
from keepsake.domain.search import Candidate, DocumentKind
from keepsake.domain.turns import Turn
from keepsake.ports.item_store import Item, Key, Table
from keepsake.repositories.long_term import chunk_of, document_of, is_past, learned_of, session_of_summary
from keepsake.repositories.memory_records import claims_of
from keepsake.repositories.records import read, whole
from keepsake.repositories.refs import TruthRef

_SOURCES = {KnowledgeKind.STORY: SourceType.STORY, KnowledgeKind.RECORDING: SourceType.RECORDING}


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads, and when: nothing above the clearance, written under an older epoch, or past its time is answered.

    `valid_at_ms` is the time for which it is answered; `past_only`: only what was said by then.
    """

    clearance: Clearance
    epoch: int
    now_ms: int
    valid_at_ms: int
    past_only: bool = False


def truth_key(candidate: Candidate) -> Key | None:
    """Where the truth of a candidate stands; None for a reference that no version of ours wrote."""
    try:
        return Key(Table.LONG_TERM, candidate.owner, TruthRef.parse(candidate.ref).sort)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Truth:
    """The items that were read again. Answers hits, or None for what is not, not any more, or not for this reader."""

    items: Mapping[Key, Item]
    attributes: Attributes
    reading: Reading

    def hit(self, ranked: Ranked) -> RecallHit | None:
        """The hit of a ranked candidate whose truth was read."""
        key = truth_key(ranked.candidate)
        item = self.items.get(key) if key else None
        if item is None or is_past(item, self.reading.now_ms):
            return None
        if ranked.candidate.owner != INSTITUTION and whole(item, "epoch", 0) < self.reading.epoch:
            return None
        try:
            hit = self._hit(TruthRef.parse(ranked.candidate.ref), item, ranked)
        except CorruptItemError:
            return None
        return hit if hit and self.reading.clearance.covers(hit.clearance) else None

    def _hit(self, ref: TruthRef, item: Item, ranked: Ranked) -> RecallHit | None:
        match ref.kind:
            case DocumentKind.TURN:
                turns = read(chunk_of, item).turns
                turn = next((turn for turn in turns if str(turn.timestamp_ms) == ref.part), None)
                return self.turn(turn, ranked) if turn else None
            case DocumentKind.MEMORY:
                claims = read(claims_of, item)
                heard = history(value_of(ref.part)[0], claims, self.reading.clearance)
                memory = next((memory for memory in heard if memory.memory_id == ref.part), None)
                return self.memory(memory, ranked) if memory else None
            case DocumentKind.SUMMARY:
                return self._summary(item, ranked)
            case DocumentKind.DOCUMENT:
                return self._passage(item, int(ref.part), ranked)

    def turn(self, turn: Turn, ranked: Ranked) -> RecallHit | None:
        """The hit of a turn, whether from the archive or from the log."""
        if not self.reading.clearance.covers(turn.clearance) or self._too_late(turn.occurred_at_ms):
            return None
        session_id = ranked.candidate.session_id
        return RecallHit(
            kind=DocumentKind.TURN,
            id=turn.turn_id,
            text=turn.text,
            score=ranked.score,
            parts=ranked.parts,
            occurred_at_ms=turn.occurred_at_ms,
            source=Source(SourceType.CONVERSATION, turn.occurred_at_ms, session_id, turn.turn_id),
            confidence=1.0,
            speaker=turn.name or turn.role.value,
            clearance=turn.clearance,
        )

    def memory(self, memory: Memory, ranked: Ranked) -> RecallHit | None:
        """The hit of a memory that holds at the time asked for."""
        policy = self.attributes.policy(memory.attribute, memory.type)
        if memory.denied or not policy.keeps(memory, self.reading.now_ms) or not memory.holds_at(self.reading.valid_at_ms):
            return None
        return RecallHit(
            kind=DocumentKind.MEMORY,
            id=memory.memory_id,
            text=memory.told,
            score=ranked.score,
            parts=ranked.parts,
            occurred_at_ms=memory.last_said_ms,
            source=memory.sources[-1],
            confidence=memory.confidence,
            question=confirmation_question(memory, policy, self.reading.now_ms),
            valid_to_ms=memory.valid_to_ms,
            clearance=memory.clearance,
        )

    def _summary(self, item: Item, ranked: Ranked) -> RecallHit | None:
        learned = read(learned_of, item)
        summary, said_ms = learned.summary.visible(self.reading.clearance), learned.said_ms(self.reading.clearance)
        if summary.is_empty or self._too_late(said_ms):
            return None
        session_id = session_of_summary(str(item.key.sort))
        return RecallHit(
            kind=DocumentKind.SUMMARY,
            id=session_id,
            text=summary.text(),
            score=ranked.score,
            parts=ranked.parts,
            occurred_at_ms=said_ms,
            source=Source(SourceType.CONVERSATION, said_ms, session_id),
            confidence=1.0,
            clearance=summary.clearance,
        )

    def _passage(self, item: Item, number: int, ranked: Ranked) -> RecallHit | None:
        document = read(document_of, item)
        found: Sequence[str] = passages(document.text)
        if number >= len(found) or self._too_late(document.occurred_at_ms):
            return None
        source = _SOURCES.get(document.kind, SourceType.DOCUMENT)
        return RecallHit(
            kind=DocumentKind.DOCUMENT,
            id=document.document_id,
            text=found[number],
            score=ranked.score,
            parts=ranked.parts,
            occurred_at_ms=document.occurred_at_ms,
            source=Source(source, document.occurred_at_ms, document_id=document.document_id),
            confidence=1.0,
            title=document.title,
            institutional=ranked.candidate.owner == INSTITUTION,
            clearance=document.clearance,
        )

    def _too_late(self, occurred_at_ms: int) -> bool:
        return self.reading.past_only and occurred_at_ms > self.reading.valid_at_ms

"""Drafts of index documents: what is to be found, worked out of the truth. The same truth always gives the same drafts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from keepsake.domain.analysis import index_terms
from keepsake.domain.archive import ArchiveChunk
from keepsake.domain.clearance import OPEN, Clearance, hearings
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.knowledge import KnowledgeDocument, passages
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.memories.values import USER, Memory
from keepsake.domain.search import DocumentKind
from keepsake.domain.text import folded, is_question
from keepsake.domain.turns import Role, Turn
from keepsake.repositories.keys import Keys
from keepsake.repositories.long_term import LearnedSession
from keepsake.repositories.refs import TruthRef, memory_ref

# Turns before and after one that are scored with it: windows of five turns.
REACH = 2


@dataclass(frozen=True, slots=True)
class Draft:
    """A document before it is embedded. `text` is what is embedded and excerpted, `terms` are of it."""

    document_id: str
    kind: DocumentKind
    ref: str
    text: str
    terms: tuple[str, ...]
    window_terms: tuple[str, ...]
    occurred_at_ms: int
    clearance: Clearance = OPEN
    session_id: str = ""
    speaker: str = ""
    role: str = ""
    retention_expires_ms: int | None = None


def is_searchable(turn: Turn) -> bool:
    """Whether a turn is something that somebody said. Results of tools are not searched."""
    return turn.role is not Role.TOOL


def spoken(turn: Turn) -> str:
    """A turn as it is searched: with who says it, where that is known by name."""
    return f"{turn.name}: {turn.text}" if turn.name else turn.text


def turn_terms(turn: Turn) -> tuple[str, ...]:
    """The terms of a turn as it is searched."""
    return index_terms(spoken(turn))


def speaker_of(turn: Turn) -> str:
    """The folded name of who speaks, empty where it is not known."""
    return folded(turn.name).strip() if turn.name else ""


def windowed(turns: Sequence[Turn]) -> list[tuple[Turn, tuple[str, ...], tuple[str, ...]]]:
    """Each of a session's turns with its own terms and those of its window, in order.

    A window is of the nearest turns that every reader of its turn may see: what is hidden lends no words, and shifts nothing.
    """
    terms = [turn_terms(turn) for turn in turns]
    windows: dict[int, tuple[str, ...]] = {}
    for clearance in dict.fromkeys(turn.clearance for turn in turns):
        seen = [place for place, turn in enumerate(turns) if clearance.covers(turn.clearance)]
        for at, place in enumerate(seen):
            if turns[place].clearance == clearance:
                near = seen[max(0, at - REACH) : at + REACH + 1]
                windows[place] = tuple(chain.from_iterable(terms[other] for other in near))
    return [(turn, terms[place], windows[place]) for place, turn in enumerate(turns)]


@dataclass(frozen=True, slots=True)
class DraftMaker:
    """Makes drafts for all owners."""

    keyed: KeyedHash
    attributes: Attributes

    def of(self, owner: str) -> "Drafts":
        """Drafts of one owner's items."""
        return Drafts(Keys(owner, self.keyed), self.attributes)


@dataclass(frozen=True, slots=True)
class Drafts:
    """Makes drafts of one owner's items."""

    keys: Keys
    attributes: Attributes

    @property
    def _keyed(self) -> KeyedHash:
        return self.keys.keyed

    def turns(
        self, session_id: str, turns: Sequence[Turn], refs: Mapping[int, str], expires_ms: Mapping[int, int]
    ) -> list[Draft]:
        """Drafts of those of a session's turns whose places `refs` knows; the others only lend their words to windows.

        `expires_ms` says by place when their retention ends.
        """
        said = [turn for turn in turns if is_searchable(turn)]
        return [
            Draft(
                document_id=self.keys.turn_document(session_id, turn.timestamp_ms),
                kind=DocumentKind.TURN,
                ref=refs[turn.timestamp_ms],
                text=spoken(turn),
                terms=terms,
                window_terms=window_terms,
                occurred_at_ms=turn.occurred_at_ms,
                clearance=turn.clearance,
                session_id=session_id,
                speaker=speaker_of(turn),
                role=turn.role.value,
                retention_expires_ms=expires_ms.get(turn.timestamp_ms),
            )
            for turn, terms, window_terms in windowed(said)
            if turn.timestamp_ms in refs
        ]

    def refs_of(self, chunks: Iterable[ArchiveChunk]) -> dict[int, str]:
        """Where the truth of each archived turn stands, by its place."""
        return {
            turn.timestamp_ms: str(TruthRef(DocumentKind.TURN, self._chunk_sort(chunk), str(turn.timestamp_ms)))
            for chunk in chunks
            for turn in chunk.turns
        }

    def _chunk_sort(self, chunk: ArchiveChunk) -> str:
        return str(self.keys.archive(chunk.session_id, chunk.first_place_ms).sort)

    def summary(self, session_id: str, learned: LearnedSession) -> list[Draft]:
        """Drafts of a session's summary, as each reader reads it; none of an empty one."""
        told: list[Draft] = []
        for hearing in sorted(hearings(clearance for clearance, _ in learned.said), key=lambda clearance: clearance.openness):
            view = learned.summary.visible(hearing)
            content = _answering(view.text())
            known = any(hearing.covers(draft.clearance) and draft.text == content for draft in told)
            if content.strip() and not known:
                told.append(self._summary(session_id, content, hearing, learned.said_ms(hearing)))
        return told

    def _summary(self, session_id: str, content: str, clearance: Clearance, said_ms: int) -> Draft:
        terms = index_terms(content)
        return Draft(
            "s." + self._keyed.of("summary-document", self.keys.user_id, session_id) + self._hearing(clearance),
            DocumentKind.SUMMARY,
            str(TruthRef(DocumentKind.SUMMARY, str(self.keys.summary(session_id).sort))),
            content,
            terms,
            terms,
            said_ms,
            clearance=clearance,
            session_id=session_id,
        )

    def memories(self, memories: Iterable[Memory]) -> list[Draft]:
        """Drafts of memories, those that hold no longer among them: somebody may ask for a past day."""
        return [self._memory(memory) for memory in memories if not memory.denied]

    def _memory(self, memory: Memory) -> Draft:
        """A memory is found by its words, as each reader hears them, and by those with which one asks for what it tells."""
        asked = self.attributes.policy(memory.attribute, memory.type).asked
        about = "" if memory.subject == USER else memory.subject
        content = " ".join(filter(None, (about, memory.attribute.replace("_", " "), memory.value, memory.text, asked)))
        terms = index_terms(content)
        needed = memory.clearance.joined(memory.heard)
        return Draft(
            "m." + memory.memory_id + self._hearing(needed),
            DocumentKind.MEMORY,
            str(memory_ref(memory.memory_id)),
            f"{memory.told}. {memory.text}" if memory.told != memory.text else memory.text,
            terms,
            terms,
            memory.last_said_ms,
            clearance=needed,
        )

    def _hearing(self, clearance: Clearance) -> str:
        """How the document of what some readers hear of a memory is told from what others do."""
        if clearance.is_open:
            return ""
        return "@" + self._keyed.short("hearing", str(clearance.level), *sorted(clearance.compartments))

    def passages(self, document: KnowledgeDocument) -> list[Draft]:
        """Drafts of a knowledge document's passages."""
        name = self.passages_prefix(document.document_id)
        sort = str(self.keys.document(document.document_id).sort)
        drafts = []
        for number, passage in enumerate(passages(document.text)):
            content = f"{document.title}\n{passage}"
            terms = index_terms(content)
            drafts.append(
                Draft(
                    f"{name}{number:05d}",
                    DocumentKind.DOCUMENT,
                    str(TruthRef(DocumentKind.DOCUMENT, sort, str(number))),
                    content,
                    terms,
                    terms,
                    document.occurred_at_ms,
                    clearance=document.clearance,
                )
            )
        return drafts

    def passages_prefix(self, document_id: str) -> str:
        """How the document ids of all passages of a knowledge document begin."""
        return "d." + self._keyed.of("passage-document", self.keys.user_id, document_id) + "."


def memories_prefix(slot_id: str) -> str:
    """How the document ids of all memories of a slot begin."""
    return f"m.{slot_id}."


def _answering(summary: str) -> str:
    """A summary's lines without those that only ask: who asks the same again looks for an answer."""
    return "\n".join(line for line in summary.split("\n") if not is_question(line))

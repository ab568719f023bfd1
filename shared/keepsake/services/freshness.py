"""Candidates that no index knows yet: turns that wait for consolidation, and the memories of the digest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.clearance import Clearance, visible
from keepsake.domain.memories.values import Memory
from keepsake.domain.search import Candidate, FieldStatistics
from keepsake.domain.turns import Turn
from keepsake.services.drafts import Draft, Drafts, is_searchable


@dataclass(frozen=True, slots=True)
class Fresh:
    """A candidate with what it stands for: a turn or a memory, read already."""

    candidate: Candidate
    turn: Turn | None = None
    memory: Memory | None = None
    terms: tuple[str, ...] = ()
    window_terms: tuple[str, ...] = ()


def fresh_turns(
    drafts: Drafts, session_id: str, turns: Sequence[Turn], clearance: Clearance, query: Sequence[str]
) -> list[Fresh]:
    """Candidates of a session's turns in the log, those that the clearance covers."""
    said = {turn.timestamp_ms: turn for turn in visible(clearance, turns) if is_searchable(turn)}
    made = drafts.turns(session_id, list(said.values()), dict.fromkeys(said, ""), {})
    owner = drafts.keys.user_id
    return [
        Fresh(_candidate(owner, draft, query), turn=turn, terms=draft.terms, window_terms=draft.window_terms)
        for draft, turn in zip(made, said.values(), strict=True)
    ]


def fresh_memories(drafts: Drafts, memories: Iterable[Memory], query: Sequence[str]) -> list[Fresh]:
    """Candidates of memories."""
    found = []
    for memory in memories:
        for draft in drafts.memories([memory]):
            candidate = _candidate(drafts.keys.user_id, draft, query, memory.importance)
            found.append(Fresh(candidate, memory=memory, terms=draft.terms, window_terms=draft.window_terms))
    return found


def with_fresh(statistics: FieldStatistics, fresh: Iterable[tuple[str, ...]], query: Sequence[str]) -> FieldStatistics:
    """The statistics of a field with more documents, given by their terms."""
    documents, length = statistics.documents, statistics.length
    frequencies: Counter[str] = Counter(statistics.frequencies)
    for terms in fresh:
        documents += 1
        length += len(terms)
        present = set(terms)
        frequencies.update(term for term in query if term in present)
    return FieldStatistics(documents, length, dict(frequencies))


def _candidate(owner: str, draft: Draft, query: Sequence[str], importance: float = 0.0) -> Candidate:
    return Candidate(
        owner=owner,
        document_id=draft.document_id,
        kind=draft.kind,
        ref=draft.ref,
        occurred_at_ms=draft.occurred_at_ms,
        matches=_matches(draft.terms, query),
        window_matches=_matches(draft.window_terms, query),
        length=len(draft.terms),
        window_length=len(draft.window_terms),
        cosine=None,
        clearance=draft.clearance,
        session_id=draft.session_id,
        speaker=draft.speaker,
        role=draft.role,
        importance=importance,
    )


def _matches(terms: Sequence[str], query: Sequence[str]) -> Mapping[str, int]:
    counted = Counter(terms)
    return {term: counted[term] for term in query if term in counted}

"""The search index in dictionaries: the plainest reading of the port, which every other one is held to."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log
from threading import Lock

from keepsake.domain.clearance import visible
from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import Candidate, FieldStatistics, Found, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import NO_INDEX, IndexedDocument, IndexedPage, Location, NotIndexed, PhysicalIndex

K1 = 1.5
B = 0.75

Terms = Callable[[IndexDocument], tuple[str, ...]]


@dataclass(slots=True)
class _Index:
    model: EmbeddingModel
    documents: dict[tuple[str, str], IndexDocument] = field(default_factory=dict)


class DictSearchIndex:
    """SearchIndex in dictionaries. What was put is found at once."""

    def __init__(self) -> None:
        self._indexes: dict[str, _Index] = {}
        self._current: str | None = None
        self._one_at_a_time = Lock()

    def current(self) -> PhysicalIndex | None:
        with self._one_at_a_time:
            if self._current is None:
                return None
            index = self._indexes[self._current]
            return PhysicalIndex(self._current, index.model, len(index.documents))

    def create(self, name: str, model: EmbeddingModel) -> None:
        with self._one_at_a_time:
            there = self._indexes.setdefault(name, _Index(model)).model
        if (there.name, there.dimensions) != (model.name, model.dimensions):
            raise ValueError("an index of that name holds vectors of another model")

    def switch(self, name: str) -> None:
        with self._one_at_a_time:
            if name not in self._indexes:
                raise ValueError("there is no index of that name")
            self._current = name

    def drop(self, name: str) -> None:
        with self._one_at_a_time:
            self._indexes.pop(name, None)
            if self._current == name:
                self._current = None

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        with self._one_at_a_time:
            there = self._indexes.get(index)
            if there is None:
                return tuple([NotIndexed(NO_INDEX, retryable=False) for _ in documents])
            if any(document.vector.dimensions != there.model.dimensions for document in documents):
                raise ValueError("a vector has not the dimensions of the index")
            there.documents.update({(document.owner, document.document_id): document for document in documents})
        return tuple([_location(index, document) for document in documents])

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        with self._one_at_a_time:
            for location in locations:
                if location.index in self._indexes:
                    self._indexes[location.index].documents.pop((location.routing, location.id), None)
        return tuple([True for _ in locations])

    def search(self, query: IndexQuery) -> Found:
        seen = self._seen(query)
        turn, window = (_statistics(query, seen, terms) for terms in (_turn, _window))
        chosen = [document for arm in _arms(query, seen, turn, window) for _, document in arm[: query.per_arm]]
        unique = {(document.owner, document.document_id): document for document in chosen}
        return Found(tuple([_candidate(query, document) for document in unique.values()]), turn, window)

    def arms(self, query: IndexQuery) -> list[list[tuple[float, tuple[str, str]]]]:
        """Each arm's scores of all that it finds, best first, with owners and document ids: for tests to say what ties."""
        seen = self._seen(query)
        turn, window = (_statistics(query, seen, terms) for terms in (_turn, _window))
        return [
            [(score, (document.owner, document.document_id)) for score, document in arm]
            for arm in _arms(query, seen, turn, window)
        ]

    def _seen(self, query: IndexQuery) -> tuple[IndexDocument, ...]:
        with self._one_at_a_time:
            name = query.index or self._current
            if query.index and query.index not in self._indexes and query.kinds and query.owners:
                raise IndexUnavailableError("the index that was asked for is gone")
            index = None if name is None else self._indexes.get(name)
            documents = [] if index is None else list(index.documents.values())
        return visible(query.clearance, [it for it in documents if it.owner in query.owners and it.kind in query.kinds])

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        with self._one_at_a_time:
            if self._current is None:
                return IndexedPage((), None)
            return self._page(self._current, limit, after, lambda document: document.owner == owner)

    def list_all(self, index: str, *, limit: int, after: str | None = None) -> IndexedPage:
        with self._one_at_a_time:
            if index not in self._indexes:
                return IndexedPage((), None)
            return self._page(index, limit, after, lambda _: True)

    def refresh(self) -> None:
        """Nothing is ever late here."""

    def _page(self, name: str, limit: int, after: str | None, wanted: Callable[[IndexDocument], bool]) -> IndexedPage:
        documents = self._indexes[name].documents
        positions = {json.dumps(key): document for key, document in documents.items() if wanted(document)}
        rest = sorted([position for position in positions if after is None or position > after])
        page = tuple([_listed(name, positions[position]) for position in rest[:limit]])
        return IndexedPage(page, rest[limit - 1] if len(rest) > limit else None)


def _location(index: str, document: IndexDocument) -> Location:
    return Location(index, document.document_id, document.owner)


def _listed(index: str, document: IndexDocument) -> IndexedDocument:
    return IndexedDocument(document.owner, document.document_id, document.kind, document.ref, _location(index, document))


# ---- searching ---------------------------------------------------------------------------------------------------------


def _turn(document: IndexDocument) -> tuple[str, ...]:
    return document.terms


def _window(document: IndexDocument) -> tuple[str, ...]:
    return document.window_terms


def _arms(
    query: IndexQuery, seen: Sequence[IndexDocument], turn: FieldStatistics, window: FieldStatistics
) -> list[list[tuple[float, IndexDocument]]]:
    """What each arm finds, best first; equals by document id, then by owner."""
    in_time = [document for document in seen if _is_in_time(query, document)]
    arms = [_scores(query, in_time, _turn, turn), _scores(query, in_time, _window, window), _cosines(query, in_time)]
    return [sorted(arm, key=lambda scored: (-scored[0], scored[1].document_id, scored[1].owner)) for arm in arms]


def _statistics(query: IndexQuery, seen: Sequence[IndexDocument], terms: Terms) -> FieldStatistics:
    return FieldStatistics(
        documents=len(seen),
        length=sum(len(terms(document)) for document in seen),
        frequencies={term: sum(term in terms(document) for document in seen) for term in query.terms},
    )


def _is_in_time(query: IndexQuery, document: IndexDocument) -> bool:
    early = query.since_ms is not None and document.occurred_at_ms < query.since_ms
    return not early and (query.until_ms is None or document.occurred_at_ms <= query.until_ms)


def _scores(
    query: IndexQuery, documents: Sequence[IndexDocument], terms: Terms, statistics: FieldStatistics
) -> list[tuple[float, IndexDocument]]:
    matching = [document for document in documents if not set(query.terms).isdisjoint(terms(document))]
    return [(bm25(query.terms, terms(document), statistics), document) for document in matching]


def bm25(wanted: Sequence[str], terms: Sequence[str], statistics: FieldStatistics) -> float:
    """What Lucene calls BM25, with k1 1.5 and b 0.75."""
    counts = Counter(terms)
    average = statistics.length / statistics.documents
    score = 0.0
    for term in wanted:
        frequency = statistics.frequencies[term]
        idf = log(1 + (statistics.documents - frequency + 0.5) / (frequency + 0.5))
        score += idf * counts[term] / (counts[term] + K1 * (1 - B + B * len(terms) / average))
    return score


def _cosines(query: IndexQuery, documents: Sequence[IndexDocument]) -> list[tuple[float, IndexDocument]]:
    scored = [(_cosine(query, document), document) for document in documents]
    return [(cosine, document) for cosine, document in scored if cosine is not None]


def _cosine(query: IndexQuery, document: IndexDocument) -> float | None:
    if query.vector is None or not (_has_direction(query.vector) and _has_direction(document.vector)):
        return None
    return query.vector.cosine(document.vector)


def _has_direction(vector: Vector) -> bool:
    return any(vector.values)


def _candidate(query: IndexQuery, document: IndexDocument) -> Candidate:
    counts, window = Counter(document.terms), Counter(document.window_terms)
    return Candidate(
        owner=document.owner,
        document_id=document.document_id,
        kind=document.kind,
        ref=document.ref,
        occurred_at_ms=document.occurred_at_ms,
        matches={term: counts[term] for term in query.terms if term in counts},
        window_matches={term: window[term] for term in query.terms if term in window},
        length=len(document.terms),
        window_length=len(document.window_terms),
        cosine=_cosine(query, document),
        epoch=document.epoch,
        clearance=document.clearance,
        session_id=document.session_id,
        speaker=document.speaker,
        role=document.role,
    )

"""Conversations in a search index, and several ways to find in them. In this process: the product's own parts, no service."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from keepsake.adapters.learning_files import load_attributes, load_query_words
from keepsake.domain.analysis import stemmed
from keepsake.domain.clearance import OPEN
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.queries import QueryReading, read_query
from keepsake.domain.ranking import RankingQuery, RankingWeights, rank
from keepsake.domain.ranking_weights import Feature, parse_ranking_weights
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.search import DocumentKind, Found, IndexDocument, IndexQuery
from keepsake.domain.text import terms
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
from keepsake.ports.search_index import SearchIndex
from keepsake.repositories.keys import Keys
from keepsake.services.drafts import Draft, Drafts
from keepsake.services.recall import PER_ARM
from tests.benchmarks.evidence import Answers
from tests.benchmarks.questions import DataSet, Question
from tests.contract.indexes import Bench

HITS = 50  # what one recall may ask for
_FUSED_FROM = 60  # reciprocal rank fusion's usual constant
_DIGEST_BYTES = 32
_KEYED = KeyedHash("1", b"benchmark")


class KeptVectors:
    """An embedder's vectors, kept in a file from one run to the next when one is named."""

    def __init__(self, embedder: Embedder, kept: Path | None = None) -> None:
        self._embedder = embedder
        self._kept = kept
        self._known: dict[bytes, bytes] = {}
        if kept and kept.exists():
            content, width = kept.read_bytes(), _DIGEST_BYTES + embedder.model.dimensions
            for at in range(0, len(content) - width + 1, width):
                self._known[content[at : at + _DIGEST_BYTES]] = content[at + _DIGEST_BYTES : at + width]

    @property
    def model(self) -> EmbeddingModel:
        """The embedder's."""
        return self._embedder.model

    def of(self, text: str, purpose: Purpose) -> Vector:
        """The text's vector."""
        digest = sha256(f"{self.model.name}\0{purpose}\0{text}".encode()).digest()
        if digest not in self._known:
            values = self._embedder.embed([for_embedding(text)], purpose)[0].values
            self._known[digest] = values
            if self._kept:
                with self._kept.open("ab") as file:
                    file.write(digest + values)
        return Vector(self._known[digest])


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what an index found for it as the product asks and as plain BM25 does, and the scale of its cosines."""

    question: Question
    query: RankingQuery
    found: Found
    plain_query: RankingQuery
    plain: Found


def fill(bench: Bench, data: DataSet, vectors: KeptVectors) -> None:
    """Put every turn into an empty index, each user's apart, with windows that stay within a session."""
    name = bench.ready("bench", vectors.model)
    for user, sessions in data.sessions.items():
        drafts = Drafts(Keys(user, _KEYED), load_attributes())
        for session_id, turns in sessions.items():
            refs = {turn.timestamp_ms: turn.turn_id for turn in turns}
            documents = [_document(user, draft, vectors) for draft in drafts.turns(session_id, turns, refs, {})]
            bench.index.put(documents, index=name)
    bench.index.refresh()


def _document(owner: str, draft: Draft, vectors: KeptVectors) -> IndexDocument:
    return IndexDocument(
        owner=owner,
        document_id=draft.document_id,
        kind=draft.kind,
        ref=draft.ref,
        terms=draft.terms,
        window_terms=draft.window_terms,
        vector=vectors.of(draft.text, Purpose.PASSAGE),
        occurred_at_ms=draft.occurred_at_ms,
        session_id=draft.session_id,
        speaker=draft.speaker,
        role=draft.role,
    )


def ask(index: SearchIndex, questions: Sequence[Question], vectors: KeptVectors, at_ms: int) -> Iterator[Asked]:
    """Search for every question."""
    vocabulary, model = load_query_words(), vectors.model
    for question in questions:
        reading = read_query(question.text, at_ms, vocabulary)
        vector = vectors.of(question.text, Purpose.QUERY)
        plain = QueryReading(tuple(dict.fromkeys(stemmed(terms(question.text)))), reading.words)
        query, plain_query = (RankingQuery(each, at_ms, model.weak_below, model.strong_above) for each in (reading, plain))
        yield Asked(
            question,
            query,
            index.search(_index_query(question.user_id, reading.terms, vector)),
            plain_query,
            index.search(_index_query(question.user_id, plain.terms, vector)),
        )


def _index_query(owner: str, words: tuple[str, ...], vector: Vector) -> IndexQuery:
    return IndexQuery((owner,), OPEN, frozenset({DocumentKind.TURN}), words, vector, per_arm=PER_ARM)


def plain_words(asked: Asked) -> list[str]:
    """BM25 of single turns, with all of the question's words."""
    return _turns(asked.plain_query, asked.plain, only(Feature.WORDS))


def plain_meaning(asked: Asked) -> list[str]:
    """Cosines alone."""
    return _turns(asked.query, asked.found, only(Feature.MEANING))


def equally_fused(asked: Asked) -> list[str]:
    """Reciprocal rank fusion of the two, equally weighted."""
    scores: dict[str, float] = {}
    for found in (plain_words(asked), plain_meaning(asked)):
        for place, turn_id in enumerate(found, start=1):
            scores[turn_id] = scores.get(turn_id, 0.0) + 1 / (_FUSED_FROM + place)
    return sorted(scores, key=lambda turn_id: (-scores[turn_id], turn_id))


def ranked(asked: Asked, weights: RankingWeights) -> list[str]:
    """Our ranking."""
    return _turns(asked.query, asked.found, weights)[:HITS]


def _turns(query: RankingQuery, found: Found, weights: RankingWeights) -> list[str]:
    result = rank(query, found.candidates, found.turn, found.window, weights)
    return [one.candidate.ref for one in result[:HITS]]


def only(feature: Feature) -> RankingWeights:
    """Weights under which nothing else counts."""
    shares: Mapping[str, object] = {each: float(each is feature) for each in Feature}
    return parse_ranking_weights({"weights": shares, "half_life_days": 90, "repeated": 0})


def answers(asked: Sequence[Asked], weights: RankingWeights) -> Answers:
    """What our ranking finds for each question."""
    return {each.question.question_id: ranked(each, weights) for each in asked}

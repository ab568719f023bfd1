"""Ranking: from candidates with features to an order. Pure, the same for every index; the weights stand in one data file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.dates import DateSpan
from keepsake.domain.search import Candidate, FieldStatistics


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """What a query asks, as far as ranking minds: its distinct terms, the speakers it names, the dates it names.

    `about_self`: it says I, me, my, mine and names nobody. `at_ms` is when it is asked. `weak_below` and `strong_above` are the
    embedding model's (`ports.embedding.EmbeddingModel`).
    """

    terms: tuple[str, ...]
    speakers: frozenset[str]
    about_self: bool
    dates: tuple[DateSpan, ...]
    at_ms: int
    weak_below: float
    strong_above: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score from 0 to about 1, and the parts that add up to it."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


def rank(
    query: RankingQuery, candidates: Sequence[Candidate], turn: FieldStatistics, window: FieldStatistics
) -> tuple[Ranked, ...]:
    """The candidates, best first; equals by document id, so that the order never depends on the index."""
    raise NotImplementedError

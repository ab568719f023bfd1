"""Ranking: from candidates with features to an order. Pure, the same for every index; the weights stand in one data file.

Every feature of every candidate lies between 0 and 1, and a score is their weighted sum. BM25 is divided by the best among the
candidates and a cosine is read on the model's own scale, so that a score means the same whatever else was found.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from keepsake.domain.ranking_features import FEATURES, RankingQuery, Scene
from keepsake.domain.ranking_weights import RankingWeights
from keepsake.domain.search import Candidate, FieldStatistics

__all__ = ["Ranked", "RankingQuery", "RankingWeights", "rank"]

_REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score from 0 to 1, and the parts that add up to it.

    A part is named as its feature (`ranking_weights.Feature`), or `repeated`, which alone is below 0. Parts of 0 are left out.
    """

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


def rank(
    query: RankingQuery, candidates: Sequence[Candidate], turn: FieldStatistics, window: FieldStatistics, weights: RankingWeights
) -> tuple[Ranked, ...]:
    """The candidates, best first; equals by document id, so that the order never depends on the index."""
    scene = Scene(query, tuple(sorted(candidates, key=_identity)), turn, window, weights)
    features = [(feature, share, FEATURES[feature](scene)) for feature, share in weights.shares.items() if share]
    ranked = [
        _ranked(candidate, {feature: share * values[at] for feature, share, values in features if values[at]})
        for at, candidate in enumerate(scene.candidates)
    ]
    ranked.sort(key=_order)
    return tuple(_without_repeats(ranked, weights.repeated))


def _identity(candidate: Candidate) -> tuple[str, str]:
    return candidate.document_id, candidate.owner


def _order(ranked: Ranked) -> tuple[float, str, str]:
    return -ranked.score, ranked.candidate.document_id, ranked.candidate.owner


def _ranked(candidate: Candidate, parts: Mapping[str, float]) -> Ranked:
    return Ranked(candidate, fsum(parts.values()), parts)


def _without_repeats(ranked: Sequence[Ranked], loss: float) -> Sequence[Ranked]:
    """Those that nothing tells from a better one lose a share each time, so that one sentence said often does not fill a list."""
    alike = Counter((one.candidate.length, one.candidate.cosine) for one in ranked)
    if len(alike) == len(ranked):
        return ranked
    seen: Counter[object] = Counter()
    result = []
    for one in ranked:
        candidate = one.candidate
        if alike[candidate.length, candidate.cosine] > 1:
            signature = (candidate.kind, candidate.length, candidate.cosine, frozenset(candidate.matches.items()))
            lost = one.score * ((1 - loss) ** seen[signature] - 1)
            seen[signature] += 1
            result.append(_ranked(candidate, {**one.parts, _REPEATED: lost}) if lost else one)
        else:
            result.append(one)
    return sorted(result, key=_order)

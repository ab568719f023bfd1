"""Ranking: from candidates with features to an order. Pure, the same for every index; the weights stand in one data file.

Every feature of every candidate lies between 0 and 1, and a score is their weighted sum. BM25 is divided by the best among the
candidates and a cosine is read on the model's own scale, so that a score means the same whatever else was found.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log
from types import MappingProxyType

from keepsake.domain.dates import DateSpan, Grain
from keepsake.domain.queries import QueryReading
from keepsake.domain.search import Candidate, FieldStatistics
from keepsake.domain.text import terms

_K1, _B = 1.5, 0.75  # of BM25, as usual; others were measured and hurt long texts
_DAY_MS = 86_400_000
_FOLLOWING_DAYS = 14  # after a day, in which one still speaks of it
_LEADING_DAYS = 3
_FALL_A_DAY = 0.04
_ANNOUNCED = 0.5
_NEXT_MONTH, _MONTH_MS = 0.4, 31 * _DAY_MS
_WHOLE_YEAR = 0.3
_UNSPOKEN = 0.5  # what memories, summaries and documents have of a speaker: they may well be about them
_USER = "user"


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """How much each feature counts (`shares` add up to 1), and what recency and repetition mean.

    `half_life_days`: after so long, recency has halved. `repeated`: what each further candidate like a better one loses.
    """

    shares: Mapping[str, float]
    half_life_days: float
    repeated: float


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """A query as it was read, when it is asked, and the scale of the cosines (`ports.embedding.EmbeddingModel`)."""

    reading: QueryReading
    at_ms: int
    weak_below: float
    strong_above: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score from 0 to 1, and the parts that add up to it; parts of nothing are left out."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


def rank(
    query: RankingQuery, candidates: Sequence[Candidate], turn: FieldStatistics, window: FieldStatistics, weights: RankingWeights
) -> tuple[Ranked, ...]:
    """The candidates, best first; equals by document id, so that the order never depends on the index."""
    scene = _Scene(query, tuple(sorted(candidates, key=_identity)), turn, window, weights)
    features = [(name, share, _FEATURES[name](scene)) for name, share in weights.shares.items() if share]
    ranked = [
        _ranked(candidate, {name: share * values[at] for name, share, values in features if values[at]})
        for at, candidate in enumerate(scene.candidates)
    ]
    ranked.sort(key=_order)
    return tuple(sorted(_without_repeats(ranked, weights.repeated), key=_order))


def _identity(candidate: Candidate) -> tuple[str, str]:
    return candidate.document_id, candidate.owner


def _order(ranked: Ranked) -> tuple[float, str, str]:
    return -ranked.score, ranked.candidate.document_id, ranked.candidate.owner


def _ranked(candidate: Candidate, parts: Mapping[str, float]) -> Ranked:
    return Ranked(candidate, fsum(parts.values()), parts)


def _without_repeats(ranked: Sequence[Ranked], loss: float) -> list[Ranked]:
    """Those that nothing tells from a better one lose a share each time, so that one sentence said often does not fill a list."""
    seen: Counter[object] = Counter()
    result = []
    for one in ranked:
        candidate = one.candidate
        signature = (candidate.kind, candidate.length, candidate.cosine, frozenset(candidate.matches.items()))
        lost = one.score * ((1 - loss) ** seen[signature] - 1)
        seen[signature] += 1
        result.append(_ranked(candidate, {**one.parts, "repeated": lost}) if lost else one)
    return result


@dataclass(frozen=True)
class _Scene:
    """All that features are made of; candidates in an order of their own, so that sums do not depend on the index's."""

    query: RankingQuery
    candidates: Sequence[Candidate]
    turn: FieldStatistics
    window_statistics: FieldStatistics
    weights: RankingWeights

    @cached_property
    def idf(self) -> Mapping[str, float]:
        return _idf(self.query.reading.terms, self.turn)

    @cached_property
    def words(self) -> list[float]:
        return _bm25(self.idf, self.turn, [(one.matches, one.length) for one in self.candidates])

    @cached_property
    def window(self) -> list[float]:
        idf = _idf(self.query.reading.terms, self.window_statistics)
        return _bm25(idf, self.window_statistics, [(one.window_matches, one.window_length) for one in self.candidates])

    @cached_property
    def lexical(self) -> list[float]:
        words, window = self.weights.shares.get("words", 0.0), self.weights.shares.get("window", 0.0)
        both = (words + window) or 1.0
        return [(words * left + window * right) / both for left, right in zip(self.words, self.window, strict=True)]


def _idf(query: Sequence[str], statistics: FieldStatistics) -> dict[str, float]:
    """Lucene's: ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""
    found = ((term, min(statistics.frequencies.get(term, 0), statistics.documents)) for term in query)
    return {term: log(1 + (statistics.documents - many + 0.5) / (many + 0.5)) for term, many in found}


def _bm25(idf: Mapping[str, float], statistics: FieldStatistics, found: Sequence[tuple[Mapping[str, int], int]]) -> list[float]:
    """BM25 of each, divided by the greatest."""
    if not found:
        return []
    usual = statistics.length / statistics.documents if statistics.documents else sum(length for _, length in found) / len(found)
    scores = []
    for matches, length in found:
        slack = _K1 * (1 - _B + _B * length / (usual or 1.0))
        scores.append(fsum(idf.get(term, 0.0) * many / (many + slack) for term, many in matches.items()))
    best = max(scores)
    return [score / best for score in scores] if best else scores


def _meaning(scene: _Scene) -> list[float]:
    """Cosines on the model's scale; where one is missing, what candidates with as many of the words usually have.

    It rises from the weakest cosine found, for no word, to that of the candidates with the best words, for the best words. With
    no cosine at all, the words stand for the meaning, so that scores keep their scale.
    """
    weak, width = scene.query.weak_below, scene.query.strong_above - scene.query.weak_below
    known = [
        None if one.cosine is None else min(max((one.cosine - weak) / width, 0.0), 1.0) if width > 0 else max(one.cosine, 0.0)
        for one in scene.candidates
    ]
    if None not in known:
        return [value or 0.0 for value in known]
    pairs = [(value, weight) for value, weight in zip(known, scene.lexical, strict=True) if value is not None]
    low, high = 0.0, 1.0
    if pairs:
        low = min(value for value, _ in pairs)
        square = fsum(weight * weight for _, weight in pairs)
        high = fsum(value * weight * weight for value, weight in pairs) / square if square else low
    return [low + (high - low) * words if value is None else value for value, words in zip(known, scene.lexical, strict=True)]


def _words(scene: _Scene) -> list[float]:
    return scene.words


def _window(scene: _Scene) -> list[float]:
    return scene.window


def _speaker(scene: _Scene) -> list[float]:
    """Whether the one speaks whom the query names; or the user, when it names nobody and says I, me, my, mine."""
    reading = scene.query.reading
    named = [name for name in {one.speaker for one in scene.candidates} if _is_named(name, reading.words)]
    if len(named) > 1 or not (named or reading.about_self):
        return [0.0] * len(scene.candidates)
    spoken = [one.speaker == named[0] if named else one.role == _USER for one in scene.candidates]
    return [1.0 if match else 0.0 if one.role else _UNSPOKEN for match, one in zip(spoken, scene.candidates, strict=True)]


def _is_named(name: str, words: frozenset[str]) -> bool:
    """Whether the words hold a name, or its first word."""
    parts = [found for found in map(terms, name.split()) if found]
    return bool(parts) and (words.issuperset(parts[0]) or all(map(words.issuperset, parts)))


def _date(scene: _Scene) -> list[float]:
    """How near each is to a date that the query names."""
    dates = scene.query.reading.dates
    if not dates:
        return [0.0] * len(scene.candidates)
    return [max(_nearness(span, one.occurred_at_ms) for span in dates) for one in scene.candidates]


def _nearness(span: DateSpan, at_ms: int) -> float:
    """1 within a day or month. A day is spoken of for two weeks, ever less, and announced before; a month, in the next."""
    within = span.from_ms <= at_ms < span.to_ms
    if span.grain is Grain.YEAR:
        return _WHOLE_YEAR if within else 0.0
    if within:
        return 1.0
    late = at_ms - span.to_ms
    if span.grain is Grain.MONTH:
        return _NEXT_MONTH if 0 <= late < _MONTH_MS else 0.0
    if late >= 0:
        days = late // _DAY_MS + 1
        return 1.0 - _FALL_A_DAY * days if days <= _FOLLOWING_DAYS else 0.0
    return _ANNOUNCED if span.from_ms - at_ms <= _LEADING_DAYS * _DAY_MS else 0.0


def _session(scene: _Scene) -> list[float]:
    """How much of the query's words, by their rarity, the candidates of the same session hold together."""
    idf = scene.idf
    total = fsum(idf.values())
    held: dict[tuple[str, str], set[str]] = {}
    for one in scene.candidates:
        if one.session_id:
            held.setdefault((one.owner, one.session_id), set()).update(one.matches)
    shares = {key: fsum(idf.get(term, 0.0) for term in sorted(found)) / total if total else 0.0 for key, found in held.items()}
    return [shares.get((one.owner, one.session_id), 0.0) for one in scene.candidates]


def _recency(scene: _Scene) -> list[float]:
    half_life = scene.weights.half_life_days * _DAY_MS
    return [0.5 ** (max(0, scene.query.at_ms - one.occurred_at_ms) / half_life) for one in scene.candidates]


def _importance(scene: _Scene) -> list[float]:
    return [min(max(one.importance, 0.0), 1.0) for one in scene.candidates]


def _codes(scene: _Scene) -> list[float]:
    """The share of the query's case numbers and the like that stand in each."""
    codes = scene.query.reading.codes
    if not codes:
        return [0.0] * len(scene.candidates)
    return [sum(code in one.matches for code in codes) / len(codes) for one in scene.candidates]


_FEATURES: Mapping[str, Callable[[_Scene], list[float]]] = MappingProxyType(
    {
        "meaning": _meaning,
        "words": _words,
        "window": _window,
        "speaker": _speaker,
        "date": _date,
        "session": _session,
        "recency": _recency,
        "importance": _importance,
        "codes": _codes,
    }
)


def parse_ranking_weights(table: Mapping[str, object]) -> RankingWeights:
    """The weights of a parsed data file. Raises ValueError where it makes no sense; shares are scaled to add up to 1."""
    shares = table.get("weights")
    if not isinstance(shares, dict) or set(shares) != set(_FEATURES):
        raise ValueError(f"ranking: weights are those of {', '.join(_FEATURES)}")
    values = {name: _number(shares, name) for name in _FEATURES}
    total = fsum(values.values())
    if not total:
        raise ValueError("ranking: not all weights may be 0")
    half_life, repeated = _number(table, "half_life_days"), _number(table, "repeated")
    if not half_life or repeated > 1:
        raise ValueError("ranking: half_life_days is above 0, and repeated at most 1")
    return RankingWeights(MappingProxyType({name: value / total for name, value in values.items()}), half_life, repeated)


def _number(table: Mapping[str, object], key: str) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"ranking: {key} is a number from 0")
    return float(value)

"""What speaks for a candidate: every feature that ranking weighs, each between 0 and 1, for all candidates of one query."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from types import MappingProxyType

from keepsake.domain.bm25 import bm25, rarities
from keepsake.domain.dates import DateSpan, Grain
from keepsake.domain.queries import QueryReading
from keepsake.domain.ranking_weights import Feature, RankingWeights
from keepsake.domain.search import Candidate, FieldStatistics
from keepsake.domain.text import terms
from keepsake.domain.turns import Role

_DAY_MS = 86_400_000
_FOLLOWING_DAYS = 14  # after a day, in which one still speaks of it
_FALL_A_DAY = 0.04
_LEADING_DAYS = 3  # before a day, in which it is announced
_ANNOUNCED = 0.5
_NEXT_MONTH, _MONTH_MS = 0.4, 31 * _DAY_MS
_WHOLE_YEAR = 0.3
_UNSPOKEN = 0.5  # what memories, summaries and documents have of a speaker: they may well be about them


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """A query as it was read, when it is asked, and the scale of the cosines (`ports.embedding.EmbeddingModel`).

    Raises ValueError when the scale has no width.
    """

    reading: QueryReading
    at_ms: int
    weak_below: float
    strong_above: float

    def __post_init__(self) -> None:
        """Checks the scale."""
        if not self.weak_below < self.strong_above:
            raise ValueError("a scale of cosines ends above where it begins")


@dataclass(frozen=True)
class Scene:
    """All that features are made of. The candidates stand in an order of their own, so that sums do not depend on the index's."""

    query: RankingQuery
    candidates: Sequence[Candidate]
    turn_statistics: FieldStatistics
    window_statistics: FieldStatistics
    weights: RankingWeights

    @cached_property
    def rarity(self) -> Mapping[str, float]:
        """Of each of the query's terms among the turns."""
        return rarities(self.query.reading.terms, self.turn_statistics)

    @cached_property
    def words(self) -> list[float]:
        """BM25 of the turns, divided by the best."""
        return _relative(bm25(self.rarity, self.turn_statistics, [(one.matches, one.length) for one in self.candidates]))

    @cached_property
    def window(self) -> list[float]:
        """BM25 of the turns with their neighbours, divided by the best."""
        rarity = rarities(self.query.reading.terms, self.window_statistics)
        texts = [(one.window_matches, one.window_length) for one in self.candidates]
        return _relative(bm25(rarity, self.window_statistics, texts))

    @cached_property
    def meaning(self) -> list[float]:
        """Cosines on the model's scale; where one is missing, what may be expected by the words.

        For the best words it is what candidates with good words have; for fewer it falls to the middle of all cosines found,
        for none to the weakest. So what is not embedded yet has its fair share of a list. With no cosine at all, the words stand
        for the meaning, so that scores keep their scale.
        """
        lexical = _mean(self.weights, Feature.WORDS, self.words, Feature.WINDOW, self.window)
        weak, width = self.query.weak_below, self.query.strong_above - self.query.weak_below
        known = [None if one.cosine is None else min(max((one.cosine - weak) / width, 0.0), 1.0) for one in self.candidates]
        if None not in known:
            return [value or 0.0 for value in known]
        pairs = [(value, words) for value, words in zip(known, lexical, strict=True) if value is not None]
        expected = _expectation(pairs) if pairs else lambda words: words
        return [expected(words) if value is None else value for value, words in zip(known, lexical, strict=True)]


def _expectation(pairs: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """What meaning to expect by the words, from what others have of both. More words never make it less."""
    found = sorted(value for value, _ in pairs)
    weakest, middle = found[0], found[len(found) // 2]
    evidence = fsum([words * words for _, words in pairs])
    best = max(fsum([value * words * words for value, words in pairs]) / evidence, middle) if evidence else middle
    return lambda words: middle + (best - middle) * words if words else weakest


def _relative(scores: list[float]) -> list[float]:
    best = max(scores, default=0.0)
    return [score / best for score in scores] if best else scores


def _mean(weights: RankingWeights, first: Feature, left: Sequence[float], second: Feature, right: Sequence[float]) -> list[float]:
    """The mean of two features by their weights; a plain one where neither has any."""
    one, other = weights.shares[first], weights.shares[second]
    share = one / (one + other) if one + other else 0.5
    return [share * value + (1 - share) * beside for value, beside in zip(left, right, strict=True)]


def _neighbours(scene: Scene) -> list[float]:
    """Meaning and words of the better of the candidates just before and just after it in its session."""
    own = _mean(scene.weights, Feature.MEANING, scene.meaning, Feature.WORDS, scene.words)
    best = [0.0] * len(own)
    last: dict[tuple[str, str], int] = {}
    for at in sorted(range(len(own)), key=lambda at: scene.candidates[at].occurred_at_ms):
        session = _session_of(scene.candidates[at])
        before = last.get(session)
        if before is not None and session[1]:
            best[at], best[before] = own[before], max(best[before], own[at])
        last[session] = at
    return best


def _session(scene: Scene) -> list[float]:
    """How much of the query's words, by their rarity, the candidates of the same session hold together."""
    total = fsum(scene.rarity.values())
    held: dict[tuple[str, str], set[str]] = {}
    for one in scene.candidates:
        held.setdefault(_session_of(one), set()).update(one.matches if one.session_id else ())
    shares = {session: fsum(scene.rarity.get(term, 0.0) for term in found) / (total or 1.0) for session, found in held.items()}
    return [shares[_session_of(one)] for one in scene.candidates]


def _session_of(candidate: Candidate) -> tuple[str, str]:
    return candidate.owner, candidate.session_id


def _speaker(scene: Scene) -> list[float]:
    """Whether the one speaks whom the query names; or the user, when it names nobody and says I, me, my, mine."""
    reading = scene.query.reading
    named = [name for name in {one.speaker for one in scene.candidates} if _is_named(name, reading.words)]
    if len(named) > 1 or not (named or reading.about_self):
        return [0.0] * len(scene.candidates)
    spoken = [one.speaker == named[0] if named else one.role == Role.USER for one in scene.candidates]
    return [1.0 if match else 0.0 if one.role else _UNSPOKEN for match, one in zip(spoken, scene.candidates, strict=True)]


def _is_named(name: str, words: frozenset[str]) -> bool:
    """Whether the words hold a name, or its first word."""
    parts = [found for found in map(terms, name.split()) if found]
    return bool(parts) and (words.issuperset(parts[0]) or all(map(words.issuperset, parts)))


def _date(scene: Scene) -> list[float]:
    """How near each is to a date that the query names."""
    dates = scene.query.reading.dates
    return [max((_nearness(span, one.occurred_at_ms) for span in dates), default=0.0) for one in scene.candidates]


def _nearness(span: DateSpan, at_ms: int) -> float:
    """1 within a day or month. A day is spoken of for two weeks, ever less, and announced before; a month, in the next one."""
    within = span.from_ms <= at_ms < span.to_ms
    if span.grain is Grain.YEAR:
        return _WHOLE_YEAR if within else 0.0
    if within:
        return 1.0
    late_ms = at_ms - span.to_ms
    if span.grain is Grain.MONTH:
        return _NEXT_MONTH if 0 <= late_ms < _MONTH_MS else 0.0
    if late_ms >= 0:
        days = late_ms // _DAY_MS + 1
        return 1.0 - _FALL_A_DAY * days if days <= _FOLLOWING_DAYS else 0.0
    return _ANNOUNCED if span.from_ms - at_ms <= _LEADING_DAYS * _DAY_MS else 0.0


def _codes(scene: Scene) -> list[float]:
    """The share of the query's case numbers and the like that stand in each."""
    codes = scene.query.reading.codes
    return [sum(code in one.matches for code in codes) / len(codes) if codes else 0.0 for one in scene.candidates]


def _recency(scene: Scene) -> list[float]:
    half_life_ms = scene.weights.half_life_days * _DAY_MS
    return [0.5 ** (max(0, scene.query.at_ms - one.occurred_at_ms) / half_life_ms) for one in scene.candidates]


def _importance(scene: Scene) -> list[float]:
    return [min(max(one.importance, 0.0), 1.0) for one in scene.candidates]


FEATURES: Mapping[Feature, Callable[[Scene], list[float]]] = MappingProxyType(
    {
        Feature.MEANING: lambda scene: scene.meaning,
        Feature.WORDS: lambda scene: scene.words,
        Feature.WINDOW: lambda scene: scene.window,
        Feature.NEIGHBOURS: _neighbours,
        Feature.SESSION: _session,
        Feature.SPEAKER: _speaker,
        Feature.DATE: _date,
        Feature.CODES: _codes,
        Feature.RECENCY: _recency,
        Feature.IMPORTANCE: _importance,
    }
)

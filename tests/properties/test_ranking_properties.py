from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.learning_files import load_ranking_weights
from keepsake.domain.dates import DateSpan, Grain
from keepsake.domain.queries import QueryReading
from keepsake.domain.ranking import Ranked, RankingQuery, rank
from keepsake.domain.ranking_weights import Feature
from keepsake.domain.search import Candidate, DocumentKind, FieldStatistics

TERMS = ("kayak", "blue", "b12")
DAY_MS = 86_400_000
WEIGHTS = load_ranking_weights()

matches = st.dictionaries(st.sampled_from(TERMS), st.integers(1, 5))
candidates = st.builds(
    Candidate,
    owner=st.sampled_from(["ann", "library"]),
    document_id=st.text("abcdef", min_size=1, max_size=3),
    kind=st.sampled_from(DocumentKind),
    ref=st.just(""),
    occurred_at_ms=st.integers(0, 8).map(lambda month: month * 50 * DAY_MS),
    matches=matches,
    window_matches=matches,
    length=st.integers(0, 200),
    window_length=st.integers(0, 1000),
    cosine=st.none() | st.floats(-1, 1),
    session_id=st.sampled_from(["", "s", "t"]),
    speaker=st.sampled_from(["", "nora", "tom lind", " "]),
    role=st.sampled_from(["", "user", "assistant"]),
    importance=st.floats(-1, 2),
)
some = st.lists(candidates, max_size=12, unique_by=lambda one: (one.owner, one.document_id))
statistics = st.builds(
    FieldStatistics,
    st.integers(0, 1000),
    st.integers(0, 100_000),
    st.dictionaries(st.sampled_from(TERMS), st.integers(0, 2000)),
)
spans = st.builds(
    lambda start, days, grain: DateSpan(start, start + days * DAY_MS, grain, 0, 1),
    st.integers(0, 400 * DAY_MS),
    st.integers(1, 40),
    st.sampled_from(Grain),
)
queries = st.builds(
    lambda words, dates, about_self: RankingQuery(
        QueryReading(TERMS, frozenset(words), frozenset({"b12"}), about_self, tuple(dates)), 400 * DAY_MS, 0.7, 0.9
    ),
    st.sets(st.sampled_from(["nora", "tom", "kayak"])),
    st.lists(spans, max_size=2),
    st.booleans(),
)


def ranking(query: RankingQuery, found: list[Candidate], turn: FieldStatistics, window: FieldStatistics) -> tuple[Ranked, ...]:
    return rank(query, found, turn, window, WEIGHTS)


@given(queries, some, statistics, statistics)
def test_scores_lie_between_nothing_and_one_and_are_the_sum_of_their_parts(
    query: RankingQuery, found: list[Candidate], turn: FieldStatistics, window: FieldStatistics
) -> None:
    result = ranking(query, found, turn, window)
    assert len(result) == len(found)
    for one in result:
        assert -1e-9 <= one.score <= 1 + 1e-9
        assert abs(sum(one.parts.values()) - one.score) < 1e-9
        assert all(0 <= one.parts.get(feature, 0.0) <= WEIGHTS.shares[feature] + 1e-9 for feature in Feature)
        assert one.parts.get("repeated", 0.0) <= 0


@given(queries, some, statistics, statistics, st.randoms(use_true_random=False))
def test_the_order_in_which_an_index_answers_changes_nothing(
    query: RankingQuery, found: list[Candidate], turn: FieldStatistics, window: FieldStatistics, chance: object
) -> None:
    shuffled = [replace(one, matches=_turned(one.matches), window_matches=_turned(one.window_matches)) for one in found]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ranking(query, shuffled, turn, window) == ranking(query, found, turn, window)


def _turned(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(reversed(list(counts.items())))


@given(queries, some, statistics, statistics)
def test_equals_stand_by_their_ids(
    query: RankingQuery, found: list[Candidate], turn: FieldStatistics, window: FieldStatistics
) -> None:
    order = [(-one.score, one.candidate.document_id, one.candidate.owner) for one in ranking(query, found, turn, window)]
    assert order == sorted(order)


@given(queries, some, candidates, statistics, statistics, st.sampled_from(["cosine", "words", "window", "importance"]))
def test_more_of_a_feature_never_takes_its_part_away(
    query: RankingQuery, found: list[Candidate], one: Candidate, turn: FieldStatistics, window: FieldStatistics, what: str
) -> None:
    one = replace(one, document_id="z", cosine=one.cosine or 0.0)
    better = {
        "cosine": replace(one, cosine=(one.cosine or 0.0) + 0.1),
        "words": replace(one, matches={**one.matches, "kayak": one.matches.get("kayak", 0) + 1}),
        "window": replace(one, window_matches={**one.window_matches, "blue": one.window_matches.get("blue", 0) + 1}),
        "importance": replace(one, importance=one.importance + 0.1),
    }[what]
    part = "meaning" if what == "cosine" else what
    before, after = (_parts(ranking(query, [*found, each], turn, window), "z").get(part, 0.0) for each in (one, better))
    assert after >= before - 1e-12


def _parts(result: tuple[Ranked, ...], name: str) -> Mapping[str, float]:
    return next(one.parts for one in result if one.candidate.document_id == name)

from collections import Counter
from dataclasses import replace
from math import log

import pytest

from keepsake.adapters.learning_files import load_query_words, load_ranking_weights
from keepsake.domain.analysis import index_terms
from keepsake.domain.bm25 import bm25, rarities
from keepsake.domain.dates import DateSpan, Grain
from keepsake.domain.queries import QueryReading, read_query
from keepsake.domain.ranking import Ranked, RankingQuery, RankingWeights, rank
from keepsake.domain.ranking_weights import Feature, InvalidRankingWeightsError, parse_ranking_weights
from keepsake.domain.search import Candidate, DocumentKind, FieldStatistics

DAY_MS = 86_400_000
NOW_MS = 1_750_000_000_000
STATISTICS = FieldStatistics(100, 1000, {"kayak": 5, "blue": 20})
EVEN: dict[str, object] = {feature.value: 1 for feature in Feature}
WHOLE = RankingQuery(QueryReading(("kayak", "blue"), frozenset({"kayak", "blue"})), NOW_MS, 0.0, 1.0)


def weights(repeated: float = 0.0, **shares: float) -> RankingWeights:
    return parse_ranking_weights(
        {"weights": {feature.value: shares.get(feature, 0.0) for feature in Feature}, "half_life_days": 90, "repeated": repeated}
    )


def candidate(name: str = "a", **more: object) -> Candidate:
    plain = Candidate("ann", name, DocumentKind.TURN, name, NOW_MS, {}, {}, 10, 50, 0.5, role="user")
    return replace(plain, **more)  # type: ignore[arg-type]


def ranked(query: RankingQuery, candidates: list[Candidate], weighed: RankingWeights) -> tuple[Ranked, ...]:
    return rank(query, candidates, STATISTICS, STATISTICS, weighed)


def values(query: RankingQuery, candidates: list[Candidate], **shares: float) -> dict[str, float]:
    return {one.candidate.document_id: round(one.score, 6) for one in ranked(query, candidates, weights(**shares))}


def asking(*words: str, about_self: bool = False, dates: tuple[DateSpan, ...] = (), codes: tuple[str, ...] = ()) -> RankingQuery:
    return replace(WHOLE, reading=QueryReading(words, frozenset(words), frozenset(codes), about_self, dates))


# ---- BM25


def test_bm25_is_lucenes() -> None:
    rarity = rarities(["kayak"], STATISTICS)
    assert rarity == {"kayak": log(1 + (100 - 5 + 0.5) / (5 + 0.5))}
    (score,) = bm25(rarity, STATISTICS, [({"kayak": 2}, 20)])
    assert score == pytest.approx(rarity["kayak"] * 2 / (2 + 1.5 * (0.25 + 0.75 * 20 / 10)))


def test_without_statistics_texts_are_compared_with_each_other() -> None:
    nothing = FieldStatistics()
    short, long = bm25(rarities(["kayak"], nothing), nothing, [({"kayak": 1}, 5), ({"kayak": 1}, 15)])
    assert short > long > 0


# ---- features


def test_cosines_are_read_on_the_models_scale() -> None:
    query = replace(WHOLE, weak_below=0.7, strong_above=0.9)
    found = [candidate("a", cosine=0.95), candidate("b", cosine=0.8), candidate("c", cosine=0.6)]
    assert values(query, found, meaning=1) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_a_scale_without_width_is_refused() -> None:
    with pytest.raises(ValueError, match="scale"):
        replace(WHOLE, weak_below=0.9, strong_above=0.9)


def test_what_has_no_cosine_is_held_to_mean_what_its_words_let_expect() -> None:
    full = {"kayak": 1, "blue": 1}
    indexed = [
        candidate("a", cosine=0.8, matches=full, window_matches=full),
        candidate("b", cosine=0.6),
        candidate("c", cosine=0.4),
    ]
    fresh = [
        candidate("x", cosine=None, matches=full, window_matches=full),
        candidate("y", cosine=None, matches={"blue": 1}),
        candidate("z", cosine=None),
    ]
    meaning = {one.candidate.document_id: one.parts["meaning"] for one in ranked(WHOLE, indexed + fresh, load_ranking_weights())}
    assert meaning["x"] == pytest.approx(meaning["a"])
    assert meaning["b"] < meaning["y"] < meaning["x"]
    assert meaning["z"] == pytest.approx(meaning["c"])


def test_more_words_never_let_expect_less() -> None:
    poor = candidate("a", cosine=0.1, matches={"kayak": 1, "blue": 1}, window_matches={"kayak": 1})
    others = [candidate("b", cosine=0.6), candidate("c", cosine=0.8)]
    fresh = [candidate("x", cosine=None, matches={"kayak": 1, "blue": 1}), candidate("y", cosine=None, matches={"blue": 1})]
    meaning = values(WHOLE, [poor, *others, *fresh], meaning=1)
    assert meaning["x"] >= meaning["y"]


def test_without_words_what_has_no_cosine_stays_behind() -> None:
    found = [candidate("a", cosine=0.2), candidate("b", cosine=None), candidate("c", cosine=0.8)]
    assert values(WHOLE, found, meaning=1) == {"c": 0.8, "a": 0.2, "b": 0.2}


def test_words_let_expect_a_meaning_also_where_they_do_not_count_themselves() -> None:
    found = [candidate("a", cosine=None, matches={"kayak": 1}), candidate("b", cosine=None)]
    assert values(WHOLE, found, meaning=1) == {"a": 0.5, "b": 0.0}


def test_without_any_cosine_the_words_stand_for_the_meaning() -> None:
    found = [candidate("a", cosine=None, matches={"kayak": 1}), candidate("b", cosine=None)]
    assert values(WHOLE, found, meaning=0.5, words=0.5) == {"a": 1.0, "b": 0.0}


def test_words_and_windows_count_as_shares_of_the_best() -> None:
    found = [
        candidate("a", matches={"kayak": 1, "blue": 1}, window_matches={"blue": 1}),
        candidate("b", window_matches={"blue": 3}),
    ]
    assert values(WHOLE, found, words=1) == {"a": 1.0, "b": 0.0}
    assert values(WHOLE, found, window=1)["b"] == 1.0
    assert 0 < values(WHOLE, found, window=1)["a"] < 1


def test_turns_of_the_one_speaker_that_is_named_are_preferred() -> None:
    found = [
        candidate("a", speaker="nora lind"),
        candidate("b", speaker="tom"),
        candidate("c", kind=DocumentKind.MEMORY, role=""),
    ]
    assert values(asking("nora", "kayak"), found, speaker=1) == {"a": 1.0, "c": 0.5, "b": 0.0}


def test_naming_two_speakers_prefers_neither() -> None:
    found = [candidate("a", speaker="nora"), candidate("b", speaker="tom")]
    assert values(asking("nora", "tom", about_self=True), found, speaker=1) == {"a": 0.0, "b": 0.0}


def test_asking_of_oneself_prefers_the_users_turns() -> None:
    found = [candidate("a", speaker="nora"), candidate("b", role="assistant", speaker="tom"), candidate("c")]
    assert values(asking("kayak", about_self=True), found, speaker=1) == {"a": 1.0, "c": 1.0, "b": 0.0}


def test_a_speaker_in_a_script_without_spaces_is_found_in_the_query() -> None:
    reading = read_query("田中太郎は何を買いましたか", NOW_MS, load_query_words())
    found = [candidate("a", speaker="田中太郎"), candidate("b", speaker="山田花子")]
    assert values(replace(WHOLE, reading=reading), found, speaker=1) == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize(
    ("days", "expected"),
    [(-4, 0.0), (-3, 0.5), (-1, 0.5), (0, 1.0), (1, 0.96), (14, 0.44), (15, 0.0)],
)
def test_turns_near_the_day_that_is_named_count(days: int, expected: float) -> None:
    day = DateSpan(NOW_MS, NOW_MS + DAY_MS, Grain.DAY, 0, 1)
    found = [candidate("a", occurred_at_ms=NOW_MS + days * DAY_MS)]
    assert values(asking(dates=(day,)), found, date=1) == {"a": pytest.approx(expected)}


@pytest.mark.parametrize(("days", "expected"), [(-1, 0.0), (0, 1.0), (29, 1.0), (30, 0.4), (60, 0.4), (61, 0.0)])
def test_a_month_that_is_named_reaches_into_the_next(days: int, expected: float) -> None:
    month = DateSpan(NOW_MS, NOW_MS + 30 * DAY_MS, Grain.MONTH, 0, 1)
    found = [candidate("a", occurred_at_ms=NOW_MS + days * DAY_MS)]
    assert values(asking(dates=(month,)), found, date=1) == {"a": expected}


def test_of_several_dates_the_nearest_counts() -> None:
    year = DateSpan(NOW_MS, NOW_MS + 365 * DAY_MS, Grain.YEAR, 0, 1)
    day = DateSpan(NOW_MS, NOW_MS + DAY_MS, Grain.DAY, 2, 3)
    found = [candidate("a"), candidate("b", occurred_at_ms=NOW_MS + 100 * DAY_MS)]
    assert values(asking(dates=(year, day)), found, date=1) == {"a": 1.0, "b": 0.3}


def test_a_good_neighbour_in_the_session_lifts_a_turn() -> None:
    found = [
        candidate("a", session_id="s", occurred_at_ms=1, cosine=0.9),
        candidate("b", session_id="s", occurred_at_ms=2, cosine=0.1),
        candidate("c", session_id="s", occurred_at_ms=3, cosine=0.3),
        candidate("d", session_id="t", occurred_at_ms=4, cosine=0.3),
        candidate("e", occurred_at_ms=5, cosine=0.3),
        candidate("f", occurred_at_ms=6, cosine=0.3),
    ]
    parts = {one.candidate.document_id: one.parts for one in ranked(WHOLE, found, weights(meaning=0.5, neighbours=0.5))}
    lifted = {name: part.get("neighbours", 0.0) for name, part in parts.items()}
    assert lifted == {"a": 0.05, "b": 0.45, "c": 0.05, "d": 0.0, "e": 0.0, "f": 0.0}


def test_sessions_that_hold_more_of_the_words_together_count_more() -> None:
    found = [
        candidate("a", session_id="s", matches={"kayak": 1}),
        candidate("b", session_id="s", matches={"blue": 1}),
        candidate("c", session_id="t", matches={"blue": 1}),
        candidate("d", matches={"kayak": 1}),
    ]
    scores = values(WHOLE, found, session=1)
    assert scores["a"] == scores["b"] == 1.0
    assert 0 < scores["c"] < 0.5
    assert scores["d"] == 0.0


def test_recency_halves_and_the_future_is_no_more_recent_than_now() -> None:
    found = [candidate("a", occurred_at_ms=NOW_MS + DAY_MS), candidate("b", occurred_at_ms=NOW_MS - 90 * DAY_MS)]
    assert values(WHOLE, found, recency=1) == {"a": 1.0, "b": 0.5}


def test_importance_stays_between_nothing_and_one() -> None:
    found = [candidate("a", importance=7.0), candidate("b", importance=0.25), candidate("c", importance=-1.0)]
    assert values(WHOLE, found, importance=1) == {"a": 1.0, "b": 0.25, "c": 0.0}


def test_a_case_number_that_is_named_counts_by_its_share() -> None:
    found = [candidate("a", matches={"4711": 1, "b12": 2}), candidate("b", matches={"b12": 1}), candidate("c")]
    assert values(asking("4711", "b12", codes=("4711", "b12")), found, codes=1) == {"a": 1.0, "b": 0.5, "c": 0.0}


# ---- the list


def test_what_is_said_again_and_again_makes_room() -> None:
    said = [candidate(name, cosine=0.8, matches={"kayak": 1}) for name in "abcd"]
    other = candidate("e", cosine=0.7, matches={"kayak": 1})
    order = [one.candidate.document_id for one in ranked(WHOLE, [*said, other], weights(repeated=0.2, meaning=0.9, words=0.1))]
    assert order == ["a", "e", "b", "c", "d"]


def test_a_memory_is_no_repeat_of_a_turn() -> None:
    found = [candidate("a"), candidate("b", kind=DocumentKind.MEMORY)]
    assert all("repeated" not in one.parts for one in ranked(WHOLE, found, weights(repeated=0.5, meaning=1)))


def test_nothing_found_ranks_as_nothing() -> None:
    assert ranked(WHOLE, [], load_ranking_weights()) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": {"meaning": 1}}, "weights"),
        ({"weights": dict.fromkeys(Feature, 0)}, "weights"),
        ({"weights": {**EVEN, "date": -1}}, "date"),
        ({"weights": {**EVEN, "date": "much"}}, "date"),
        ({"weights": {**EVEN, "date": float("nan")}}, "date"),
        ({"half_life_days": 0}, "half_life_days"),
        ({"repeated": 1.5}, "repeated"),
    ],
)
def test_weights_that_make_no_sense_are_refused(change: dict[str, object], message: str) -> None:
    table: dict[str, object] = {"weights": EVEN, "half_life_days": 90, "repeated": 0.2}
    with pytest.raises(InvalidRankingWeightsError, match=f"^{message}"):
        parse_ranking_weights({**table, **change})


# ---- golden: small conversations of our own

TALK = (
    ("nora", "user", "We finally bought the blue kayak on Saturday, second hand, from a club in Ghent."),
    ("tom", "assistant", "Lovely! Did it come with paddles?"),
    ("nora", "user", "Two, and a pump. It still leaks a little near the seat."),
    ("tom", "assistant", "My brother sold his kayak last year."),
    ("nora", "user", "By the way, my dentist moved to Harbour Street."),
    ("tom", "assistant", "I found a new bakery, their rye bread is great."),
    ("tom", "assistant", "Also I started learning the cello in May."),
    ("nora", "user", "My daughter plays the cello as well, since she was six."),
)


def talk(question: str) -> list[str]:
    said = [index_terms(f"{speaker}: {text}") for speaker, _, text in TALK]
    around = [tuple(term for turn in said[max(0, at - 2) : at + 3] for term in turn) for at in range(len(said))]
    reading = read_query(question, NOW_MS, load_query_words())
    turn, window = (
        FieldStatistics(len(texts), sum(map(len, texts)), {term: sum(term in text for text in texts) for term in reading.terms})
        for texts in (said, around)
    )
    candidates = [
        Candidate(
            "ann", str(at), DocumentKind.TURN, str(at), NOW_MS + at,
            {term: count for term, count in Counter(said[at]).items() if term in reading.terms},
            {term: count for term, count in Counter(around[at]).items() if term in reading.terms},
            len(said[at]), len(around[at]), None, session_id="s", speaker=TALK[at][0], role=TALK[at][1],
        )
        for at in range(len(TALK))
    ]  # fmt: skip
    found = rank(RankingQuery(reading, NOW_MS, 0.7, 0.9), candidates, turn, window, load_ranking_weights())
    return [TALK[int(one.candidate.document_id)][2] for one in found]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Where did Nora buy her kayak?", 0),
        ("What came with the blue kayak?", 0),
        ("Who sold a kayak, was it Tom's brother?", 3),
        ("Where is my dentist?", 4),
        ("Which bread does Tom like?", 5),
        ("What instrument does Nora's daughter play, the cello?", 7),
        ("When did Tom start to learn the cello?", 6),
    ],
)
def test_what_answers_comes_first(question: str, place: int) -> None:
    assert talk(question)[0] == TALK[place][2]

"""What every search index promises of searches: who counts, what is found, and exact features of all that is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.search import Candidate, DocumentKind, FieldStatistics, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from tests.contract.indexes import ALL_KINDS, EAST, NORTH, NOWHERE, Bench, document, ids, one, query

MEDICAL = Clearance(0, frozenset({"medical"}))
ODD_TERMS = [
    "haus",
    "hausbau",
    "bau",
    "häuser",
    "ß",
    "春天",
    "天氣",
    "春",
    "สวัส",
    "สวัสดี",
    "مرحبا",
    "مر",
    "🙂",
    "😀",
    "🇩🇪",
    "👨",
    "'",
    '"',
    '""',
    "it's",
    "and",
    "OR",
    "or",
    "NOT",
    "NEAR",
    "*",
    "a*",
    "a",
    "a b",
    "A",
    "a:b",
    "^a",
    "-a",
    "a.b",
    "{a}",
    "\\",
    "\0",
    "0",
    "1",
    "t",
    "w",
    "1t",
    "ta",
    "\x85",
    "\u2028",
    "\ue000",
    "\ue0000022",
    "0022",
    "é",
    "e\u0301",
    "x" * 64,
    "x" * 63,
    "🙂" * 64,
]


# ---- features ----------------------------------------------------------------------------------------------------------


def test_a_candidate_carries_all_that_its_document_says(bench: Bench) -> None:
    bench.ready()
    whole = IndexDocument(
        owner="ann",
        document_id="turn/1",
        kind=DocumentKind.TURN,
        ref="archive/1#2",
        terms=("red", "house", "red"),
        window_terms=("red", "house", "red", "garden", "green"),
        vector=Vector.of([3, 4, 0, 0]),
        occurred_at_ms=1_700_000_000_123,
        epoch=3,
        clearance=MEDICAL,
        session_id="木 / 1",
        speaker="ann müller",
        role="user",
    )
    bench.put(whole)
    found = bench.index.search(query("red green blue", NORTH, clearance=MEDICAL))
    cosine = one(found).cosine
    assert cosine == pytest.approx(whole.vector.cosine(NORTH), abs=1e-6)
    assert one(found) == Candidate(
        owner="ann",
        document_id="turn/1",
        kind=DocumentKind.TURN,
        ref="archive/1#2",
        occurred_at_ms=1_700_000_000_123,
        matches={"red": 2},
        window_matches={"red": 2, "green": 1},
        length=3,
        window_length=5,
        cosine=cosine,
        epoch=3,
        clearance=MEDICAL,
        session_id="木 / 1",
        speaker="ann müller",
        role="user",
    )
    assert found.turn == FieldStatistics(1, 3, {"red": 1, "green": 0, "blue": 0})
    assert found.window == FieldStatistics(1, 5, {"red": 1, "green": 1, "blue": 0})


@pytest.mark.parametrize("times", [1, 2, 3, 7, 8, 255, 256, 1000])
def test_terms_are_counted_however_often_they_stand(bench: Bench, times: int) -> None:
    bench.ready()
    bench.put(document("a", ["ha"] * times, ["ha", *["oh", "ha"] * times]), document("b", "ha oh"))
    found = bench.index.search(query("ha oh"))
    (counted,) = [candidate for candidate in found.candidates if candidate.document_id == "a"]
    assert (counted.matches, counted.window_matches) == ({"ha": times}, {"ha": times + 1, "oh": times})
    assert (counted.length, counted.window_length) == (times, 2 * times + 1)
    assert (found.turn.length, found.window.length) == (times + 2, 2 * times + 3)


def test_every_arms_features_are_told_of_what_another_arm_found(bench: Bench) -> None:
    bench.ready()
    bench.put(
        document("said", "house", "house", vector=EAST),
        document("near", "garden", "garden house", vector=EAST),
        document("like", "lake", "lake", vector=NORTH),
    )
    found = bench.index.search(query("house", NORTH))
    told = {it.document_id: (it.matches, it.window_matches, round(it.cosine or 0, 6)) for it in found.candidates}
    assert told == {
        "said": ({"house": 1}, {"house": 1}, 0),
        "near": ({}, {"house": 1}, 0),
        "like": ({}, {}, 1),
    }


@pytest.mark.parametrize(
    "components", [[1, 2, 3, 4], [-1, 0, 0, 0], [127, -127, 127, -127], [0.01, 0, 0, 1], [1, 1, 1, 1]], ids=str
)
def test_cosines_are_exact(bench: Bench, components: list[float]) -> None:
    bench.ready()
    vector, wanted = Vector.of(components), Vector.of([0.3, -0.2, 0.9, 0.1])
    bench.put(document("a", vector=vector))
    assert one(bench.index.search(query(vector=wanted))).cosine == pytest.approx(vector.cosine(wanted), abs=1e-6)


def test_without_a_direction_there_is_no_cosine_and_nothing_is_found_by_it(bench: Bench) -> None:
    bench.ready()
    bench.put(document("a", "house", vector=NOWHERE), document("b", "house"))
    by_both = bench.index.search(query("house", NORTH))
    assert {it.document_id: it.cosine for it in by_both.candidates} == {"a": None, "b": pytest.approx(1)}
    assert ids(bench.index.search(query(vector=NORTH))) == ["b"]
    for nothing in (None, NOWHERE):
        assert bench.index.search(query(vector=nothing)).candidates == ()
        assert {it.cosine for it in bench.index.search(query("house", nothing)).candidates} == {None}


# ---- terms as they are -------------------------------------------------------------------------------------------------


def test_each_term_is_found_by_itself_alone_in_every_script(bench: Bench) -> None:
    bench.ready()
    bench.put(*[document(f"{number:02}", [term], ["before", term]) for number, term in enumerate(ODD_TERMS)])
    for number, term in enumerate(ODD_TERMS):
        found = bench.index.search(query([term]))
        assert one(found).document_id == f"{number:02}", ascii(term)
        assert one(found).matches == one(found).window_matches == {term: 1}
        assert found.turn.frequencies == found.window.frequencies == {term: 1}


def test_all_terms_of_a_text_are_counted_at_once_in_every_script(bench: Bench) -> None:
    bench.ready()
    bench.put(document("a", ODD_TERMS, ODD_TERMS * 3))
    found = one(bench.index.search(query(ODD_TERMS)))
    assert found.matches == dict.fromkeys(ODD_TERMS, 1)
    assert found.window_matches == dict.fromkeys(ODD_TERMS, 3)


def test_a_text_without_terms_counts_and_is_found_by_its_direction(bench: Bench) -> None:
    bench.ready()
    bench.put(document("blank"), document("a", "house"))
    found = bench.index.search(query("house", NORTH))
    assert ids(found) == ["a", "blank"]
    assert found.turn == FieldStatistics(2, 1, {"house": 1})


# ---- the best of each arm ----------------------------------------------------------------------------------------------


def test_the_best_of_each_arm_are_candidates_and_nothing_else(bench: Bench) -> None:
    bench.ready()
    bench.put(
        document("said", "house", "x x x x house", vector=EAST),
        document("said less", "house and much else besides", "x x x x house", vector=EAST),
        document("near", "x", "house house", vector=EAST),
        document("like", "x", "x", vector=NORTH),
        document("less like", "x", "x", vector=Vector.of([1, 1, 0, 0])),
    )
    assert ids(bench.index.search(query("house", NORTH, per_arm=1))) == ["like", "near", "said"]
    assert ids(bench.index.search(query("house", per_arm=1))) == ["near", "said"]
    assert ids(bench.index.search(query(vector=NORTH, per_arm=2))) == ["less like", "like"]


def test_rare_terms_weigh_more_and_so_do_short_texts(bench: Bench) -> None:
    bench.ready()
    common = [document(f"common{number}", "tea cup", "", vector=EAST) for number in range(8)]
    bench.put(*common, document("rare", "rum cup", ""), document("short", "tea", ""), document("many", "tea tea", ""))
    assert ids(bench.index.search(query("tea rum", per_arm=1))) == ["rare"]
    assert ids(bench.index.search(query("tea rum", per_arm=3))) == ["many", "rare", "short"]


def test_equals_are_taken_by_document_id(bench: Bench) -> None:
    bench.ready()
    bench.put(*[document(name, "house", "house") for name in ("d", "b", "e", "a", "c")])
    assert ids(bench.index.search(query("house", per_arm=2))) == ["a", "b"]
    assert ids(bench.index.search(query(vector=NORTH, per_arm=3))) == ["a", "b", "c"]


def test_equals_of_several_owners_are_taken_by_document_id_and_then_by_owner(bench: Bench) -> None:
    bench.ready()
    bench.put(*[document(name, "house", owner=owner) for name, owner in [("b", "ann"), ("a", "zoe"), ("c", "ann"), ("a", "ben")]])
    asked = query("house", NORTH, owners=["zoe", "ann", "ben"], per_arm=1)
    assert (one(bench.index.search(asked)).owner, ids(bench.index.search(asked))) == ("ben", ["a"])
    assert ids(bench.index.search(replace(asked, per_arm=3))) == ["a", "a", "b"]


def test_of_many_documents_the_best_are_found(bench: Bench) -> None:
    bench.ready()
    bench.put(*[document(f"{at:03}", ["x"] * at + ["house"], "", vector=Vector.of([at, 90, 0, 0])) for at in range(1, 91)])
    assert ids(bench.index.search(query("house", per_arm=5))) == [f"{at:03}" for at in range(1, 6)]
    assert ids(bench.index.search(query(vector=NORTH, per_arm=5))) == [f"{at:03}" for at in range(86, 91)]


def test_a_query_may_have_many_terms(bench: Bench) -> None:
    bench.ready()
    terms = [f"term{number}" for number in range(100)]
    bench.put(document("a", terms[::2]), document("b", terms[1::2] * 2))
    found = bench.index.search(query(terms))
    assert {it.document_id: it.matches for it in found.candidates} == {
        "a": dict.fromkeys(terms[::2], 1),
        "b": dict.fromkeys(terms[1::2], 2),
    }
    assert found.turn.frequencies == dict.fromkeys(terms, 1)


# ---- who counts --------------------------------------------------------------------------------------------------------


def test_without_owners_or_without_kinds_nothing_is_found(bench: Bench) -> None:
    bench.ready()
    bench.put(document("a", "house"))
    for asked in (query("house", NORTH, owners=[]), query("house", NORTH, kinds=frozenset())):
        found = bench.index.search(asked)
        assert found.candidates == ()
        assert (found.turn.documents, found.turn.length, found.window.documents, found.window.length) == (0, 0, 0, 0)


def test_documents_of_other_users_change_nothing_at_all(bench: Bench) -> None:
    bench.ready()
    own = [
        document(f"{at}", "tea " * at + "rum cup", "tea cup", owner="user1", vector=Vector.of([at, 3, 0, 0])) for at in range(6)
    ]
    bench.put(*own)
    asked = query("tea rum", NORTH, owners=["user1"], per_arm=2)
    alone = bench.index.search(asked)
    foreign = [
        document(f"{at}", ["rum"] * (at % 3 + 1) + ["tea"], ["rum"], owner=owner, vector=NORTH)
        for at in range(40)
        for owner in ("user", "user10", "user1 ", "USER1", "user1/1", "1")
    ]
    bench.put(*foreign)
    among_others = bench.index.search(asked)
    assert (among_others.turn, among_others.window) == (alone.turn, alone.window)
    assert ids(among_others) == ids(alone)
    assert {it.owner for it in among_others.candidates} == {"user1"}


@pytest.mark.parametrize("owner", ["#", "a b", "木", "🙂", "a|b", "a,b", "é", "~", "%", "x" * 256, '"', "*"])
def test_an_owner_may_have_any_id(bench: Bench, owner: str) -> None:
    bench.ready()
    bench.put(document("a", "house", owner=owner), document("b", "house", owner="a"), document("c", "house", owner=owner + "x"))
    assert ids(bench.index.search(query("house", NORTH, owners=[owner]))) == ["a"]
    assert [it.document_id for it in bench.index.list_owned(owner, limit=9).documents] == ["a"]


@pytest.mark.parametrize(
    ("own", "others", "sees"),
    [
        (OPEN, OPEN, True),
        (OPEN, Clearance(1), False),
        (Clearance(1), Clearance(1), True),
        (Clearance(2), Clearance(1), True),
        (OPEN, MEDICAL, False),
        (Clearance(9), MEDICAL, False),
        (MEDICAL, MEDICAL, True),
        (MEDICAL, OPEN, True),
        (MEDICAL, Clearance(1, MEDICAL.compartments), False),
        (Clearance(1, frozenset({"medical", "legal"})), Clearance(1, MEDICAL.compartments), True),
        (MEDICAL, Clearance(0, frozenset({"medical", "legal"})), False),
        (MEDICAL, Clearance(0, frozenset({"medic"})), False),
        (Clearance(0, frozenset({"a b", "木"})), Clearance(0, frozenset({"a b"})), True),
        (Clearance(0, frozenset({"a", "b"})), Clearance(0, frozenset({"a b"})), False),
    ],
    ids=lambda one: f"{one.level}:{'+'.join(sorted(one.compartments))}" if isinstance(one, Clearance) else str(one),
)
def test_only_what_the_clearance_covers_is_found_or_counted(
    bench: Bench, own: Clearance, others: Clearance, *, sees: bool
) -> None:
    bench.ready()
    bench.put(document("open", "house"), document("closed", "house garden", clearance=others))
    found = bench.index.search(query("house garden", NORTH, clearance=own))
    assert ids(found) == (["closed", "open"] if sees else ["open"])
    assert found.turn.documents == found.window.documents == 1 + sees
    assert found.turn.length == found.window.length == 1 + 2 * sees
    assert found.turn.frequencies == found.window.frequencies == {"house": 1 + sees, "garden": int(sees)}


def test_what_may_not_be_seen_takes_no_place_among_the_best(bench: Bench) -> None:
    bench.ready()
    hidden = [document(f"a{at}", "house house", clearance=Clearance(1)) for at in range(60)]
    bench.put(*hidden, document("z", "house and garden", vector=Vector.of([1, 5, 0, 0])))
    assert ids(bench.index.search(query("house", NORTH, per_arm=1))) == ["z"]


def test_only_the_kinds_that_were_asked_for_are_found_or_counted(bench: Bench) -> None:
    bench.ready()
    bench.put(*[document(kind.value, "house", kind=kind) for kind in DocumentKind])
    asked = frozenset({DocumentKind.TURN, DocumentKind.MEMORY})
    found = bench.index.search(query("house", NORTH, kinds=asked))
    assert ids(found) == ["memory", "turn"]
    assert {it.document_id: it.kind for it in found.candidates} == {kind.value: kind for kind in asked}
    assert found.turn == found.window == FieldStatistics(2, 2, {"house": 2})


def test_several_owners_are_counted_together(bench: Bench) -> None:
    bench.ready()
    bench.put(
        document("a", "house", owner="ann"),
        document("a", "house garden", owner="clinic"),
        document("b", "garden", owner="clinic", vector=EAST),
        document("c", "garden", owner="ben"),
    )
    asked = query("house garden", NORTH, owners=["ann", "clinic", "nobody", "ann"])
    found = bench.index.search(asked)
    assert sorted((it.owner, it.document_id) for it in found.candidates) == [("ann", "a"), ("clinic", "a"), ("clinic", "b")]
    assert found.turn == found.window == FieldStatistics(3, 4, {"house": 2, "garden": 2})
    nearest = bench.index.search(replace(asked, terms=(), per_arm=1))
    assert (one(nearest).owner, one(nearest).document_id) == ("ann", "a")


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [(None, None, "abcde"), (2, None, "cde"), (None, 2, "abc"), (1, 3, "bcd"), (2, 2, "c"), (3, 1, ""), (5, None, "")],
)
def test_times_bound_the_candidates_and_not_the_statistics(
    bench: Bench, since: int | None, until: int | None, expected: str
) -> None:
    bench.ready()
    bench.put(*[document(name, "house", at=at) for at, name in enumerate("abcde")])
    asked = IndexQuery(("ann",), OPEN, ALL_KINDS, ("house",), NORTH, since_ms=since, until_ms=until)
    found = bench.index.search(asked)
    assert ids(found) == list(expected)
    assert found.turn == found.window == FieldStatistics(5, 5, {"house": 5})
    assert ids(bench.index.search(replace(asked, per_arm=1))) == list(expected[:1])

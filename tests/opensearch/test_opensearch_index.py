"""What the index on OpenSearch keeps beyond the contract that all indexes share, on a real node."""

import random
from dataclasses import replace

import pytest

from keepsake.adapters.opensearch_index import OpenSearchIndex
from keepsake.adapters.opensearch_mapping import Layout
from keepsake.domain.clearance import Clearance
from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import Candidate, DocumentKind, Found, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import NO_INDEX, Location, NotIndexed
from tests.fakes_index import DictSearchIndex
from tests.opensearch.node import node_url
from tests.opensearch.nodes_index import SERVERLESS, SMALL, asked, dropped_at_the_end, index_on

node_url()  # without one, one line says that all of these are skipped

MODEL = EmbeddingModel("plain", 8, 0.2, 0.9)
OWNERS = ("ada", "ada2", "bo,b", "~institution")
WORDS = ("a", "b", "c", "d", "e", "ü", "東京", "x.y", "a*b", "🦊", "")
COMPARTMENTS = ("p", "q", "r s")


def document(dice: random.Random, document_id: str, *, owner: str | None = None) -> IndexDocument:
    terms = tuple(dice.choices(WORDS, k=dice.randrange(8)))
    return IndexDocument(
        owner=owner or dice.choice(OWNERS),
        document_id=document_id,
        kind=dice.choice(list(DocumentKind)),
        ref=f"ref of {document_id}",
        terms=terms,
        window_terms=(*terms, *dice.choices(WORDS, k=dice.randrange(20))),
        vector=Vector.of([dice.choice([0, 0, 1, -1, 0.3]) for _ in range(8)]),
        occurred_at_ms=dice.randrange(100),
        epoch=dice.randrange(3),
        clearance=Clearance(dice.randrange(3), frozenset(dice.sample(COMPARTMENTS, dice.randrange(3)))),
        session_id="session",
        speaker="ada",
        role="user",
    )


def question(dice: random.Random) -> IndexQuery:
    return IndexQuery(
        owners=tuple(dice.sample(OWNERS, dice.randrange(1, 3))),
        clearance=Clearance(dice.randrange(3), frozenset(dice.sample(COMPARTMENTS, dice.randrange(4)))),
        kinds=frozenset(dice.sample(list(DocumentKind), dice.randrange(1, 5))),
        terms=tuple(dice.sample((*WORDS, "nowhere"), dice.randrange(5))),
        vector=dice.choice([None, Vector.of([dice.random() - 0.5 for _ in range(8)])]),
        since_ms=dice.choice([None, 20]),
        until_ms=dice.choice([None, 70]),
        per_arm=dice.choice([3, 10, 50]),
    )


def filled(index: OpenSearchIndex | DictSearchIndex, name: str, documents: list[IndexDocument]) -> None:
    index.create(name, MODEL)
    index.switch(name)
    assert all(isinstance(outcome, Location) for outcome in index.put(documents, index=name))


def in_order(found: Found) -> list[Candidate]:
    return sorted(found.candidates, key=lambda candidate: (candidate.owner, candidate.document_id))


def everything(*terms: str, vector: Vector | None = None, owner: str = "ada", per_arm: int = 50) -> IndexQuery:
    return IndexQuery((owner,), Clearance(9, frozenset(COMPARTMENTS)), frozenset(DocumentKind), terms, vector, per_arm=per_arm)


def test_it_finds_what_dictionaries_find_with_the_same_features(index: OpenSearchIndex, alias: str) -> None:
    dice, plain = random.Random(4), DictSearchIndex()
    documents = [document(dice, f"d{dice.randrange(300)}") for _ in range(500)]
    for each in (index, plain):
        filled(each, f"{alias}-1", documents)
    index.refresh()
    for _ in range(60):
        query = question(dice)
        found, expected = index.search(query), plain.search(query)
        assert (found.turn, found.window) == (expected.turn, expected.window)
        assert in_order(found) == in_order(expected)


def test_it_does_so_where_the_index_gives_the_ids(serverless: OpenSearchIndex, url: str, alias: str) -> None:
    dice, plain = random.Random(5), DictSearchIndex()
    documents = [document(dice, f"d{at}") for at in range(120)]
    for each in (serverless, plain):
        filled(each, f"{alias}-1", documents)
    asked(url, "POST", f"/{alias}-1/_refresh")
    for _ in range(20):
        query = question(dice)
        found, expected = serverless.search(query), plain.search(query)
        assert (found.turn, found.window) == (expected.turn, expected.window)
        assert in_order(found) == in_order(expected)


def test_where_the_index_gives_the_ids_a_document_put_again_takes_the_place_of_the_old(
    serverless: OpenSearchIndex, url: str, alias: str
) -> None:
    old = document(random.Random(1), "one", owner="ada")
    filled(serverless, f"{alias}-1", [old])
    asked(url, "POST", f"/{alias}-1/_refresh")
    (location,) = serverless.put([replace(old, ref="the new one")], index=f"{alias}-1")
    asked(url, "POST", f"/{alias}-1/_refresh")
    (listed,) = serverless.list_owned("ada", limit=10).documents
    assert (listed.ref, listed.location) == ("the new one", location)
    assert serverless.delete([listed.location, listed.location]) == (True, True)
    asked(url, "POST", f"/{alias}-1/_refresh")
    assert serverless.list_owned("ada", limit=10).documents == ()


def test_what_others_write_moves_nobodys_candidates(index: OpenSearchIndex, alias: str) -> None:
    dice = random.Random(6)
    own = [replace(document(dice, f"d{at}", owner="ada"), terms=("common", f"w{at % 40}")) for at in range(400)]
    filled(index, f"{alias}-1", own)
    index.refresh()
    queries = [everything("common", f"w{at}", f"w{at + 1}", per_arm=5) for at in range(10)]
    before = [index.search(query) for query in queries]
    flood = [
        IndexDocument("bo", f"f{at}", DocumentKind.TURN, "", ("w1", "w3") * 20, ("w5",), own[0].vector, 0) for at in range(3000)
    ]
    index.put(flood, index=f"{alias}-1")
    index.refresh()
    assert [in_order(index.search(query)) for query in queries] == [in_order(found) for found in before]
    assert [index.search(query).turn for query in queries] == [found.turn for found in before]


def test_a_document_that_is_refused_keeps_no_other_out(index: OpenSearchIndex, alias: str) -> None:
    index.create(f"{alias}-1", MODEL)
    dice = random.Random(7)
    documents = [document(dice, f"d{at}", owner="ada") for at in range(3)]
    documents[1] = replace(documents[1], occurred_at_ms=2**70)
    first, second, third = index.put(documents, index=f"{alias}-1")
    assert isinstance(first, Location)
    assert second == NotIndexed("refused", retryable=False)
    assert isinstance(third, Location)


def test_many_documents_go_in_several_requests_and_keep_their_order(index: OpenSearchIndex, alias: str) -> None:
    dice = random.Random(8)
    documents = [document(dice, f"d{at}", owner="ada") for at in range(1100)]
    filled(index, f"{alias}-1", documents)
    index.refresh()
    listed = {one.document_id: one.location for one in index.list_all(f"{alias}-1", limit=2000).documents}
    outcomes = index.put(documents, index=f"{alias}-1")
    assert list(outcomes) == [listed[document.document_id] for document in documents]


def test_texts_and_questions_of_any_length_are_searched(index: OpenSearchIndex, alias: str) -> None:
    words = tuple(f"w{at}" for at in range(20_000))
    long = IndexDocument("ada", "long", DocumentKind.TURN, "", words, words * 5, Vector(bytes([1] * 8)), 0)
    filled(index, f"{alias}-1", [long])
    index.refresh()
    found = index.search(everything(*words[:5000], vector=long.vector))
    assert [candidate.window_matches["w7"] for candidate in found.candidates] == [5]
    assert found.turn.frequencies["w7"] == 1


def test_a_vector_of_another_size_finds_no_sensible_answer(index: OpenSearchIndex, alias: str) -> None:
    filled(index, f"{alias}-1", [document(random.Random(9), "d", owner="ada")])
    with pytest.raises(IndexUnavailableError):
        index.search(everything("a", vector=Vector(bytes([1] * 9))))


def test_an_index_of_somebody_elses_is_not_taken_for_one_of_ours(index: OpenSearchIndex, url: str, alias: str) -> None:
    asked(url, "PUT", f"/{alias}-1", {"aliases": {alias: {}}})
    with pytest.raises(IndexUnavailableError):
        index.current()
    with pytest.raises(IndexUnavailableError):
        index.create(f"{alias}-1", MODEL)


@pytest.mark.parametrize("layout", [SMALL, SERVERLESS], ids=["managed", "serverless"])
def test_no_write_makes_an_index_that_a_reindex_elsewhere_has_dropped(url: str, alias: str, layout: Layout) -> None:
    first, second = f"{alias}-1", f"{alias}-2"
    documents = [document(random.Random(at), f"d{at}", owner="ada") for at in range(3)]
    with dropped_at_the_end(url, alias):
        here, there = index_on(url, alias, layout), index_on(url, alias, layout)
        filled(here, first, documents)
        (location, *_) = here.put(documents, index=first)
        assert isinstance(location, Location)
        assert location.index == first
        there.create(second, MODEL)
        there.switch(second)
        there.drop(first)
        assert here.put(documents, index=first) == (NotIndexed(NO_INDEX, retryable=False),) * 3
        assert here.delete([location]) == (True,)
        here.search(everything("a", vector=documents[0].vector))
        with pytest.raises(IndexUnavailableError):
            here.search(replace(everything("a"), index=first))
        here.refresh()
        assert names(url, alias) == {second: {alias, f"{second}-w"}}
        there.create(first, MODEL)
        assert all(isinstance(outcome, Location) for outcome in here.put(documents, index=first))


def names(url: str, alias: str) -> dict[str, set[str]]:
    """The indexes whose names begin with `alias`, and the aliases of each."""
    answer = asked(url, "GET", f"/{alias}*/_alias")
    assert isinstance(answer, dict)
    return {name: set(there["aliases"]) for name, there in answer.items()}


def test_an_index_whose_write_alias_is_the_name_of_another_is_not_made(index: OpenSearchIndex, url: str, alias: str) -> None:
    asked(url, "PUT", f"/{alias}-1-w", {})
    with pytest.raises(IndexUnavailableError):
        index.create(f"{alias}-1", MODEL)
    assert index.put([document(random.Random(1), "d")], index=f"{alias}-1") == (NotIndexed(NO_INDEX, retryable=False),)
    assert names(url, alias) == {f"{alias}-1-w": set()}


def test_the_model_comes_back_with_its_scale(index: OpenSearchIndex, alias: str) -> None:
    filled(index, f"{alias}-1", [])
    there = index.current()
    assert there
    assert there.model == MODEL


def test_no_words_of_a_document_stand_in_the_index(index: OpenSearchIndex, url: str, alias: str) -> None:
    secret = IndexDocument("ada", "d", DocumentKind.TURN, "ref", ("verysecret",), ("verysecret",), Vector(bytes([1] * 8)), 0)
    filled(index, f"{alias}-1", [secret])
    index.refresh()
    answer = asked(url, "POST", f"/{alias}-1/_search", {"stored_fields": "*", "_source": True})
    assert "ref" in str(answer)
    assert "verysecret" not in str(answer)

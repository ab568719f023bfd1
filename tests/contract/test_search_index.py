"""What every search index promises of the indexes behind its alias, of putting, removing and listing, on each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import DocumentKind, Found
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import NO_INDEX, Location, NotIndexed, PhysicalIndex
from tests.contract.indexes import DIMENSIONS, EAST, MODEL, NORTH, Bench, adapters, document, ids, one, pages, query
from tests.opensearch.node import node_url

OTHER_MODELS = [EmbeddingModel("another", DIMENSIONS), EmbeddingModel(MODEL.name, DIMENSIONS + 1)]


def test_the_suite_is_held_against_a_real_opensearch_node_too() -> None:
    assert node_url()  # skips, once for the whole suite, where there is none
    assert "opensearch" in adapters()


# ---- the indexes behind the alias --------------------------------------------------------------------------------------


def test_without_an_index_nothing_is_current_found_or_listed(bench: Bench) -> None:
    assert bench.index.current() is None
    found = bench.index.search(query("house", NORTH))
    assert found.candidates == ()
    assert found.turn.documents == found.window.documents == 0
    assert bench.index.list_owned("ann", limit=10).documents == ()
    assert bench.index.list_all(bench.name("first"), limit=10).documents == ()


def test_an_index_is_current_only_when_the_alias_was_switched_to_it(bench: Bench) -> None:
    bench.index.create(bench.name("first"), MODEL)
    assert bench.index.current() is None
    bench.index.switch(bench.name("first"))
    assert bench.index.current() == PhysicalIndex(bench.name("first"), MODEL, 0)


def test_the_current_index_counts_its_documents(bench: Bench) -> None:
    bench.ready()
    first, _, _ = bench.put(document("a"), document("b"), document("a", owner="ben"))
    assert bench.index.current() == PhysicalIndex(bench.name("first"), MODEL, 3)
    bench.put(document("b", "again"))
    bench.delete(first)
    assert bench.index.current() == PhysicalIndex(bench.name("first"), MODEL, 2)


def test_an_index_that_is_there_is_left_as_it_is_when_it_is_made_again(bench: Bench) -> None:
    bench.ready()
    bench.put(document("a", "house"))
    bench.index.create(bench.name("first"), MODEL)
    bench.index.create(bench.name("first"), replace(MODEL, weak_below=0.5))
    assert ids(bench.index.search(query("house"))) == ["a"]


@pytest.mark.parametrize("model", OTHER_MODELS, ids=str)
def test_an_index_of_another_model_is_not_made_in_the_place_of_one_that_is_there(bench: Bench, model: EmbeddingModel) -> None:
    bench.ready()
    with pytest.raises(ValueError, match="another model"):
        bench.index.create(bench.name("first"), model)
    assert bench.index.current() == PhysicalIndex(bench.name("first"), MODEL, 0)


def test_the_alias_is_not_switched_to_an_index_that_is_not_there(bench: Bench) -> None:
    first = bench.ready()
    with pytest.raises(ValueError, match="no index"):
        bench.index.switch(bench.name("second"))
    current = bench.index.current()
    assert current
    assert current.name == first


def test_after_a_switch_only_the_other_index_is_searched_and_the_old_one_keeps_its_documents(bench: Bench) -> None:
    first = bench.ready()
    bench.put(document("old", "house"))
    bench.index.create(bench.name("second"), OTHER_MODELS[1])
    wide = Vector.of([1] * (DIMENSIONS + 1))
    bench.put(document("new", "house", vector=wide), into="second")
    assert ids(bench.index.search(query("house", NORTH))) == ["old"]
    bench.index.switch(bench.name("second"))
    found = bench.index.search(query("house", wide))
    assert (ids(found), found.turn.documents) == (["new"], 1)
    assert [listed.document_id for listed in bench.index.list_owned("ann", limit=9).documents] == ["new"]
    assert [listed.document_id for listed in bench.index.list_all(first, limit=9).documents] == ["old"]
    bench.index.switch(first)
    assert ids(bench.index.search(query("house", NORTH))) == ["old"]


def test_a_query_that_names_an_index_is_answered_by_it_whatever_the_alias_names(bench: Bench) -> None:
    first = bench.ready("first")
    bench.put(document("old", "house"))
    second = bench.ready("second")
    bench.put(document("new", "house"), into="second")
    assert [ids(bench.index.search(replace(query("house"), index=name))) for name in (first, second, "")] == [
        ["old"],
        ["new"],
        ["new"],
    ]


def test_a_query_that_names_an_index_that_is_gone_is_refused_and_not_answered_by_another(bench: Bench) -> None:
    bench.ready("first")
    bench.put(document("a", "house"))
    with pytest.raises(IndexUnavailableError):
        bench.index.search(replace(query("house"), index=bench.name("other")))


def test_a_dropped_index_is_gone_and_the_other_stays(bench: Bench) -> None:
    first = bench.ready()
    bench.put(document("old", "house"))
    second = bench.ready("second")
    bench.put(document("new", "house"), into="second")
    bench.index.drop(first)
    bench.index.drop(first)
    assert bench.index.list_all(first, limit=9).documents == ()
    assert ids(bench.index.search(query("house"))) == ["new"]
    bench.index.drop(second)
    assert bench.index.current() is None
    assert bench.index.search(query("house")).candidates == ()


def test_an_index_of_a_name_that_was_dropped_is_empty_and_may_hold_another_model(bench: Bench) -> None:
    first = bench.ready()
    bench.put(document("old", "house"))
    assert ids(bench.index.search(query("house"))) == ["old"]
    bench.index.drop(first)
    bench.ready(model=OTHER_MODELS[1])
    assert bench.index.search(query("house")).turn.documents == 0
    wide = Vector.of([1] * (DIMENSIONS + 1))
    bench.put(document("new", "house", vector=wide))
    assert ids(bench.index.search(query("house", wide))) == ["new"]


# ---- putting and removing ----------------------------------------------------------------------------------------------


def test_each_document_that_is_put_gets_its_location_in_order(bench: Bench) -> None:
    first = bench.ready()
    documents = [document(name, owner=owner) for name in ("b", "a", "c") for owner in ("ann", "ben")]
    locations = bench.put(*documents)
    assert {location.index for location in locations} == {first}
    listed = {(it.owner, it.document_id): it.location for it in bench.index.list_all(first, limit=9).documents}
    assert [listed[it.owner, it.document_id] for it in documents] == list(locations)


def test_putting_and_removing_nothing_is_fine(bench: Bench) -> None:
    bench.ready()
    assert bench.index.put([], index=bench.name("first")) == ()
    assert bench.index.delete([]) == ()


@pytest.mark.parametrize("dimensions", [0, DIMENSIONS - 1, DIMENSIONS + 1])
def test_a_vector_of_other_dimensions_is_refused_before_anything_is_written(bench: Bench, dimensions: int) -> None:
    bench.ready()
    with pytest.raises(ValueError, match="dimensions"):
        bench.put(document("a"), document("b", vector=Vector(bytes([1] * dimensions))))
    bench.index.refresh()
    assert bench.index.list_owned("ann", limit=9).documents == ()


def test_a_document_that_is_put_again_takes_the_place_of_the_first(bench: Bench) -> None:
    bench.ready()
    bench.put(document("a", "house red"), document("b", "house", vector=EAST))
    bench.index.search(query("house", NORTH))
    bench.put(document("a", "garden garden", "garden", vector=EAST, kind=DocumentKind.MEMORY, at=7))
    found = bench.index.search(query("house red garden", NORTH))
    assert found.turn.frequencies == {"house": 1, "red": 0, "garden": 1}
    assert (found.turn.documents, found.turn.length, found.window.length) == (2, 3, 2)
    (again,) = [candidate for candidate in found.candidates if candidate.document_id == "a"]
    assert (again.matches, again.window_matches, again.length) == ({"garden": 2}, {"garden": 1}, 2)
    assert (again.kind, again.occurred_at_ms) == (DocumentKind.MEMORY, 7)
    assert again.cosine == pytest.approx(0, abs=1e-6)


def test_of_the_same_document_put_twice_at_once_the_last_one_stands(bench: Bench) -> None:
    bench.ready()
    first, second = bench.put(document("a", "house"), document("a", "garden"))
    assert first == second
    assert one(bench.index.search(query("house garden"))).matches == {"garden": 1}


def test_the_same_id_of_two_owners_is_two_documents(bench: Bench) -> None:
    bench.ready()
    mine, _ = bench.put(document("a", "house", owner="user1"), document("a", "house", owner="user10"))
    assert one(bench.index.search(query("house", owners=["user10"]))).owner == "user10"
    bench.delete(mine)
    assert bench.index.search(query("house", owners=["user1"])).candidates == ()
    assert one(bench.index.search(query("house", owners=["user10"]))).owner == "user10"


def test_nothing_is_put_into_an_index_that_is_not_there(bench: Bench) -> None:
    bench.ready()
    outcomes = bench.index.put([document("a"), document("b")], index=bench.name("second"))
    assert [type(outcome) for outcome in outcomes] == [NotIndexed, NotIndexed]
    assert bench.index.list_all(bench.name("second"), limit=9).documents == ()


def test_an_index_that_somebody_else_dropped_takes_nothing_and_does_not_come_back(bench: Bench) -> None:
    first = bench.ready()
    (old,) = bench.put(document("old", "house"))
    bench.reopened().drop(first)
    outcomes = bench.index.put([document("a"), document("b")], index=first)
    assert [outcome.code for outcome in outcomes if isinstance(outcome, NotIndexed)] == [NO_INDEX, NO_INDEX]
    assert bench.delete(old) == (True,)
    assert bench.index.search(query("house", NORTH)).candidates == ()
    assert bench.index.list_all(first, limit=9).documents == ()
    assert bench.index.current() is None
    with pytest.raises(ValueError, match="no index"):
        bench.index.switch(first)
    bench.ready(model=OTHER_MODELS[1])
    wide = Vector.of([1] * (DIMENSIONS + 1))
    bench.put(document("new", "house", vector=wide))
    assert ids(bench.index.search(query("house", wide))) == ["new"]


def test_what_is_removed_is_gone_and_the_rest_stays(bench: Bench) -> None:
    bench.ready()
    a, _, c = bench.put(document("a", "house"), document("b", "house"), document("c", "house"))
    assert ids(bench.index.search(query("house"))) == ["a", "b", "c"]
    assert bench.delete(a, c) == (True, True)
    found = bench.index.search(query("house", NORTH))
    assert (ids(found), found.turn.documents, found.turn.frequencies) == (["b"], 1, {"house": 1})
    assert [listed.document_id for listed in bench.index.list_owned("ann", limit=9).documents] == ["b"]


def test_what_is_not_there_is_gone(bench: Bench) -> None:
    bench.ready()
    (location,) = bench.put(document("a"))
    assert bench.delete(location, location) == (True, True)
    assert bench.delete(location) == (True,)
    nowhere = replace(location, index=bench.name("second"))
    assert bench.delete(nowhere) == (True,)


def test_documents_are_removed_from_the_index_they_stand_in_whatever_the_alias_names(bench: Bench) -> None:
    first = bench.ready()
    (old,) = bench.put(document("a", "house"))
    bench.ready("second")
    (new,) = bench.put(document("a", "house"), into="second")
    bench.delete(old)
    assert bench.index.list_all(first, limit=9).documents == ()
    assert ids(bench.index.search(query("house"))) == ["a"]
    bench.delete(new)
    assert bench.index.search(query("house")).candidates == ()


def test_an_owner_whose_documents_all_went_may_come_again(bench: Bench) -> None:
    bench.ready()
    (location,) = bench.put(document("a", "house"))
    assert bench.index.search(query("house")).turn.documents == 1
    bench.delete(location)
    assert bench.index.search(query("house")).turn.documents == 0
    bench.put(document("b", "garden", vector=EAST))
    found = bench.index.search(query("house garden", EAST))
    assert (ids(found), found.turn.frequencies) == (["b"], {"house": 0, "garden": 1})
    assert one(found).cosine == pytest.approx(1)


# ---- listing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_pages_of_an_owner_hold_each_document_once_and_nobody_elses(bench: Bench, limit: int) -> None:
    bench.ready()
    names = ["a", "a#1", "B", "b", "ä", "木", "🙂"]
    located = bench.put(*[document(name, owner=owner) for name in names for owner in ("user1", "user10", "user")])
    listed = pages(lambda after: bench.index.list_owned("user1", limit=limit, after=after))
    assert sorted(it.document_id for it in listed) == sorted(names)
    assert {it.owner for it in listed} == {"user1"}
    assert {it.location for it in listed} <= set(located)
    assert listed == pages(lambda after: bench.index.list_owned("user1", limit=limit, after=after))


def test_a_listed_document_says_what_it_is(bench: Bench) -> None:
    bench.ready()
    (location,) = bench.put(document("a", "house", kind=DocumentKind.SUMMARY))
    (listed,) = bench.index.list_owned("ann", limit=1).documents
    assert (listed.owner, listed.document_id, listed.kind, listed.ref) == ("ann", "a", "summary", "ref of a")
    assert listed.location == location
    assert isinstance(listed.location, Location)


@pytest.mark.parametrize("limit", [1, 4, 5, 9])
def test_pages_of_an_index_hold_each_of_its_documents_once(bench: Bench, limit: int) -> None:
    first = bench.ready()
    bench.put(*[document(name, owner=owner) for name in "abc" for owner in ("ann", "ben", "木")])
    bench.ready("second")
    bench.put(document("other"), into="second")
    listed = pages(lambda after: bench.index.list_all(first, limit=limit, after=after))
    assert sorted((it.owner, it.document_id) for it in listed) == sorted((o, d) for d in "abc" for o in ("ann", "ben", "木"))


def test_a_listing_goes_on_where_it_was_when_what_was_listed_is_removed(bench: Bench) -> None:
    first = bench.ready()
    bench.put(*[document(name) for name in "abcdefg"])
    for ask in (bench.index.list_owned, bench.index.list_all):
        begun = ask("ann" if ask == bench.index.list_owned else first, limit=2)
        bench.delete(*[it.location for it in begun.documents])
        rest = ask("ann" if ask == bench.index.list_owned else first, limit=9, after=begun.next)
        listed = {it.document_id for it in rest.documents}
        assert not listed & {it.document_id for it in begun.documents}
        assert len(listed) == (5 if ask == bench.index.list_owned else 3)


def test_an_owner_without_documents_has_an_empty_page(bench: Bench) -> None:
    bench.ready()
    bench.put(document("a"))
    page = bench.index.list_owned("an", limit=9)
    assert (page.documents, page.next) == ((), None)
    assert isinstance(bench.index.search(query("house", owners=["an"])), Found)

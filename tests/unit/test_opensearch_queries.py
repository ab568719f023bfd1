"""What is asked of OpenSearch: owner and clearance bound every search, whatever is looked for."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.opensearch_answers import Cosines
from keepsake.adapters.opensearch_documents import fields_of, hit_of, key_of, routing_of, token_of, wanted_tokens
from keepsake.adapters.opensearch_mapping import Layout, index_body, model_of
from keepsake.adapters.opensearch_queries import MOST_TOKENS, owned, search_lines, searched_terms
from keepsake.domain.clearance import Clearance
from keepsake.domain.search import DocumentKind, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel

names = st.sampled_from(["ada", "ada2", "bo,b", "ü", "~institution", " "])
clearances = st.builds(Clearance, st.integers(0, 3), st.frozensets(st.sampled_from("pqr")))
kinds = st.sampled_from(list(DocumentKind))
terms = st.lists(st.sampled_from(["a", "b", "x.y", "東京", "🦊", ""]), max_size=6)
vectors = st.lists(st.integers(-127, 127), min_size=4, max_size=4).map(lambda whole: Vector.of([float(one) for one in whole]))
times = st.none() | st.integers(0, 9)
queries = st.builds(
    IndexQuery,
    owners=st.lists(names, min_size=1, max_size=3, unique=True).map(tuple),
    clearance=clearances,
    kinds=st.frozensets(kinds, min_size=1),
    terms=terms.map(lambda some: tuple(dict.fromkeys(some))),
    vector=st.none() | vectors,
    since_ms=times,
    until_ms=times,
)
documents = st.builds(
    IndexDocument,
    owner=names,
    document_id=st.text(min_size=1),
    kind=kinds,
    ref=st.just("ref"),
    terms=terms.map(tuple),
    window_terms=terms.map(tuple),
    vector=vectors,
    occurred_at_ms=st.integers(0, 9),
    clearance=clearances,
)


def passes(filtered: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """What OpenSearch makes of those queries that filters are built from."""
    ((name, body),) = filtered.items()
    if name == "bool":
        assert set(body) <= {"filter", "should", "minimum_should_match"}
        enough = not body.get("minimum_should_match") or any(passes(one, fields) for one in body["should"])
        return enough and all(passes(one, fields) for one in body.get("filter", ()))
    ((field, wanted),) = body.items()
    value = fields.get(field)
    if name == "range":
        return bool(wanted.get("gte", value) <= value <= wanted.get("lte", value))
    if name == "terms_set":
        return len(set(wanted["terms"]) & set(value or ())) >= max(1, int(fields[wanted["minimum_should_match_field"]]))
    values = value if isinstance(value, list) else [value]
    return any(one in (wanted if name == "terms" else [wanted]) for one in values)


def bodies(query: IndexQuery, layout: Layout) -> list[dict[str, Any]]:
    return search_lines(query, index="alias", layout=layout, milliseconds=1)[1::2]


def bounds(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What bounds a search. Of a nearest-neighbour search it stands inside, else it would be applied to the nearest only."""
    query = body["query"]
    if "knn" in query:
        return {"bool": {"filter": [query["knn"]["vector"]["filter"]]}}
    return {"bool": {"filter": query["bool"]["filter"]}}


@given(queries, documents, st.sampled_from([Layout(), Layout.of("aoss")]))
def test_every_search_lets_through_what_the_query_may_see_and_nothing_else(
    query: IndexQuery, document: IndexDocument, layout: Layout
) -> None:
    fields = fields_of(document, unit_vector=False)
    seen = document.owner in query.owners and query.clearance.covers(document.clearance) and document.kind in query.kinds
    early = query.since_ms is not None and document.occurred_at_ms < query.since_ms
    late = query.until_ms is not None and document.occurred_at_ms > query.until_ms
    counted, *arms = bodies(query, layout)
    assert passes(bounds(counted), fields) == seen
    for arm in arms:
        assert passes(bounds(arm), fields) == (seen and not early and not late)


@given(queries)
def test_owner_and_clearance_stand_in_every_search(query: IndexQuery) -> None:
    for body in bodies(query, Layout()):
        clauses = str(bounds(body))
        assert str({"terms": {"owner": list(query.owners)}}) in clauses
        assert str({"range": {"level": {"lte": query.clearance.level}}}) in clauses
        assert "compartment_count" in clauses


@given(names, documents)
def test_a_listing_lets_through_one_owners_documents(owner: str, document: IndexDocument) -> None:
    assert passes(owned(owner), fields_of(document, unit_vector=False)) == (document.owner == owner)


@given(queries)
def test_searches_are_routed_to_their_owners_only(query: IndexQuery) -> None:
    headers = search_lines(query, index="alias", layout=Layout(), milliseconds=1)[::2]
    assert all(sorted(header["routing"].split(",")) == sorted(map(routing_of, query.owners)) for header in headers)
    unrouted = search_lines(query, index="alias", layout=Layout.of("aoss"), milliseconds=1)[::2]
    assert not any("routing" in header for header in unrouted)


def test_no_search_has_more_clauses_than_the_index_takes() -> None:
    query = IndexQuery(("ada", "bo"), Clearance(), frozenset(DocumentKind), tuple(map(str, range(9000))), None)
    assert len(searched_terms(query)) * 2 == MOST_TOKENS


@given(documents, documents)
def test_keys_routings_and_tokens_of_two_owners_differ(one: IndexDocument, other: IndexDocument) -> None:
    assert (key_of(one.owner, one.document_id) == key_of(other.owner, other.document_id)) == (
        (one.owner, one.document_id) == (other.owner, other.document_id)
    )
    assert (routing_of(one.owner) == routing_of(other.owner)) == (one.owner == other.owner)
    assert (token_of(one.owner, "a") == token_of(other.owner, "a")) == (one.owner == other.owner)


@given(documents, st.lists(st.sampled_from(["a", "b", "x.y", "東京", "🦊", ""]), unique=True), vectors)
def test_a_document_reads_back_as_what_it_was(document: IndexDocument, asked: list[str], vector: Vector) -> None:
    hit = hit_of(fields_of(document, unit_vector=False), wanted_tokens([document.owner], asked))
    assert hit.matches == {term: document.terms.count(term) for term in asked if term in document.terms}
    assert hit.window_matches == {term: document.window_terms.count(term) for term in asked if term in document.window_terms}
    assert (hit.clearance, hit.kind, hit.vector) == (document.clearance, document.kind, document.vector)
    assert (hit.document_id, hit.length) == (document.document_id, len(document.terms))
    has_directions = any(vector.values) and any(document.vector.values)
    assert Cosines(vector).of(hit) == (pytest.approx(vector.cosine(document.vector)) if has_directions else None)


@given(documents)
def test_every_field_is_mapped_and_a_vector_without_direction_is_left_out(document: IndexDocument) -> None:
    fields = fields_of(document, unit_vector=True)
    assert set(fields) <= set(index_body("i-1", EmbeddingModel("m", 4), Layout())["mappings"]["properties"])
    assert ("vector" in fields) == any(document.vector.values)
    if "vector" in fields:
        assert sum(component**2 for component in fields["vector"]) == pytest.approx(1)


def test_a_serverless_collection_is_asked_for_nothing_that_it_refuses() -> None:
    body = index_body("i-1", EmbeddingModel("m", 4), Layout.of("aoss"))
    assert body["settings"] == {"index": {"knn": True}}
    assert "_routing" not in body["mappings"]
    assert body["mappings"]["properties"]["vector"]["method"]["engine"] == "faiss"


def test_a_managed_domain_requires_routing_and_refuses_unknown_fields() -> None:
    mappings = index_body("i-1", EmbeddingModel("m", 4), Layout(engine="faiss"))["mappings"]
    assert mappings["_routing"] == {"required": True}
    assert mappings["dynamic"] == "strict"
    assert "data_type" not in mappings["properties"]["vector"]


def test_an_index_says_whose_vectors_it_holds() -> None:
    model = EmbeddingModel("m", 4, 0.7, 0.9)
    assert model_of(index_body("i-1", model, Layout())["mappings"]["_meta"]) == model

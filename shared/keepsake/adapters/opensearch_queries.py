"""What is asked of OpenSearch. Every search of a query goes through `scope`, which always bounds owner and clearance."""

from collections.abc import Mapping, Sequence
from typing import Any

from keepsake.adapters.opensearch_documents import (
    TURN,
    VECTOR,
    WINDOW,
    components_of,
    routing_of,
    token_of,
)
from keepsake.adapters.opensearch_mapping import Layout
from keepsake.domain.clearance import Clearance
from keepsake.domain.search import IndexQuery

# OpenSearch refuses more than 1,024 clauses a search; nobody asks in so many words.
MOST_TOKENS = 512
# Each arm brings so many more than asked for, and at least twice as many: the index preselects, what is exact is chosen here.
_SPARE = 50


def searched_terms(query: IndexQuery) -> tuple[str, ...]:
    """The query's terms, or the first of them where they are more than can be asked for."""
    return query.terms[: MOST_TOKENS // max(1, len(query.owners))]


def search_lines(query: IndexQuery, *, index: str, layout: Layout, milliseconds: int) -> list[dict[str, Any]]:
    """The searches of one query, each with its header: what all may see counted, then each arm that has something to look for."""
    bodies = [_statistics(query), *_arms(query, layout)]
    header = _header(query.owners, index, layout)
    return [line for body in bodies for line in (header, {**body, "timeout": f"{milliseconds}ms"})]


def scope(owners: Sequence[str], clearance: Clearance, *filters: Mapping[str, Any]) -> dict[str, Any]:
    """What lies within owners and clearance, and within further filters."""
    return {"bool": {"filter": [{"terms": {"owner": list(owners)}}, *_cleared(clearance), *filters]}}


def owned(owner: str) -> dict[str, Any]:
    """All that is one owner's, of every clearance: for what counts and erases, never for what answers."""
    return {"bool": {"filter": [{"term": {"owner": owner}}]}}


def page_body(query: Mapping[str, Any], *, limit: int, after: str | None) -> dict[str, Any]:
    """One page by key: one document more than asked for says whether there is another page."""
    body = {"query": query, "size": limit + 1, "sort": [{"key": "asc"}], "track_total_hits": False}
    body["_source"] = ["key", "owner", "document_id", "kind", "ref"]
    return {**body, "search_after": [after]} if after is not None else body


def _header(owners: Sequence[str], index: str, layout: Layout) -> dict[str, Any]:
    header: dict[str, Any] = {"index": index, "ignore_unavailable": True, "allow_no_indices": True}
    if layout.managed:
        header["routing"] = ",".join(sorted(map(routing_of, owners)))
    return header


def _cleared(clearance: Clearance) -> list[dict[str, Any]]:
    """Level at most the principal's, and every compartment one of the principal's."""
    level = {"range": {"level": {"lte": clearance.level}}}
    none: dict[str, Any] = {"term": {"compartment_count": 0}}
    if not clearance.compartments:
        return [level, none]
    # As many of a document's compartments as it has must be among these: a document without any matches nothing here.
    held = {"terms": sorted(clearance.compartments), "minimum_should_match_field": "compartment_count"}
    return [level, {"bool": {"should": [none, {"terms_set": {"compartments": held}}], "minimum_should_match": 1}}]


def _seen(query: IndexQuery) -> dict[str, Any]:
    """All that the query may see: what its statistics are about."""
    return scope(query.owners, query.clearance, {"terms": {"kind": sorted(query.kinds)}})


def _sought(query: IndexQuery) -> dict[str, Any]:
    """What of it may become a candidate: what lies within the times."""
    bounds = {"gte": query.since_ms, "lte": query.until_ms}
    within = {name: bound for name, bound in bounds.items() if bound is not None}
    times = [{"range": {"occurred_at": within}}] if within else []
    return scope(query.owners, query.clearance, {"terms": {"kind": sorted(query.kinds)}}, *times)


def _statistics(query: IndexQuery) -> dict[str, Any]:
    totals: dict[str, Any] = {name: {"sum": {"field": name}} for name in ("length", "window_length")}
    terms = searched_terms(query)
    for field in (TURN, WINDOW) if terms else ():
        filters = {str(at): {"terms": {field: _tokens(query, term)}} for at, term in enumerate(terms)}
        totals[field] = {"filters": {"filters": filters}}
    return {"size": 0, "track_total_hits": True, "query": _seen(query), "aggs": totals}


def _arms(query: IndexQuery, layout: Layout) -> list[dict[str, Any]]:
    sought, size = _sought(query), query.per_arm + max(query.per_arm, _SPARE)
    arms: list[dict[str, Any]] = []
    tokens = [token for term in searched_terms(query) for token in _tokens(query, term)]
    for field in (TURN, WINDOW) if tokens else ():
        clauses = [{"term": {field: token}} for token in tokens]
        arms.append({"bool": {**sought["bool"], "should": clauses, "minimum_should_match": 1}})
    if query.vector is not None and any(query.vector.values):
        components = components_of(query.vector, unit=layout.unit_vectors)
        arms.append({"knn": {VECTOR: {"vector": components, "k": size, "filter": sought}}})
    return [{"size": size, "track_total_hits": False, "query": arm} for arm in arms]


def _tokens(query: IndexQuery, term: str) -> list[str]:
    return [token_of(owner, term) for owner in query.owners]

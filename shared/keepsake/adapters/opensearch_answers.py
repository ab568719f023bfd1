"""What OpenSearch answers, read: candidates chosen by exact scores, statistics, and what became of each written document.

Every function raises LookupError, TypeError, ValueError or AttributeError when an answer has not the shape that it should have.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import log, sqrt
from operator import mul
from typing import Any

from keepsake.adapters.opensearch_documents import TURN, WINDOW, Hit, hit_of, wanted_tokens
from keepsake.domain.errors import IndexUnavailableError
from keepsake.domain.search import Candidate, FieldStatistics, Found, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.search_index import NO_INDEX, IndexedDocument, IndexedPage, Location, NotIndexed

_K1, _B = 1.5, 0.75
_LEXICAL = 2  # arms before the one by vector, when the query has terms
# Python 3.12 and newer have it ready.
_product: Callable[[Sequence[int], Sequence[int]], int] = getattr(math, "sumprod", lambda left, right: sum(map(mul, left, right)))


def nothing_found(query: IndexQuery) -> Found:
    """What is found where there is nothing."""
    none = FieldStatistics(frequencies=dict.fromkeys(query.terms, 0))
    return Found((), none, none)


def found_in(answer: Mapping[str, Any], query: IndexQuery, terms: Sequence[str], searches: int) -> Found:
    """The answer to the searches of `search_lines`. Raises IndexUnavailableError when one of them is missing or not whole."""
    responses = answer["responses"]
    if len(responses) != searches or not all(map(_is_whole, responses)):
        raise IndexUnavailableError("a search was not answered in full")
    counted, *arms = responses
    if not counted["_shards"]["total"]:
        if query.index:
            raise IndexUnavailableError("the index that was asked for is gone")
        return nothing_found(query)  # no index stands behind the alias
    none = dict.fromkeys(query.terms, 0)
    turn = _statistics(counted, TURN, "length", terms, none)
    window = _statistics(counted, WINDOW, "window_length", terms, none)
    sources = [[hit["_source"] for hit in arm["hits"]["hits"]] for arm in arms]
    # By key, so that a document counts once also where an index that gives ids itself holds an old one beside its successor.
    wanted = wanted_tokens(query.owners, terms)
    hits = {key: hit_of(source, wanted) for key, source in {one["key"]: one for one in chain(*sources)}.items()}
    cosines = Cosines(query.vector)
    near = [hits[key] for key in {one["key"]: None for one in chain(*sources[_LEXICAL if terms else 0 :])}]
    best = {
        **_best(hits.values(), lambda hit: _bm25(hit.matches, hit.length, turn), query.per_arm),
        **_best(hits.values(), lambda hit: _bm25(hit.window_matches, hit.window_length, window), query.per_arm),
        **_best(near, cosines.of, query.per_arm),
    }
    return Found(tuple([_candidate(hit, cosines.of(hit)) for hit in best.values()]), turn, window)


def page_in(answer: Mapping[str, Any], *, limit: int, routing: Callable[[str], str]) -> IndexedPage:
    """A page of documents, as `page_body` asked for it."""
    if not _is_whole(answer):
        raise IndexUnavailableError("a search was not answered in full")
    hits = answer["hits"]["hits"]
    documents = tuple([_indexed(hit, routing) for hit in hits[:limit]])
    return IndexedPage(documents, str(hits[limit - 1]["_source"]["key"]) if len(hits) > limit else None)


def written(item: Mapping[str, Any], routing: str) -> Location | NotIndexed:
    """What became of one document of a bulk."""
    (outcome,) = item.values()
    if 200 <= outcome["status"] < 300:
        return Location(str(outcome["_index"]), str(outcome["_id"]), routing)
    return refusal(outcome["status"])


def refusal(status: int) -> NotIndexed:
    """Why the index did not take a document, by the status it gave. Its message is not passed on: it may quote the document."""
    if status == 429:
        return NotIndexed("throttled", retryable=True)
    if status >= 500:
        return NotIndexed("unavailable", retryable=True)
    return NotIndexed(NO_INDEX if status == 404 else "refused", retryable=False)


def is_gone(item: Mapping[str, Any]) -> bool:
    """Whether one document of a bulk that deletes is not there now."""
    return int(item["delete"]["status"]) in {200, 404}


def _is_whole(response: Mapping[str, Any]) -> bool:
    return "error" not in response and not response["timed_out"] and not response["_shards"]["failed"]


def _indexed(hit: Mapping[str, Any], routing: Callable[[str], str]) -> IndexedDocument:
    source = hit["_source"]
    location = Location(hit["_index"], hit["_id"], routing(source["owner"]))
    return IndexedDocument(source["owner"], source["document_id"], source["kind"], source["ref"], location)


def _statistics(
    counted: Mapping[str, Any], field: str, length: str, terms: Sequence[str], none: Mapping[str, int]
) -> FieldStatistics:
    totals = counted["aggregations"]
    buckets = totals[field]["buckets"] if terms else {}
    frequencies = {**none} | {term: buckets[str(at)]["doc_count"] for at, term in enumerate(terms)}
    return FieldStatistics(counted["hits"]["total"]["value"], int(totals[length]["value"]), frequencies)


def _best(hits: Iterable[Hit], score: Callable[[Hit], float | None], most: int) -> dict[tuple[str, str], Hit]:
    """The best of those that have a score, by document id and owner, which also decide between equals."""
    scored = {(-value, hit.document_id, hit.owner): hit for hit in hits if (value := score(hit)) is not None}
    return {key[1:]: scored[key] for key in sorted(scored)[:most]}


def _bm25(matches: Mapping[str, int], length: int, statistics: FieldStatistics) -> float | None:
    """BM25 with Lucene's idf, by the statistics of what the query may see; None where nothing matches."""
    if not matches:
        return None
    share = length * statistics.documents / statistics.length if statistics.length else 1.0
    norm = _K1 * (1 - _B + _B * share)
    return sum(_idf(statistics, term) * count / (count + norm) for term, count in matches.items())


def _idf(statistics: FieldStatistics, term: str) -> float:
    frequency = statistics.frequencies.get(term, 0)
    return log(1 + (statistics.documents - frequency + 0.5) / (frequency + 0.5))


class Cosines:
    """`Vector.cosine` of one vector to many, what is theirs worked out once; None where one of the two has no direction."""

    def __init__(self, vector: Vector | None) -> None:
        self._own = vector.whole if vector else ()
        self._square = _product(self._own, self._own)
        self._known: dict[bytes, float] = {}

    def of(self, hit: Hit) -> float | None:
        """The cosine to a hit's vector. Raises ValueError for other dimensions."""
        if not self._square or not hit.square:
            return None
        if hit.vector.dimensions != len(self._own):
            raise ValueError("vectors of different dimensions have no angle")
        values = hit.vector.values
        if values not in self._known:
            self._known[values] = _product(self._own, hit.vector.whole) / sqrt(self._square * hit.square)
        return self._known[values]


def _candidate(hit: Hit, cosine: float | None) -> Candidate:
    return Candidate(
        owner=hit.owner,
        document_id=hit.document_id,
        kind=hit.kind,
        ref=hit.ref,
        occurred_at_ms=hit.occurred_at_ms,
        matches=hit.matches,
        window_matches=hit.window_matches,
        length=hit.length,
        window_length=hit.window_length,
        cosine=cosine,
        epoch=hit.epoch,
        clearance=hit.clearance,
        session_id=hit.session_id,
        speaker=hit.speaker,
        role=hit.role,
    )

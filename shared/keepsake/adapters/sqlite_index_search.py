"""One search of the embedded index: every arm over all that the query may see, exactly; then all features of the best of each."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from math import log

import numpy as np
from numpy.typing import NDArray

from keepsake.adapters.sqlite_index_lexical import Integers, Matches
from keepsake.adapters.sqlite_index_owned import OwnedDocuments
from keepsake.adapters.sqlite_index_schema import IndexTables
from keepsake.domain.search import Candidate, FieldStatistics, Found, IndexQuery
from keepsake.domain.vectors import Vector

Mask = NDArray[np.bool_]
Scores = NDArray[np.float64]

_K1, _B = 1.5, 0.75


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of one owner's documents: how long each is, and where each term of the query stands."""

    lengths: Integers
    hits: tuple[Matches, ...]


@dataclass(frozen=True, slots=True)
class _Share:
    """What one owner has to offer: what the query may see of it (`seen`), what is within its times too, and the arms."""

    owner: str
    documents: OwnedDocuments
    seen: Mask
    in_time: Mask
    turn: _Field
    window: _Field
    cosines: Scores | None


def found_in(
    reader: sqlite3.Connection, tables: IndexTables, query: IndexQuery, owned: Sequence[tuple[str, OwnedDocuments]]
) -> Found:
    """The answer to `query` from its owners' documents. Raises ValueError when its vector has other dimensions than theirs."""
    shares = [_share(reader, tables, query, owner, documents) for owner, documents in owned]
    turn = _statistics(query, shares, lambda share: share.turn)
    window = _statistics(query, shares, lambda share: share.window)
    arms = [
        [_lexical(share.turn, turn, query) for share in shares],
        [_lexical(share.window, window, query) for share in shares],
        [_directions(share) for share in shares],
    ]
    chosen: list[set[int]] = [set() for _ in shares]
    for scores in arms:
        for number, place in _best(shares, scores, query.per_arm):
            chosen[number].add(place)
    candidates = [_candidates(query, share, places) for share, places in zip(shares, chosen, strict=True)]
    return Found(tuple(chain.from_iterable(candidates)), turn, window)


# ---- what may be seen --------------------------------------------------------------------------------------------------


def _share(reader: sqlite3.Connection, tables: IndexTables, query: IndexQuery, owner: str, documents: OwnedDocuments) -> _Share:
    seen = _seen(query, documents)
    postings = [documents.postings(reader, tables, term) for term in query.terms]
    return _Share(
        owner=owner,
        documents=documents,
        seen=seen,
        in_time=_in_time(query, documents, seen),
        turn=_Field(documents.lengths, _hits([found.turn for found in postings], seen)),
        window=_Field(documents.window_lengths, _hits([found.window for found in postings], seen)),
        cosines=_cosines(query.vector, documents),
    )


def _seen(query: IndexQuery, documents: OwnedDocuments) -> Mask:
    may_see = [kind in query.kinds and query.clearance.covers(clearance) for kind, clearance in documents.group_names]
    if all(may_see):
        return np.ones(len(documents.entries), dtype=np.bool_)
    return np.array(may_see, dtype=np.bool_)[documents.groups]


def _in_time(query: IndexQuery, documents: OwnedDocuments, seen: Mask) -> Mask:
    if query.since_ms is not None:
        seen = seen & (documents.times >= query.since_ms)
    if query.until_ms is not None:
        seen = seen & (documents.times <= query.until_ms)
    return seen


def _hits(matches: Sequence[Matches], seen: Mask) -> tuple[Matches, ...]:
    if seen.all():
        return tuple(matches)
    return tuple([Matches(found.places[seen[found.places]], found.counts[seen[found.places]]) for found in matches])


def _statistics(query: IndexQuery, shares: Sequence[_Share], field: Callable[[_Share], _Field]) -> FieldStatistics:
    hits = [field(share).hits for share in shares]
    return FieldStatistics(
        documents=sum([int(np.count_nonzero(share.seen)) for share in shares]),
        length=sum([int(field(share).lengths @ share.seen) for share in shares]),
        frequencies={term: sum([len(of[place].places) for of in hits]) for place, term in enumerate(query.terms)},
    )


# ---- the arms: a score for each document, or minus infinity where the arm has nothing to say of it ----------------------


def _lexical(field: _Field, statistics: FieldStatistics, query: IndexQuery) -> Scores:
    """BM25 as Lucene has it, over all that the query may see."""
    scores = np.zeros(len(field.lengths))
    average = statistics.length / max(1, statistics.documents) or 1.0  # where there is no term at all it does not matter
    damping = _K1 * (1 - _B + _B * field.lengths / average)
    for term, hits in zip(query.terms, field.hits, strict=True):
        if len(hits.places):
            frequency = statistics.frequencies[term]
            idf = log(1 + (statistics.documents - frequency + 0.5) / (frequency + 0.5))
            scores[hits.places] += idf * hits.counts / (hits.counts + damping[hits.places])
    scores[scores == 0] = -np.inf
    return scores


def _cosines(vector: Vector | None, documents: OwnedDocuments) -> Scores | None:
    """Cosines, not a number where a document has no direction. None when the query has none."""
    if vector is None or not any(vector.values):
        return None
    if vector.dimensions != documents.vectors.shape[1]:
        raise ValueError("the query's vector has not the dimensions of the index")
    wanted = np.frombuffer(vector.values, dtype=np.int8).astype(np.float32)
    # Not `@`: that starts threads, which wait for each other longer than the whole takes.
    products = np.vecdot(documents.vectors, wanted).astype(np.float64)
    lengths = np.sqrt(documents.squares * float(wanted.astype(np.float64) @ wanted))
    cosines = np.full(len(products), np.nan)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines


def _directions(share: _Share) -> Scores:
    if share.cosines is None:
        return np.full(len(share.documents.entries), -np.inf)
    return np.where(np.isnan(share.cosines), -np.inf, share.cosines)


def _best(shares: Sequence[_Share], scores: Sequence[Scores], most: int) -> Iterable[tuple[int, int]]:
    """The best of one arm among all shares, as number of the share and place in it; equals by document id, then by owner."""
    offered = [
        (number, np.flatnonzero(share.in_time & (of_share > -np.inf)), of_share)
        for number, (share, of_share) in enumerate(zip(shares, scores, strict=True))
    ]
    numbers = np.concatenate([np.full(len(places), number) for number, places, _ in offered] or [np.empty(0, np.int64)])
    places = np.concatenate([places for _, places, _ in offered] or [np.empty(0, np.int64)])
    values = np.concatenate([of_share[places] for _, places, of_share in offered] or [np.empty(0)])
    if len(values) > most > 0:
        chosen = _largest(values, most, lambda at: _order(shares[int(numbers[at])], int(places[at])))
        numbers, places = numbers[chosen], places[chosen]
    return zip(numbers.tolist(), places.tolist(), strict=True) if most > 0 else ()


def _largest(values: Scores, most: int, order: Callable[[int], tuple[str, str]]) -> Integers:
    """Where the `most` largest values are; of those that equal the last one, the first by `order`."""
    least = np.partition(values, len(values) - most)[len(values) - most]
    certain, equals = np.flatnonzero(values > least), np.flatnonzero(values == least)
    return np.concatenate([certain, np.array(nsmallest(most - len(certain), equals.tolist(), key=order), dtype=np.int64)])


def _order(share: _Share, place: int) -> tuple[str, str]:
    return share.documents.entries[place][0], share.owner


# ---- the candidates ----------------------------------------------------------------------------------------------------


def _candidates(query: IndexQuery, share: _Share, chosen: set[int]) -> Iterator[Candidate]:
    places = np.array(sorted(chosen), dtype=np.int64)
    documents = share.documents
    cosines = [None] * len(places) if share.cosines is None else share.cosines[places].tolist()
    columns = (
        [documents.entries[place] for place in places.tolist()],
        [documents.group_names[group] for group in documents.groups[places].tolist()],
        _counts(query, share.turn, places),
        _counts(query, share.window, places),
        documents.lengths[places].tolist(),
        documents.window_lengths[places].tolist(),
        [None if cosine != cosine else cosine for cosine in cosines],  # noqa: PLR0124 (not a number: no direction)
    )
    for entry, (kind, clearance), matches, window_matches, length, window_length, cosine in zip(*columns, strict=True):
        document_id, ref, occurred_at_ms, *rest = entry
        yield Candidate(
            share.owner,
            document_id,
            kind,
            ref,
            occurred_at_ms,
            matches,
            window_matches,
            length,
            window_length,
            cosine,
            rest[0],
            clearance,
            *rest[1:],
        )


def _counts(query: IndexQuery, field: _Field, places: Integers) -> list[dict[str, int]]:
    counts: list[dict[str, int]] = [{} for _ in places]
    for term, hits in zip(query.terms, field.hits, strict=True):
        if len(hits.places):
            at = np.minimum(np.searchsorted(hits.places, places), len(hits.places) - 1)
            there = np.flatnonzero(hits.places[at] == places)
            for number, count in zip(there.tolist(), hits.counts[at[there]].tolist(), strict=True):
                counts[number][term] = count
    return counts

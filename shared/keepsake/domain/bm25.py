"""BM25 as Lucene computes it: what the words of a query say of a text, by their rarity among all texts that the query may see."""

from collections.abc import Mapping, Sequence
from math import fsum, log

from keepsake.domain.search import FieldStatistics

_K1, _B = 1.5, 0.75  # as usual; others were measured and hurt long texts


def rarities(terms: Sequence[str], statistics: FieldStatistics) -> dict[str, float]:
    """Each term's inverse document frequency: ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""
    found = ((term, min(statistics.frequencies.get(term, 0), statistics.documents)) for term in terms)
    return {term: log(1 + (statistics.documents - many + 0.5) / (many + 0.5)) for term, many in found}


def bm25(rarity: Mapping[str, float], statistics: FieldStatistics, texts: Sequence[tuple[Mapping[str, int], int]]) -> list[float]:
    """The score of each text, which is given by how often it holds which terms, and by its length.

    Without statistics, texts are as long as these are on average.
    """
    lengths = statistics.length or sum(length for _, length in texts)
    usual = lengths / max(statistics.documents or len(texts), 1) or 1.0
    return [
        fsum([rarity.get(term, 0.0) * many / (many + _K1 * (1 - _B + _B * length / usual)) for term, many in matches.items()])
        for matches, length in texts
    ]

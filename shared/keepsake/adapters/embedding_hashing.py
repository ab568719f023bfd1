"""An embedder that needs nothing: it hashes what a text is written with into the dimensions of a vector.

It knows no meanings; it finds other forms and spellings of the same words, in any language.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import log, sqrt

from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.text import terms
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel, Purpose

# Unrelated texts lie at 0.1 and below, a sentence and its paraphrase with half the words at about 0.5.
HASHING = EmbeddingModel("hashing-384", 384, weak_below=0.1, strong_above=0.6)
_LONGEST_TEXT = 16_384  # characters
_GRAM = 3
_LAST_ALPHABETIC = "\u058f"  # Latin, Greek, Cyrillic, Armenian: scripts whose short words are mostly grammar
_LONG = 6  # letters of a word that counts in full


class HashingEmbedder:
    """Embedder by feature hashing with signs, of terms and of their pieces of three characters (Weinberger et al., 2009)."""

    @property
    def model(self) -> EmbeddingModel:
        """The hashing model."""
        return HASHING

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:  # noqa: ARG002 - the same for both
        """One vector for each text, in order; of a text the first 16,384 characters count."""
        return tuple([_vector(text.text[:_LONGEST_TEXT]) for text in texts])


def _vector(text: str) -> Vector:
    components = [0.0] * HASHING.dimensions
    for term, count in Counter(terms(text)).items():
        for place, weight in _features(term):
            components[place] += weight * (1 + log(count))
    return Vector.of(components)


@lru_cache(maxsize=1024)
def _features(term: str) -> tuple[tuple[int, float], ...]:
    grams = list(_grams(term))
    weight = _weight_of(term)
    share = 1 / sqrt(len(grams)) if grams else 0.0  # all pieces of a word weigh together what the word does
    return (_hashed(f"w{term}", weight), *(_hashed(f"g{gram}", weight * share) for gram in grams))


def _grams(term: str) -> Iterator[str]:
    whole = f"<{term}>"
    if len(term) >= _GRAM and term.isalpha():
        yield from (whole[at : at + _GRAM] for at in range(len(whole) - _GRAM + 1))


def _weight_of(term: str) -> float:
    """Short words of the alphabets say little: squared, for want of the frequencies that would say how little."""
    if term.isalpha() and term[0] <= _LAST_ALPHABETIC:
        return min(1.0, (len(term) / _LONG) ** 2)
    return 1.0


def _hashed(feature: str, weight: float) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return (number >> 1) % HASHING.dimensions, weight if number & 1 else -weight

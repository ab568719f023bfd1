"""Lexical analysis: from a text to the terms that an index keeps, and by which a query finds it again.

The terms of `domain.text`, stemmed lightly by the script they are written in. No word is ever turned into one of another
language. All functions take any string, never raise, and run in time linear in its length.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from snowballstemmer.arabic_stemmer import ArabicStemmer
from snowballstemmer.armenian_stemmer import ArmenianStemmer
from snowballstemmer.basestemmer import BaseStemmer
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.greek_stemmer import GreekStemmer
from snowballstemmer.hindi_stemmer import HindiStemmer
from snowballstemmer.russian_stemmer import RussianStemmer
from snowballstemmer.tamil_stemmer import TamilStemmer

from keepsake.domain.text import terms

_LONGEST_STEMMED = 32  # characters; longer words are names, numbers or noise
# Which Snowball stemmer knows a script best. Latin is read as English, which only takes endings off: measured to help there.
_STEMMERS: tuple[tuple[re.Pattern[str], type[BaseStemmer]], ...] = (
    (re.compile(r"[a-z]+"), EnglishStemmer),
    (re.compile(r"[\u0400-\u052f]+"), RussianStemmer),
    (re.compile(r"[\u0370-\u03ff]+"), GreekStemmer),
    (re.compile(r"[\u0621-\u06d3]+"), ArabicStemmer),
    (re.compile(r"[\u0900-\u0963]+"), HindiStemmer),
    (re.compile(r"[\u0b80-\u0be3]+"), TamilStemmer),
    (re.compile(r"[\u0561-\u0587]+"), ArmenianStemmer),
)
_SHORT_I = ("ыи", "ии", "ои", "еи")  # where folding took the breve off that the Russian endings are known by
_HANGUL = re.compile(r"[\uac00-\ud7a3]{3,}")


def index_terms(text: str) -> tuple[str, ...]:
    """The terms by which an index finds a text, in order and as often as they stand there."""
    return stemmed(terms(text))


def stemmed(words: Iterable[str]) -> tuple[str, ...]:
    """The terms of words that `domain.text.terms` found, as an index keeps them."""
    return tuple(term for word in words for term in _analysed(word))


@lru_cache(maxsize=16384)
def _analysed(word: str) -> tuple[str, ...]:
    """A word's stem; for Korean, whose particles cling to the word, its bigrams."""
    if _HANGUL.fullmatch(word):
        return tuple(word[at : at + 2] for at in range(len(word) - 1))
    return (_stem(word),)


def _stem(word: str) -> str:
    if len(word) > _LONGEST_STEMMED:
        return word
    for script, stemmer in _STEMMERS:
        if script.fullmatch(word):
            known = word[:-1] + "й" if word.endswith(_SHORT_I) else word
            # A stemmer keeps the word it works on, so threads may not share one; making one costs a hundredth of its work.
            return stemmer().stemWord(known) or word
    return word

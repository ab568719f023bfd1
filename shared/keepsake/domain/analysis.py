"""Lexical analysis: from a text to the terms that an index keeps, and by which a query finds it again.

The terms of `domain.text`, stemmed lightly by the script they are written in. No word is ever turned into one of another
language. All functions take any string, never raise, and run in time linear in its length.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from snowballstemmer.arabic_stemmer import ArabicStemmer
from snowballstemmer.armenian_stemmer import ArmenianStemmer
from snowballstemmer.basestemmer import BaseStemmer
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.greek_stemmer import GreekStemmer
from snowballstemmer.hindi_stemmer import HindiStemmer
from snowballstemmer.russian_stemmer import RussianStemmer
from snowballstemmer.tamil_stemmer import TamilStemmer

from keepsake.domain.text import terms

_CACHED = 16384  # words
_LONGEST_STEMMED = 40  # characters; longer words are numbers or noise
_SHORTEST_COMPOUND, _LONGEST_COMPOUND, _SHORTEST_PART = 8, 40, 4
_SHORTEST_PLURAL = 6  # German and Dutch words in -en, which for English changes nothing that matters
_LATIN = re.compile(r"[a-z]+")
# Which Snowball stemmer knows a script best. Latin is read as English, which only takes endings off: measured to help there.
_STEMMERS: tuple[tuple[re.Pattern[str], type[BaseStemmer]], ...] = (
    (_LATIN, EnglishStemmer),
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
    """The terms by which an index finds a text, in order and as often as they stand there.

    A long Latin word also gives what it begins and ends with, so that a compound ("Blutzuckermessgerät") is found by what it is
    made of ("Blutzucker", "Messgerät"). Queries do not: `stemmed` gives theirs.
    """
    return tuple(chain.from_iterable(map(_indexed, terms(text))))


def stemmed(words: Iterable[str]) -> tuple[str, ...]:
    """The terms of words that `domain.text.terms` found, each word for itself and whole."""
    return tuple(term for word in words for term in _analysed(word))


@lru_cache(maxsize=_CACHED)
def _indexed(word: str) -> tuple[str, ...]:
    return *_analysed(word), *_compounded(word)


@lru_cache(maxsize=_CACHED)
def _analysed(word: str) -> tuple[str, ...]:
    """A word's stem; for Korean, whose particles cling to the word, its bigrams."""
    if _HANGUL.fullmatch(word):
        return tuple(word[at : at + 2] for at in range(len(word) - 1))
    return (_stem(word),)


def _compounded(word: str) -> tuple[str, ...]:
    """Beginnings and stemmed ends of a word that may be a compound: long, and with no English ending taken off."""
    if not (_SHORTEST_COMPOUND <= len(word) <= _LONGEST_COMPOUND) or not _LATIN.fullmatch(word):
        return ()
    (stem,) = _analysed(word)
    if word not in {stem + ending for ending in ("", "e", "s", "es", "en")}:
        return ()
    beginnings = [word[:length] for length in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)]
    ends = [stem[at:] for at in range(_SHORTEST_PART, len(stem) - _SHORTEST_PART + 1)]
    return tuple(dict.fromkeys(beginnings + ends))


def _stem(word: str) -> str:
    if len(word) > _LONGEST_STEMMED:
        return word
    for script, stemmer in _STEMMERS:
        if script.fullmatch(word):
            known = word[:-1] + "й" if word.endswith(_SHORT_I) else word
            # A stemmer keeps the word it works on, so threads may not share one; making one costs a hundredth of its work.
            stem = stemmer().stemWord(known) or word
            return stem[:-2] if stemmer is EnglishStemmer and len(stem) >= _SHORTEST_PLURAL and stem.endswith("en") else stem
    return word

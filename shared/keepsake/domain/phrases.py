"""Whole words and phrases found in running text by an n-gram dictionary: no hit inside a word, none across a clause break.

A text is cut once (`Spoken`) for any number of tables. Phrases in a script without spaces are found wherever they stand.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from keepsake.domain.text import WORD, folded, has_unspaced

T = TypeVar("T")
PhraseKey = tuple[str, ...]  # folded words; a phrase in a script without spaces is one "word"

BREAKS = frozenset(".,;:!?\n()。、")
MAX_PHRASE_WORDS = 8

_PIECES = re.compile(rf"{WORD}|[.,;:!?\n()。、]")
_ASCII_PIECES = re.compile(r"[a-z0-9]+|[.,;:!?\n()]")
_POSSESSIVE = re.compile(r"'s\b")
_PLURAL_ES = re.compile(r"(?:s|x|z|ch|sh)$")
_PLURAL_IES = re.compile(r"[^aeiou]y$")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as folded words and clause breaks, in order. "'s" is dropped: "Parkinson's disease" is "Parkinson disease"."""

    words: tuple[str, ...]
    text: str = ""  # the folded text, where it holds a script without spaces
    offsets: tuple[int, ...] = ()  # of each word in `text`, likewise

    @classmethod
    def of(cls, text: str) -> "Spoken":
        """Cut `text`; any text will do."""
        plain = folded(text)
        if "'s" in plain:
            plain = _POSSESSIVE.sub("", plain)
        if plain.isascii():
            return cls(tuple(_ASCII_PIECES.findall(plain)))
        if not has_unspaced(plain):
            return cls(tuple(_PIECES.findall(plain)))
        found = tuple(_PIECES.finditer(plain))
        return cls(tuple(piece.group() for piece in found), plain, tuple(piece.start() for piece in found))

    @property
    def clause_starts(self) -> Iterator[int]:
        """Indexes of the words that begin a clause."""
        after_break = True
        for index, word in enumerate(self.words):
            is_break = word in BREAKS
            if after_break and not is_break:
                yield index
            after_break = is_break

    @property
    def length(self) -> int:
        """How many words there are, without the breaks."""
        return sum(word not in BREAKS for word in self.words)


@dataclass(frozen=True, slots=True)
class Hit(Generic[T]):
    """A phrase found: the words `start` to `end` (exclusive; equal where the script has no spaces) and what it stands for."""

    start: int
    end: int
    value: T


@dataclass(frozen=True, slots=True)
class PhraseTable(Generic[T]):
    """Phrases and what they stand for. Immutable; made by `phrase_table`."""

    entries: Mapping[PhraseKey, T]
    _lengths: Mapping[str, tuple[int, ...]]  # of the phrases that begin with a word, longest first
    _unspaced: re.Pattern[str] | None

    def at(self, spoken: Spoken, index: int) -> Hit[T] | None:
        """The longest phrase that begins at word `index`, if one does."""
        words = spoken.words
        if index >= len(words):
            return None
        for length in self._lengths.get(words[index], ()):
            key = words[index : index + length]
            if key in self.entries:
                return Hit(index, index + length, self.entries[key])
        return None

    def find(self, spoken: Spoken) -> tuple[Hit[T], ...]:
        """All phrases in order of their place; of those that overlap, the first and longest."""
        hits = [] if self._lengths.keys().isdisjoint(spoken.words) else list(self._in_words(spoken))
        if not spoken.text or self._unspaced is None:
            return tuple(hits)
        placed = [(spoken.offsets[hit.start], hit) for hit in hits]
        placed += [(match.start(), self._hit(spoken, match)) for match in self._unspaced.finditer(spoken.text)]
        return tuple(hit for _, hit in sorted(placed, key=lambda place: place[0]))

    def find_unspaced(self, spoken: Spoken) -> bool:
        """Whether a phrase in a script without spaces stands anywhere in the text."""
        return self._unspaced is not None and self._unspaced.search(spoken.text) is not None

    def _in_words(self, spoken: Spoken) -> Iterator[Hit[T]]:
        index = 0
        for position, word in enumerate(spoken.words):
            if position < index or word not in self._lengths:
                continue
            hit = self.at(spoken, position)
            if hit is not None:
                yield hit
                index = hit.end

    def _hit(self, spoken: Spoken, match: re.Match[str]) -> Hit[T]:
        index = bisect_right(spoken.offsets, match.start())
        return Hit(index, index, self.entries[(match.group(),)])


def phrase_table(entries: Mapping[PhraseKey, T]) -> PhraseTable[T]:
    """Compile a table."""
    lengths: dict[str, set[int]] = {}
    unspaced: list[str] = []
    for key in entries:
        if has_unspaced(key[0]):
            unspaced.append(key[0])
        else:
            lengths.setdefault(key[0], set()).add(len(key))
    pattern = re.compile("|".join(re.escape(phrase) for phrase in sorted(unspaced, key=len, reverse=True))) if unspaced else None
    longest_first = {word: tuple(sorted(sizes, reverse=True)) for word, sizes in lengths.items()}
    return PhraseTable(dict(entries), longest_first, pattern)


def phrase_key(phrase: str) -> PhraseKey:
    """What a phrase is found by: its folded words; empty when it has none."""
    spoken = Spoken.of(phrase)
    return (spoken.text.strip(),) if spoken.text else tuple(word for word in spoken.words if word not in BREAKS)


def surface_words(text: str) -> tuple[str, ...]:
    """The words and clause breaks of a text as they stand there, without "'s"; folded one by one they make a `Spoken`."""
    return tuple(_PIECES.findall(_POSSESSIVE.sub("", text.replace("’", "'"))))


def phrase_set(phrases: Sequence[str]) -> PhraseTable[bool]:
    """A table that only says whether a phrase is there."""
    return phrase_table({phrase_key(phrase): True for phrase in phrases})


def plural(word: str) -> str:
    """The regular English plural of a word, in its own letter case (T2DM → T2DMs)."""
    lowered = word.lower()
    if lowered.endswith("sis"):
        return word[:-2] + "es"
    if _PLURAL_IES.search(lowered):
        return word[:-1] + "ies"
    return word + ("es" if _PLURAL_ES.search(lowered) else "s")


def with_plurals(entries: Mapping[PhraseKey, T]) -> dict[PhraseKey, T]:
    """The entries and, where no entry claims it already, each with its last word in the plural."""
    grown = dict(entries)
    for key, value in entries.items():
        if key[-1].isascii() and key[-1].isalpha():
            grown.setdefault((*key[:-1], plural(key[-1])), value)
    return grown


def read_phrases(value: object, where: str, error: type[ValueError]) -> tuple[str, ...]:
    """A list of phrases out of a data file. Raises `error`, which names the place, when it is none."""
    if not isinstance(value, list):
        raise error(f"{where}: expected a list of phrases")
    for number, phrase in enumerate(value, start=1):
        if not isinstance(phrase, str):
            raise error(f"{where}: entry {number} is not text")
        if not 1 <= len(phrase_key(phrase)) <= MAX_PHRASE_WORDS:
            raise error(f"{where}: {phrase!r} must have 1 to {MAX_PHRASE_WORDS} words")
    return tuple(value)

"""The cues of one language: words and phrases that say what a turn is about, and how they are found in it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from keepsake.domain.text import WORD, folded

UNSPACED_LANGUAGES = frozenset({"ja", "zh", "th"})

_GAP = ".."
_GAP_WORDS = 3
_GAP_CHARACTERS = 10
_WORDS = re.compile(rf"{WORD}(?:'{WORD})*")
# Spellings that writers mix: the dot under Hindi consonants, its two signs of nasal vowels, two endings of Arabic words.
_ALIKE = {0x093C: None, 0x0901: 0x0902, ord("ى"): ord("ي"), ord("ة"): ord("ه")}
_ARABIC_PREFIXES = "وفبلك"  # and, so, with, to, like: written as one with the word that follows
_SHORTEST_PREFIXED = 4

K = TypeVar("K")
V = TypeVar("V")

Found = dict[str, int]  # kind of cue → where it stands first, in words or, in unspaced scripts, characters


def plain(text: str) -> str:
    """The text as cues are compared with it: folded, and spellings that writers mix made one."""
    simple = folded(text)
    return simple if simple.isascii() else simple.translate(_ALIKE)


def words(text: str, language: str) -> list[str]:
    """The words of a plain text. French elisions are words of their own; an apostrophe within any other word stays."""
    return _WORDS.findall(text.replace("'", " ") if language == "fr" else text)


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one language, ready to be found."""

    language: str
    function: frozenset[str] = frozenset()
    single: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # word → kinds
    phrases: Mapping[tuple[str, str], tuple[tuple[str, tuple[str, ...]], ...]] = field(default_factory=dict)
    """The first two words of a phrase → its kinds, each with the further words."""
    gapped: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = field(default_factory=dict)
    """The first word of a phrase whose second is a gap → the same."""
    affixes: tuple[tuple[str, str, str], ...] = ()  # beginning, ending, kind
    exempt: frozenset[str] = frozenset()  # words that end as an affix wants and mean something else
    anywhere: Mapping[str, tuple[tuple[str, str, str], ...]] = field(default_factory=dict)
    """In scripts without spaces, the first character of a phrase → its kinds, each with the phrase and what follows a gap."""

    @property
    def spaced(self) -> bool:
        """Whether the language writes spaces between words."""
        return self.language not in UNSPACED_LANGUAGES

    def find(self, text: str, tokens: Sequence[str]) -> Found:
        """What stands in a plain `text`, whose words are `tokens`."""
        return self._find_words(tokens) if self.spaced else self._find_anywhere(text)

    def _find_words(self, tokens: Sequence[str]) -> Found:
        found: Found = {}
        following = (*tokens[1:], "")
        for at, token in enumerate(tokens):
            for form in forms(token, self.language):
                for kind in self.single.get(form, ()):
                    found.setdefault(kind, at)
                for start, beyond in ((self.phrases.get((form, following[at]), ()), 2), (self.gapped.get(form, ()), 1)):
                    for kind, rest in start:
                        if kind not in found and _follows(tokens, at + beyond, rest):
                            found[kind] = at
            if self.affixes and token not in self.exempt:
                self._find_affixes(token, at, found)
        return found

    def _find_affixes(self, token: str, at: int, found: Found) -> None:
        for start, end, kind in self.affixes:
            fits = token.endswith(end) and token.startswith(start) and len(token) > len(start) + len(end) + 1
            if fits and kind not in found:
                found[kind] = at

    def _find_anywhere(self, text: str) -> Found:
        found: Found = {}
        for first in set(text):
            for kind, phrase, further in self.anywhere.get(first, ()):
                at = text.find(phrase)
                if 0 <= at < found.get(kind, len(text)) and _further(text, at + len(phrase), further):
                    found[kind] = at
        return found


def _further(text: str, at: int, further: str) -> bool:
    return not further or text.find(further, at, at + _GAP_CHARACTERS + len(further)) >= 0


def forms(token: str, language: str) -> tuple[str, ...]:
    """The word, and in Arabic also without a particle that is written as one with it."""
    if language == "ar" and len(token) >= _SHORTEST_PREFIXED and token[0] in _ARABIC_PREFIXES:
        return token, token[1:]
    return (token,)


def _follows(tokens: Sequence[str], at: int, rest: tuple[str, ...]) -> bool:
    for index, word in enumerate(rest):
        if word == _GAP:
            last = min(at + _GAP_WORDS, len(tokens) - 1)
            return any(_follows(tokens, further, rest[index + 1 :]) for further in range(at, last + 1))
        if at >= len(tokens) or tokens[at] != word:
            return False
        at += 1
    return True


def parse_cues(language: str, table: Mapping[str, object]) -> Cues:
    """The cues of a language from its table of the data file: kind → phrases, separated by commas."""
    if language in UNSPACED_LANGUAGES:
        return Cues(language, anywhere=_by_first_character(table))
    single: dict[str, list[str]] = {}
    phrases: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
    gapped: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    affixes = []
    for kind, phrase in _phrases(table):
        start, star, end = phrase.partition("*")
        parts = () if star else _parts(phrase, language)
        if star:
            affixes.append((start, end, kind))
        elif len(parts) == 1:
            single.setdefault(parts[0], []).append(kind)
        elif parts[1:2] == (_GAP,):
            gapped.setdefault(parts[0], []).append((kind, parts[1:]))
        elif parts:
            phrases.setdefault((parts[0], parts[1]), []).append((kind, parts[2:]))
    function = frozenset(word for word, kinds in single.items() if "function" in kinds)
    exempt = frozenset(word for word, kinds in single.items() if "exempt" in kinds)
    return Cues(language, function, _frozen(single), _frozen(phrases), _frozen(gapped), tuple(affixes), exempt)


def _by_first_character(table: Mapping[str, object]) -> dict[str, tuple[tuple[str, str, str], ...]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for kind, phrase in _phrases(table):
        start, _, further = phrase.partition(_GAP)
        found.setdefault(phrase[0], []).append((kind, start.strip(), further.strip()))
    return _frozen(found)


def _frozen(lists: Mapping[K, Sequence[V]]) -> dict[K, tuple[V, ...]]:
    return {key: tuple(dict.fromkeys(values)) for key, values in lists.items()}


def _parts(phrase: str, language: str) -> tuple[str, ...]:
    return tuple(part for piece in phrase.split() for part in ([piece] if piece == _GAP else words(piece, language)))


def _phrases(table: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for kind, listed in table.items():
        for phrase in listed_words(listed):
            yield kind, phrase


def listed_words(listed: object) -> tuple[str, ...]:
    """The plain phrases of one list of the data file."""
    return tuple(phrase for piece in str(listed).split(",") if (phrase := plain(piece.strip())))

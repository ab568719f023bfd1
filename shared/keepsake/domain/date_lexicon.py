"""A text as letters, one for each word, that the grammar of `keepsake.domain.dates` is written in.

`d` 1 to 31, `n` a number, `a` a number word that is also an article, `Y` a year, `D` a decade. `M` a month, `m` a month whose
name is also another word, `w` one that is a verb in this spelling, `W` a weekday, `s` a season. `U`, `u` a unit, units, `Q`
either, `V` a number of units. `R` yesterday, today …; `L`, `K`, `k`, `T`, `X` last, last but one, before last, this, next; `A`,
`B` ago, behind or before; `I` within, `q` about; `S`, `E` since, until; `t`, `c`, `z` to, and, between; `P`, `p` in, by; `F` of,
the; `h` German verbs beside a bare year. `,` `.` themselves, `b` another break, `x` words that mean nothing here.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from keepsake.domain import date_words as words
from keepsake.domain.text import folded

_PIECES = re.compile(r"[^\W_]+|[,.;:!?()\n]")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|ère|º|ª|°|e)")
_DECADE = re.compile(r"((?:1[5-9]|20)\d0)(?:s|er|ern)|([2-9]0)(?:s|er|ern)")
_LETTERS = {
    "last": "L",
    "before_last": "K",
    "before_the_last": "k",
    "this": "T",
    "next": "X",
    "ago": "A",
    "before": "B",
    "within": "I",
    "about": "q",
    "since": "S",
    "until": "E",
    "to": "t",
    "and": "c",
    "between": "z",
    "in": "P",
    "by": "p",
    "of": "F",
    "verb": "h",
}
_ANCHOR_LETTERS = "MWsUuQVRm"  # no date in words is without one of them, or a digit
_DIGIT = re.compile("[0-9]")
_LONGEST = 8  # characters of what can be a number
_BREAKS = frozenset(";:!?()\n")
_VERBS = frozenset({"may", "march"})  # English months that in small letters are mostly something else

Value = int | str | tuple[str, int]


class Token(NamedTuple):
    """A word or phrase: its letter, what it stands for, its place in the text."""

    letter: str
    value: Value
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Entry:
    words: tuple[str, ...]
    letter: str
    value: Value


def plain(text: str) -> tuple[str, Sequence[int] | None]:
    """The text in small letters and composed characters, digits of every script as 0–9; and where each character stood in `text`.

    None for the places: where it stands now.
    """
    if text.isascii():
        return text.lower(), None
    if unicodedata.is_normalized("NFC", text):
        lowered = text.lower()
        if len(lowered) == len(text):
            return lowered.translate(_DIGITS), None
    return _composed(text)


def _composed(text: str) -> tuple[str, Sequence[int]]:
    characters: list[str] = []
    places: list[int] = []
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and unicodedata.combining(text[at]):
            continue
        cluster = _cluster(text[start:at])
        characters.append(cluster)
        places.extend([start] * len(cluster))
        start = at
    places.append(len(text))
    return "".join(characters), places


@lru_cache(maxsize=4096)
def _cluster(characters: str) -> str:
    return unicodedata.normalize("NFC", characters.lower()).translate(_DIGITS)


class _Digits(dict[int, int]):
    """Decimal digits of every script; all other characters stand for themselves."""

    def __missing__(self, code: int) -> int:
        digit = unicodedata.decimal(chr(code), None)
        return code if digit is None else ord("0") + digit


_DIGITS = _Digits()


def tokens(text: str, original: str) -> tuple[Token, ...]:
    """The words of a `plain` text as tokens; none when no date can be among them. `original` has the capitals in their places."""
    known = frozenset(_PIECES.findall(text))
    if _ANCHORS.isdisjoint(known) and not _DIGIT.search(text):
        return ()
    pieces = [(piece.group(), piece.start(), piece.end()) for piece in _PIECES.finditer(text)]
    found: list[Token] = []
    taken = 0  # pieces that a phrase has taken
    for index, (word, start, end) in enumerate(pieces):
        if index < taken:
            continue
        entry = _entry(word, pieces, index) if word in _LEXICON else None
        if entry and _counts(entry, known):
            taken = index + len(entry.words)
            letter = "w" if word in _VERBS and original[start : start + 1].islower() else entry.letter
            found.append(Token(letter, entry.value, start, pieces[taken - 1][2]))
            continue
        letter, value = _kind(word) if len(word) <= _LONGEST else ("x", 0)
        if letter != "x" or not found or found[-1].letter != "x":
            found.append(Token(letter, value, start, end))
    return tuple(found)


def _entry(word: str, pieces: Sequence[tuple[str, int, int]], index: int) -> _Entry | None:
    for entry in _LEXICON[word]:
        rest = entry.words[1:]
        if not rest or rest == tuple(piece[0] for piece in pieces[index + 1 : index + 1 + len(rest)]):
            return entry
    return None


def _counts(entry: _Entry, known: frozenset[str]) -> bool:
    beside = _BESIDE.get(entry.words[0]) if len(entry.words) == 1 else None
    return beside is None or not beside.isdisjoint(known)


@lru_cache(maxsize=4096)
def _kind(word: str) -> tuple[str, Value]:
    if word in ",.":
        return word, 0
    if word in _BREAKS:
        return "b", 0
    if word.isascii() and word.isdigit():
        return _number(word)
    if ordinal := _ORDINAL.fullmatch(word):
        return _number(ordinal.group(1))
    if decade := _DECADE.fullmatch(word):
        return "D", int(decade.group(1) or 1900 + int(decade.group(2)))
    return "x", 0


def _number(digits: str) -> tuple[str, Value]:
    value = int(digits) if len(digits) <= 4 else 0
    if len(digits) == 4 and 1000 <= value <= 2999:
        return "Y", value
    if 1 <= value <= 31 and len(digits) <= 2:
        return "d", value
    return ("n", value) if 1 <= value <= 999 else ("x", 0)


def _entries() -> Iterable[_Entry]:
    for month, names in enumerate(words.MONTHS, start=1):
        for name in names.split():
            yield from _spelt(name, "M" if name in words.STRONG_MONTHS else "m", month)
    for day, names in enumerate(words.WEEKDAYS):
        yield from _all_spelt(names, "W", day)
    for number, names in words.NUMBERS.items():
        yield from _all_spelt(names, "a" if number == 1 else "n", number)
    yield from _table(words.SEASONS, "s")
    yield from _table(words.DAYS, "R")
    yield from _table(words.COUNTED, "V")
    yield from _units()
    for kind, names in words.WORDS.items():
        yield from _all_spelt(names, _LETTERS[kind], kind)


def _units() -> Iterable[_Entry]:
    for unit, names in words.UNITS.items():
        several = frozenset(words.UNITS_PLURAL.get(unit, "").split())
        for name in names.split():
            yield from _spelt(name, "Q" if name in several else "U", unit)
    yield from _table(words.UNITS_PLURAL, "u")


def _table(table: Mapping[Any, str], letter: str) -> Iterable[_Entry]:
    for value, names in table.items():
        yield from _all_spelt(names, letter, value)


def _all_spelt(names: str, letter: str, value: Value) -> Iterable[_Entry]:
    for name in names.split():
        yield from _spelt(name, letter, value)


def _spelt(name: str, letter: str, value: Value) -> Iterable[_Entry]:
    exact = name.rstrip("!")
    yield _Entry(tuple(exact.split("_")), letter, value)
    if exact == name and (bare := folded(name)) != name:
        yield _Entry(tuple(bare.split("_")), letter, value)


def _lexicon(entries: Iterable[_Entry]) -> Mapping[str, tuple[_Entry, ...]]:
    by_first: dict[str, dict[tuple[str, ...], _Entry]] = {}
    for entry in entries:
        by_first.setdefault(entry.words[0], {}).setdefault(entry.words, entry)
    return {first: tuple(sorted(all_.values(), key=lambda e: -len(e.words))) for first, all_ in by_first.items()}


_LEXICON = _lexicon(_entries())
_ANCHORS = frozenset(first for first, entries in _LEXICON.items() if any(entry.letter in _ANCHOR_LETTERS for entry in entries))
_BESIDE = {word: frozenset(beside.split()) for word, beside in words.ONLY_BESIDE.items()}

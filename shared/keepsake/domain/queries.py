"""Reading a query: what it looks for, whom and when it names, without what it only asks with. Its words stand in a data file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from keepsake.domain.analysis import stemmed
from keepsake.domain.dates import DateSpan, dates_in
from keepsake.domain.text import folded, has_unspaced, terms

_MOST_TERMS = 48  # of one query; the rest of a long one adds cost and no aim
_ENGLISH = "en"
_ENOUGH = 2  # different words that show a language
_SHORTEST_CODE = 3
_NEVER = re.compile(r"(?!)")


class InvalidQueryWordsError(ValueError):
    """The file of query words does not say what it should. The message names the place in the file."""


@dataclass(frozen=True, slots=True)
class AskingWords:
    """A language's `words` that only ask or join, and those of them by which one speaks of oneself. Folded."""

    words: frozenset[str]
    own: frozenset[str]


@dataclass(frozen=True, slots=True)
class QueryWords:
    """What queries ask with, by language. Where scripts write no spaces, it is parts of runs, for all of them together."""

    languages: Mapping[str, AskingWords]
    parts: re.Pattern[str]
    own_parts: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class QueryReading:
    """What a query says.

    `terms` are distinct, in order, as an index keeps them. `words` are all its words as they stand there, to match names by.
    `codes` are those of its terms that hold a digit and are no date: case numbers, room numbers, doses. `about_self`: it says I,
    me, my or mine.
    """

    terms: tuple[str, ...]
    words: frozenset[str]
    codes: frozenset[str] = frozenset()
    about_self: bool = False
    dates: tuple[DateSpan, ...] = ()


def read_query(text: str, at_ms: int, vocabulary: QueryWords) -> QueryReading:
    """What a query says; relative dates count from `at_ms`. One that only asks keeps all of its terms. Never raises."""
    plain = folded(text)
    said = frozenset(terms(plain))
    language = _language(said, vocabulary)
    words = terms(vocabulary.parts.sub(" ", plain) if has_unspaced(plain) else plain)
    wanted = [word for word in words if word not in language.words]
    dates = dates_in(text, at_ms)
    return QueryReading(
        terms=tuple(dict.fromkeys(stemmed(wanted or terms(plain))))[:_MOST_TERMS],
        words=said,
        codes=frozenset(_codes(text, dates)),
        about_self=not said.isdisjoint(language.own) or vocabulary.own_parts.search(plain) is not None,
        dates=dates,
    )


def _language(words: frozenset[str], vocabulary: QueryWords) -> AskingWords:
    """The language of which most words were used; equals: the first in the file. English, where that shows too little."""
    seen = {name: len(words & language.words) for name, language in vocabulary.languages.items()}
    most = max(seen, key=lambda name: seen[name])
    return vocabulary.languages[most if seen[most] >= _ENOUGH else _ENGLISH]


def _codes(text: str, dates: Sequence[DateSpan]) -> Iterator[str]:
    rest, at = [], 0
    for span in sorted(dates, key=lambda span: span.start):
        rest.append(text[at : span.start])
        at = max(at, span.end)
    rest.append(text[at:])
    for term in stemmed(terms(" ".join(rest))):
        if len(term) >= _SHORTEST_CODE and any(map(str.isdecimal, term)):
            yield term


def parse_query_words(table: Mapping[str, object]) -> QueryWords:
    """The words of a parsed data file. Raises InvalidQueryWordsError where it does not say what it should."""
    languages = table.get("languages")
    if not isinstance(languages, dict) or _ENGLISH not in languages:
        raise InvalidQueryWordsError(f"languages: a table is missing, or {_ENGLISH!r} in it")
    known: dict[str, AskingWords] = {}
    parts: set[str] = set()
    own_parts: set[str] = set()
    for name, language in languages.items():
        if not isinstance(language, dict) or not set(language) <= {"words", "parts", "self"}:
            raise InvalidQueryWordsError(f"{name}: has words or parts, and self, and nothing else")
        own = _listed(name, language, "self")
        if "words" in language:
            known[name] = AskingWords(frozenset(_listed(name, language, "words")), frozenset(own))
        else:
            own_parts.update(own)
        parts.update(_listed(name, language, "parts"))
    return QueryWords(MappingProxyType(known), _any_of(parts), _any_of(own_parts))


def _listed(name: str, language: Mapping[str, object], key: str) -> list[str]:
    value = language.get(key, "")
    if not isinstance(value, str):
        raise InvalidQueryWordsError(f"{name}.{key}: is a text of words")
    return folded(value).split()


def _any_of(parts: set[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(parts, key=lambda part: (-len(part), part))))) if parts else _NEVER

"""From what follows a rule's wording to the shortest wording of its value, or to none when it does not look like one."""

import re
from collections.abc import Sequence

from keepsake.domain.dates import DateSpan
from keepsake.domain.extraction.rules import NAME, Language

_HARD_END = re.compile(r"[;:!?()\n…，。、；：！？（）؛،]|\s[-–—]\s|(?<!\bSt)(?<!\bDr)(?<!\bMt)\.(?:\s|$)")
_EDGES = " \t,.;:'\"“”«»-–—。、，"
_NAMES = re.compile(NAME)
_AGE = re.compile(r"(?<!\d)(\d{1,3})(?!\d)")
_BAD = re.compile(r"https?:|www\.|[@<>{}\[\]\\|=*#_~`…]")
_GOES_ON = re.compile(r",? \w")
_LETTER = re.compile(r"[^\W\d_]")
_MOST_WORDS = {
    "thing": 6,
    "things": 5,
    "likings": 5,
    "place": 5,
    "org": 5,
    "job": 4,
    "name": 4,
    "names": 4,
    "object": 6,
    "languages": 2,
}
_LISTS = frozenset({"things", "likings", "names", "languages"})
_MOST_CHARACTERS = 60
_MOST_CHARACTERS_UNSPACED = 16
_MOST_VALUES = 6
_MOST_WORDS_LISTED = 4  # of a member of a list but the first; what is longer is rather another clause

Dates = Sequence[DateSpan]


def values(
    kind: str, sentence: str, begin: int, end: int | None, language: Language, dates: Dates
) -> tuple[tuple[str, ...], int]:
    """The values of a kind that stand in a sentence from `begin` on (to `end`, where it is known), and where they end."""
    rest = sentence[begin:end]
    if kind == "age":
        return _age(rest, begin)
    if kind == "date":
        return _date(sentence, begin, dates)
    rest = _clause(rest, begin, kind, language, dates)
    if kind in {"name", "names"}:
        found = _names(rest, language, several=kind == "names", lower=sentence.islower())
    elif kind in _LISTS:
        found = _listed(rest, kind, language)
    else:
        broken = kind == "thing" and language.incomplete.search(rest) and _GOES_ON.match(sentence, begin + len(rest))
        value = "" if broken else _value(rest, kind, language)
        found = [value] if value else []
    if kind in {"place", "org", "languages"}:
        found = [value for value in found if _looks_proper(value, kind, rest, sentence, language)]
    return tuple(dict.fromkeys(found))[:_MOST_VALUES], begin + len(rest)


def _age(rest: str, begin: int) -> tuple[tuple[str, ...], int]:
    match = _AGE.search(rest[:12])
    if match is None or not 0 < int(match[1]) <= 120:
        return (), begin
    return (match[1],), begin + match.end()


def _date(sentence: str, begin: int, dates: Dates) -> tuple[tuple[str, ...], int]:
    for span in dates:
        if span.start >= begin and span.start - begin <= 12:
            return (sentence[span.start : span.end],), span.end
    return (), begin


def _clause(rest: str, begin: int, kind: str, language: Language, dates: Dates) -> str:
    """What belongs to the value: up to the end of the clause, to a word that begins another, or to a date."""
    ends = [match.start() for match in [_HARD_END.search(rest)] if match]
    if kind not in _LISTS and (comma := rest.find(",")) >= 0:
        ends.append(comma)
    for joints in (language.joints["all"], language.joints.get(kind)):
        if joints and (joint := joints.search(rest)):
            ends.append(joint.start())
    ends += [span.start - begin for span in dates if span.start >= begin and span.start - begin < len(rest)]
    return _trimmed(rest[: max(0, min(ends, default=len(rest)))], language)


def _trimmed(text: str, language: Language) -> str:
    text = text.rstrip(_EDGES)
    for _ in range(4):
        shorter = language.trailing.sub("", text).rstrip(_EDGES)
        if shorter == text:
            break
        text = shorter
    return text


def _listed(rest: str, kind: str, language: Language) -> list[str]:
    """The members of a list, or none when its first is none; commas part them only where a conjunction comes before the last."""
    if kind == "likings" and (_is_of_the_moment(rest, language) or language.breaking.search(rest.partition(",")[0])):
        return []
    found: list[str] = []
    for part in _parts(rest, language):
        value = "" if language.breaking.search(part) else _value(part, kind, language)
        if not value or (kind == "likings" and language.incomplete.search(part.strip())):
            break
        found.append(value)
    return found


def _is_of_the_moment(rest: str, language: Language) -> bool:
    """Whether it is about a certain thing of the conversation, "the way you put it", and not about all of a kind."""
    match = language.definite.match(rest)
    following = rest[match.end() :].lstrip() if match else ""
    return bool(following) and not following[0].isupper() and language.generic.match(following) is None


def _parts(rest: str, language: Language) -> list[str]:
    by_conjunction = language.conjunction.split(rest)
    if len(by_conjunction) == 1:
        first, comma, after = rest.partition(",")
        return [] if comma and after.strip() and language.incomplete.search(first) else [first]
    if len(by_conjunction) == 2 and "," in by_conjunction[1]:
        by_conjunction[1] = by_conjunction[1].partition(",")[0]
    parts = [part for piece in by_conjunction for part in piece.split(",") if part.strip()] or [""]
    long = any(len(part.split()) > _MOST_WORDS_LISTED for part in parts[1:])
    return parts[:1] if long or language.inner.search(parts[0]) else parts


def _value(text: str, kind: str, language: Language) -> str:
    text = _trimmed(text.lstrip(_EDGES), language)
    bare = language.articles.sub("", text).lstrip(_EDGES)
    text = text if kind == "object" else bare
    words = bare.lower().split()
    if not words or words[0] in language.not_values or bare.lower() in language.not_values:
        return ""
    if len(words) > _MOST_WORDS.get(kind, 6) or len(text) > (
        _MOST_CHARACTERS_UNSPACED if language.unspaced else _MOST_CHARACTERS
    ):
        return ""
    if _BAD.search(text) or not _LETTER.search(text) or language.negation.search(text):
        return ""
    return text


def _looks_proper(value: str, kind: str, rest: str, sentence: str, language: Language) -> bool:
    """Whether it may be a proper name: capitals where the script has them, but for who writes none at all."""
    first = value[0]
    if first.isupper() or first.isdigit() or first.lower() == first.upper():
        return True
    if kind == "org":
        return language.articles.match(rest.lstrip()) is not None or sentence.islower()
    if kind == "languages":
        return language.code != "en"
    return sentence.islower() and len(value.split()) <= 2


def _names(rest: str, language: Language, *, several: bool, lower: bool) -> list[str]:
    if language.unspaced or not _has_case(rest):
        value = _value(rest.split(" ", maxsplit=1)[0] if language.unspaced else " ".join(rest.split()[:3]), "name", language)
        return [value] if value else []
    parts = [part for piece in language.conjunction.split(rest) for part in piece.split(",")] if several else [rest]
    found = []
    for part in parts:
        name = _name(part.strip(_EDGES), language, lower=lower)
        if not name:
            break
        found.append(name)
    return found


def _has_case(text: str) -> bool:
    return any(character.lower() != character.upper() for character in text)


def _name(part: str, language: Language, *, lower: bool) -> str:
    if match := _NAMES.match(part):
        words = match.group().split()
        while words and words[-1].lower() in language.not_names:
            words.pop()
        name = " ".join(words).removesuffix("'s")
        return "" if not words or words[0].lower() in language.not_names or _BAD.search(name) else name
    words = part.split()
    if lower and 1 <= len(words) <= 2 and not {word.lower() for word in words} & (language.not_names | language.not_values):
        return part if part.replace(" ", "").isalpha() else ""
    return ""

"""The rules that extraction goes by, as its data file states them, and how a wording of that file becomes a pattern.

In a wording, `{word}` stands for one of the language's macros, `<who>` for another person ("my sister Anna", "she"), `<kin>` for
a word of the relations, `<value>` for the value where it is not what follows, `<old>` and `<new>` for those of a correction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.memories.values import MemoryType

KIN = "<kin>"  # in place of an attribute: the relation that the text names
SAME = "same"  # in place of a pronoun's gender: whoever the sentence speaks of

_UPPER = "".join(character for character in map(chr, range(0x41, 0x530)) if character.isupper())
_PARTICLES = "de|da|dos|van|von|der|den|di|del|la|le|al|bin"
NAME = (
    rf"(?-i:[{_UPPER}])[\w'-]{{1,30}}"
    rf"(?: (?:(?:{_PARTICLES}) ){{0,2}}(?-i:[{_UPPER}])[\w'-]{{0,30}}){{0,2}}"
)
_MACRO = re.compile(r"\{([a-z_]+)\}")
_MARK = re.compile(r"(?<!\?P)<[a-z]+>")
_VALUE = r"(?P<value>[^,;:.!?()\n]{1,80}?)"
_VALUE_UNSPACED = r"(?P<value>[^,，;；:：。.！!？?、()（）\s]{1,20}?)"
_PART = r"[^\s,;:.!?()]{1,30}(?: [^\s,;:.!?()]{1,30}){0,2}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that texts state, and the wordings that state it.

    `kind` is what its value must look like, `time` what a date beside it means, `dated` that there must be one; `value` stands
    where no wording of the text can; `replaces` is the attribute of which the same value no longer holds.
    """

    language: str
    attribute: str
    type: MemoryType
    importance: float
    kind: str
    source: str
    confidence: float
    denied: bool
    dated: bool
    time: str
    value: str
    replaces: str
    also: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Its wordings; made when it is first called for, since most languages' never are."""
        return _pattern(self.source)


@lru_cache(maxsize=1024)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Language:
    """Words of one language that rule what may be learned, and where a value ends."""

    code: str
    unspaced: bool
    veto: re.Pattern[str]
    scene: re.Pattern[str]
    blocked: re.Pattern[str]
    hedge: re.Pattern[str]
    question: re.Pattern[str]
    negation: re.Pattern[str]
    joints: Mapping[str, re.Pattern[str]]
    articles: re.Pattern[str]
    trailing: re.Pattern[str]
    conjunction: re.Pattern[str]
    breaking: re.Pattern[str]
    incomplete: re.Pattern[str]
    inner: re.Pattern[str]
    definite: re.Pattern[str]
    generic: re.Pattern[str]
    not_values: frozenset[str]
    not_names: frozenset[str]
    kin: Mapping[str, str]
    plurals: frozenset[str]
    pronouns: Mapping[str, str]
    favorites: Mapping[str, str]
    corrections: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """All rules of all languages, and which words call for them."""

    rules: tuple[Rule, ...]
    languages: Mapping[str, Language]
    by_word: Mapping[str, tuple[int, ...]]
    by_part: Mapping[str, tuple[int, ...]]  # parts of words, of scripts that write no spaces
    parts: re.Pattern[str]
    correcting: Mapping[str, tuple[str, ...]]  # languages by the words of their corrections
    genders: Mapping[str, str]  # of the relations
    policies: Attributes


def parse_extraction_rules(content: Mapping[str, Any], attributes: Attributes) -> ExtractionRules:
    """What the data file says. Raises ValueError when it does not make sense."""
    languages = {code: _language(code, given) for code, given in content["languages"].items()}
    genders = {relation: gender.removeprefix("any") for gender, relations in content["genders"].items() for relation in relations}
    rules: list[Rule] = []
    by_word: dict[str, list[int]] = {}
    by_part: dict[str, list[int]] = {}
    correcting: dict[str, list[str]] = {}
    for code, given in content["languages"].items():
        for word in given.get("correction_words", ()):
            correcting.setdefault(word, []).append(code)
        for number, entry in enumerate(given["rules"], start=1):
            for word in _words(entry, given, f"{code}, rule {number}"):
                (by_part if given.get("unspaced") else by_word).setdefault(word, []).append(len(rules))
            rules.append(_rule(code, given, entry, attributes))
    return ExtractionRules(
        rules=tuple(rules),
        languages=languages,
        by_word={word: tuple(numbers) for word, numbers in by_word.items()},
        by_part={part: tuple(numbers) for part, numbers in by_part.items()},
        parts=re.compile("|".join(map(re.escape, sorted(by_part, key=len, reverse=True))) or r"(?!)"),
        correcting={word: tuple(codes) for word, codes in correcting.items()},
        genders=genders,
        policies=attributes,
    )


def _words(entry: Mapping[str, Any], given: Mapping[str, Any], where: str) -> Sequence[str]:
    words: Sequence[str] = entry.get("words", ())
    if not words and entry["attribute"] == KIN:
        words = [word.lower().split()[-1] for listed in given["kin"].values() for word in listed]
    if not words:
        raise ValueError(f"{where}: it needs the words that call for it")
    return words


def _rule(code: str, given: Mapping[str, Any], entry: Mapping[str, Any], attributes: Attributes) -> Rule:
    attribute = str(entry["attribute"])
    known = attributes.by_name.get("sister" if attribute == KIN else attribute)
    if known is None:
        raise ValueError(f"{code}: attribute {attribute} is not among the attributes")
    return Rule(
        language=code,
        attribute=attribute,
        type=known.type,
        importance=known.importance,
        kind=str(entry.get("kind", "thing")),
        source=_source(entry["patterns"], given),
        confidence=float(entry.get("confidence", 0.8)),
        denied=bool(entry.get("denied", False)),
        dated=bool(entry.get("dated", False)),
        time=str(entry.get("time", "since")),
        value=str(entry.get("value", "")),
        replaces=str(entry.get("replaces", "")),
        also=str(entry.get("also", "")),
    )


def _source(wordings: Sequence[str], given: Mapping[str, Any]) -> str:
    """One pattern for all wordings; named groups are told apart by number (see `group`)."""
    patterns = []
    for number, wording in enumerate(wordings):
        pattern = _expanded(wording, given)
        patterns.append(re.sub(r"\(\?P<([a-z_]+)>", rf"(?P<\1_{number}>", pattern))
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return joined if given.get("unspaced") else rf"(?<![\w'])(?:{joined})(?:(?<=\s)|(?!\w))"


def group(match: re.Match[str], name: str) -> str | None:
    """What a match has under a name, whichever of the rule's wordings it was."""
    for key, text in match.groupdict().items():
        if text is not None and key.rpartition("_")[0] == name:
            return text
    return None


def group_span(match: re.Match[str], name: str) -> tuple[int, int] | None:
    """Where that stands in the sentence."""
    for key, text in match.groupdict().items():
        if text is not None and key.rpartition("_")[0] == name:
            return match.span(key)
    return None


def _expanded(wording: str, given: Mapping[str, Any]) -> str:
    macros = {"cap": f"(?-i:[{_UPPER}])", **given.get("macros", {})}
    for _ in range(3):  # macros may hold macros
        wording = _MACRO.sub(lambda match: f"(?:{macros[match[1]]})", wording)
    replacements = {
        "<who>": _who(given),
        "<kin>": f"(?P<kin>{_any_of(_kin_words(given))})",
        "<name>": f"(?P<name>{NAME})",
        "<value>": _VALUE_UNSPACED if given.get("unspaced") else _VALUE,
        "<old>": f"(?P<old>{_PART})",
        "<new>": f"(?P<new>{_PART})",
    }
    return _MARK.sub(lambda match: replacements.get(match.group(), match.group()), wording)


def _who(given: Mapping[str, Any]) -> str:
    pronouns = _any_of(given.get("pronouns", {}))
    adjectives = given.get("macros", {}).get("adj", "")
    relative = (
        f"(?P<who_my>(?:{given['my']}) {adjectives}(?P<who_kin>{_any_of(_kin_words(given))}))(?:,? (?P<who_name>{NAME}),?)?"
    )
    same = _any_of(word for word, gender in given.get("pronouns", {}).items() if gender == SAME)
    relative += f"(?:,? (?:{same}))?"
    return f"(?:{relative}|(?P<who_pronoun>{pronouns})|(?P<who_bare>{NAME}))"


def _kin_words(given: Mapping[str, Any]) -> Iterator[str]:
    for words in given.get("kin", {}).values():
        yield from words


def _any_of(words: Iterator[str] | Mapping[str, Any]) -> str:
    listed = sorted(words, key=len, reverse=True)
    return "|".join(map(re.escape, listed)) or r"(?!)"


def _language(code: str, given: Mapping[str, Any]) -> Language:
    unspaced = bool(given.get("unspaced", False))
    kin = {word.lower(): relation for relation, words in given.get("kin", {}).items() for word in words}
    return Language(
        code=code,
        unspaced=unspaced,
        veto=_matcher(given.get("vetoes", ()), unspaced=unspaced),
        scene=_matcher(given.get("scenes", ()), unspaced=unspaced),
        blocked=_matcher(given.get("blockers", ()), unspaced=unspaced, after=r"[ ,]*$"),
        hedge=_matcher(given.get("hedges", ()), unspaced=unspaced),
        question=_matcher(given.get("questions", ()), unspaced=unspaced, before="" if unspaced else r"^\W*"),
        negation=_matcher(given.get("negations", ()), unspaced=unspaced),
        joints={kind: _matcher(words, unspaced=unspaced) for kind, words in given["joints"].items()},
        articles=_matcher(given.get("articles", ()), unspaced=unspaced, before="^"),
        trailing=_matcher(given.get("trailing", ()), unspaced=unspaced, before=r"(?:^|\s)", after=r"\s*$"),
        conjunction=_matcher(given.get("conjunctions", ()), unspaced=unspaced),
        breaking=_matcher(given.get("breaking", ()), unspaced=unspaced),
        incomplete=_matcher(given.get("incomplete", ()), unspaced=unspaced, after=r" \w+$"),
        inner=_matcher(given.get("inner", ()), unspaced=unspaced),
        definite=_matcher(given.get("definite", ()), unspaced=unspaced, before="^"),
        generic=_matcher(given.get("generic", ()), unspaced=unspaced),
        not_values=frozenset(given.get("not_values", ())),
        not_names=frozenset(given.get("not_names", ())),
        kin=kin,
        plurals=frozenset(given.get("plurals", ())),
        pronouns={word.lower(): gender for word, gender in given.get("pronouns", {}).items()},
        favorites={word: attribute for attribute, words in given.get("favorites", {}).items() for word in words},
        corrections=tuple(re.compile(_expanded(wording, given), re.IGNORECASE) for wording in given.get("corrections", ())),
    )


def _matcher(words: Sequence[str], *, unspaced: bool, before: str = "", after: str = "") -> re.Pattern[str]:
    """A pattern for any of the words, whole; some words are patterns themselves."""
    if not words:
        return re.compile(r"(?!)")
    joined = "|".join(sorted(words, key=len, reverse=True))
    bounded = f"(?:{joined})" if unspaced else rf"(?<![\w'])(?:{joined})(?![\w'])"
    return re.compile(f"{before}{bounded}{after}", re.IGNORECASE)

"""A turn as the gate reads it: its language, its sentences without code and quotations, and the names in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.recall_intent.cues import UNSPACED_LANGUAGES, Cues, Found, forms, plain, words

LATIN_LANGUAGES = ("en", "de", "fr", "es")
MAX_READ = 1_000  # characters at either end of a turn
MAX_SENTENCES = 12  # at either end of what is read
MAX_NAME_WORDS = 4  # of a name that memory knows
QUOTED = "quotedwords"  # what stands for a quotation

_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")),
    ("th", re.compile(r"[\u0e01-\u0e4e]")),
    ("ar", re.compile(r"[\u0620-\u06d3]")),
    ("hi", re.compile(r"[\u0904-\u0963]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("", re.compile(r"[A-Za-z\u00c0-\u024f]")),
)
_LETTERS_OF_A_WORD = 3  # one sign of a script without spaces says as much as so many letters
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[!?])(?=[\u3041-\u9fff])|(?<=[\u3002\uff01\uff1f\u061f\u0964])|\n+")
_ABBREVIATED = re.compile(r"\b(Mrs?|Ms|Dr|St|Prof|Sra?|Mme|Hr|Fr|No)\.(?= )")
_QUOTATION = re.compile(
    r'"[^"\n]{1,120}"|“[^”\n]{1,120}”|„[^“”\n]{1,120}[“”]|«[^»\n]{1,120}»|»[^«\n]{1,120}«|「[^」\n]{1,120}」|『[^』\n]{1,120}』'
    r"|(?<![\w])['‘][^'’\n]{2,120}['’](?!\w)"
)
_FENCED = re.compile(r"```[^`]{0,2000}(?:```|$)")
# Lines of code, of queries, of shells, and of what machines say when something fails.
_CODE = re.compile(
    "|".join(
        (
            r"[;{}]\s*$",
            r"[{}\[\]]\s*[,)\]}]",
            r"\{\s*[\"'\w]+\s*:",
            r"\w\(.{0,80}\)\s*[:;{.]",
            r"\w\[['\"]",
            r"[=!<>]==?\s",
            r"\w\s?(?:=>|->|:=|<-|::)\s?\w",
            r"\w\s=\s\w.{0,80}[(\[;]",
            r"^\s*</?\w+",
            r"</\w+>",
            r"^\w+\(\w+\)$",
            r"^\s*(?://|#include|#!)",
            r"^\s*(?:def|class|import|from \w+ import|func|fn|function|const|let|var|return|public|private)\b.{0,80}[(){};:=*,]",
            r"^\s*(?:elif|else:|try:|except)\b.{0,80}:",
            r"^\s*(?:for|if|while)\b.{0,80}[:{]\s*$",
            r"^(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\b.{0,200}\b(?:FROM|INTO|SET|TABLE)\b",
            r"^(?:npm|pip|git|docker|curl|sudo|cd|ls|grep|make|java|at) .{0,80}(?:--?\w|:|/)",
            r"^\s+at \w",
            r"\w(?:Error|Exception)\b.{0,3}[:(]",
            r"\bException in\b",
            r"^Traceback",
            r"\bFile \"",
            r"^(?:ERROR|LINE \d|npm ERR|error\[|warning:|fatal:)",
        )
    ),
    re.MULTILINE,
)
_RECORD = re.compile(r"\b([A-Za-z]{2,10})[-_/]\d{2,}(?:[-/]\d+)*\b|\b(?:19|20)\d\d-\d{3,}|#\d{2,}\b")
_DATED = re.compile(r"\d{4}-\d\d-\d\d")
_CAPITALISED = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_CHUNK = re.compile(r"[^\s.,;:!?()\[\]\"“”«»。、,?!؟]+(?:\.\d+)*")
_LONGEST_UNSPACED_NAME = 8
_LETTERS_OF_FAME = 4  # of a name so well known that the capitalised word after it is part of it


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, plain, with what was found in it. `size` is in words; in unspaced scripts three characters count as one."""

    language: str
    text: str
    tokens: tuple[str, ...]
    found: Found
    size: int
    asks: bool  # ends in a question mark
    quotes: bool
    named: bool  # a person, place or thing that is not known to everybody
    given: bool  # by a given name, or a title
    owner: bool  # something that belongs to a name
    public: bool  # one that is
    record: bool


@dataclass(frozen=True, slots=True)
class Names:
    """Given names, names known to everybody, and letters that stand before numbers without making a record of them."""

    given: frozenset[str]
    public: frozenset[str]
    no_record: frozenset[str]


def clipped(text: str) -> str:
    """The beginning and the end of a text, on which the answer rests."""
    return text if len(text) <= 2 * MAX_READ else f"{text[:MAX_READ]}\n{text[-MAX_READ:]}"


def without_code(text: str) -> tuple[str, bool]:
    """The lines that are no code, and whether there were others."""
    prose = _FENCED.sub("\n", text)
    lines = prose.split("\n")
    kept = [line for line in lines if not _CODE.search(line)]
    if len(kept) < len(lines) and len(lines) > 1:
        kept = [line for line in kept if not line.startswith((" ", "\t", "#", "//")) and " " in line]
    return "\n".join(kept), len(kept) < len(lines) or prose != text


def without_quotations(text: str) -> str:
    """The text with one word in place of each quotation: what is quoted is talked about, not said."""
    return _QUOTATION.sub(f" {QUOTED} ", text)


def sentences(text: str) -> list[str]:
    """The first and last sentences of a text."""
    found = [piece for piece in _ENDS.split(_ABBREVIATED.sub(r"\1", text)) if piece and not piece.isspace()]
    return found if len(found) <= 2 * MAX_SENTENCES else found[:MAX_SENTENCES] + found[-MAX_SENTENCES:]


def language_of(text: str, cues: Mapping[str, Cues], earlier: Sequence[str] = ()) -> str:
    """The language by script and by the commonest words; "" for letters of Europe that give no hint."""
    script = _script(text)
    if script:
        return script
    tokens = words(plain(text), "en")
    common = {language: _commonness(text, tokens, cues[language]) for language in LATIN_LANGUAGES}
    best = max(common, key=lambda language: common[language])
    if common[best]:
        return best
    return language_of(clipped(earlier[-1]), cues, earlier[:-1]) if earlier else ""


def _script(text: str) -> str:
    if text.isascii() or max(text) < "\u0370":
        return ""
    counts = {language: len(letters.findall(text)) for language, letters in _SCRIPTS}
    if counts["ja"]:
        counts["ja"] += counts["zh"]
    for language in ("ja", "zh"):
        counts[language] *= _LETTERS_OF_A_WORD
    return max(counts, key=lambda language: counts[language])


_MARKS_OF = {
    "es": re.compile("[ñ¿¡]"),
    "de": re.compile("[äöüß]"),
    "fr": re.compile("[çèêàùœîôû]|\\b[cdjlmnstq]u?['’]", re.IGNORECASE),
    "en": re.compile(r"(?!x)x"),
}


def _commonness(text: str, tokens: Sequence[str], cues: Cues) -> int:
    marks = _MARKS_OF.get(cues.language)
    common = len(cues.function.intersection(tokens))
    return common + 2 * (marks is not None and marks.search(text) is not None)


def read(text: str, language: str, cues: Mapping[str, Cues], names: Names) -> Sentence:
    """A sentence of that language, read. In no certain language, the cues of all with Latin letters count."""
    simple = plain(text)
    tokens = tuple(words(simple, language))
    found: Found = {}
    for each in (language,) if language else LATIN_LANGUAGES:
        for kind, at in cues[each].find(simple, tokens).items():
            found[kind] = min(at, found.get(kind, at))
    seen = _names_in(text, language, tokens, found, cues, names)
    return Sentence(
        language,
        simple,
        tokens,
        found,
        len(tokens) if not language or cues[language].spaced else (len(simple) + 2) // 3,
        simple.rstrip(" \"')*").endswith(("?", "؟")),
        QUOTED in simple,
        *seen,
        _has_record(text, names) or ("record" in found and any(token.isdigit() for token in tokens)),
    )


def _has_record(text: str, names: Names) -> bool:
    for match in _RECORD.finditer(text):
        if not _DATED.match(match.group()) and (match.group(1) or "").lower() not in names.no_record:
            return True
    return False


def _names_in(
    text: str, language: str, tokens: Sequence[str], found: Found, cues: Mapping[str, Cues], names: Names
) -> tuple[bool, bool, bool, bool]:
    """What `Sentence` says of names: `named`, `given`, `owner` and `public`."""
    if language in UNSPACED_LANGUAGES:
        given = "title" in found or "person" in found
        return given, given, False, False
    if language in ("ar", "hi"):
        given = any(form in names.given for token in tokens for form in forms(token, language))
        given = given or found.get("title", len(tokens)) < len(tokens) - 1 or found.get("after_name", 0) > 0
        return given, given, False, False
    named, given, owner, public = False, "patronymic" in found, False, False
    previous = ""
    lists = cues[language or "en"]
    famous = False  # whether the word before is, or belongs to, a name known to everybody
    seen = [(word, opens, _key(word)) for word, opens in _capitalised(text)]
    for (word, opens, key), (after, _, key_after) in zip(seen, [*seen[1:], ("", False, "")], strict=False):
        fame = word[0].isupper() and (
            _is_public(key, names) or (key in names.given and after[:1].isupper() and _is_surname(key_after, names))
        )
        titled = _has_kind(previous, ("title",), lists)
        famous = word[0].isupper() and (fame or (famous and not opens)) and not titled
        if famous:
            public = True
        elif key in names.given or _looks_named(word, key, opens, previous, language, cues):
            named = True
            given = given or key in names.given or titled
            owner = owner or len(key) < len(word)
        famous = famous and len(key) >= _LETTERS_OF_FAME and not _has_kind(key, ("title", *_FUNCTION), lists)
        previous = key
    return named or given, given, owner, public


def _key(word: str) -> str:
    return word.lower() if word.isalpha() and word.isascii() else _POSSESSIVE.sub("", plain(word))


def _is_public(key: str, names: Names) -> bool:
    return key in names.public or key.removesuffix("s") in names.public


def _is_surname(key: str, names: Names) -> bool:
    """Whether the word makes a person known to everybody of the given name before it."""
    return len(key) > _LETTERS_OF_FAME and key in names.public


def _capitalised(text: str) -> Iterator[tuple[str, bool]]:
    """The words, and whether each stands where anything is written with a capital."""
    for index, match in enumerate(_CAPITALISED.finditer(text)):
        before = text[: match.start()].rstrip(" '\"¿¡(*")[-1:]
        yield match.group(), index == 0 or before in ".!?:;-–—…\n•"


def _looks_named(word: str, key: str, opens: bool, previous: str, language: str, cues: Mapping[str, Cues]) -> bool:
    if opens or not word[0].isupper() or (len(word) > 1 and word.isupper()) or len(key) < 3:
        return False
    lists = cues[language or "en"]
    if key in lists.function or _has_kind(key, _NO_NAMES, lists):
        return False
    if language == "de":
        return _has_kind(previous, ("before_name", "title"), lists)
    return language not in ("fr", "es") or previous not in _ARTICLES


_FUNCTION = ("function", "interrogative", "yesno", "i")
_NO_NAMES = ("i", "then", "you", "we", "kin", "title", "greet", "thanks")
_ARTICLES = frozenset({"el", "la", "los", "las", "le", "les", "l", "un", "una", "une"})


def _has_kind(word: str, kinds: Sequence[str], lists: Cues) -> bool:
    return any(kind in kinds for kind in lists.single.get(word, ()))


def mentions(text: str, known: frozenset[str]) -> bool:
    """Whether a folded name of `known` stands in the text as whole words (anywhere, in scripts without spaces)."""
    if not known:
        return False
    simple = " ".join(_POSSESSIVE.sub("", chunk) for chunk in _CHUNK.findall(plain(text)))
    chunks = simple.split()
    for at in range(len(chunks)):
        for size in range(1, MAX_NAME_WORDS + 1):
            if " ".join(chunks[at : at + size]) in known:
                return True
    if simple.isascii() or simple[:MAX_READ].isascii():
        return False
    return any(
        simple[at : at + size] in known
        for at in range(len(simple))
        if simple[at] >= "\u0e00"
        for size in range(2, _LONGEST_UNSPACED_NAME + 1)
    )

"""A text as sentences, and what of a sentence states something: questions state nothing, but for what stands before them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keepsake.domain.date_words import MONTHS
from keepsake.domain.extraction.rules import Language

_END = re.compile(r"[.!?…؟]+[\"'”»)]*(?=\s|$)|[。！？]+[」』]?|\n+|[;؛；]")
_NO_END = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|e\.g|i\.e|z\.b|d\.h|approx|no|nr|ca|hr|fr|sra|dra|sig|mme|mlle|[a-z]|\d{1,2})\.$",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d\.$")
_MONTHS = frozenset(" ".join(MONTHS).split())
_NEXT_WORD = re.compile(r"\s*([^\W\d_]+)")
_SPACES = re.compile(r"\s+")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{0,200})[\"”“»]")
_ASKING = re.compile(r"[?？؟]")
_CLAUSES = re.compile(r",\s+|\s+[-–—]\s+|[，、]")
_LONGEST = 400  # characters looked at as one sentence; what is longer is rather a listing
_TAG_WORDS = 3  # a question so short after a statement doubts it: "…, don't I?"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with single spaces and plain apostrophes; `asks`: it ends as a question."""

    text: str
    asks: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, in order; none is blank."""
    begin = 0
    for end in _END.finditer(text):
        if end.start() < begin or not _ends(text, end):
            continue
        yield from _pieces(text[begin : end.end()])
        begin = end.end()
    yield from _pieces(text[begin:])


def _ends(text: str, end: re.Match[str]) -> bool:
    if end.group() != ".":
        return True
    before = text[max(0, end.start() - 8) : end.end()]
    if not _NO_END.search(before):
        return True
    if _ORDINAL.search(before):
        following = _NEXT_WORD.match(text, end.end())
        return following is None or following[1].lower() not in _MONTHS
    return False


def _pieces(sentence: str) -> Iterator[Sentence]:
    whole = _SPACES.sub(" ", sentence.replace("’", "'").replace("‘", "'")).strip()
    asks = bool(_ASKING.search(whole[-3:])) or whole.startswith("¿")
    while len(whole) > _LONGEST:
        cut = whole.rfind(" ", 1, _LONGEST)
        cut = cut if cut > 0 else _LONGEST
        yield Sentence(whole[:cut], asks)
        whole = whole[cut:].lstrip()
    if whole:
        yield Sentence(whole, asks)


def stated(sentence: Sentence, language: Language) -> str:
    """What of a sentence states something; empty when it asks, or only quotes."""
    text = _QUOTED.sub(_name_or_gap, sentence.text) if any(mark in sentence.text for mark in '"“„«') else sentence.text
    if language.question.search(text):
        return ""
    if not sentence.asks:
        return text
    for clause in _CLAUSES.finditer(text):
        rest = text[clause.end() :]
        if language.question.search(rest):
            doubt = not language.unspaced and len(rest.split()) <= _TAG_WORDS
            return "" if doubt else text[: clause.start()]
    return ""


def _name_or_gap(quotation: re.Match[str]) -> str:
    """A name or a title in quotation marks is as good as one without; what is longer is somebody's words."""
    return quotation[1] if len(quotation[1].split()) <= 2 else " … "

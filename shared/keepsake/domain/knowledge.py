"""Knowledge documents: stories, transcripts, help pages. Kept whole, found by passage."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from keepsake.domain.clearance import OPEN, Clearance

# One item of the store holds it whole, so that a change replaces all of it at once.
MAX_DOCUMENT_BYTES = 300 * 1024
MAX_TITLE_CHARACTERS = 300
PASSAGE_CHARACTERS = 900
OVERLAP_CHARACTERS = 120
# The owner of what belongs to everybody here. No token can name it: ids hold no control characters.
INSTITUTION = "\x1finstitution"

_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？؟।])\s*"), re.compile(r"\s+"))


class KnowledgeKind(StrEnum):
    """What a document is."""

    STORY = "story"
    RECORDING = "recording"
    HELP = "help"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class KnowledgeDocument:
    """A document. `occurred_at_ms` is the time it tells of or was written at; `content` a keyed hash of title and text."""

    document_id: str
    title: str
    text: str
    kind: KnowledgeKind
    recorded_at_ms: int
    occurred_at_ms: int
    content: str
    clearance: Clearance = OPEN


def passages(text: str) -> tuple[str, ...]:
    """The text in overlapping passages of at most PASSAGE_CHARACTERS, cut where it breathes. The same text: the same passages."""
    return tuple(_passages(text.strip()))


def _passages(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _end(text, start)
        yield text[start:end].strip()
        if end >= len(text):
            return
        start = max(start + 1, _begin(text, end - OVERLAP_CHARACTERS, end))


def _end(text: str, start: int) -> int:
    """Where the passage from `start` on ends: at the last paragraph, line, sentence or word that ends in its second half."""
    limit = start + PASSAGE_CHARACTERS
    if limit >= len(text):
        return len(text)
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, start + PASSAGE_CHARACTERS // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def _begin(text: str, from_: int, end: int) -> int:
    """Where the next passage begins: at a word, a little before the one before it ends."""
    match = _BREAKS[-1].search(text, from_, end)
    return match.end() if match and match.end() < end else from_

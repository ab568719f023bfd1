"""The running summary of turns that left the buffer, or that a context window has no room for. By rules: it only quotes.

A line a turn, its first sentence, under the turn's own clearance; what says least goes first when the bound is reached.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.turns import Role, Turn

MAX_LINES = 24
MAX_LINE_CHARACTERS = 160

_SENTENCE_END = re.compile(r"(?<=[.!?。！？؟।])\s+|\n+")
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """What one turn said, in short."""

    text: str
    clearance: Clearance = OPEN


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """At most MAX_LINES lines, oldest first, and how many turns they stand for."""

    lines: tuple[SummaryLine, ...] = ()
    turns: int = 0

    def extended(self, turns: Iterable[Turn]) -> "RunningSummary":
        """The summary of what it covers and of `turns`, which are the next in order. Tool results are counted, not quoted."""
        added = tuple(turns)
        lines = [*self.lines, *(_line(turn) for turn in added if turn.role is not Role.TOOL)]
        while len(lines) > MAX_LINES:
            del lines[_least_telling(lines)]
        return RunningSummary(tuple(lines), self.turns + len(added))


def _line(turn: Turn) -> SummaryLine:
    speaker = turn.name or turn.role.capitalize()
    return SummaryLine(f"{speaker}: {_first_sentence(turn.text)}", turn.clearance)


def _first_sentence(text: str) -> str:
    """The first sentence that says something, cut at a word where it is too long."""
    sentences = _SENTENCE_END.split(text[: 8 * MAX_LINE_CHARACTERS].strip())
    telling = next((sentence for sentence in sentences if len(_WORD.findall(sentence)) >= 3), sentences[0])
    if len(telling) <= MAX_LINE_CHARACTERS:
        return telling
    cut = telling[:MAX_LINE_CHARACTERS]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + " …"


def _least_telling(lines: list[SummaryLine]) -> int:
    """Index of the line with the fewest different long words; of equals, the oldest."""
    return min(range(len(lines)), key=lambda index: (len(set(_WORD.findall(lines[index].text))), index))

"""The running summary of turns that left the buffer, or that a context window has no room for. By rules: it only quotes.

A line a turn, its first sentence, under the turn's own clearance; what says least goes first when the bound is reached. A line is
counted and weighed once, when it is made.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.turns import Role, Turn

MAX_LINES = 24
MAX_LINE_CHARACTERS = 160

_SENTENCE_END = re.compile(r"(?<=[.!?。！？؟।])\s+|\n+")
_PARTS = re.compile(r"\s*(\[[A-Za-z][\w.-]*\]\s*)+")
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """What one turn said, in short. `tokens` counts its `block`; `weight` is how many different long words it has."""

    text: str
    tokens: int
    weight: int
    clearance: Clearance = OPEN

    @property
    def block(self) -> str:
        """The line as it stands in a context window: it begins with no white space and ends with a newline."""
        return block_of(self.text)


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """At most MAX_LINES lines, oldest first, and how many turns they stand for."""

    lines: tuple[SummaryLine, ...] = ()
    turns: int = 0

    def extended(self, turns: Iterable[Turn], count: Callable[[str], int]) -> "RunningSummary":
        """The summary of what it covers and of `turns`, which are the next in order. Results of tools are not quoted.

        `count` counts tokens.
        """
        added = tuple(turns)
        lines = [*self.lines, *(_line(turn, count) for turn in added if _says_something(turn))]
        while len(lines) > MAX_LINES:
            del lines[_least_telling(lines)]
        return RunningSummary(tuple(lines), self.turns + len(added))


def _says_something(turn: Turn) -> bool:
    """Not a tool's result, nor a call that is nothing but a note of its parts."""
    return turn.role is not Role.TOOL and not _PARTS.fullmatch(turn.text)


def block_of(text: str) -> str:
    """A line's text as it stands in a context window."""
    return f"- {text}\n"


def _line(turn: Turn, count: Callable[[str], int]) -> SummaryLine:
    speaker = turn.name or turn.role.capitalize()
    text = f"{speaker}: {_first_sentence(turn.text)}"
    return SummaryLine(text, count(block_of(text)), len(set(_WORD.findall(text))), turn.clearance)


def _first_sentence(text: str) -> str:
    """The first sentence that says something, cut at a word where it is too long."""
    sentences = _SENTENCE_END.split(text[: 8 * MAX_LINE_CHARACTERS].strip())
    telling = next((sentence for sentence in sentences if len(_WORD.findall(sentence)) >= 3), sentences[0])
    if len(telling) <= MAX_LINE_CHARACTERS:
        return telling
    cut = telling[:MAX_LINE_CHARACTERS]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + " …"


def _least_telling(lines: list[SummaryLine]) -> int:
    """Index of the lightest line; of equals, the oldest."""
    return min(range(len(lines)), key=lambda index: lines[index].weight)

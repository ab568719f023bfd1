"""What a summary consists of: entries that quote, count or name, each with its turn's place and clearance; how they are told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.turns import Turn

MAX_LINE_CHARACTERS = 160
MAX_LINE_BYTES = 240  # of UTF-8: a script of three bytes a character says as much in half the characters
_MAX_SPEAKER_BYTES = 48


class Tone(StrEnum):
    """The emotional tone of what somebody says. Of two that are equally strong, the first of this list is told."""

    GRIEVING = "grieving"
    SAD = "sad"
    ANGRY = "angry"
    ANXIOUS = "anxious"
    FRUSTRATED = "frustrated"
    CONFUSED = "confused"
    GRATEFUL = "grateful"
    JOYFUL = "joyful"
    MIXED = "mixed"
    NEUTRAL = "neutral"


class Reply(Enum):
    """What a turn is to the questions of others before it."""

    NONE = "none"  # a mere thanks, or a question in return
    DEFERRED = "deferred"  # "I do not know yet"
    ANSWER = "answer"


class SummaryLine(NamedTuple):
    """What one turn said, in short. `tokens` counts its `block`; `weight` says how much it tells; `at_ms` is its turn's place."""

    text: str
    tokens: int
    weight: int
    clearance: Clearance = OPEN
    at_ms: int = 0

    @property
    def block(self) -> str:
        """The line as it stands in a context window: it begins with no white space and ends with a newline."""
        return block_of(self.text)


class Decision(NamedTuple):
    """A sentence that states a decision. `tokens` counts its `block`."""

    text: str
    tokens: int
    clearance: Clearance = OPEN
    at_ms: int = 0

    @property
    def block(self) -> str:
        """The decision as it stands in a context window."""
        return decided(self.text)


class OpenQuestion(NamedTuple):
    """A question that nobody answered yet. A `deferred` one was put off ("I do not know"): it stays until its matter comes up.

    `tokens` counts its `block`.
    """

    text: str
    asker: str
    tokens: int
    clearance: Clearance = OPEN
    at_ms: int = 0
    deferred: bool = False

    @property
    def block(self) -> str:
        """The question as it stands in a context window."""
        return asked(self.text)


class Tally(NamedTuple):
    """In how many turns of one clearance something came up, and the place of the last of them."""

    name: str
    turns: int
    clearance: Clearance = OPEN
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class TurnReading:
    """What the summary takes of one turn. Topics, words and tones are named once each; `said` is what was read of its text."""

    at_ms: int
    clearance: Clearance
    speaker: str
    said: str = ""
    line: SummaryLine | None = None
    decisions: tuple[Decision, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    reply: Reply = Reply.NONE
    topics: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    tones: tuple[str, ...] = ()


def block_of(text: str) -> str:
    """A line's text as it stands in a context window."""
    return f"- {text}\n"


def decided(text: str) -> str:
    """A decision as it stands in a context window."""
    return f"Decided: {text}\n"


def asked(text: str) -> str:
    """An open question as it stands in a context window."""
    return f"Open: {text}\n"


def topics_line(topics: Sequence[str]) -> str:
    """Topics as they stand in a context window."""
    return f"Topics: {', '.join(topics)}\n"


def tone_line(tone: Tone) -> str:
    """A tone as it stands in a context window."""
    return f"Tone: {tone.value}\n"


def speaker_of(turn: Turn) -> str:
    """Who speaks: the name in one line, or else the role."""
    return shortened(" ".join((turn.name or "").split()), _MAX_SPEAKER_BYTES, _MAX_SPEAKER_BYTES) or turn.role.capitalize()


def line_said_by(speaker: str, sentence: str) -> str:
    """A sentence in one line, cut at a word where it is too long, with its speaker."""
    return f"{speaker}: {shortened(' '.join(sentence.split()), MAX_LINE_CHARACTERS, MAX_LINE_BYTES)}"


def shortened(text: str, characters: int, size: int) -> str:
    """The text, or as much of it as fits into so many characters and bytes; up to a space, if that is not far from the end."""
    if len(text) <= characters and size_of(text) <= size:
        return text
    cut = text[:characters].encode()[:size].decode(errors="ignore")
    whole = cut.rpartition(" ")[0]
    return (whole if 2 * len(whole) > len(cut) else cut) + " …"


def size_of(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def total_size(texts: Iterable[str]) -> int:
    """Bytes of texts in UTF-8."""
    return size_of("".join(texts))

"""The summary of a session, by rules: what it is about, in which tone, what was decided, what is open, and a line a turn."""

from keepsake.domain.summary.entries import (
    MAX_LINE_BYTES,
    MAX_LINE_CHARACTERS,
    Decision,
    OpenQuestion,
    SummaryLine,
    Tally,
    Tone,
    block_of,
    speaker_of,
    tone_line,
    topics_line,
)
from keepsake.domain.summary.reading import Summarizer
from keepsake.domain.summary.values import (
    MAX_BYTES,
    MAX_DECISIONS,
    MAX_LINES,
    MAX_QUESTIONS,
    MAX_TOPICS,
    SessionSummary,
    TurnReader,
)
from keepsake.domain.summary.wordings import InvalidWordingsError, SummaryWordings, parse_summary_wordings

__all__ = [
    "MAX_BYTES",
    "MAX_DECISIONS",
    "MAX_LINES",
    "MAX_LINE_BYTES",
    "MAX_LINE_CHARACTERS",
    "MAX_QUESTIONS",
    "MAX_TOPICS",
    "Decision",
    "InvalidWordingsError",
    "OpenQuestion",
    "SessionSummary",
    "Summarizer",
    "SummaryLine",
    "SummaryWordings",
    "Tally",
    "Tone",
    "TurnReader",
    "block_of",
    "parse_summary_wordings",
    "speaker_of",
    "tone_line",
    "topics_line",
]

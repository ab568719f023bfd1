"""The summary of a session, and how one turn more changes it. It only quotes, counts and names; it never invents.

A pure fold, one turn at a time: extended by some turns and then by others, it is the same as extended by all at once. A reader
sees only what comes of turns that he may see.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Protocol, TypeVar

from keepsake.domain.clearance import OPEN, Clearance, Cleared, visible
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.summary import records
from keepsake.domain.summary.entries import (
    Decision,
    OpenQuestion,
    Reply,
    SummaryLine,
    Tally,
    Tone,
    TurnReading,
    size_of,
    tone_line,
    topics_line,
    total_size,
)
from keepsake.domain.text import terms
from keepsake.domain.turns import Turn

MAX_LINES = 24
MAX_DECISIONS = 8
MAX_QUESTIONS = 8
MAX_TOPICS = 6
MAX_BYTES = 6 * 1024  # of all texts together; lines go when decisions, questions and topics need the room
# Counted are more than are told, so that what comes up again and again is found although it began late.
_MAX_MENTIONS = 12
_MAX_WORDS = 16
_MAX_TONES = 24
_OFTEN = 2  # turns in which a word must come up to count as a topic
_NEUTRAL_SHARE = 8  # one turn of so many must show a tone, else the whole is neutral

_RANKS = {tone.value: rank for rank, tone in enumerate(Tone)}
_GOOD = {Tone.JOYFUL.value, Tone.GRATEFUL.value}


class TurnReader(Protocol):
    """Reads turns for a summary."""

    def read(self, turn: Turn) -> TurnReading:
        """What the summary takes of a turn. The same turn always gives the same."""
        ...


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a session came to so far, within fixed bounds. `covered_ms` is the place of the last turn that it covers, -1 for none.

    All entries stand in the order of their turns. `mentions` counts known topics, `words` what comes up where no topic is known,
    `tones` how the user speaks.
    """

    lines: tuple[SummaryLine, ...] = ()
    turns: int = 0
    covered_ms: int = -1
    decisions: tuple[Decision, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    mentions: tuple[Tally, ...] = ()
    words: tuple[Tally, ...] = ()
    tones: tuple[Tally, ...] = ()

    def extended(self, turns: Iterable[Turn], reader: TurnReader) -> "SessionSummary":
        """The summary of what it covers and of `turns`, in order; of these it takes no notice of any that it covers already."""
        summary = self
        for turn in turns:
            if turn.timestamp_ms > summary.covered_ms:
                summary = summary._with(reader.read(turn))
        return summary

    def _with(self, reading: TurnReading) -> "SessionSummary":
        decisions = _renewed(self.decisions, reading.decisions, MAX_DECISIONS)
        questions = _renewed(_still_open(self.questions, reading), reading.questions, MAX_QUESTIONS)
        mentions = _tallied(self.mentions, reading.topics, reading, _MAX_MENTIONS)
        words = _tallied(self.words, reading.words, reading, _MAX_WORDS)
        lines = self.lines
        if reading.line:
            taken = total_size([*(one.text for one in decisions), *(one.text for one in questions)])
            taken += total_size(one.name for one in (*mentions, *words))
            lines = _within([*lines, reading.line], MAX_BYTES - taken)
        return SessionSummary(
            lines=lines,
            turns=self.turns + 1,
            covered_ms=reading.at_ms,
            decisions=decisions,
            questions=questions,
            mentions=mentions,
            words=words,
            tones=_tallied(self.tones, reading.tones, reading, _MAX_TONES),
        )

    @property
    def topics(self) -> tuple[str, ...]:
        """At most MAX_TOPICS, the most frequent first: known topics, then words that came up often."""
        known = [name for name, _ in _ranked(self.mentions)[:MAX_TOPICS]]
        often = [name for name, turns in _ranked(self.words) if turns >= _OFTEN] if len(known) < MAX_TOPICS else []
        return tuple(dict.fromkeys((*known, *often)))[:MAX_TOPICS]

    @property
    def tone(self) -> Tone:
        """The tone that prevails; neutral when few turns show any, mixed when good and bad are both strong."""
        counts = dict(_ranked(self.tones))
        calm = counts.pop(Tone.NEUTRAL.value, 0)
        shown = sum(counts.values())
        if not shown or shown * _NEUTRAL_SHARE < shown + calm:
            return Tone.NEUTRAL
        good = sum(turns for name, turns in counts.items() if name in _GOOD)
        if 3 * good >= shown and 3 * (shown - good) >= shown:
            return Tone.MIXED
        return Tone(min(counts, key=lambda name: (-counts[name], _RANKS[name])))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell: a neutral tone alone is nothing."""
        return not (self.lines or self.decisions or self.questions or self.topics or self.tone is not Tone.NEUTRAL)

    @property
    def clearance(self) -> Clearance:
        """What one must be cleared for to see all of it."""
        parts: tuple[tuple[Cleared, ...], ...]
        parts = (self.lines, self.decisions, self.questions, self.mentions, self.words, self.tones)
        joined = OPEN
        for entry in (entry for part in parts for entry in part):
            joined = joined.joined(entry.clearance)
        return joined

    def visible(self, clearance: Clearance) -> "SessionSummary":
        """What of it comes of turns that the clearance covers."""
        return SessionSummary(
            lines=_seen(clearance, self.lines),
            turns=self.turns,
            covered_ms=self.covered_ms,
            decisions=_seen(clearance, self.decisions),
            questions=_seen(clearance, self.questions),
            mentions=_seen(clearance, self.mentions),
            words=_seen(clearance, self.words),
            tones=_seen(clearance, self.tones),
        )

    def before(self, place_ms: int) -> "SessionSummary":
        """What of it comes of turns before a place; nothing that came up again after it. The tone stays that of the whole."""
        if self.covered_ms < place_ms:
            return self
        return replace(
            self,
            lines=_before(place_ms, self.lines),
            decisions=_before(place_ms, self.decisions),
            questions=_before(place_ms, self.questions),
            mentions=_before(place_ms, self.mentions),
            words=_before(place_ms, self.words),
        )

    def text(self) -> str:
        """The whole summary in plain lines; empty when there is nothing to tell."""
        opening = [topics_line(self.topics)] if self.topics else []
        opening += [tone_line(self.tone)] if self.tone is not Tone.NEUTRAL else []
        opening += [decision.block for decision in self.decisions]
        opening += [question.block for question in self.questions]
        return "".join((*opening, *(line.block for line in self.lines))).rstrip("\n")

    def to_record(self) -> dict[str, object]:
        """The summary as plain lists and values. Places are told by how far before the last they are: such numbers are small."""
        last = self.covered_ms
        return {
            "turns": self.turns,
            "covered": last,
            "lines": [records.line_record(one, last) for one in self.lines],
            "decisions": [records.decision_record(one, last) for one in self.decisions],
            "questions": [records.question_record(one, last) for one in self.questions],
            "mentions": [records.tally_record(one, last) for one in self.mentions],
            "words": [records.tally_record(one, last) for one in self.words],
            "tones": [records.tally_record(one, last) for one in self.tones],
        }

    @classmethod
    def from_record(cls, record: object) -> "SessionSummary":
        """The summary that `to_record` wrote. Raises CorruptItemError for anything else."""
        if not isinstance(record, Mapping):
            raise CorruptItemError("a summary is no record")
        try:
            last = int(record["covered"])
            return cls(
                lines=tuple(records.line_of(one, last) for one in record["lines"]),
                turns=int(record["turns"]),
                covered_ms=last,
                decisions=tuple(records.decision_of(one, last) for one in record["decisions"]),
                questions=tuple(records.question_of(one, last) for one in record["questions"]),
                mentions=tuple(records.tally_of(one, last) for one in record["mentions"]),
                words=tuple(records.tally_of(one, last) for one in record["words"]),
                tones=tuple(records.tally_of(one, last) for one in record["tones"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptItemError("a summary lacks a part or has a wrong one") from error


def _within(lines: list[SummaryLine], room: int) -> tuple[SummaryLine, ...]:
    """The lines without the least telling, so that they keep to both bounds; of equals, the oldest goes."""
    size = total_size(line.text for line in lines)
    while lines and (len(lines) > MAX_LINES or size > room):
        least = min(range(len(lines)), key=lambda index: lines[index].weight)
        size -= size_of(lines.pop(least).text)
    return tuple(lines)


class _Quote(Protocol):
    """A sentence of one turn."""

    @property
    def text(self) -> str: ...

    @property
    def clearance(self) -> Clearance: ...


class _Placed(Protocol):
    """An entry with the place of its turn."""

    @property
    def at_ms(self) -> int: ...


Q = TypeVar("Q", bound=_Quote)
P = TypeVar("P", bound=_Placed)
C = TypeVar("C", bound=Cleared)


def _renewed(known: tuple[Q, ...], new: tuple[Q, ...], limit: int) -> tuple[Q, ...]:
    """The newest that there is room for. What is said again stands where it was said last."""
    if not new:
        return known
    again = {(one.text, one.clearance) for one in new}
    return (*(one for one in known if (one.text, one.clearance) not in again), *new)[-limit:]


def _before(place_ms: int, entries: tuple[P, ...]) -> tuple[P, ...]:
    return entries[: bisect_left(entries, place_ms, key=attrgetter("at_ms"))]


def _seen(clearance: Clearance, entries: tuple[C, ...]) -> tuple[C, ...]:
    """As `visible`, at once where all are open."""
    return entries if all(entry.clearance is OPEN for entry in entries) else visible(clearance, entries)


def _still_open(questions: tuple[OpenQuestion, ...], reading: TurnReading) -> tuple[OpenQuestion, ...]:
    if not questions or reading.reply is Reply.NONE:
        return questions
    return tuple(left for question in questions if (left := _left_by(question, reading)))


def _left_by(question: OpenQuestion, reading: TurnReading) -> OpenQuestion | None:
    """The question as a reply leaves it: None when it was answered, before all who may see the question."""
    if question.asker == reading.speaker or not question.clearance.covers(reading.clearance):
        return question
    if reading.reply is Reply.DEFERRED:
        return question._replace(deferred=True)
    return question if question.deferred and not _speaks_of(question, reading.said) else None


def _speaks_of(question: OpenQuestion, said: str) -> bool:
    """Whether the text takes up two of the question's longer terms, or half of them."""
    wanted = {term for term in terms(question.text[len(question.asker) + 1 :]) if len(term) > 3 or not term.isascii()}
    shared = len(wanted.intersection(terms(said)))
    return shared > 0 and (shared > 1 or 2 * shared >= len(wanted))


def _tallied(known: tuple[Tally, ...], names: Sequence[str], reading: TurnReading, limit: int) -> tuple[Tally, ...]:
    """The tallies after a turn that brings up `names`. Beyond the limit the rarest others go, of equals the oldest."""
    if not names:
        return known
    turns = {one.name: one.turns for one in known if one.name in names and one.clearance == reading.clearance}
    others = [one for one in known if one.name not in turns or one.clearance != reading.clearance]
    new = [Tally(name, turns.get(name, 0) + 1, reading.clearance, reading.at_ms) for name in names][-limit:]
    while len(others) + len(new) > limit:
        others.remove(min(others, key=attrgetter("turns")))  # the first of equals: they stand in the order of their places
    return (*others, *new)


def _ranked(tallies: Iterable[Tally]) -> list[tuple[str, int]]:
    """Names with their turns under all clearances, the most frequent first, of equals the last mentioned."""
    turns: dict[str, int] = {}
    last: dict[str, int] = {}
    for one in tallies:
        turns[one.name] = turns.get(one.name, 0) + one.turns
        last[one.name] = max(one.at_ms, last.get(one.name, one.at_ms))
    return [(name, turns[name]) for name in sorted(turns, key=lambda name: (-turns[name], -last[name], name))]

"""Entries of a summary as lists, without the names of fields, which would stand there many times over."""

from collections.abc import Sequence
from typing import Any

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.summary.entries import Decision, OpenQuestion, SummaryLine, Tally

Record = list[Any]


def line_record(line: SummaryLine, last_ms: int) -> Record:
    """A line."""
    return [line.text, line.tokens, line.weight, last_ms - line.at_ms, *_clearance_record(line.clearance)]


def line_of(record: Sequence[Any], last_ms: int) -> SummaryLine:
    """The line that `line_record` wrote; as for all of these, another record raises TypeError or ValueError."""
    text, tokens, weight, ago, *seen_by = record
    return SummaryLine(text, tokens, weight, _clearance(seen_by), last_ms - ago)


def decision_record(decision: Decision, last_ms: int) -> Record:
    """A decision."""
    return [decision.text, decision.tokens, last_ms - decision.at_ms, *_clearance_record(decision.clearance)]


def decision_of(record: Sequence[Any], last_ms: int) -> Decision:
    """The decision that `decision_record` wrote."""
    text, tokens, ago, *seen_by = record
    return Decision(text, tokens, _clearance(seen_by), last_ms - ago)


def question_record(question: OpenQuestion, last_ms: int) -> Record:
    """An open question."""
    place = last_ms - question.at_ms
    return [question.text, question.asker, question.tokens, question.deferred, place, *_clearance_record(question.clearance)]


def question_of(record: Sequence[Any], last_ms: int) -> OpenQuestion:
    """The question that `question_record` wrote."""
    text, asker, tokens, deferred, ago, *seen_by = record
    return OpenQuestion(text, asker, tokens, _clearance(seen_by), last_ms - ago, deferred)


def tally_record(tally: Tally, last_ms: int) -> Record:
    """A tally."""
    return [tally.name, tally.turns, last_ms - tally.at_ms, *_clearance_record(tally.clearance)]


def tally_of(record: Sequence[Any], last_ms: int) -> Tally:
    """The tally that `tally_record` wrote."""
    name, turns, ago, *seen_by = record
    return Tally(name, turns, _clearance(seen_by), last_ms - ago)


def _clearance_record(clearance: Clearance) -> Record:
    return [] if clearance.is_open else [clearance.level, *sorted(clearance.compartments)]


def _clearance(record: Sequence[Any]) -> Clearance:
    return Clearance(int(record[0]), frozenset(record[1:])) if record else OPEN

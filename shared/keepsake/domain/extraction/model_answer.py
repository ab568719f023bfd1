"""Reads what a language model answered: nothing of it is believed before it is checked against the turns.

Lengths, counts and numbers are bounded. A value must be supported by words of the turn, or of what stands around it, else it is
dropped: what a model makes up looks just like what it has read. What is dropped is counted, by why.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from keepsake.domain.dates import DateSpan, dates_in
from keepsake.domain.extraction.model_prompt import AnswerProblem, Entry
from keepsake.domain.extraction.model_schema import SECTIONS, VALUES, Certainty
from keepsake.domain.extraction.support import Grounds, Support
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.memories.values import USER, MadeBy, Memory, MemoryType, Replaced, Statement
from keepsake.domain.text import folded, is_blank

MAX_STATEMENTS = 64  # of one answer
MAX_VALUE = 300
MAX_TEXT = 600
MAX_NAME = 80  # of subjects and attributes
_MOST_OBJECTS = 8  # places in an answer with prose at which the JSON may begin

_CONFIDENCE = {Certainty.SURE: 0.9, Certainty.LIKELY: 0.7, Certainty.UNSURE: 0.5}
# What is left of it by how the turn supports the value. Without any support there is no statement.
_SUPPORTED = {Support.FULL: 1.0, Support.PART: 0.8, Support.CONTEXT: 0.65, Support.PARAPHRASE: 0.6}
_NOT_WORD = re.compile(r"[\W_]+")
_USERS = frozenset({"", "user", "the user", "me", "i", "self", "myself", "speaker"})


class Dropped(StrEnum):
    """Why a part of an answer was dropped."""

    SHAPE = "shape"  # not what the schema says
    TURN = "turn"  # of a line that is not there
    CANDIDATE = "candidate"  # replaces what was no candidate, or another subject's
    BOUNDS = "bounds"  # too long, or too many
    UNSUPPORTED = "unsupported"  # said by nobody
    DATE = "date"  # a time that cannot be read; the statement stays


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer amounts to. `dropped` counts."""

    statements: tuple[Statement, ...]
    dropped: Mapping[Dropped, int]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the model was asked about. `restored` puts back what was masked, in one string."""

    entries: Sequence[Entry]
    candidates: Sequence[Memory]
    attributes: Attributes
    restored: Callable[[str], str]


def read_answer(text: str, asked: Asked) -> Reading | AnswerProblem:
    """The statements of an answer, or why there are none to be had from it. Any text will do."""
    answer = _json_object(text)
    if answer is None:
        return AnswerProblem.MALFORMED
    reader = _Reader(asked)
    for section, items in ((section, answer.get(section, [])) for section in SECTIONS):
        if not isinstance(items, list):
            return AnswerProblem.MALFORMED
        for item in items:
            reader.read(section, item)
    lost = sum(reader.dropped[why] for why in (Dropped.TURN, Dropped.UNSUPPORTED, Dropped.SHAPE))
    if lost > len(reader.statements):
        return AnswerProblem.ABSURD
    return Reading(tuple(reader.statements), dict(reader.dropped))


def _json_object(text: str) -> Mapping[str, Any] | None:
    """The JSON object of an answer, also out of prose or a code fence; None when there is none with one of our lists."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            return None
        try:
            found, _ = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and not SECTIONS.keys().isdisjoint(found):
            return found
        place = text.find("{", place + 1)
    return None


class _DroppedError(Exception):
    """An item is dropped, and why."""

    def __init__(self, why: Dropped) -> None:
        super().__init__(why)
        self.why = why


class _Reader:
    """Reads items one by one into statements."""

    def __init__(self, asked: Asked) -> None:
        self.statements: list[Statement] = []
        self.dropped: Counter[Dropped] = Counter()
        self._asked = asked
        self._entries = {entry.number: entry for entry in asked.entries if entry.number is not None}
        self._grounds = Grounds(asked.entries, [memory.subject for memory in asked.candidates])

    def read(self, section: str, item: object) -> None:
        """Adds what an item states."""
        if not isinstance(item, dict):
            self.dropped[Dropped.SHAPE] += 1
            return
        try:
            self._add(self._statement(section, item))
            if section == "people" and not _is_empty(item, "name") and not _is_empty(item, "details"):
                self._add(self._details(item))
        except _DroppedError as dropped:
            self.dropped[dropped.why] += 1

    def _add(self, statement: Statement) -> None:
        if len(self.statements) >= MAX_STATEMENTS:
            raise _DroppedError(Dropped.BOUNDS)
        if _key(statement) not in map(_key, self.statements):
            self.statements.append(statement)

    def _statement(self, section: str, item: Mapping[str, Any]) -> Statement:
        entry = self._entry(item)
        subject = self._subject(item)
        text = self._string(item, "text", MAX_TEXT)
        attribute, kind = self._attribute(section, item)
        statement = Statement(
            turn_id=entry.turn.turn_id,
            type=kind,
            subject=subject,
            attribute=attribute,
            value=self._string(
                item, "details" if section == "people" and _is_empty(item, "name") else VALUES[section], MAX_VALUE
            ),
            text=text + self._emotions(item, text),
            confidence=_CONFIDENCE[self._certainty(item)],
            importance=self._asked.attributes.policy(attribute, kind).importance,
            made_by=MadeBy.MODEL,
            denied=item.get("denied") is True,
            valid_from_ms=self._time(item, "timeframe" if item.get("timeframe") else "since", entry),
            valid_to_ms=self._time(item, "until", entry),
        )
        return self._supported(replace(statement, replaces=self._replaces(item, statement)), entry)

    def _details(self, item: Mapping[str, Any]) -> Statement:
        """What is said of a person besides the relation, under the person's own name."""
        entry = self._entry(item)
        statement = Statement(
            turn_id=entry.turn.turn_id,
            type=MemoryType.FACT,
            subject=self._string(item, "name", MAX_NAME),
            attribute="details",
            value=self._string(item, "details", MAX_VALUE),
            text=self._string(item, "text", MAX_TEXT),
            confidence=_CONFIDENCE[self._certainty(item)],
            importance=self._asked.attributes.policy("details", MemoryType.FACT).importance,
            made_by=MadeBy.MODEL,
        )
        return self._supported(statement, entry)

    def _entry(self, item: Mapping[str, Any]) -> Entry:
        number = item.get("turn")
        if not isinstance(number, int) or isinstance(number, bool) or number not in self._entries:
            raise _DroppedError(Dropped.TURN)
        return self._entries[number]

    def _string(self, item: Mapping[str, Any], name: str, longest: int, *, optional: bool = False) -> str:
        """A property, with what was masked in it put back, on one line. Raises _DroppedError when it is blank or too long."""
        given = item.get(name, "")
        if not isinstance(given, str) or (is_blank(given) and not optional):
            raise _DroppedError(Dropped.SHAPE)
        whole = " ".join(self._asked.restored(given).replace("\x00", " ").encode(errors="replace").decode().split())
        if len(whole) > longest:
            raise _DroppedError(Dropped.BOUNDS)
        return whole

    def _subject(self, item: Mapping[str, Any]) -> str:
        subject = self._string(item, "subject", MAX_NAME, optional=True)
        return USER if folded(subject).strip() in _USERS else subject

    def _attribute(self, section: str, item: Mapping[str, Any]) -> tuple[str, MemoryType]:
        """The word of the data file where there is one, and its type; else the model's own, written as those are."""
        named = "relationship" if section == "people" else "attribute"
        for name in (named, "category"):
            given = _NOT_WORD.sub("_", folded(self._string(item, name, MAX_NAME, optional=True))).strip("_")
            if policy := self._asked.attributes.by_name.get(given):
                return policy.name, policy.type
            if given:
                return given, SECTIONS[section]
        return SECTIONS[section].value, SECTIONS[section]

    def _certainty(self, item: Mapping[str, Any]) -> Certainty:
        try:
            return Certainty(item.get("certainty", Certainty.LIKELY))
        except ValueError:
            return Certainty.UNSURE

    def _emotions(self, item: Mapping[str, Any], text: str) -> str:
        """The emotions of an event that its sentence does not name, in brackets behind it."""
        given = item.get("emotions")
        words = [word for word in given if isinstance(word, str) and not is_blank(word)][:5] if isinstance(given, list) else []
        listed = ", ".join(self._asked.restored(word)[:30].strip() for word in words if folded(word) not in folded(text))
        return f" ({listed})" if listed and len(text) + len(listed) < MAX_TEXT else ""

    def _time(self, item: Mapping[str, Any], name: str, entry: Entry) -> int | None:
        """When what the wording names began. What cannot be read is no time."""
        wording = item.get(name)
        if not isinstance(wording, str) or is_blank(wording):
            return None
        dates: tuple[DateSpan, ...] = dates_in(wording[:MAX_NAME], entry.turn.occurred_at_ms)
        if not dates:
            self.dropped[Dropped.DATE] += 1
            return None
        return dates[0].from_ms

    def _replaces(self, item: Mapping[str, Any], statement: Statement) -> tuple[Replaced, ...]:
        """What it replaces among the candidates: of the same subject, and not the same thing."""
        given = item.get("replaces")
        numbers = given[:MAX_STATEMENTS] if isinstance(given, list) else []
        found = [self._candidate(number, statement) for number in dict.fromkeys(map(_hashable, numbers))]
        self.dropped.update([Dropped.CANDIDATE] * found.count(None))
        replaced = [
            Replaced(memory.subject, memory.attribute, memory.value)
            for memory in found
            if memory is not None and (memory.attribute, folded(memory.value)) != (statement.attribute, folded(statement.value))
        ]
        return tuple(replaced)

    def _candidate(self, number: object, statement: Statement) -> Memory | None:
        candidates = self._asked.candidates
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(candidates):
            return None
        memory = candidates[number - 1]
        return memory if folded(memory.subject) == folded(statement.subject) else None

    def _supported(self, statement: Statement, entry: Entry) -> Statement:
        support = self._grounds.support(statement, entry)
        if support is Support.NONE:
            raise _DroppedError(Dropped.UNSUPPORTED)
        return replace(statement, confidence=round(statement.confidence * _SUPPORTED[support], 2))


def _key(statement: Statement) -> tuple[object, ...]:
    return statement.turn_id, folded(statement.subject), statement.attribute, folded(statement.value), statement.denied


def _is_empty(item: Mapping[str, Any], name: str) -> bool:
    given = item.get(name, "")
    return isinstance(given, str) and is_blank(given)


def _hashable(number: object) -> object:
    return number if isinstance(number, int) else None

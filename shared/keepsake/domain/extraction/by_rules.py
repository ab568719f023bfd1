"""Extraction by rules: what the user's own words state, found without a model.

A wrong memory is worse than a missing one: questions, suppositions, other people's words and made-up scenes are passed over, and
a value that does not look like one is none. Deterministic, and linear in the length of the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from keepsake.domain.dates import DateSpan, Relation, dates_in
from keepsake.domain.extraction.learnable import learnable
from keepsake.domain.extraction.people import People
from keepsake.domain.extraction.rules import KIN, ExtractionRules, Language, Rule, group, group_span
from keepsake.domain.extraction.sentences import Sentence, sentences, stated
from keepsake.domain.extraction.wording import values
from keepsake.domain.memories.values import MadeBy, Replaced, Statement
from keepsake.domain.text import folded, has_unspaced
from keepsake.domain.turns import Role, Turn

_WORDS = re.compile(r"[^\W\d_]+")
_MOST_STATEMENTS = 40  # of one turn
_MOST_MATCHES = 3  # of one rule in one sentence
_OVER = frozenset({"former", "until"})  # what a date ends; where there is none, it is denied
_MOST_TEXT = 300
_HEDGED = 0.6
_BEFORE = 48  # characters before a match that may tell that it is another's
_NEAR_TURNS = 2  # a correction without the old value is of what was said so few turns before


def extract_by_rules(turns: Sequence[Turn], rules: ExtractionRules) -> tuple[Statement, ...]:
    """What the user's turns state, in their order. Others' turns, and what a user quotes or pastes, state nothing."""
    reader = _Reader(rules)
    for turn in turns:
        if turn.role is Role.USER:
            reader.read(turn)
    return tuple(reader.statements)


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence as rules read it: what it states, its dates, and its turn."""

    turn: Turn
    whole: str
    text: str
    dates: tuple[DateSpan, ...]


class _Reader:
    """Reads turns in order and keeps who and what they spoke of."""

    def __init__(self, rules: ExtractionRules) -> None:
        self.statements: list[Statement] = []
        self._rules = rules
        self._people = People(rules.genders)
        self._turns: list[str] = []

    def read(self, turn: Turn) -> None:
        """Add what a turn states."""
        text = learnable(turn)
        self._turns.append(turn.turn_id)
        numbers = self._called(text)
        correcting = self._correcting(text)
        if not numbers and not correcting:
            return
        codes = {self._rules.rules[number].language for number in numbers} | set(correcting)
        languages = [language for code, language in self._rules.languages.items() if code in codes]
        limit = len(self.statements) + _MOST_STATEMENTS
        seen: set[str] = set()
        for sentence in sentences(text):
            if sentence.text in seen:
                continue
            seen.add(sentence.text)
            if len(self.statements) >= limit or any(language.scene.search(sentence.text) for language in languages):
                return
            self._read_sentence(turn, sentence)

    def _called(self, text: str) -> list[int]:
        """The rules whose words stand in a text."""
        words = frozenset(_WORDS.findall(text.lower().replace("’", "'")))
        numbers = {number for word in words & self._rules.by_word.keys() for number in self._rules.by_word[word]}
        if has_unspaced(text):
            numbers |= {number for part in set(self._rules.parts.findall(text)) for number in self._rules.by_part[part]}
        return sorted(numbers)

    def _correcting(self, text: str) -> list[str]:
        words = frozenset(_WORDS.findall(text.lower()))
        return sorted({code for word in words & self._rules.correcting.keys() for code in self._rules.correcting[word]})

    def _read_sentence(self, turn: Turn, sentence: Sentence) -> None:
        numbers = self._called(sentence.text)
        readings: dict[str, _Said | None] = {}
        before = len(self.statements)
        self._people.next_sentence()
        for number in numbers:
            rule = self._rules.rules[number]
            if rule.language not in readings:
                readings[rule.language] = self._reading(turn, sentence, self._rules.languages[rule.language])
            if said := readings[rule.language]:
                for match in islice(rule.pattern.finditer(said.text), _MOST_MATCHES):
                    self._add(self._statements(rule, match, said))
        self.statements[before:] = sorted(
            self.statements[before:], key=_still_holds
        )  # what is over comes before what took its place
        if len(self.statements) == before and not sentence.asks:
            self._add(self._corrections(turn, sentence))

    def _reading(self, turn: Turn, sentence: Sentence, language: Language) -> _Said | None:
        text = stated(sentence, language)
        return _Said(turn, sentence.text, text, dates_in(text, turn.occurred_at_ms)) if text else None

    def _add(self, found: Iterable[Statement]) -> None:
        for statement in found:
            known = [
                (one.subject, one.attribute, folded(one.value), one.denied)
                for one in self.statements[-_MOST_STATEMENTS:]
                if one.turn_id == statement.turn_id
            ]
            if (statement.subject, statement.attribute, folded(statement.value), statement.denied) not in known:
                self.statements.append(statement)

    def _statements(self, rule: Rule, match: re.Match[str], said: _Said) -> Iterator[Statement]:
        language = self._rules.languages[rule.language]
        if _is_vetoed(said.text, match.start(), language) or (rule.dated and not said.dates):
            return
        subject = self._people.subject(match, language)
        if subject is None:
            return
        attribute = self._attribute(rule, match, language)
        if attribute is None:
            return
        found, end = self._values(rule, match, said, language)
        if rule.attribute == KIN:
            self._people.met(found, attribute)
        yield from self._of_values(rule, attribute, subject, found, (match, end, said))

    def _values(self, rule: Rule, match: re.Match[str], said: _Said, language: Language) -> tuple[tuple[str, ...], int]:
        if rule.value:
            return (rule.value,), match.end()
        kin = group(match, "kin")
        several = kin is not None and kin.lower() in language.plurals
        kind = rule.kind if kin is None else "names" if several else "name"
        if (span := group_span(match, "name")) and several:
            span = (span[0], len(said.text))
        begin, end = span or group_span(match, "value") or (match.end(), None)
        begin += len(said.text[begin:end]) - len(said.text[begin:end].lstrip(" :'\"," if several else " :'\""))
        return values(kind, said.text, begin, end, language, said.dates)

    def _attribute(self, rule: Rule, match: re.Match[str], language: Language) -> str | None:
        if rule.attribute == KIN:
            return language.kin.get((group(match, "kin") or "").lower())
        if rule.attribute == "favorite" and (noun := group(match, "favorite")):
            return language.favorites.get(noun.lower(), "favorite")
        return rule.attribute

    def _of_values(
        self, rule: Rule, attribute: str, subject: str, found: Sequence[str], where: tuple[re.Match[str], int, _Said]
    ) -> Iterator[Statement]:
        match, end, said = where
        language = self._rules.languages[rule.language]
        policy = self._rules.policies.policy(attribute, rule.type)
        since, until = _times(rule, match.start(), end, said.dates)
        confidence = rule.confidence * (_HEDGED if language.hedge.search(said.text[: match.start() + 1]) else 1.0)
        instead = _not_after(said.text, end, language)
        for value in found:
            replaced = [Replaced(subject, rule.replaces, value)] if rule.replaces else []
            if instead:
                replaced.append(Replaced(subject, attribute, instead))
            statement = Statement(
                turn_id=said.turn.turn_id, type=policy.type, subject=subject, attribute=attribute, value=value,
                text=_quotable(said.whole), confidence=round(confidence, 2), importance=policy.importance, made_by=MadeBy.RULES,
                denied=until is None if rule.time in _OVER else rule.denied, valid_from_ms=since, valid_to_ms=until,
                replaces=tuple(replaced),
            )  # fmt: skip
            yield statement
            if rule.also:
                yield replace(
                    statement,
                    attribute=rule.also,
                    type=self._rules.policies.by_name[rule.also].type,
                    replaces=(),
                    importance=self._rules.policies.by_name[rule.also].importance,
                )

    def _corrections(self, turn: Turn, sentence: Sentence) -> Iterator[Statement]:
        for code in self._correcting(sentence.text):
            for pattern in self._rules.languages[code].corrections:
                match = pattern.search(sentence.text)
                target = self._corrected(match.groupdict(), self._rules.languages[code]) if match else None
                if match and target:
                    new = match["new"].strip(" .,!'\"")
                    if target.attribute in self._rules.genders or target.attribute == "name":
                        self._people.met((new,), target.attribute)
                    yield replace(
                        target, turn_id=turn.turn_id, value=new, text=_quotable(sentence.text), denied=False,
                        replaces=(Replaced(target.subject, target.attribute, target.value),),
                    )  # fmt: skip
                    return

    def _corrected(self, parts: dict[str, str | None], language: Language) -> Statement | None:
        """The statement that a correction is about: of the old value if it is named, else the last that such a value fits."""
        old, new, pronoun = parts.get("old"), parts["new"] or "", parts.get("pronoun")
        recent = set(self._turns[-_NEAR_TURNS - 1 :])
        for statement in reversed(self.statements):
            if folded(statement.value) == folded(new) or statement.denied:
                continue
            if old:
                if folded(statement.value) == folded(old):
                    return statement
                continue
            gender = language.pronouns.get(pronoun.lower()) if pronoun else None
            if (
                statement.turn_id in recent
                and _fits(statement, new)
                and (
                    gender is None
                    or (
                        self._rules.genders.get(statement.attribute, gender) == gender
                        and statement.attribute in self._rules.genders
                    )
                )
            ):
                return statement
        return None


def _still_holds(statement: Statement) -> bool:
    return not statement.denied and statement.valid_to_ms is None


def _fits(statement: Statement, new: str) -> bool:
    return bool(new) and statement.value[:1].isupper() == new[:1].isupper()


def _is_vetoed(text: str, start: int, language: Language) -> bool:
    before = text[:start]
    if not before:
        return False
    return language.veto.search(before) is not None or language.blocked.search(before[-_BEFORE:]) is not None


def _not_after(text: str, end: int, language: Language) -> str:
    """The old value of "Hanna, not Anna", where the new one ends at `end`."""
    rest = text[end : end + 60].lstrip(" ,")
    negation = language.negation.match(rest)
    if negation is None:
        return ""
    words = rest[negation.end() :].strip(" .!").split()
    return words[0].strip(",.!") if 1 <= len(words) <= 3 and words[0][:1].isupper() else ""


def _times(rule: Rule, begin: int, end: int, dates: Sequence[DateSpan]) -> tuple[int | None, int | None]:
    """Since when and until when, as far as the sentence says so beside the wording."""
    if not dates or rule.time == "none":
        return None, None
    nearest = min(dates, key=lambda span: max(span.start - end, begin - span.end, 0))
    if rule.time == "event":
        return nearest.from_ms, None
    if rule.time == "until":
        return None, nearest.from_ms
    if rule.time == "former":
        if nearest.relation is Relation.UNTIL:
            return None, nearest.from_ms
        return nearest.from_ms, None if nearest.relation is Relation.SINCE else nearest.to_ms
    return (nearest.from_ms, None) if nearest.relation is Relation.SINCE else (None, None)


def _quotable(sentence: str) -> str:
    if len(sentence) <= _MOST_TEXT:
        return sentence
    return sentence[: _MOST_TEXT - 1].rpartition(" ")[0] + "…"

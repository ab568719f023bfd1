"""The wordings from which a summary tells tone, decisions, answers and questions, compiled from two data files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from keepsake.domain.phrases import PhraseKey, PhraseTable, phrase_key, phrase_set, phrase_table, read_phrases
from keepsake.domain.summary.entries import Tone
from keepsake.domain.text import folded, has_unspaced

_NAMED_TONES = tuple(tone.value for tone in Tone if tone not in {Tone.MIXED, Tone.NEUTRAL})


class InvalidWordingsError(ValueError):
    """A file of wordings does not say what it should. The message names the place in the file."""


@dataclass(frozen=True, slots=True)
class UnspacedTones:
    """Phrases of tones in scripts without spaces. There a negation is joined to what it negates."""

    tones: Mapping[str, str]
    pattern: re.Pattern[str]
    before: tuple[str, ...]
    after: tuple[str, ...]

    def find(self, text: str) -> Iterator[str]:
        """The tones that a folded text shows, in order."""
        for match in self.pattern.finditer(text):
            negated = text.endswith(self.before, 0, match.start()) or text.startswith(self.after, match.end())
            if not negated:
                yield self.tones[match.group()]


@dataclass(frozen=True, slots=True)
class SummaryWordings:
    """Wordings, compiled once. Immutable; made by `parse_summary_wordings`."""

    tones: PhraseTable[str]
    unspaced_tones: UnspacedTones
    emoji: Mapping[str, str]  # of one character each
    negations: PhraseTable[bool]
    decisions: PhraseTable[bool]  # False: only the user decides by it, and only at the beginning of a clause
    no_plans: PhraseTable[bool]
    connectors: frozenset[str]
    hedges: PhraseTable[bool]
    deferrals: PhraseTable[bool]
    acknowledgements: PhraseTable[bool]
    courtesies: PhraseTable[bool]
    question_endings: tuple[str, ...]
    polite_endings: tuple[str, ...]
    stop_words: frozenset[str]
    stop_characters: Mapping[int, str]  # for `str.translate`: each is parted by a space


def parse_summary_wordings(tone: Mapping[str, object], summary: Mapping[str, object]) -> SummaryWordings:
    """Compile the file of tones and the file of the summary's other wordings. Raises InvalidWordingsError."""
    tones = _tones(tone)
    unspaced = {key[0]: name for key, name in tones.items() if has_unspaced(key[0])}
    return SummaryWordings(
        tones=phrase_table({key: name for key, name in tones.items() if key[0] not in unspaced}),
        unspaced_tones=_unspaced(tone, unspaced),
        emoji=_emoji(tone),
        negations=phrase_set(_phrases(tone, "negations")),
        decisions=phrase_table(
            {
                phrase_key(phrase): says
                for key, says in (("plans", False), ("decisions", True))
                for phrase in _phrases(summary, key)
            }
        ),
        no_plans=phrase_set(_phrases(summary, "no_plans")),
        connectors=_words(summary, "connectors"),
        hedges=phrase_set(_phrases(summary, "hedges")),
        deferrals=phrase_set(_phrases(summary, "deferrals")),
        acknowledgements=phrase_set(_phrases(summary, "acknowledgements")),
        courtesies=phrase_set(_phrases(summary, "courtesies")),
        question_endings=_longest_first(_phrases(summary, "question_endings")),
        polite_endings=_longest_first(_phrases(summary, "polite_endings")),
        stop_words=_words(summary, "stop_words"),
        stop_characters=dict.fromkeys(map(ord, _text(summary, "stop_characters")), " "),
    )


def _tones(tone: Mapping[str, object]) -> dict[PhraseKey, str]:
    tables = _table(tone, "tones")
    entries: dict[PhraseKey, str] = {}
    for name in _NAMED_TONES:
        for phrase in _phrases(tables, name, "tones."):
            holder = entries.setdefault(phrase_key(phrase), name)
            if holder != name:
                raise InvalidWordingsError(f"tones.{name}: {phrase!r} already belongs to {holder!r}")
    return entries


def _unspaced(tone: Mapping[str, object], tones: Mapping[str, str]) -> UnspacedTones:
    pattern = re.compile("|".join(map(re.escape, sorted(tones, key=len, reverse=True))) or r"(?!)")
    before, after = (_longest_first(_phrases(tone, key)) for key in ("unspaced_before", "unspaced_after"))
    return UnspacedTones(tones, pattern, before, after)


def _emoji(tone: Mapping[str, object]) -> dict[str, str]:
    tables = _table(tone, "emoji")
    return {character: name for name in _NAMED_TONES for character in _text(tables, name, "emoji.")}


def _words(table: Mapping[str, object], key: str) -> frozenset[str]:
    return frozenset(word for phrase in _phrases(table, key) for word in phrase_key(phrase))


def _longest_first(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(map(folded, phrases), key=len, reverse=True))


def _phrases(table: Mapping[str, object], key: str, where: str = "") -> tuple[str, ...]:
    return read_phrases(table.get(key), f"{where}{key}", InvalidWordingsError)


def _text(table: Mapping[str, object], key: str, where: str = "") -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise InvalidWordingsError(f"{where}{key}: expected a text")
    return value


def _table(table: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = table.get(key)
    if not isinstance(value, Mapping):
        raise InvalidWordingsError(f"{key}: expected a table")
    return value

"""Topics and areas by keywords, and the wordings by which people change or follow a topic. The words stand in a data file.

A file of topics has the tables `[areas.<area>]` (keywords, topics, methods, advanced, professions) and `[conversation]`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from types import MappingProxyType

from keepsake.domain.phrases import (
    BREAKS,
    Hit,
    PhraseKey,
    PhraseTable,
    Spoken,
    phrase_key,
    phrase_set,
    phrase_table,
    read_phrases,
    with_plurals,
)

MAX_NAME_BYTES = 64
MAX_AREAS = 100
_SHORT_WORDS = 6  # an ellipsis ("by age?") is no longer than this
_MAX_LEAD_INS = 6


class InvalidTopicsError(ValueError):
    """A file of topics does not say what it should. An operator's error: the message names the place in the file."""


class Kind(StrEnum):
    """What a keyword says about its area."""

    TOPIC = "topic"
    METHOD = "method"  # a word of the trade: no topic, but evidence of expertise
    ADVANCED = "advanced"  # likewise, of those who know it well
    PROFESSION = "profession"


@dataclass(frozen=True, slots=True)
class Mention:
    """What a keyword stands for: a topic of its area, or a word that belongs to the area."""

    name: str
    area: str
    kind: Kind = Kind.TOPIC


@dataclass(frozen=True, slots=True)
class Reading:
    """What a turn says about topics."""

    topics: tuple[str, ...]
    explicit_change: bool
    is_follow_up: bool


@dataclass(frozen=True, slots=True)
class Cues:
    """Wordings of the conversation itself."""

    lead_ins: PhraseTable[bool]  # said before what matters: "ok, now"
    changes: PhraseTable[bool]  # always a change of topic
    changes_to: PhraseTable[bool]  # a change when a topic follows
    back_references: PhraseTable[bool]  # then it is no change: "let's look at metformin in those patients"
    follow_ups: PhraseTable[bool]
    short_follow_ups: PhraseTable[bool]  # only at the head of a short text: "by age?"


@dataclass(frozen=True, slots=True)
class TopicLexicon:
    """Keywords, compiled once. Matches whole words on folded text. Immutable; made by `parse`."""

    areas: tuple[str, ...]
    mentions: PhraseTable[Mention]
    cues: Cues
    _areas_by_topic: Mapping[str, str]

    def detect(self, text: str) -> tuple[str, ...]:
        """The topics of a text, each once, in order of first mention."""
        return _topics(self.mentions.find(Spoken.of(text)))

    def area_of(self, topic: str) -> str | None:
        """The area of a topic (an area is a topic of its own); None when the lexicon does not know it."""
        return self._areas_by_topic.get(topic)

    def explicit_change(self, text: str) -> bool:
        """Whether the speaker changes the topic on purpose ("Now let's look at hypertension")."""
        return self.read(text).explicit_change

    def is_follow_up(self, text: str) -> bool:
        """Whether the text leans on what was said before ("break it down by age") and names no topic of its own."""
        return self.read(text).is_follow_up

    def read(self, text: str) -> Reading:
        """All three at once, with the text cut once."""
        spoken = Spoken.of(text)
        hits = self.mentions.find(spoken)
        topics = _topics(hits)
        return Reading(topics, self._changes(spoken, hits), not topics and self._follows(spoken))

    def _changes(self, spoken: Spoken, hits: tuple[Hit[Mention], ...]) -> bool:
        topic_at = max((hit.start for hit in hits if hit.value.kind is Kind.TOPIC), default=-1)
        if self.cues.changes.find_unspaced(spoken) or (topic_at >= 0 and self.cues.changes_to.find_unspaced(spoken)):
            return True
        leans_back = topic_at < 0 or bool(self.cues.back_references.find(spoken))
        for start in spoken.clause_starts:
            for index in self._openings(spoken, start, over_breaks=False):
                if self.cues.changes.at(spoken, index):
                    return True
                change = self.cues.changes_to.at(spoken, index)
                if change and topic_at >= change.end and not leans_back:
                    return True
        return False

    def _follows(self, spoken: Spoken) -> bool:
        if spoken.words[:2] == (".", ".") or self.cues.follow_ups.find_unspaced(spoken):
            return spoken.length > 0 or bool(spoken.text)
        is_short = spoken.length <= _SHORT_WORDS
        return any(
            self.cues.follow_ups.at(spoken, index) or (is_short and self.cues.short_follow_ups.at(spoken, index))
            for index in self._openings(spoken, 0, over_breaks=True)
        )

    def _openings(self, spoken: Spoken, start: int, *, over_breaks: bool) -> Iterator[int]:
        """Where the matter may begin: at `start`, and after each lead-in."""
        index = start
        for _ in range(_MAX_LEAD_INS):
            while over_breaks and index < len(spoken.words) and spoken.words[index] in BREAKS:
                index += 1
            yield index
            lead_in = self.cues.lead_ins.at(spoken, index)
            if lead_in is None:
                return
            index = lead_in.end


def _topics(hits: Iterable[Hit[Mention]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.value.name for hit in hits if hit.value.kind is Kind.TOPIC))


def parse(content: Mapping[str, object], default: TopicLexicon | None = None) -> TopicLexicon:
    """Compile a file of topics.

    With `extends = true` its areas and wordings are added to those of `default`, and where both claim a keyword, the file has it.
    Without, its areas replace those of `default`; a list of wordings that it does not give is taken from there in any case.
    Raises InvalidTopicsError.
    """
    _only_known(content, {"extends", "areas", "conversation"}, "the file")
    extends = content.get("extends", False)
    if not isinstance(extends, bool):
        raise InvalidTopicsError("extends: expected true or false")
    if extends and default is None:
        raise InvalidTopicsError("extends: there is nothing to extend")
    kept = default if extends else None
    areas = _table(content.get("areas", {}), "areas")
    if not areas and kept is None:
        raise InvalidTopicsError("areas: at least one area is needed")
    own: dict[PhraseKey, Mention] = {}
    for area, table in areas.items():
        _claim_area(own, _name(area, "areas"), _table(table, f"areas.{area}"))
    return _compiled(own, tuple(areas), _cues(content.get("conversation", {}), default, adds=extends), kept)


def _compiled(own: dict[PhraseKey, Mention], areas: tuple[str, ...], cues: Cues, kept: TopicLexicon | None) -> TopicLexicon:
    owners = {mention.name: mention.area for mention in own.values() if mention.kind is Kind.TOPIC}
    entries = with_plurals(own)
    if kept is not None:
        areas = tuple(dict.fromkeys((*kept.areas, *areas)))
        owners = {**kept._areas_by_topic, **owners}  # noqa: SLF001
        entries = {**kept.mentions.entries, **entries}
    if len(areas) > MAX_AREAS:
        raise InvalidTopicsError(f"areas: at most {MAX_AREAS} areas")
    owned = {
        key: replace(mention, area=owners[mention.name]) if mention.kind is Kind.TOPIC else mention
        for key, mention in entries.items()
    }
    return TopicLexicon(areas, phrase_table(owned), cues, MappingProxyType(owners))


def _claim_area(claims: dict[PhraseKey, Mention], area: str, table: Mapping[str, object]) -> None:
    where = f"areas.{area}"
    _only_known(table, {"keywords", "topics", "methods", "advanced", "professions"}, where)
    _claim(claims, Mention(area, area), (area, *_phrases(table, "keywords", where)), where)
    topics = _table(table.get("topics", {}), f"{where}.topics")
    for name in topics:
        keywords = _phrases(topics, name, f"{where}.topics")
        _claim(claims, Mention(_name(name, f"{where}.topics"), area), (name, *keywords), f"{where}.topics.{name}")
    for key, kind in (("methods", Kind.METHOD), ("advanced", Kind.ADVANCED), ("professions", Kind.PROFESSION)):
        _claim(claims, Mention(area, area, kind), _phrases(table, key, where), f"{where}.{key}")


def _claim(claims: dict[PhraseKey, Mention], mention: Mention, keywords: tuple[str, ...], where: str) -> None:
    for keyword in keywords:
        holder = claims.setdefault(phrase_key(keyword), mention)
        if holder != mention:
            raise InvalidTopicsError(
                f"{where}: {keyword!r} already belongs to {holder.name!r} ({holder.kind}, area {holder.area!r})"
            )


def _cues(value: object, default: TopicLexicon | None, *, adds: bool) -> Cues:
    table = _table(value, "conversation")
    names = tuple(field.name for field in fields(Cues))
    _only_known(table, set(names), "conversation")
    tables: dict[str, PhraseTable[bool]] = {}
    for name in names:
        inherited: PhraseTable[bool] = phrase_set(()) if default is None else getattr(default.cues, name)
        own = phrase_set(_phrases(table, name, "conversation")) if name in table else inherited
        tables[name] = phrase_table({**inherited.entries, **own.entries}) if adds else own
    return Cues(**tables)


def _phrases(table: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    return read_phrases(table.get(key, []), f"{where}.{key}", InvalidTopicsError)


def _table(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidTopicsError(f"{where}: expected a table")
    return value


def _only_known(table: Mapping[str, object], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InvalidTopicsError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")


def _name(name: str, where: str) -> str:
    if not phrase_key(name) or len(name.encode(errors="replace")) > MAX_NAME_BYTES or name != " ".join(name.split()):
        raise InvalidTopicsError(
            f"{where}: {name!r} is no name; it needs a word, single spaces and at most {MAX_NAME_BYTES} bytes"
        )
    return name

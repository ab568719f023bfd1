"""Learns a profile from what a user says, by keywords and patterns only: no model, no clock, the old profile untouched.

One turn after the other is folded in, so that any batching of the same turns in the same order gives the same profile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from keepsake.domain.phrases import (
    BREAKS,
    Hit,
    PhraseTable,
    Spoken,
    phrase_key,
    phrase_set,
    phrase_table,
    plural,
    read_phrases,
    surface_words,
    with_plurals,
)
from keepsake.domain.profile import (
    HALF_LIFE_MS,
    MAX_EXPERTISE,
    MAX_FREQUENT,
    MAX_INTERESTS,
    MAX_LAST_TOPICS,
    MAX_NAME_BYTES,
    MAX_PREFERENCES,
    PREFERENCE_HALF_LIFE_MS,
    Entry,
    Expertise,
    FrequentThing,
    Interest,
    LastTopic,
    MadeBy,
    Preference,
    Profile,
    decayed,
    strengths,
)
from keepsake.domain.text import folded, is_blank
from keepsake.domain.topics import Kind, Mention, TopicLexicon

_BASIC = 0.1  # what a question of a beginner shows
_METHOD = 0.75
_ADVANCED = 0.95  # also what a professional says of oneself
_PRIOR_LEVEL = 0.3  # what is assumed of a stranger, as strongly as two turns would show it
_PRIOR_WEIGHT = 2.0
_CLEARLY = 0.15  # evidence this far below the level is a doubt
_CALIBRATION = 5  # doubts in a row before a level may fall
_MAX_MODIFIERS = 3
_MAX_THINGS = 20  # looked at in one turn; more is a listing, not a habit
_MAX_CLAIM_FILLERS = 4
_ONE_CONVERSATION_MS = 6 * 3_600_000

E = TypeVar("E", bound=Entry)


class InvalidPatternsError(ValueError):
    """The file of profile patterns does not say what it should. The message names the place in the file."""


@dataclass(frozen=True, slots=True)
class ProfileTurn:
    """What the user said, and when (epoch milliseconds). Only turns that are open to all of the user's principals are learned."""

    text: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class ProfilePatterns:
    """Wordings that show expertise, preferences and things used. Immutable; made by `parse_patterns`."""

    basic: PhraseTable[bool]
    definition_openers: PhraseTable[bool]
    articles: PhraseTable[bool]
    definition_closers: PhraseTable[bool]
    claims: PhraseTable[bool]
    claim_fillers: PhraseTable[bool]
    preferences: PhraseTable[tuple[str, str]]  # name and group
    things: PhraseTable[str]  # the head of the phrase, in the plural
    never_modifiers: frozenset[str]


def learn_from_conversation(
    profile: Profile, turns: Sequence[ProfileTurn], lexicon: TopicLexicon, patterns: ProfilePatterns
) -> Profile:
    """A new profile that knows `turns` too, the user's own words in the order in which they are to be learned. Never raises.

    - Every mention weighs 1 in its turn and half of it 30 days later (preferences 180): weight · 2^(-elapsed / half-life), with
      the time of the turn, not of the run. So recent turns count more. A turn that comes late is learned with what it weighs by
      then: interests, preferences and things used are the same in any order, up to rounding and as long as no list is full.
    - Interests: areas of the topics that a turn mentions. Words of method are no interest.
    - Expertise: only wording is evidence, a mention is not. "What is …?", "I am new to …" show 0.1, a word of method 0.75, an
      advanced one or a profession claimed for oneself 0.95. The level is the weighted mean with a prior of 0.3 that counts as two
      turns. It rises at once, and falls only at the fifth interaction in a row, in this area, whose evidence lies clearly (0.15)
      below it: no single basic question downgrades an expert. Levels depend on the order of the turns for that reason.
    - Last topics: of the newest six hours, at most three.
    - A list that is full drops its weakest learned entry; entries that the user made stay and are not changed by learning.
    """
    for turn in turns:
        profile = _learned(profile, turn, lexicon, patterns)
    return profile


def _learned(profile: Profile, turn: ProfileTurn, lexicon: TopicLexicon, patterns: ProfilePatterns) -> Profile:
    if is_blank(turn.text):
        return profile
    spoken = Spoken.of(turn.text)
    hits = lexicon.mentions.find(spoken)
    topics = tuple(dict.fromkeys(hit.value.name for hit in hits if hit.value.kind is Kind.TOPIC))
    now = max(profile.updated_at_ms, turn.at_ms) if profile.version else turn.at_ms
    return Profile(
        interests=_with_interests(profile, _areas(hits, Kind.TOPIC), turn.at_ms, now),
        expertise=_with_expertise(profile, _evidence(spoken, hits, patterns), turn.at_ms, now),
        preferences=_with_preferences(profile, spoken, patterns, turn.at_ms, now),
        frequently_used=_with_things(profile, things_named(turn.text, lexicon, patterns), turn.at_ms, now),
        last_topics=_with_last_topics(profile.last_topics, topics, turn.at_ms),
        interactions=profile.interactions + 1,
        version=profile.version + 1,
        updated_at_ms=now,
        reset_at_ms=profile.reset_at_ms,
    )


def _areas(hits: Iterable[Hit[Mention]], *kinds: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.value.area for hit in hits if hit.value.kind in kinds))


def _weighed(entry: Entry, at_ms: int, half_life_ms: int = HALF_LIFE_MS) -> tuple[float, int]:
    """The weight of an entry after one more mention at a time, and the time of its latest mention."""
    if at_ms >= entry.at_ms:
        return decayed(entry.weight, at_ms - entry.at_ms, half_life_ms) + 1.0, at_ms
    return entry.weight + decayed(1.0, entry.at_ms - at_ms, half_life_ms), entry.at_ms


def _put(entries: tuple[E, ...], entry: E, limit: int, now_ms: int, half_life_ms: int = HALF_LIFE_MS) -> tuple[E, ...]:
    """The entries with one added or replaced. Without room the weakest of the other learned ones leaves, or else this one."""
    names = [other.name for other in entries]
    if entry.name in names:
        at = names.index(entry.name)
        return (*entries[:at], entry, *entries[at + 1 :])
    if len(entries) >= limit:
        _, weakest = strengths(entries, now_ms, half_life_ms)[-1]
        if weakest.made_by is MadeBy.USER:
            return entries
        entries = tuple(other for other in entries if other is not weakest)
    return (*entries, entry)


def _named(entries: Iterable[E], name: str) -> E | None:
    key = folded(name)
    return next((entry for entry in entries if folded(entry.name) == key), None)


def _with_interests(profile: Profile, areas: Iterable[str], at_ms: int, now_ms: int) -> tuple[Interest, ...]:
    interests = profile.interests
    for area in areas:
        known = _named(interests, area)
        if known is None:
            interests = _put(interests, Interest(area, 1.0, at_ms), MAX_INTERESTS, now_ms)
        elif known.made_by is MadeBy.LEARNED:
            weight, latest = _weighed(known, at_ms)
            interests = _put(interests, replace(known, weight=weight, at_ms=latest), MAX_INTERESTS, now_ms)
    return interests


def _with_expertise(profile: Profile, evidence: Mapping[str, float], at_ms: int, now_ms: int) -> tuple[Expertise, ...]:
    expertise = profile.expertise
    for area, shown in evidence.items():
        known = _named(expertise, area) or Expertise(area, 0.0, 0.0, 0.0, at_ms, 0)
        expertise = _put(expertise, _calibrated(known, shown, at_ms), MAX_EXPERTISE, now_ms)
    return expertise


def _calibrated(known: Expertise, shown: float, at_ms: int) -> Expertise:
    weight, latest = _weighed(known, at_ms)
    evidence = decayed(known.evidence, latest - known.at_ms) + decayed(shown, latest - at_ms)
    mean = (evidence + _PRIOR_LEVEL * _PRIOR_WEIGHT) / (weight + _PRIOR_WEIGHT)
    doubts = min(known.doubts + 1, _CALIBRATION) if shown < known.level - _CLEARLY else 0
    moves = known.made_by is MadeBy.LEARNED and (mean > known.level or doubts >= _CALIBRATION)
    return replace(
        known,
        level=min(max(mean, 0.0), 1.0) if moves else known.level,
        evidence=evidence,
        weight=weight,
        at_ms=latest,
        interactions=known.interactions + 1,
        doubts=doubts,
    )


def _evidence(spoken: Spoken, hits: tuple[Hit[Mention], ...], patterns: ProfilePatterns) -> dict[str, float]:
    """What the wording shows for each area that it shows anything for, from 0 to 1."""
    shown = dict.fromkeys(_areas(hits, Kind.METHOD), _METHOD)
    shown |= dict.fromkeys(_areas(hits, Kind.ADVANCED), _ADVANCED)
    shown |= dict.fromkeys(_claimed(spoken, hits, patterns), _ADVANCED)
    if patterns.basic.find(spoken):
        shown |= dict.fromkeys(_areas(hits, Kind.TOPIC, Kind.METHOD, Kind.ADVANCED), _BASIC)
    return shown | dict.fromkeys(_asked_for(spoken, hits, patterns), _BASIC)


def _asked_for(spoken: Spoken, hits: tuple[Hit[Mention], ...], patterns: ProfilePatterns) -> Iterator[str]:
    """Areas of which a clause asks for a definition and for nothing else: "What is a propensity score?"."""
    by_start = {hit.start: hit for hit in hits}
    for start in spoken.clause_starts:
        opener = patterns.definition_openers.at(spoken, start)
        if opener is None:
            continue
        article = patterns.articles.at(spoken, opener.end)
        hit = by_start.get(article.end if article else opener.end)
        if hit is None:
            continue
        closer = patterns.definition_closers.at(spoken, hit.end)
        end = closer.end if closer else hit.end
        if end >= len(spoken.words) or spoken.words[end] in BREAKS:
            yield hit.value.area


def _claimed(spoken: Spoken, hits: tuple[Hit[Mention], ...], patterns: ProfilePatterns) -> Iterator[str]:
    """Areas whose profession the user claims: "I'm a senior epidemiologist"."""
    by_start = {hit.start: hit for hit in hits if hit.value.kind is Kind.PROFESSION}
    for claim in patterns.claims.find(spoken) if by_start else ():
        index = claim.end
        for _ in range(_MAX_CLAIM_FILLERS):
            filler = patterns.claim_fillers.at(spoken, index)
            index = filler.end if filler else index
        if index in by_start:
            yield by_start[index].value.area


def _with_preferences(
    profile: Profile, spoken: Spoken, patterns: ProfilePatterns, at_ms: int, now_ms: int
) -> tuple[Preference, ...]:
    preferences = profile.preferences
    groups = dict(patterns.preferences.entries.values())
    decided = {groups.get(p.name) for p in preferences if p.made_by is MadeBy.USER}
    for name, group in dict.fromkeys(hit.value for hit in patterns.preferences.find(spoken)):
        known = _named(preferences, name)
        if group in decided or (known is not None and known.made_by is MadeBy.USER):
            continue
        weight, latest = _weighed(known, at_ms, PREFERENCE_HALF_LIFE_MS) if known else (1.0, at_ms)
        learned = Preference(known.name if known else name, group, weight, latest)
        preferences = _put(preferences, learned, MAX_PREFERENCES, now_ms, PREFERENCE_HALF_LIFE_MS)
    return preferences


def _with_things(profile: Profile, names: Iterable[str], at_ms: int, now_ms: int) -> tuple[FrequentThing, ...]:
    things = profile.frequently_used
    for name in names:
        known = _named(things, name)
        if known is None:
            things = _put(things, FrequentThing(name, 1, 1.0, at_ms), MAX_FREQUENT, now_ms)
        elif known.made_by is MadeBy.LEARNED:
            weight, latest = _weighed(known, at_ms)
            things = _put(things, replace(known, uses=known.uses + 1, weight=weight, at_ms=latest), MAX_FREQUENT, now_ms)
    return things


def _with_last_topics(known: tuple[LastTopic, ...], topics: tuple[str, ...], at_ms: int) -> tuple[LastTopic, ...]:
    if not topics:
        return known
    latest = {topic.name: topic.at_ms for topic in known}
    for name in topics:
        latest[name] = max(at_ms, latest.pop(name, at_ms))
    newest = max(latest.values())
    of_one = [LastTopic(name, at) for name, at in latest.items() if newest - at <= _ONE_CONVERSATION_MS]
    return tuple(sorted(of_one, key=lambda topic: topic.at_ms)[-MAX_LAST_TOPICS:])


def things_named(text: str, lexicon: TopicLexicon, patterns: ProfilePatterns) -> tuple[str, ...]:
    """Things that a text names by one to three words and a head from the patterns, each once in the plural: "T2DM cohorts"."""
    surface = surface_words(text)
    words = tuple(folded(word) for word in surface)
    spoken = Spoken(words)
    if not (heads := patterns.things.find(spoken)):
        return ()
    named = {hit.start for hit in lexicon.mentions.find(spoken)}
    things: dict[str, str] = {}
    for head in heads[:_MAX_THINGS]:
        first = _first_modifier(words, surface, head.start, named, patterns.never_modifiers)
        name = " ".join((*surface[first : head.start], head.value))
        if first < head.start and len(name.encode(errors="replace")) <= MAX_NAME_BYTES:
            things.setdefault(folded(name), name)
    return tuple(things.values())


def _first_modifier(words: tuple[str, ...], surface: tuple[str, ...], head: int, named: set[int], never: frozenset[str]) -> int:
    first = head
    while first > max(0, head - _MAX_MODIFIERS) and words[first - 1] not in BREAKS and words[first - 1] not in never:
        first -= 1
    opens_clause = first == 0 or words[first - 1] in BREAKS
    if opens_clause and head - first > 1 and first not in named and surface[first][1:].islower():
        return first + 1  # "Tweak metformin cohorts": the first word of a clause is more often a verb
    return first


def parse_patterns(content: Mapping[str, object]) -> ProfilePatterns:
    """Compile the file of profile patterns. Raises InvalidPatternsError."""
    expertise = _table(content.get("expertise"), "expertise")
    things = _table(content.get("things"), "things")
    return ProfilePatterns(
        basic=phrase_set(_phrases(expertise, "expertise", "basic")),
        definition_openers=phrase_set(_phrases(expertise, "expertise", "definition_openers")),
        articles=phrase_set(_phrases(expertise, "expertise", "articles")),
        definition_closers=phrase_set(_phrases(expertise, "expertise", "definition_closers")),
        claims=phrase_set(_phrases(expertise, "expertise", "claims")),
        claim_fillers=phrase_set(_phrases(expertise, "expertise", "claim_fillers")),
        preferences=_preference_table(content.get("preferences")),
        things=_heads(_phrases(things, "things", "heads")),
        never_modifiers=frozenset(
            word for phrase in _phrases(things, "things", "never_modifiers") for word in phrase_key(phrase)
        ),
    )


def _preference_table(value: object) -> PhraseTable[tuple[str, str]]:
    if not isinstance(value, list) or not value:
        raise InvalidPatternsError("preferences: expected a list of tables")
    entries = {}
    for number, entry in enumerate(value, start=1):
        table = _table(entry, f"preferences {number}")
        name, group = table.get("name"), table.get("group")
        if not isinstance(name, str) or not isinstance(group, str) or not name or not group:
            raise InvalidPatternsError(f"preferences {number}: a name and a group are needed")
        for phrase in _phrases(table, f"preferences {number}", "phrases"):
            entries[phrase_key(phrase)] = (name, group)
    return phrase_table(entries)


def _heads(heads: tuple[str, ...]) -> PhraseTable[str]:
    entries = {}
    for head in heads:
        *before, last = head.split()
        entries[phrase_key(head)] = " ".join((*before, plural(last)))
    return phrase_table(with_plurals(entries))


def _phrases(table: Mapping[str, object], where: str, key: str) -> tuple[str, ...]:
    return read_phrases(table.get(key), f"{where}.{key}", InvalidPatternsError)


def _table(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidPatternsError(f"{where}: expected a table")
    return value

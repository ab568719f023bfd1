"""The research profile: what was learned of a user as a whole, and what the user made of it.

Immutable and bounded: as JSON in UTF-8 a profile stays below 8 KB. How it learns stands in `profile_learner`, how it is stored in
`profile_records`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite
from typing import Protocol, TypeVar

from keepsake.domain.errors import InvalidRequestError
from keepsake.domain.text import folded, has_lone_surrogate, is_blank

MAX_NAME_BYTES = 64
MAX_INTERESTS = 16
MAX_EXPERTISE = 12
MAX_PREFERENCES = 8
MAX_FREQUENT = 12
MAX_LAST_TOPICS = 3

DAY_MS = 86_400_000
HALF_LIFE_MS = 30 * DAY_MS  # interests, expertise, things used
PREFERENCE_HALF_LIFE_MS = 180 * DAY_MS  # how people like their answers changes slowly

_FADED = 0.25  # one mention is worth telling for two half-lives
_MINOR = 0.2  # of the strongest interest
_SHOWN_INTERESTS = 5
_SHOWN_EXPERTISE = 3
_SHOWN_FREQUENT = 5
_TELLING_INTERACTIONS = 3  # a level from fewer is not told
_FREQUENT_USES = 2
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SAME_LEVEL = 0.005  # levels travel rounded to two digits


class MadeBy(StrEnum):
    """Who made an entry."""

    LEARNED = "learned"
    USER = "user"


class Entry(Protocol):
    """What all weighted entries of a profile have."""

    @property
    def name(self) -> str:
        """What it is about; unique in its list."""
        ...

    @property
    def weight(self) -> float:
        """The decayed sum of its mentions, as of `at_ms`."""
        ...

    @property
    def at_ms(self) -> int:
        """The time of its latest mention (epoch milliseconds)."""
        ...

    @property
    def made_by(self) -> MadeBy:
        """Who made it."""
        ...


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class Interest:
    """An area that the user cares about."""

    name: str
    weight: float
    at_ms: int
    made_by: MadeBy = MadeBy.LEARNED


@dataclass(frozen=True, slots=True)
class Expertise:
    """How much the user knows of an area, from 0 to 1, and the evidence for it."""

    name: str
    level: float
    evidence: float  # decayed sum of what the turns showed, each from 0 to 1
    weight: float
    at_ms: int
    interactions: int  # turns that showed anything
    doubts: int = 0  # of these the last ones in a row that showed clearly less than `level`
    made_by: MadeBy = MadeBy.LEARNED


@dataclass(frozen=True, slots=True)
class Preference:
    """How the user likes the answers. Of a group ("length") only the strongest is told."""

    name: str
    group: str
    weight: float
    at_ms: int
    made_by: MadeBy = MadeBy.LEARNED


@dataclass(frozen=True, slots=True)
class FrequentThing:
    """A thing that the user works with again and again ("T2DM concept sets")."""

    name: str
    uses: int
    weight: float
    at_ms: int
    made_by: MadeBy = MadeBy.LEARNED


@dataclass(frozen=True, slots=True)
class LastTopic:
    """A topic of the last conversation."""

    name: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A user's profile. `version` rises with every turn learned, every edit and every reset."""

    interests: tuple[Interest, ...] = ()
    expertise: tuple[Expertise, ...] = ()
    preferences: tuple[Preference, ...] = ()
    frequently_used: tuple[FrequentThing, ...] = ()
    last_topics: tuple[LastTopic, ...] = ()  # oldest first
    interactions: int = 0
    version: int = 0
    updated_at_ms: int = 0
    reset_at_ms: int = 0  # turns that arrived earlier are not to be learned; the caller sees to it


@dataclass(frozen=True, slots=True)
class ProfileEdit:
    """What a user sets. None leaves a part as it is; a value replaces the part as a whole."""

    interests: Sequence[str] | None = None
    expertise: Mapping[str, float] | None = None
    preferences: Sequence[str] | None = None
    frequently_used: Sequence[str] | None = None


def decayed(weight: float, elapsed_ms: int, half_life_ms: int = HALF_LIFE_MS) -> float:
    """A weight after some time: weight · 2^(-elapsed / half-life). No time, or time that runs backwards, takes nothing off."""
    if elapsed_ms <= 0:
        return weight
    return 0.0 if elapsed_ms > 1000 * half_life_ms else weight * 0.5 ** (elapsed_ms / half_life_ms)


def edited(profile: Profile, edit: ProfileEdit, *, at_ms: int) -> Profile:
    """The profile as its user wants it, one version on.

    An entry that was there and is given back unchanged stays what it was; a new or changed one is the user's own. The user's own
    entries neither fade nor move by learning, in either direction, until the user edits or resets them. A learned entry that the
    user leaves out is gone with its evidence; learning may find it again. Raises InvalidRequestError, which names places only.
    """
    return replace(
        profile,
        interests=_interests(profile, edit, at_ms),
        expertise=_expertise(profile, edit, at_ms),
        preferences=_preferences(profile, edit, at_ms),
        frequently_used=_frequent(profile, edit, at_ms),
        version=profile.version + 1,
        updated_at_ms=max(profile.updated_at_ms, at_ms),
    )


def reset(profile: Profile, *, at_ms: int) -> Profile:
    """An empty profile, one version on. It remembers when, so that turns from before are not learned again."""
    return Profile(version=profile.version + 1, updated_at_ms=at_ms, reset_at_ms=at_ms)


def _interests(profile: Profile, edit: ProfileEdit, at_ms: int) -> tuple[Interest, ...]:
    if edit.interests is None:
        return profile.interests
    known = _by_name(profile.interests)
    names = _names("interests", edit.interests, MAX_INTERESTS)
    return tuple(known.get(folded(name)) or Interest(name, 1.0, at_ms, MadeBy.USER) for name in names)


def _expertise(profile: Profile, edit: ProfileEdit, at_ms: int) -> tuple[Expertise, ...]:
    if edit.expertise is None:
        return profile.expertise
    known = _by_name(profile.expertise)
    names = _names("expertise", tuple(edit.expertise), MAX_EXPERTISE)
    return tuple(
        _with_level(known.get(folded(name)), name, _level(level, number), at_ms)
        for number, (name, level) in enumerate(zip(names, edit.expertise.values(), strict=True))
    )


def _with_level(entry: Expertise | None, name: str, level: float, at_ms: int) -> Expertise:
    if entry is None:
        return Expertise(name, level, 0.0, 0.0, at_ms, 0, made_by=MadeBy.USER)
    if abs(entry.level - level) <= _SAME_LEVEL:
        return entry
    return replace(entry, level=level, doubts=0, made_by=MadeBy.USER)


def _level(level: float, number: int) -> float:
    if not (isfinite(level) and 0 <= level <= 1):
        raise InvalidRequestError(
            "An expertise level is a number from 0 to 1.", fields=((f"expertise[{number}]", "not from 0 to 1"),)
        )
    return float(level)


def _preferences(profile: Profile, edit: ProfileEdit, at_ms: int) -> tuple[Preference, ...]:
    if edit.preferences is None:
        return profile.preferences
    known = _by_name(profile.preferences)
    names = _names("preferences", edit.preferences, MAX_PREFERENCES)
    return tuple(known.get(folded(name)) or Preference(name, "", 1.0, at_ms, MadeBy.USER) for name in names)


def _frequent(profile: Profile, edit: ProfileEdit, at_ms: int) -> tuple[FrequentThing, ...]:
    if edit.frequently_used is None:
        return profile.frequently_used
    known = _by_name(profile.frequently_used)
    names = _names("frequently_used", edit.frequently_used, MAX_FREQUENT)
    return tuple(known.get(folded(name)) or FrequentThing(name, 0, 1.0, at_ms, MadeBy.USER) for name in names)


def _by_name(entries: Iterable[E]) -> dict[str, E]:
    return {folded(entry.name): entry for entry in entries}


def _names(part: str, names: Sequence[str], limit: int) -> tuple[str, ...]:
    if len(names) > limit:
        raise InvalidRequestError(f"A profile holds at most {limit} entries there.", fields=((part, f"more than {limit}"),))
    cleaned = tuple(" ".join(name.split()) for name in names)
    for number, name in enumerate(cleaned):
        if is_blank(name) or has_lone_surrogate(name) or _CONTROL.search(name) or len(name.encode()) > MAX_NAME_BYTES:
            fault = f"blank, not valid text, or longer than {MAX_NAME_BYTES} bytes"
            raise InvalidRequestError("A name in the profile cannot be used.", fields=((f"{part}[{number}]", fault),))
    if len({folded(name) for name in cleaned}) < len(cleaned):
        raise InvalidRequestError("A profile names everything once.", fields=((part, "a name is there twice"),))
    return cleaned


def profile_lines(profile: Profile, now_ms: int) -> tuple[str, ...]:
    """What stands in the context window: one line, or none when there is nothing to tell."""
    parts = (
        ("Research interests", _told_interests(profile, now_ms)),
        ("Expertise", tuple(f"{e.name} ({round(e.level * 100)}%)" for e in _told_expertise(profile))),
        ("Prefers", _told_preferences(profile, now_ms)),
        ("Frequently used", _told_frequent(profile, now_ms)),
    )
    line = "; ".join(f"{label}: {', '.join(names)}" for label, names in parts if names)
    return (line,) if line else ()


def welcome_back(profile: Profile) -> str | None:
    """How a new session begins for somebody who was here before; None when nothing was talked about."""
    if not profile.last_topics:
        return None
    return f"Welcome back. Last time the conversation was about: {', '.join(topic.name for topic in profile.last_topics)}."


def strengths(entries: Iterable[E], now_ms: int, half_life_ms: int = HALF_LIFE_MS) -> list[tuple[float, E]]:
    """The entries with what they weigh at a time: the user's own, then the strongest; those of equal weight in their order."""
    weighed = [(decayed(entry.weight, now_ms - entry.at_ms, half_life_ms), entry) for entry in entries]
    return sorted(weighed, key=lambda pair: (pair[1].made_by is not MadeBy.USER, -_own_weight(pair)))


def _own_weight(pair: tuple[float, Entry]) -> float:
    weight, entry = pair
    return 0.0 if entry.made_by is MadeBy.USER else weight  # the user's own stand in the user's order


def _told_interests(profile: Profile, now_ms: int) -> tuple[str, ...]:
    weighed = strengths(profile.interests, now_ms)
    least = max(_FADED, _MINOR * max((weight for weight, _ in weighed), default=0.0))
    return tuple(i.name for weight, i in weighed if i.made_by is MadeBy.USER or weight >= least)[:_SHOWN_INTERESTS]


def _told_expertise(profile: Profile) -> list[Expertise]:
    told = [e for e in profile.expertise if e.made_by is MadeBy.USER or e.interactions >= _TELLING_INTERACTIONS]
    return sorted(told, key=lambda e: (-e.level, e.name))[:_SHOWN_EXPERTISE]


def _told_preferences(profile: Profile, now_ms: int) -> tuple[str, ...]:
    told: dict[str, str] = {}
    for weight, preference in strengths(profile.preferences, now_ms, PREFERENCE_HALF_LIFE_MS):
        if preference.made_by is MadeBy.USER or weight >= _FADED:
            told.setdefault(preference.group or preference.name, preference.name)
    return tuple(told.values())


def _told_frequent(profile: Profile, now_ms: int) -> tuple[str, ...]:
    weighed = strengths(profile.frequently_used, now_ms)
    told = (t.name for w, t in weighed if t.made_by is MadeBy.USER or (t.uses >= _FREQUENT_USES and w >= _FADED))
    return tuple(told)[:_SHOWN_FREQUENT]

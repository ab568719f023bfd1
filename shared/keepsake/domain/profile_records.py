"""A profile as plain lists and values for JSON, and back. What does not read back whole is refused: nothing is guessed."""

from collections.abc import Callable
from math import isfinite
from typing import TypeVar

from keepsake.domain.errors import CorruptItemError
from keepsake.domain.profile import Expertise, FrequentThing, Interest, LastTopic, MadeBy, Preference, Profile

SCHEMA = 1

T = TypeVar("T")


def to_record(profile: Profile) -> dict[str, object]:
    """The profile as plain values. Times are epoch milliseconds."""
    return {
        "schema": SCHEMA,
        "version": profile.version,
        "updated_at_ms": profile.updated_at_ms,
        "reset_at_ms": profile.reset_at_ms,
        "interactions": profile.interactions,
        "interests": [[i.name, i.weight, i.at_ms, i.made_by.value] for i in profile.interests],
        "expertise": [
            [e.name, e.level, e.evidence, e.weight, e.at_ms, e.interactions, e.doubts, e.made_by.value] for e in profile.expertise
        ],
        "preferences": [[p.name, p.group, p.weight, p.at_ms, p.made_by.value] for p in profile.preferences],
        "frequently_used": [[f.name, f.uses, f.weight, f.at_ms, f.made_by.value] for f in profile.frequently_used],
        "last_topics": [[t.name, t.at_ms] for t in profile.last_topics],
    }


def from_record(record: object) -> Profile:
    """The profile that `to_record` wrote. Raises CorruptItemError for an unknown schema and for anything broken."""
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise CorruptItemError("the profile's schema is unknown")
    return Profile(
        interests=_entries(record.get("interests"), _interest),
        expertise=_entries(record.get("expertise"), _expertise),
        preferences=_entries(record.get("preferences"), _preference),
        frequently_used=_entries(record.get("frequently_used"), _frequent),
        last_topics=_entries(record.get("last_topics"), _last_topic),
        interactions=_count(record.get("interactions")),
        version=_count(record.get("version")),
        updated_at_ms=_whole(record.get("updated_at_ms")),
        reset_at_ms=_whole(record.get("reset_at_ms")),
    )


def _entries(value: object, read: Callable[[list[object]], T]) -> tuple[T, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, list) for entry in value):
        raise CorruptItemError("a part of the profile is no list of entries")
    try:
        return tuple(read(entry) for entry in value)
    except ValueError as error:  # too few or too many values
        raise CorruptItemError("an entry of the profile is not whole") from error


def _interest(entry: list[object]) -> Interest:
    name, weight, at_ms, made_by = entry
    return Interest(_text(name), _number(weight), _whole(at_ms), _maker(made_by))


def _expertise(entry: list[object]) -> Expertise:
    name, level, evidence, weight, at_ms, interactions, doubts, made_by = entry
    if _number(level) > 1:
        raise CorruptItemError("an expertise level is above 1")
    return Expertise(
        name=_text(name),
        level=_number(level),
        evidence=_number(evidence),
        weight=_number(weight),
        at_ms=_whole(at_ms),
        interactions=_count(interactions),
        doubts=_count(doubts),
        made_by=_maker(made_by),
    )


def _preference(entry: list[object]) -> Preference:
    name, group, weight, at_ms, made_by = entry
    if not isinstance(group, str):
        raise CorruptItemError("a preference's group is no text")
    return Preference(_text(name), group, _number(weight), _whole(at_ms), _maker(made_by))


def _frequent(entry: list[object]) -> FrequentThing:
    name, uses, weight, at_ms, made_by = entry
    return FrequentThing(_text(name), _count(uses), _number(weight), _whole(at_ms), _maker(made_by))


def _last_topic(entry: list[object]) -> LastTopic:
    name, at_ms = entry
    return LastTopic(_text(name), _whole(at_ms))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise CorruptItemError("a name in the profile is no text")
    return value


def _maker(value: object) -> MadeBy:
    if value not in tuple(MadeBy):
        raise CorruptItemError("nobody known made an entry of the profile")
    return MadeBy(str(value))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise CorruptItemError("a number in the profile is none, or below 0")
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise CorruptItemError("a whole number in the profile is none")
    return value


def _count(value: object) -> int:
    if _whole(value) < 0:
        raise CorruptItemError("a count in the profile is below 0")
    return _whole(value)

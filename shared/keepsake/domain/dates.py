"""Dates in texts, also relative ones, seen from a time."""

from dataclasses import dataclass
from enum import StrEnum


class Grain(StrEnum):
    """How exact a date is."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A stretch of time that a text names: from `from_ms` up to, not including, `to_ms`, in UTC.

    `start` and `end` are its place in the text.
    """

    from_ms: int
    to_ms: int
    grain: Grain
    start: int
    end: int


def dates_in(text: str, at_ms: int) -> tuple[DateSpan, ...]:
    """The dates that a text names, in order, relative ones counted from `at_ms`. Never raises."""
    raise NotImplementedError

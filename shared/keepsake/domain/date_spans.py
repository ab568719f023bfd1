"""Stretches of days in the calendar: years, months, weeks, seasons, and how far they lie from a day.

Days are proleptic Gregorian ordinals, so that the end of the year 9999 can be said. Functions raise ValueError or OverflowError
for what lies outside the years 1 to 9999.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

_LEAP_SEARCH = 9  # years; 29 February comes at least every eight


class Grain(StrEnum):
    """How exact a date is. Weeks and week-ends are several days, seasons several months, decades several years."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Days:
    """From the day `first` up to, not including, the day `after`."""

    first: int
    after: int
    grain: Grain


def day_span(day: date, days: int = 1) -> Days:
    """Some days, beginning with `day`."""
    return Days(day.toordinal(), day.toordinal() + days, Grain.DAY)


def month_span(year: int, month: int, months: int = 1) -> Days:
    """Some months, beginning with that one."""
    last_year, last_month = divmod(year * 12 + month - 2 + months, 12)
    last = date(last_year, last_month + 1, monthrange(last_year, last_month + 1)[1])
    return Days(date(year, month, 1).toordinal(), last.toordinal() + 1, Grain.MONTH)


def year_span(year: int, years: int = 1) -> Days:
    """Some years, beginning with that one."""
    return Days(date(year, 1, 1).toordinal(), date(year + years - 1, 12, 31).toordinal() + 1, Grain.YEAR)


def latest_month(month: int, today: date, step: int = 0) -> Days:
    """The latest such month that has begun by `today`, or `step` years from it."""
    year = today.year if month <= today.month else today.year - 1
    return month_span(year + step, month)


def latest_day(month: int, day: int, today: date) -> Days:
    """The latest such day of the year that is not after `today`. Raises ValueError when no year has it."""
    for year in range(today.year, max(0, today.year - _LEAP_SEARCH), -1):
        if day <= monthrange(year, month)[1] and (found := date(year, month, day)) <= today:
            return day_span(found)
    raise ValueError


def season_span(begins: int, year: int) -> Days:
    """A season of a year; winter is the one that begins in it."""
    return month_span(year, begins, 3)


def latest_season(begins: int, today: date) -> Days:
    """The season of that name which goes on, or else the latest one that is over."""
    year = today.year if begins <= today.month else today.year - 1
    return season_span(begins, year)


def weekday_from(today: date, weekday: int, step: int) -> Days:
    """A day of the week: the latest before `today` (-1), the one of this week (0), the first after `today` (1)."""
    ahead = weekday - today.weekday()
    if step:
        ahead = (ahead - 1) % 7 + 1 if step > 0 else -((-ahead - 1) % 7 + 1)
    return day_span(date.fromordinal(today.toordinal() + ahead))


def unit_span(unit: str, step: int, today: date) -> Days:
    """The day, week, month … that lies `step` units from the one of `today`."""
    if unit == "year":
        return year_span(today.year + step)
    if unit == "month":
        year, month = divmod(today.year * 12 + today.month - 1 + step, 12)
        return month_span(year, month + 1)
    if unit == "week":
        return day_span(date.fromordinal(today.toordinal() - today.weekday() + 7 * step), 7)
    if unit == "weekend":
        return day_span(date.fromordinal(today.toordinal() - today.weekday() + 5 + 7 * step), 2)
    return day_span(date.fromordinal(today.toordinal() + (step if unit == "day" else 0)))


def units_until(unit: str, count: int, today: date) -> Days:
    """The last `count` units, `today` included: "the last three weeks"."""
    if unit in {"year", "month"}:
        first = unit_span(unit, -count, today)
        return Days(first.first, today.toordinal() + 1, first.grain)
    days = {"week": 7, "weekend": 7, "day": 1, "hour": 0}[unit] * count
    return Days(date.fromordinal(today.toordinal() - days).toordinal(), today.toordinal() + 1, Grain.DAY)

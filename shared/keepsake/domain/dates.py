"""Dates in texts, also relative ones, seen from a time.

Words become letters by `date_lexicon`, and dates are patterns over these letters, so that one grammar serves all languages.
Everything is UTC, takes linear time and never raises. A date without its year is the latest that has begun; weeks begin on
Monday; seasons are those of the north.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from keepsake.domain.date_lexicon import Token, plain, tokens
from keepsake.domain.date_spans import (
    Days,
    Grain,
    day_span,
    latest_day,
    latest_month,
    latest_season,
    month_span,
    season_span,
    unit_span,
    units_until,
    weekday_from,
    year_span,
)
from keepsake.domain.date_unspaced import unspaced_dates
from keepsake.domain.date_words import ENGLISH, MEASURES
from keepsake.domain.text import has_unspaced

__all__ = ["DateSpan", "Grain", "Relation", "dates_in"]

_DAY_MS = 24 * 3600 * 1000
_EPOCH = date(1970, 1, 1).toordinal()
_YEARS_AHEAD = 10  # a year of two digits is at most so far in the future
_STEPS = {"last": -1, "before_last": -2, "before_the_last": -2, "this": 0, "next": 1}


_HANGUL = re.compile("[\uac00-\ud7a3]")


class Relation(StrEnum):
    """How a text refers to the date that it names: something lies within it, began with it, or ended with it."""

    WITHIN = "within"
    SINCE = "since"
    UNTIL = "until"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A stretch of time that a text names: from `from_ms` up to, not including, `to_ms`, in UTC.

    `start` and `end` are its place in the text. Of "since 2019" it is the year 2019, and `relation` says the rest.
    """

    from_ms: int
    to_ms: int
    grain: Grain
    start: int
    end: int
    relation: Relation = Relation.WITHIN


def dates_in(text: str, at_ms: int) -> tuple[DateSpan, ...]:
    """The dates that a text names, in order, none inside another, relative ones counted from `at_ms`. Never raises."""
    lowered, places = plain(text)
    today = date.fromordinal(min(max(at_ms // _DAY_MS + _EPOCH, 1), date.max.toordinal()))
    found_tokens = tokens(lowered, text if places is None else lowered)
    found = [*_numeric(lowered, today), *_worded(found_tokens, lowered, today)]
    if has_unspaced(text) or _HANGUL.search(text):
        found += unspaced_dates(lowered, today)
    spans = []
    end = 0
    for start, stop, days in sorted(found, key=lambda one: (one[0], -one[1])):
        if start >= end:
            end = stop
            spans.append(_span(start, stop, days, found_tokens, places))
    return tuple(spans)


def _span(start: int, end: int, days: Days, all_tokens: Sequence[Token], places: Sequence[int] | None) -> DateSpan:
    relation = _relation(bisect_left(all_tokens, start, key=lambda token: token.start), start, all_tokens)
    if places is not None:
        start, end = places[start], places[end]
    return DateSpan((days.first - _EPOCH) * _DAY_MS, (days.after - _EPOCH) * _DAY_MS, days.grain, start, end, relation)


def _relation(index: int, start: int, all_tokens: Sequence[Token]) -> Relation:
    if index < len(all_tokens) and all_tokens[index].start == start and all_tokens[index].letter == "S":
        return Relation.SINCE
    for token in reversed(all_tokens[max(0, index - 3) : index]):
        if token.letter == "S":
            return Relation.SINCE
        if token.letter == "E" or token.value == "before":
            return Relation.UNTIL
        if token.letter not in "PpFq":
            break
    return Relation.WITHIN


# Numeric dates

_NUMERIC = re.compile(
    r"(?<![\w.,/\-])(?:(?P<iso>\d{4})([-/.])(?P<iso_month>\d{1,2})\2(?P<iso_day>\d{1,2})(?=t\d|(?![\w/\-]|[.,]\d))"
    r"|(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\w/\-]|[.,]\d)"
    r"|(?P<month>\d{1,2})[/.](?P<of_year>(?:19|20)\d{2})(?![\w/\-]|[.,]\d)"
    r"|(?P<year_first>(?:19|20)\d{2})-(?P<then_month>0[1-9]|1[0-2])(?![\w/\-]|[.,]\d))"
    r"|(?<=am |om |it |is |um )(?P<german_day>\d{1,2})\.\s?(?P<german_month>\d{1,2})\.(?!\d)"
)
_WORDS = re.compile(r"[a-z']+")


def _numeric(text: str, today: date) -> Iterator[tuple[int, int, Days]]:
    month_first: bool | None = None
    for match in _NUMERIC.finditer(text):
        if match["mark"] == "/" and month_first is None:
            month_first = not ENGLISH.isdisjoint(_WORDS.findall(text))
        try:
            days = _numeric_days(match, today, month_first=bool(month_first))
        except (ValueError, OverflowError):
            continue
        if days:
            yield match.start(), match.end(), days


def _numeric_days(match: re.Match[str], today: date, *, month_first: bool) -> Days | None:
    if match["iso"]:
        return day_span(date(int(match["iso"]), int(match["iso_month"]), int(match["iso_day"])))
    if match["month"]:
        return month_span(int(match["of_year"]), int(match["month"]))
    if match["year_first"]:
        return month_span(int(match["year_first"]), int(match["then_month"]))
    if match["german_day"]:
        return latest_day(int(match["german_month"]), int(match["german_day"]), today)
    day, month = int(match["first"]), int(match["second"])
    if (month_first and match["mark"] == "/" and day <= 12) or month > 12:
        day, month = month, day
    if len(match["year"]) == 2 and match["mark"] == "." and not len(match["first"]) == len(match["second"]) == 2:
        return None  # rather a version than a date
    return day_span(date(_full_year(match["year"], today), month, day))


def _full_year(written: str, today: date) -> int:
    if len(written) == 4:
        return int(written)
    year = today.year - today.year % 100 + int(written)
    return year - 100 if year > today.year + _YEARS_AHEAD else year


# Dates in words: patterns over the letters of `date_lexicon`

_COUNT = "[dna]"
_UNIT = "[UuQ]"
_ONE = "[UQ]"
_PATTERNS = {
    "day_month": "d[.]?F?[Mmw][.]?(?:[,F]?F?Y)?",
    "month_day": "[Mm][.]?F?d(?:[,F]?F?Y)?|(?<=[PSEFp])wF?d(?:[,F]?F?Y)?|w[.]?F?d,?F?Y",
    "month_year": "[Mmw][.]?,?F?Y",
    "season_year": "sF*P?Y",
    "years": "Y[tEF]?F?Y|zF?YcF?Y",
    "decade": "(?:P|F|p|S|E)D",
    "week_before": f"{_ONE}F?[Kk]|[Kk]{_ONE}",
    "weekday_of": f"W[PpF]*(?:L{_ONE}|{_ONE}F?[LX])|L{_ONE}P?W",
    "last_several": f"L{_COUNT}F?[uQ]|{_COUNT}L[uQ]|F{_COUNT}[uQ]L",
    "since_several": f"S[BIF]?q?{_COUNT}F?{_UNIT}|SV",
    "ago": f"{_COUNT}F?{_UNIT}A|Bq?{_COUNT}F?{_UNIT}|BV|VA",
    "within": f"Iq?{_COUNT}F?{_UNIT}|IV",
    "unit": f"[LTX]{_ONE}|{_ONE}F?[LTX]",
    "named": "[LTX]F?[WMms]|[WMms]F?[LX]",
    "relative": "R",
    "month": "(?:P|I|S|E)F?[Mmw](?![.]?,?F?[dY])|M",
    "weekday": "W",
    "year": f"(?:P|I|p|S|E|F|B|{_ONE}|{_ONE}F)Y(?![tEF]?F?Y)",
    "year_by_verb": "(?<=h)Y|Y(?=h)",
    "lone_year": "Y",
}
_GRAMMAR = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()))
_RUNS = re.compile("[^xb]+")


def _worded(all_tokens: Sequence[Token], text: str, today: date) -> Iterator[tuple[int, int, Days]]:
    letters = "".join(token.letter for token in all_tokens)
    for run in _RUNS.finditer(letters):
        at = run.start()
        while match := _GRAMMAR.search(letters, at, run.end()):
            at = match.end()
            part = all_tokens[match.start() : match.end()]
            following = all_tokens[at] if at < len(all_tokens) else None
            try:
                found = _RESOLVERS[str(match.lastgroup)](part, today, text)
            except (ValueError, OverflowError):
                continue
            if found and not (part[-1].letter == "Y" and _is_measure(following, text)):
                last = part[-1] if part[-1].letter != "." else part[-2]
                yield found[0].start, last.end, found[1]


def _is_measure(following: Token | None, text: str) -> bool:
    return following is not None and text[following.start : following.end] in MEASURES


_Part = Sequence[Token]
_Found = tuple[Token, Days] | None


def _of(part: _Part, letters: str) -> Token | None:
    return next((token for token in part if token.letter in letters), None)


def _whole(part: _Part, letters: str) -> int:
    token = _of(part, letters)
    return token.value if token is not None and isinstance(token.value, int) else 0


def _unit_of(part: _Part) -> str:
    token = _of(part, "UuQV")
    if token is None:
        raise ValueError
    return token.value[0] if isinstance(token.value, tuple) else str(token.value)


def _count_of(part: _Part) -> int:
    token = _of(part, "V")
    return token.value[1] if token is not None and isinstance(token.value, tuple) else _whole(part, "dna")


def _step_of(part: _Part) -> int:
    token = _of(part, "LKkTX")
    return _STEPS[str(token.value)] if token else 0


def _month_and_day(part: _Part, today: date, _: str) -> _Found:
    month, day, year = _whole(part, "Mmw"), _whole(part, "d"), _whole(part, "Y")
    return part[0], day_span(date(year, month, day)) if year else latest_day(month, day, today)


def _month_of_year(part: _Part, _: date, __: str) -> _Found:
    return part[0], month_span(_whole(part, "Y"), _whole(part, "Mmw"))


def _season_of_year(part: _Part, _: date, __: str) -> _Found:
    return part[0], season_span(_whole(part, "s"), _whole(part, "Y"))


def _years(part: _Part, _: date, text: str) -> _Found:
    first, last = next(token for token in part if token.letter == "Y"), part[-1]
    between = text[first.end : last.start].strip()
    years = int(str(last.value)) - int(str(first.value)) + 1
    if (len(part) == 2 and between not in {"-", "–", "—"}) or not 1 <= years <= 200:
        return None
    return first, year_span(int(str(first.value)), years)


def _decade(part: _Part, _: date, __: str) -> _Found:
    return part[-1], year_span(_whole(part, "D"), 10)


def _last_several(part: _Part, today: date, _: str) -> _Found:
    return (part[1] if part[0].letter == "F" else part[0]), units_until(_unit_of(part), _count_of(part), today)


def _ago(part: _Part, today: date, _: str) -> _Found:
    return part[0], unit_span(_unit_of(part), -_count_of(part), today)


def _within(part: _Part, today: date, _: str) -> _Found:
    return part[0], unit_span(_unit_of(part), _count_of(part), today)


def _unit(part: _Part, today: date, _: str) -> _Found:
    unit = _unit_of(part)
    step = -1 if part[0].letter == "k" else _step_of(part)  # "before last week"
    return None if unit in {"hour", "day"} else (part[0], unit_span(unit, step, today))


def _weekday_of_week(part: _Part, today: date, _: str) -> _Found:
    week = unit_span("week", _step_of(part), today)
    return part[0], weekday_from(date.fromordinal(week.first), _whole(part, "W"), 0)


def _named(part: _Part, today: date, _: str) -> _Found:
    step = _step_of(part)
    if weekday := _of(part, "W"):
        return part[0], weekday_from(today, int(str(weekday.value)), step)
    if season := _of(part, "s"):
        return part[0], _season(int(str(season.value)), step, today)
    month = _whole(part, "Mm")
    if step == 0:
        return part[0], month_span(today.year, month)
    if step > 0:
        return part[0], month_span(today.year + (month <= today.month), month)
    return part[0], month_span(today.year - (month >= today.month), month)


def _season(begins: int, step: int, today: date) -> Days:
    latest = latest_season(begins, today)
    year = date.fromordinal(latest.first).year
    goes_on = today.toordinal() < latest.after
    if step < 0:
        return season_span(begins, year - 1) if goes_on else latest
    if step == 0:
        return latest if goes_on else season_span(begins, today.year)
    return season_span(begins, year + 1)


def _relative_day(part: _Part, today: date, _: str) -> _Found:
    return part[0], unit_span("day", _whole(part, "R"), today)


def _bare_month(part: _Part, today: date, _: str) -> _Found:
    return part[-1], latest_month(_whole(part, "Mmw"), today)


def _bare_weekday(part: _Part, today: date, _: str) -> _Found:
    return part[0], weekday_from(today, _whole(part, "W"), -1)


def _bare_year(part: _Part, _: date, __: str) -> _Found:
    year = _whole(part, "Y")
    return (part[-1], year_span(year)) if 1500 <= year <= 2199 else None


def _lone_year(part: _Part, today: date, text: str) -> _Found:
    start, end = part[0].start, part[0].end
    in_brackets = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
    return _bare_year(part, today, text) if in_brackets or text.strip(" .,?!") == text[start:end] else None


_RESOLVERS: dict[str, Callable[[_Part, date, str], _Found]] = {
    "day_month": _month_and_day,
    "month_day": _month_and_day,
    "month_year": _month_of_year,
    "season_year": _season_of_year,
    "years": _years,
    "decade": _decade,
    "week_before": _unit,
    "weekday_of": _weekday_of_week,
    "last_several": _last_several,
    "since_several": _ago,
    "ago": _ago,
    "within": _within,
    "unit": _unit,
    "named": _named,
    "relative": _relative_day,
    "month": _bare_month,
    "weekday": _bare_weekday,
    "year": _bare_year,
    "year_by_verb": _bare_year,
    "lone_year": _lone_year,
}

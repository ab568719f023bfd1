"""Dates in scripts that write no spaces between words: Chinese, Japanese, Korean, Thai.

Thai years are Buddhist (543 ahead), Japanese ones also counted in eras. Patterns have bounded repetitions only.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date

from keepsake.domain import date_words as words
from keepsake.domain.date_spans import (
    Days,
    day_span,
    latest_day,
    latest_month,
    month_span,
    unit_span,
    weekday_from,
    year_span,
)

Found = tuple[int, int, Days]

_BUDDHIST = 543
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "民国": 1911, "民國": 1911}
_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_NUMBER = r"(?:\d{1,3}|[一二两兩三四五六七八九十]{1,3})"
_HAN = re.compile(
    r"(?:(?:(?P<era>令和|平成|昭和|大正|民国|民國)\s?(?P<of_era>元|\d{1,3})|(?P<year>\d{4}|[一二][〇零一二三四五六七八九]{3}))\s?[年년]\s?)?"
    rf"(?:(?P<month>{_NUMBER})\s?[月월]\s?(?:份|(?P<day>{_NUMBER})\s?[日号號일])?)?"
)
_HAN_STARTS = re.compile(r"令和|平成|昭和|大正|民国|民國|\d{1,4}\s?[年年월月년]|[〇零一二三四五六七八九十]{1,4}[年月]")
_WEEKDAYS = {"一月": 0, "二火": 1, "三水": 2, "四木": 3, "五金": 4, "六土": 5, "日天": 6}
_DAY_OF_WEEK = {character: day for characters, day in _WEEKDAYS.items() for character in characters}
_RELATIVE: dict[str, tuple[str, int]] = {
    word.replace("_", " "): unit_and_step for unit_and_step, listed in words.UNSPACED.items() for word in listed.split()
}
_RELATIVE_PATTERN = re.compile(
    f"(?P<word>{'|'.join(sorted(_RELATIVE, key=len, reverse=True))})"
    "(?:的|の)?(?:(?P<zh>[一二三四五六日天])(?![月个個年])|(?P<ja>[月火水木金土日])曜)?"
)
_AGO_UNITS = {word: unit for unit, listed in words.UNSPACED_UNITS.items() for word in listed.split()}
_AGO = re.compile(
    rf"(?P<count>{_NUMBER})\s?(?P<unit>{'|'.join(sorted(_AGO_UNITS, key=len, reverse=True))})\s?"
    f"(?:{'|'.join(words.UNSPACED_AGO.split())})"
)
_THAI_MONTH = {name: month for month, names in enumerate(words.THAI_MONTHS, start=1) for name in names.split()}
_THAI = re.compile(
    rf"(?:(?P<day>\d{{1,2}})\s?)?(?P<month>{'|'.join(map(re.escape, _THAI_MONTH))})"
    r"(?:\s?(?:ปี\s?)?(?:พ\.ศ\.\s?|ค\.ศ\.\s?)?(?P<year>\d{4}))?"
    r"|(?:พ\.ศ\.|ค\.ศ\.|ปี)\s?(?P<only>\d{4})"
)


def unspaced_dates(text: str, today: date) -> Iterator[Found]:
    """Start, end and days of the dates in a text in small letters with digits 0–9, in no order; none that the calendar lacks."""
    for pattern, days_of in ((_HAN_STARTS, _han), (_RELATIVE_PATTERN, _relative), (_AGO, _ago), (_THAI, _thai)):
        yield from _found(pattern, days_of, text, today)


def _found(
    pattern: re.Pattern[str], days_of: Callable[[re.Match[str], date], tuple[int, Days] | None], text: str, today: date
) -> Iterator[Found]:
    for match in pattern.finditer(text):
        try:
            found = days_of(match, today)
        except (ValueError, OverflowError):
            continue
        if found:
            yield match.start(), found[0], found[1]


def _han(start: re.Match[str], today: date) -> tuple[int, Days] | None:
    match = _HAN.match(start.string, start.start())
    if match is None or match.end() == start.start() or start.string[match.end() : match.end() + 1] in {"前", "间", "間", "来"}:
        return None
    year = _year(match)
    if match["month"] is None:
        return (match.end(), year_span(year)) if year else None
    month = number(match["month"])
    if match["day"] is not None:
        day = number(match["day"])
        return match.end(), day_span(date(year, month, day)) if year else latest_day(month, day, today)
    if not 1 <= month <= 12:
        return None
    return match.end(), month_span(year, month) if year else latest_month(month, today)


def _year(match: re.Match[str]) -> int:
    if era := match["era"]:
        return _ERAS[era] + (1 if match["of_era"] == "元" else int(match["of_era"]))
    year = match["year"]
    if year is None:
        return 0
    return int(year) if year.isdigit() and year.isascii() else int("".join(str(_DIGITS[character]) for character in year))


def number(written: str) -> int:
    """A number below 100, in digits or in Chinese: "12", "十二", "二十"."""
    if written.isascii():
        return int(written)
    tens, ten, ones = written.partition("十")
    if not ten:
        return int("".join(str(_DIGITS[character]) for character in written))
    return (_DIGITS.get(tens, 0) if tens else 1) * 10 + _DIGITS.get(ones, 0)


def _relative(match: re.Match[str], today: date) -> tuple[int, Days]:
    unit, step = _RELATIVE[match["word"]]
    weekday = match["ja"] or match["zh"]
    if unit == "week" and weekday:
        monday = date.fromordinal(unit_span("week", step, today).first)
        return match.end() + (1 if match["ja"] and match.string[match.end() : match.end() + 1] == "日" else 0), weekday_from(
            monday, _DAY_OF_WEEK[weekday], 0
        )
    return match.end("word"), unit_span(unit, step, today)


def _ago(match: re.Match[str], today: date) -> tuple[int, Days]:
    return match.end(), unit_span(_AGO_UNITS[match["unit"]], -number(match["count"]), today)


def _thai(match: re.Match[str], today: date) -> tuple[int, Days] | None:
    written = match["only"] or match["year"]
    year = 0 if written is None else int(written) - (_BUDDHIST if int(written) >= 2400 else 0)
    if match["only"]:
        return (match.end(), year_span(year)) if 1500 <= year <= 2200 else None
    month = _THAI_MONTH[match["month"]]
    if match["day"]:
        day = int(match["day"])
        return match.end(), day_span(date(year, month, day)) if year else latest_day(month, day, today)
    return match.end(), month_span(year, month) if year else latest_month(month, today)

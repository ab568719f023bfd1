import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.domain.dates import Grain, Relation, dates_in

AT = int(datetime(2026, 3, 18, 12, tzinfo=UTC).timestamp() * 1000)  # a Wednesday
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
WORDS = (
    "in 7 May 2023 , . since last week two three months ago the of 31 vor il y a hier Woche 年 5月 7日 上周五 30年前 พ.ศ. 2566 ปี "
    "29.02.1900 1/2/99 2023-13-45 9999 1990s next month year February 0 años منذ سنتين İ ü between and to"
)
PIECES = st.lists(st.sampled_from(WORDS.split()), max_size=20).map(" ".join)


def day(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d")


def said(text: str) -> list[tuple[str, str, str]]:
    return [(text[span.start : span.end], day(span.from_ms), day(span.to_ms)) for span in dates_in(text, AT)]


@pytest.mark.parametrize(
    ("text", "wording", "first", "after"),
    [
        ("We met on 7 May 2023.", "7 May 2023", "2023-05-07", "2023-05-08"),
        ("on May 7th", "May 7th", "2025-05-07", "2025-05-08"),
        ("on September 11, 2001", "September 11, 2001", "2001-09-11", "2001-09-12"),
        ("Feb. 3, 2020", "Feb. 3, 2020", "2020-02-03", "2020-02-04"),
        ("in May 2023 we met", "May 2023", "2023-05-01", "2023-06-01"),
        ("in 1998", "1998", "1998-01-01", "1999-01-01"),
        ("the summer of 2020", "summer of 2020", "2020-06-01", "2020-09-01"),
        ("winter 2020", "winter 2020", "2020-12-01", "2021-03-01"),
        ("in the 1990s", "1990s", "1990-01-01", "2000-01-01"),
        ("from 2015 to 2019", "2015 to 2019", "2015-01-01", "2020-01-01"),
        ("at 2023-05-07T10:00", "2023-05-07", "2023-05-07", "2023-05-08"),
        ("on 2024-02", "2024-02", "2024-02-01", "2024-03-01"),
        ("am 07.05.2023", "07.05.2023", "2023-05-07", "2023-05-08"),
        ("I was born on 5/7/2023", "5/7/2023", "2023-05-07", "2023-05-08"),
        ("nací el 5/7/2023", "5/7/2023", "2023-07-05", "2023-07-06"),
        ("25/12/2020", "25/12/2020", "2020-12-25", "2020-12-26"),
        ("it was 12/25/20", "12/25/20", "2020-12-25", "2020-12-26"),
        ("am 7. Mai 2023", "7. Mai 2023", "2023-05-07", "2023-05-08"),
        ("le 7 mai 2023", "7 mai 2023", "2023-05-07", "2023-05-08"),
        ("el 7 de mayo de 2023", "7 de mayo de 2023", "2023-05-07", "2023-05-08"),
        ("il 7 maggio 2023", "7 maggio 2023", "2023-05-07", "2023-05-08"),
        ("em 7 de maio de 2023", "7 de maio de 2023", "2023-05-07", "2023-05-08"),
        ("op 7 mei 2023", "7 mei 2023", "2023-05-07", "2023-05-08"),
        ("我2023年5月7日搬到罗马", "2023年5月7日", "2023-05-07", "2023-05-08"),
        ("令和5年5月7日", "令和5年5月7日", "2023-05-07", "2023-05-08"),
        ("二〇二三年五月", "二〇二三年五月", "2023-05-01", "2023-06-01"),
        ("２０２３年５月７日", "２０２３年５月７日", "2023-05-07", "2023-05-08"),
        ("2023년 5월 7일", "2023년 5월 7일", "2023-05-07", "2023-05-08"),
        ("วันที่ 7 พฤษภาคม 2566", "7 พฤษภาคม 2566", "2023-05-07", "2023-05-08"),
        ("พ.ศ. ๒๕๔๑", "พ.ศ. ๒๕๔๑", "1998-01-01", "1999-01-01"),
        ("في 7 مايو 2023", "7 مايو 2023", "2023-05-07", "2023-05-08"),
        ("في عام ١٩٩٨", "١٩٩٨", "1998-01-01", "1999-01-01"),
        ("im Ma\u0308rz 2024", "Ma\u0308rz 2024", "2024-03-01", "2024-04-01"),
    ],
)
def test_a_date_is_found_where_it_stands(text: str, wording: str, first: str, after: str) -> None:
    assert said(text) == [(wording, first, after)]


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("yesterday", "2026-03-17", "2026-03-18"),
        ("the day before yesterday", "2026-03-16", "2026-03-17"),
        ("tomorrow", "2026-03-19", "2026-03-20"),
        ("last week", "2026-03-09", "2026-03-16"),
        ("the week before last", "2026-03-02", "2026-03-09"),
        ("last Friday", "2026-03-13", "2026-03-14"),
        ("on Monday", "2026-03-16", "2026-03-17"),
        ("Friday last week", "2026-03-13", "2026-03-14"),
        ("next Friday", "2026-03-20", "2026-03-21"),
        ("this weekend", "2026-03-21", "2026-03-23"),
        ("3 days ago", "2026-03-15", "2026-03-16"),
        ("a week ago", "2026-03-09", "2026-03-16"),
        ("a couple of weeks ago", "2026-03-02", "2026-03-09"),
        ("two months ago", "2026-01-01", "2026-02-01"),
        ("about ten years ago", "2016-01-01", "2017-01-01"),
        ("next month", "2026-04-01", "2026-05-01"),
        ("last May", "2025-05-01", "2025-06-01"),
        ("in February", "2026-02-01", "2026-03-01"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("the last three weeks", "2026-02-25", "2026-03-19"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("letzte Woche", "2026-03-09", "2026-03-16"),
        ("vor zwei Monaten", "2026-01-01", "2026-02-01"),
        ("vorgestern", "2026-03-16", "2026-03-17"),
        ("am 7.5. war das", "2025-05-07", "2025-05-08"),
        ("il y a un an", "2025-01-01", "2026-01-01"),
        ("j'ai vu cela hier", "2026-03-17", "2026-03-18"),
        ("l'été dernier", "2025-06-01", "2025-09-01"),
        ("le mois dernier", "2026-02-01", "2026-03-01"),
        ("la semana pasada", "2026-03-09", "2026-03-16"),
        ("hace dos meses", "2026-01-01", "2026-02-01"),
        ("el viernes pasado", "2026-03-13", "2026-03-14"),
        ("el mes que viene", "2026-04-01", "2026-05-01"),
        ("due mesi fa", "2026-01-01", "2026-02-01"),
        ("l'anno scorso", "2025-01-01", "2026-01-01"),
        ("há dois meses", "2026-01-01", "2026-02-01"),
        ("segunda-feira", "2026-03-16", "2026-03-17"),
        ("twee maanden geleden", "2026-01-01", "2026-02-01"),
        ("vorig jaar", "2025-01-01", "2026-01-01"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("上周五", "2026-03-13", "2026-03-14"),
        ("两个月前", "2026-01-01", "2026-02-01"),
        ("先週の金曜日", "2026-03-13", "2026-03-14"),
        ("3年前", "2023-01-01", "2024-01-01"),
        ("เมื่อวานนี้", "2026-03-17", "2026-03-18"),
        ("الأسبوع الماضي", "2026-03-09", "2026-03-16"),
        ("قبل 3 أشهر", "2025-12-01", "2026-01-01"),
    ],
)
def test_a_relative_date_counts_from_when_it_is_said(text: str, first: str, after: str) -> None:
    assert [(begin, end) for _, begin, end in said(text)] == [(first, after)]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("since 2019", Relation.SINCE),
        ("until last year", Relation.UNTIL),
        ("before 2019", Relation.UNTIL),
        ("seit drei Jahren", Relation.SINCE),
        ("bis 2020", Relation.UNTIL),
        ("depuis 2019", Relation.SINCE),
        ("jusqu'en 2020", Relation.UNTIL),
        ("desde hace tres años", Relation.SINCE),
        ("hasta 2020", Relation.UNTIL),
        ("منذ سنتين", Relation.SINCE),
        ("in 2019", Relation.WITHIN),
        ("two years ago", Relation.WITHIN),
    ],
)
def test_since_and_until_are_told_apart(text: str, relation: Relation) -> None:
    assert [span.relation for span in dates_in(text, AT)] == [relation]


@pytest.mark.parametrize(
    ("text", "grain"),
    [("3 days ago", Grain.DAY), ("last week", Grain.DAY), ("in May 2023", Grain.MONTH), ("in 1998", Grain.YEAR)],
)
def test_a_span_says_how_exact_it_is(text: str, grain: Grain) -> None:
    assert [span.grain for span in dates_in(text, AT)] == [grain]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I may go there",
        "I march 3 miles a day",
        "my friend April said so",
        "there is water on Mars",
        "write it in 2000 words",
        "Python 3.11.7 and version 1.2.23",
        "I paid $2000",
        "call 555-12-2023-9",
        "30 February 2020",
        "hier in Berlin wohne ich",
        "j'ai été malade",
        "a mes amis",
        "the last day of it",
        "this may be so",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert said(text) == []


def test_dates_come_in_their_order_and_do_not_overlap() -> None:
    text = "Last week I read of 2023-05-07, of the summer of 2020 and of 3 May."
    assert [wording for wording, _, _ in said(text)] == ["Last week", "2023-05-07", "summer of 2020", "3 May"]


@given(ANY_TEXT | PIECES, st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_any_text_at_any_time_has_its_dates(text: str, at_ms: int) -> None:
    end = 0
    for span in dates_in(text, at_ms):
        assert span.from_ms < span.to_ms
        assert end <= span.start < span.end <= len(text)
        end = span.end


@pytest.mark.parametrize(
    "unit",
    ["a", "1", ".", "the ", "last ", "in ", "1/2/", "2020-", "年", "十", "al ", "İ", "a\u0301", "il y a deux ", "พฤษภาคม", "w "],
)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    text = (unit * 60_000)[:60_000]
    begin = time.process_time()
    dates_in(text, AT)
    assert time.process_time() - begin < 3.0  # tens of milliseconds; several times that on a busy machine

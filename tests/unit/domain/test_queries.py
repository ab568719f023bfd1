import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.learning_files import load_query_words
from keepsake.domain.queries import InvalidQueryWordsError, QueryReading, parse_query_words, read_query

AT_MS = 1_750_000_000_000  # 15 June 2025
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates too


def reading(text: str) -> QueryReading:
    return read_query(text, AT_MS, load_query_words())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("When did Nora buy the blue kayak?", ("nora", "buy", "blue", "kayak")),
        ("What is my sister's allergy?", ("sister", "allergi")),
        ("Wann war die Hochzeit von Anna?", ("hochzeit", "anna")),
        ("Qu'est-ce que mon fils a dit du voyage ?", ("fil", "voyag")),
        ("¿Dónde está la llave del garaje?", ("llave", "garaj")),
        ("Где я оставил ключи?", ("остав", "ключ")),
        ("我什么时候去北京？", ("去北", "北京")),
        ("どこで傘を買いましたか", ("傘を", "を買", "買い")),
        ("내가 언제 서울에 갔지?", ("서울", "울에", "갔지")),
        ("मेरी दवा का नाम क्या है?", ("दव", "नाम")),
    ],
)
def test_words_that_only_ask_are_left_out(query: str, expected: tuple[str, ...]) -> None:
    assert reading(query).terms == expected


@pytest.mark.parametrize("query", ["What was it?", "Who is she?", "Wer war das?", "什么"])
def test_a_query_that_only_asks_keeps_its_words(query: str) -> None:
    assert reading(query).terms


def test_a_word_of_one_language_that_asks_in_another_stays() -> None:
    assert reading("What did my son say about the war?").terms == ("son", "say", "war")


def test_one_word_that_asks_in_some_language_shows_none() -> None:
    assert reading("son birthday").terms == ("son", "birthday")


def test_terms_are_distinct_and_in_order() -> None:
    assert reading("red boats, blue boats, red kites").terms == ("red", "boat", "blue", "kite")


@pytest.mark.parametrize(
    ("query", "about_self"),
    [
        ("Where do I live?", True),
        ("What is Nora's number?", False),
        ("Wie heißt mein Vermieter?", True),
        ("Is Ben coming along with them?", False),
        ("Comment s'appelle ma sœur ?", True),
        ("Как зовут мою сестру?", True),
        ("我的医生是谁", True),
        ("彼の名前は何ですか", False),
        ("私の名前は何ですか", True),
    ],
)
def test_whether_somebody_asks_of_themselves(query: str, about_self: bool) -> None:
    assert reading(query).about_self is about_self


def test_codes_are_terms_with_digits_that_are_no_dates() -> None:
    assert reading("What did 2 doctors say of case 4711-B and room b12 on 3 May 2024?").codes == {"4711", "b12"}


def test_dates_are_read_from_the_time_of_asking() -> None:
    (span,) = reading("What did we cook yesterday?").dates
    assert span.from_ms <= AT_MS - 86_400_000 < span.to_ms


def test_names_can_be_matched_by_the_words_as_they_stand() -> None:
    assert {"zoe", "said"} <= reading("What has Zoë said?").words


def test_a_long_query_is_cut_to_a_bounded_number_of_terms() -> None:
    assert len(reading(" ".join(f"word{number}x" for number in range(5000))).terms) == 48


@given(ANY_TEXT)
def test_any_text_can_be_read(text: str) -> None:
    found = reading(text)
    assert all(found.terms)
    assert len(set(found.terms)) == len(found.terms)


@pytest.mark.parametrize("letters", ["what ", "a1 ", "私の", "ab-", "어디 "])
def test_long_queries_are_read_in_a_moment(letters: str) -> None:
    text = (letters * 60_000)[:60_000]
    reading(text)
    began = time.process_time()
    reading(text)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ({}, "languages"),
        ({"languages": {"de": {"words": "der"}}}, "languages"),
        ({"languages": {"en": {"word": "the"}}}, "en"),
        ({"languages": {"en": {"words": ["the"]}}}, "en.words"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_place(table: dict[str, object], place: str) -> None:
    with pytest.raises(InvalidQueryWordsError, match=f"^{place}"):
        parse_query_words(table)

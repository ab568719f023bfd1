import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.domain import analysis
from keepsake.domain.analysis import index_terms, stemmed
from keepsake.domain.text import terms

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates too


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Which museums did I visit?", "visiting a museum"),
        ("hiking trips", "We hiked on every trip."),
        ("русский музей", "русские музеи"),
        ("красивый", "красивая"),
        ("άνθρωπος", "Ανθρώπου"),
        ("كتاب", "الكتاب"),
        ("किताबें", "किताब"),
        ("வீடு", "வீட்டில்"),
        ("한국어", "한국어를"),
        ("서울에서", "서울"),
        ("糖尿病", "糖尿病の薬"),
        ("Straße", "STRASSEN"),
    ],
)
def test_another_form_of_a_word_has_the_same_term(asked: str, said: str) -> None:
    assert set(index_terms(asked)) & set(index_terms(said))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We adopted two kittens; the kitten sleeps.", ("we", "adopt", "two", "kitt", "the", "kitt", "sleep")),
        ("ゴールデンウィーク", ("ゴー", "ール", "ルデ", "デン", "ンウ", "ウィ", "ィー", "ーク")),
        ("ที่นี่", ("ที่นี่",)),
        ("🎉 B12 x2", ("🎉", "b12", "x2")),
        ("Hund Katze", ("hund", "katz")),
        ("Autobahn", ("autobahn", "auto", "bahn")),
        ("", ()),
    ],
)
def test_terms_keep_their_order_their_count_and_their_language(text: str, expected: tuple[str, ...]) -> None:
    assert index_terms(text) == expected


@pytest.mark.parametrize(
    "part",
    ["Blutzucker", "Messgerät", "Geräte", "Blut"],
)
def test_a_compound_is_found_by_what_it_is_made_of(part: str) -> None:
    assert set(stemmed(terms(part))) <= set(index_terms("Mein neues Blutzuckermessgerät ist da."))


@pytest.mark.parametrize("word", ["zahnrad", "zug", "x" * 41, "understanding", "b12345678"])
def test_what_is_no_compound_has_one_term(word: str) -> None:
    assert len(index_terms(word)) == 1


def test_a_query_for_a_compound_does_not_find_all_that_begins_like_it() -> None:
    assert stemmed(terms("Krankenversicherungskarten")) == ("krankenversicherungskart",)


@given(ANY_TEXT)
def test_any_text_gives_terms_that_are_not_empty(text: str) -> None:
    assert all(index_terms(text))


@given(ANY_TEXT, ANY_TEXT)
def test_texts_beside_each_other_have_the_terms_of_both(left: str, right: str) -> None:
    assert index_terms(f"{left}\n{right}") == index_terms(left) + index_terms(right)


def test_threads_do_not_stem_each_others_words() -> None:
    words = [
        f"{start}{middle}ations" for start in "bcdfghklmnprst" for middle in ("aliz", "uct", "olish", "ign", "ement", "ious")
    ]
    alone = [index_terms(word) for word in words]
    analysis._analysed.cache_clear()
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            together = list(threads.map(index_terms, words))
    finally:
        sys.setswitchinterval(switching)
    assert together == alone


@pytest.mark.parametrize("letters", ["ab", "aあ", "ая", "word ", "அ", "한"])
def test_a_text_ten_times_as_long_has_about_ten_times_as_many_terms(letters: str) -> None:
    short, long = (len(index_terms(letters * times)) for times in (3000, 30000))
    assert long <= 10 * short + 100

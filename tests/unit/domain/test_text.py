import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.domain.text import folded, has_lone_surrogate, has_nul, has_unspaced, is_blank, terms

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Diabetes prevalence, 2023!", ("diabetes", "prevalence", "2023")),
        ("snake_case and/or don't", ("snake", "case", "and", "or", "don", "t")),
        ("Größe STRASSE straße", ("grosse", "strasse", "strasse")),
        ("Élève naïve Łódź Đà Nẵng smørrebrød", ("eleve", "naive", "lodz", "da", "nang", "smorrebrod")),
        ("ﬁne Ｔｅｘｔ ①", ("fine", "text", "1")),
        ("Ёлка МОСКВА", ("елка", "москва")),
        ("ΣΊΣΥΦΟΣ", ("σισυφοσ",)),
        ("İstanbul", ("istanbul",)),
        ("مُحَمَّد أحمد", ("محمد", "احمد")),
        ("हिन्दी भाषा।", ("हिन्दी", "भाषा")),
        ("தமிழ் மொழி", ("தமிழ்", "மொழி")),
        ("한국어 문장", ("한국어", "문장")),
    ],
)
def test_words_are_folded_in_every_alphabet(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("糖尿病", ("糖尿", "尿病")),
        ("犬", ("犬",)),
        ("T2DM患者は5人、犬。", ("t2dm", "患者", "者は", "5", "人", "犬")),
        ("がん", ("がん",)),
        ("ｶﾞﾝ", ("ガン",)),
        ("データ", ("デー", "ータ")),
        ("ยา", ("ยา",)),
        ("ที่นี่", ("ที่นี่",)),
        ("ลาว ລາວ", ("ลา", "าว", "ລາ", "າວ")),
        ("ភាសា", ("ភាសា",)),
        ("မြန်မာ", ("မြန်", "န်မာ")),
    ],
)
def test_scripts_without_spaces_give_bigrams_and_lone_characters(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("great 👍🏽!", ("great", "👍")),
        ("❤️ love", ("❤", "love")),
        ("👨‍👩‍👧", ("👨", "👩", "👧")),
        ("🇩🇪🇫🇷", ("🇩🇪", "🇫🇷")),
        ("1️⃣", ("1",)),
    ],
)
def test_emoji_are_terms(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


def test_a_term_has_at_most_64_characters_and_nothing_of_the_word_is_lost() -> None:
    for letter in ("a", "ä", "日"):
        found = terms(letter * 1000 + " end")
        assert max(len(term) for term in found) <= 64
        assert "end" in found
    assert "".join(terms("b" * 1000)) == "b" * 1000


def test_invisible_characters_do_not_hide_a_word() -> None:
    assert terms("dia\u200bbe\u00adtes\ufeff") == ("diabetes",)


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = folded(text)
    assert folded(once) == once


@given(ANY_TEXT)
def test_terms_are_the_same_for_a_text_and_for_its_folded_form(text: str) -> None:
    assert terms(text) == terms(folded(text))


@given(ANY_TEXT)
def test_no_term_is_empty_or_holds_white_space(text: str) -> None:
    assert all(term and not any(c.isspace() for c in term) for term in terms(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "\u00a0\u3000",
        "\u200b\u200d",
        "\ufeff",
        "\ufe0f",
        "\u00ad",
        "\x00\x1b",
        "\u2060\u2800",
        "\U000e0041",
        "\u3164\u115f",
    ],
)
def test_what_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " . ", "\u200b犬", "👍", "?", "\ud800", "\u0600"])
def test_what_shows_something_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_lone_surrogates_are_found() -> None:
    assert has_lone_surrogate("a\ud800")
    assert has_lone_surrogate("\udc00\ud800")
    assert not has_lone_surrogate("👍 plain")


def test_many_different_characters_fold_like_few() -> None:
    letters = "".join(chr(code) for code in range(0xC0, 0x250))
    assert folded(letters) == "".join(folded(letters[at : at + 100]) for at in range(0, len(letters), 100))


def test_nul_is_found() -> None:
    assert has_nul("a\x00b")
    assert not has_nul("a0b")


def test_scripts_without_spaces_are_recognized() -> None:
    assert has_unspaced("abc 犬")
    assert not has_unspaced("Größe 한국어 हिन्दी")

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.learning_files import load_attributes, load_extraction_rules
from keepsake.domain.extraction.by_rules import extract_by_rules
from keepsake.domain.extraction.rules import parse_extraction_rules
from keepsake.domain.memories.values import MadeBy, MemoryType, Replaced
from keepsake.domain.turns import Role, Turn
from tests.unit.domain.extraction.labelled import AT, Agreement, Labelled, agreement, found_in, labelled, turns_of

RULES = load_extraction_rules()
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
WORDS = (
    "I my sister Anna is called lives in Rome not no meant , . ? ! and love like don't name Oslo since 2019 if said ich "
    "wohne mag nicht je m'appelle habite à me gusta llamo vivo 我住在 上海 です 私は ฉันชอบ أحب work as a nurse at the "
    "moved to from born on 7 May she who"
)
WORDINGS = st.lists(st.sampled_from(WORDS.split()), max_size=24).map(" ".join)


@pytest.mark.parametrize("entry", tuple(labelled("sentences_dev.txt")), ids=lambda entry: entry.turns[0][:40])
def test_what_a_sentence_states_is_found_and_nothing_else(entry: Labelled) -> None:
    assert found_in(entry.turns, RULES) == entry.stated


def test_most_of_what_sentences_state_that_no_rule_was_made_for_is_found_and_little_else() -> None:
    total = sum((agreement(entry, found_in(entry.turns, RULES)) for entry in labelled("sentences_heldout.txt")), Agreement())
    assert total.precision >= 0.94, total
    assert total.recall >= 0.92, total


def test_every_language_of_the_held_out_sentences_is_understood() -> None:
    by_language: dict[str, Agreement] = {}
    for entry in labelled("sentences_heldout.txt"):
        found = agreement(entry, found_in(entry.turns, RULES))
        by_language[entry.language] = by_language.get(entry.language, Agreement()) + found
    assert len(by_language) == 11
    assert all(found.precision >= 0.85 and found.recall >= 0.85 for found in by_language.values()), by_language


def test_a_statement_says_what_kind_it_is_and_quotes_its_sentence() -> None:
    statement = extract_by_rules(turns_of(["Well then. I live in Oslo since 2019!"]), RULES)[0]
    assert (statement.type, statement.made_by, statement.turn_id) == (MemoryType.FACT, MadeBy.RULES, "t0")
    assert statement.text == "I live in Oslo since 2019!"
    assert statement.importance == load_attributes().by_name["home"].importance
    assert 0 < statement.confidence < 1


def test_only_the_users_turns_are_learned_from() -> None:
    said = "My name is Ada and I live in Oslo."
    turns = [Turn(f"t-{role}", role, said, AT, AT, 1) for role in (Role.ASSISTANT, Role.TOOL)]
    assert extract_by_rules(turns, RULES) == ()


@pytest.mark.parametrize(
    "text",
    [
        "> I live in Oslo.",
        "```\nI live in Oslo.\n```",
        "<memory>I live in Oslo.</memory>",
        "You told me that I live in Oslo.",
        'She wrote: "I live in Oslo, and my name is Eva."',
        "Translate into German:\nMy name is Peter.\nI live in London.",
        "Imagine you are a pirate.\nI live on a ship. My name is Jack.",
        "Stell dir vor, du bist ich.\nIch wohne in Paris.",
    ],
)
def test_what_is_quoted_pasted_or_made_up_is_not_learned(text: str) -> None:
    assert extract_by_rules(turns_of([text]), RULES) == ()


def test_a_hedge_makes_a_statement_less_sure() -> None:
    plain, hedged = (extract_by_rules(turns_of([text]), RULES)[0] for text in ("I like jazz.", "Maybe I like jazz."))
    assert hedged.confidence < plain.confidence


def test_a_correction_names_what_it_replaces() -> None:
    *_, corrected = extract_by_rules(turns_of(["My sister is called Anna.", "No, she is called Hanna."]), RULES)
    assert (corrected.turn_id, corrected.attribute, corrected.value) == ("t1", "sister", "Hanna")
    assert corrected.replaces == (Replaced("user", "sister", "Anna"),)


def test_a_correction_of_nothing_that_was_said_is_none() -> None:
    assert extract_by_rules(turns_of(["No, not Anna, Hanna."]), RULES) == ()


def test_a_changed_mind_replaces_the_liking() -> None:
    *_, later = extract_by_rules(turns_of(["I like coriander.", "I don't like coriander."]), RULES)
    assert (later.attribute, later.denied) == ("dislikes", False)
    assert Replaced("user", "likes", "coriander") in later.replaces


def test_dates_count_from_when_the_turn_was_said() -> None:
    turn = Turn("t", Role.USER, "I moved to Rome last year.", AT, AT - 10 * 365 * 24 * 3600 * 1000, 1)
    home = extract_by_rules([turn], RULES)[0]
    assert home.valid_from_ms == 1_420_070_400_000  # 1 January 2015


def test_what_is_over_comes_before_what_took_its_place() -> None:
    said = extract_by_rules(turns_of(["I moved from Oslo to Rome last month."]), RULES)
    assert [(one.value, one.valid_to_ms is None) for one in said if one.attribute == "home"] == [("Oslo", False), ("Rome", True)]


def test_who_she_is_must_have_been_said() -> None:
    assert extract_by_rules(turns_of(["She lives in Rome and works as a nurse."]), RULES) == ()
    assert extract_by_rules(turns_of(["Napoleon lived in Paris. Anna lives in Berlin."]), RULES) == ()


def test_somebody_met_in_an_earlier_turn_is_known_later() -> None:
    assert "Anna.home=Berlin" in found_in(["My sister is called Anna.", "What a day!", "Anna lives in Berlin."], RULES)


def test_a_text_is_quoted_up_to_300_characters() -> None:
    statement = extract_by_rules(turns_of(["I live in Oslo and " + "walk and " * 38 + "rest."]), RULES)[0]
    assert len(statement.text) <= 300


def test_one_turn_states_a_bounded_number_of_things() -> None:
    text = " ".join(f"I like thing{n}ish." for n in range(500))
    assert len(extract_by_rules(turns_of([text.replace("thing", "Thing")]), RULES)) <= 41


def test_every_wording_is_a_pattern() -> None:
    assert all(rule.pattern.pattern for rule in RULES.rules)
    assert all(rule.also == "" or rule.also in load_attributes().by_name for rule in RULES.rules)
    assert all(rule.replaces == "" or rule.replaces in load_attributes().by_name for rule in RULES.rules)


@pytest.mark.parametrize(
    "rule",
    [
        {"attribute": "unheard_of", "words": ["a"], "patterns": ["a"]},
        {"attribute": "home", "patterns": ["I live in"]},
    ],
)
def test_a_rule_of_an_unknown_attribute_or_without_words_is_refused(rule: dict[str, object]) -> None:
    content = {"genders": {}, "languages": {"en": {"my": "my", "joints": {"all": []}, "rules": [rule]}}}
    with pytest.raises(ValueError, match="en"):
        parse_extraction_rules(content, load_attributes())


@given(st.lists(ANY_TEXT | WORDINGS, max_size=3))
def test_any_text_gives_sound_statements(texts: list[str]) -> None:
    for statement in extract_by_rules(turns_of(texts), RULES):
        assert statement.value.strip()
        assert len(statement.value) <= 80
        assert statement.subject.strip()
        assert 0 < len(statement.text) <= 400
        assert 0 <= statement.confidence <= 1
        assert statement.attribute in load_attributes().by_name


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "I ",
        "my sister ",
        "I live in ",
        "Anna is my ",
        "ich mag ",
        "我住在",
        "我叫李明。",
        "I was born in ",
        "A ",
        '"I live" ',
        "not ",
        "if I ",
    ],
)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    turns = turns_of([(unit * 60_000)[:60_000]])
    begin = time.process_time()
    extract_by_rules(turns, RULES)
    assert time.process_time() - begin < 3.0  # tens of milliseconds; several times that on a busy machine

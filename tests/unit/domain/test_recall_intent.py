"""The recall gate: whether a turn searches long-term memory, and the word that says why."""

import json
import time
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.learning_files import load_recall_gate
from keepsake.domain.recall_intent import KnownNames, Reason, parse_recall_gate
from tests.benchmarks.learn_gate import DATA_FOLDER, SOURCES, cross_validated, load_examples, random_folds

GATE = load_recall_gate()
REASONS = frozenset(Reason)


def known(*names: str) -> KnownNames:
    return KnownNames(frozenset(names))


def patterns() -> dict[str, object]:
    return tomllib.loads((files("keepsake") / "data" / "recall_patterns.toml").read_text(encoding="utf-8"))


def test_turns_that_need_the_past_search_and_others_do_not_by_weights_learned_without_them() -> None:
    examples = load_examples()
    weighed = cross_validated(examples, random_folds(len(examples), seed=1, folds=3))
    shares = defaultdict(list)
    for example, weight in zip(examples, weighed, strict=True):
        shares[example.source, example.needs_recall].append(weight > 0)
    for source in SOURCES:
        assert sum(shares[source, True]) / len(shares[source, True]) >= 0.94
        assert sum(shares[source, False]) / len(shares[source, False]) <= 0.07


def test_every_language_is_decided_about_as_well_as_english() -> None:
    right: Mapping[str, list[bool]] = defaultdict(list)
    for example in load_examples():
        right[example.language].append(GATE.intent(example.text).wanted == example.needs_recall or example.kind == "follow_up")
    assert len(right) == 10
    assert {language: sum(each) / len(each) for language, each in right.items() if sum(each) / len(each) < 0.9} == {}


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "Was weißt du über mich?",
        "Que sais-tu de moi ?",
        "¿Qué sabes de mí?",
        "Что ты обо мне знаешь?",
        "ماذا تعرف عني؟",
        "तुम मेरे बारे में क्या जानते हो?",
        "私について何を知っていますか?",
        "你对我了解多少?",
        "คุณรู้อะไรเกี่ยวกับฉันบ้าง",
    ],
)
def test_what_is_known_of_me_is_asked_in_ten_languages(text: str) -> None:
    intent = GATE.intent(text)
    assert (intent.wanted, intent.reason, intent.about_me) == (True, Reason.ASKS_ABOUT_ME, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("What did I tell you about the leaking gutter?", Reason.REFERS_TO_FORMER_TALK),
        ("When does my visa run out?", Reason.ASKS_OWN_PAST),
        ("Please jog my memory, I've forgotten the title of that novel.", Reason.ASKS_TO_BE_REMINDED),
        ("Is it higher than last month?", Reason.COMPARES_WITH_BEFORE),
        ("Lay it out in the usual format.", Reason.AS_BEFORE),
        ("Let's pick up where we left off.", Reason.RESUMES),
        ("Has Ludmilla answered yet?", Reason.NAMES_UNKNOWN_PERSON),
        ("who has ticket OPS-4412", Reason.NAMES_RECORD),
    ],
)
def test_a_search_says_why(text: str, reason: Reason) -> None:
    intent = GATE.intent(text)
    assert (intent.wanted, intent.reason, intent.about_me) == (True, reason, False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("What is the capital of Norway?", Reason.GENERAL_QUESTION),
        ("Good morning, lovely weather today!", Reason.SMALL_TALK),
        ("Please note that I take no sugar.", Reason.TELLS_TO_REMEMBER),
        ("Shorter please, in bullet points", Reason.ASKS_FOR_STYLE),
        ("Write a limerick on frogs", Reason.NEW_TASK),
        ("Who needs four remote controls, honestly?", Reason.RHETORICAL),
        ("x = load('a.csv')\nprint(x.again())", Reason.CODE),
        (" \u200b\n", Reason.NOTHING_SAID),
        ("", Reason.NOTHING_SAID),
    ],
)
def test_no_search_says_why_not(text: str, reason: Reason) -> None:
    intent = GATE.intent(text)
    assert (intent.wanted, intent.reason, intent.about_me) == (False, reason, False)


def test_what_stands_in_the_context_needs_no_search() -> None:
    earlier = ["The tram leaves at 9:10, the bus at 9:25.", "Noted."]
    assert GATE.intent("and which one is faster?", earlier).reason == Reason.ABOUT_THE_CONTEXT


def test_a_known_name_that_is_asked_about_searches() -> None:
    assert not GATE.intent("How tall is the obelisk?").wanted
    intent = GATE.intent("How tall is the obelisk?", known=known("obelisk"))
    assert (intent.wanted, intent.reason) == (True, Reason.NAMES_KNOWN_ENTITY)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Status of CASE-2024-0117?", "case-2024-0117"),
        ("Where is José’s bicycle?", "jose"),
        ("Why is the sky over Nether Wallop blue?", "nether wallop"),
        ("富士屋はどこですか?", "富士屋"),
        ("tell me about zorro", "zorro"),
    ],
)
def test_known_names_are_found_whatever_their_script_case_and_accents(text: str, name: str) -> None:
    assert GATE.intent(text, known=known(name)).reason == Reason.NAMES_KNOWN_ENTITY


@pytest.mark.parametrize(
    "text",
    ["Remember that Zorro likes hay.", "Zorro ate all of the hay this morning and went to sleep.", "Thank you from Zorro!"],
)
def test_a_known_name_in_a_statement_or_an_order_does_not_search(text: str) -> None:
    assert not GATE.intent(text, known=known("zorro")).wanted


def test_a_known_name_is_found_only_as_a_whole_word() -> None:
    assert not GATE.intent("How tall is the obelisk?", known=known("obel", "lisk", "the ob")).wanted


def test_a_title_makes_a_name_of_the_word_after_it_and_fame_does_not() -> None:
    assert GATE.intent("Does Mrs Quillfeather prefer tea?").wanted
    assert not GATE.intent("Does Shakespeare prefer tea?").wanted


def test_quoted_words_are_talked_about_and_not_said() -> None:
    assert GATE.intent("Continue where we left off last time").wanted
    assert not GATE.intent("Translate 'where we left off last time' into Danish").wanted


def test_a_question_below_code_is_read_and_the_code_is_not() -> None:
    code = "def again(me):\n    return remember(me)\n"
    assert not GATE.intent(code).wanted
    assert GATE.intent(f"{code}Is that the version we agreed on last week?").wanted


def test_of_a_long_text_the_beginning_and_the_end_are_read() -> None:
    filler = "The table stands in the hall. " * 2_000
    asked = "What did I tell you about my sister last week?"
    assert GATE.intent(f"{asked} {filler}").wanted
    assert GATE.intent(f"{filler} {asked}").wanted
    assert not GATE.intent(filler).wanted


@pytest.mark.parametrize(
    "unit",
    ["a", "ก", "私", "? ", "'", '"a', "```", "((", "{ ", "\n", "a'", "A. ", "did i ", "wie weit ", "« ", "A-1", "w(", "\ud800"],
)
def test_a_long_text_of_any_kind_takes_no_longer_than_a_moment(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    start = time.process_time()
    GATE.intent(text, [text] * 6, known("zorro"))
    assert time.process_time() - start < 1.0


@given(
    st.text(max_size=300),
    st.lists(st.text(max_size=100), max_size=4),
    st.frozensets(st.text(min_size=1, max_size=12), max_size=4),
)
def test_any_text_is_decided_always_alike_and_with_a_word_of_the_list(
    text: str, earlier: list[str], names: frozenset[str]
) -> None:
    intent = GATE.intent(text, earlier, KnownNames(names))
    assert intent.reason in REASONS
    assert intent == GATE.intent(text, tuple(earlier), KnownNames(names))
    assert intent.wanted or not intent.about_me


def test_a_language_without_cues_is_refused() -> None:
    table = patterns()
    del table["th"]
    with pytest.raises(ValueError, match="th"):
        parse_recall_gate(table)


def test_a_weight_of_no_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="fancy"):
        parse_recall_gate(patterns() | {"weights": {"fancy": 1.0}})


def test_a_data_file_without_names_is_refused() -> None:
    with pytest.raises(ValueError, match="names"):
        parse_recall_gate(patterns() | {"names": 7})


def test_all_labelled_turns_have_ids_of_their_own_and_texts_of_their_own() -> None:
    rows = [json.loads(line) for name in SOURCES for line in _lines(name)]
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({(row["text"], *row.get("context", [])) for row in rows}) == len(rows)


def _lines(name: str) -> list[str]:
    return (DATA_FOLDER / name).read_text(encoding="utf-8").splitlines()

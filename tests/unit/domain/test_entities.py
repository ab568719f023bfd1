import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.learning_files import load_entity_patterns
from keepsake.domain.entities import entities_in, parse_entity_patterns

PATTERNS = load_entity_patterns()
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What about CASE-2024-0117 and FIR 112/2023?", ("CASE-2024-0117", "FIR 112/2023")),
        ("案件 CASE-2024-0117 は", ("CASE-2024-0117",)),
        ("Did Maria de la Cruz's file #4711 arrive?", ("Maria de la Cruz", "#4711")),
        ("Tell Anna Berg that The Red Cross called", ("Anna Berg", "Red Cross")),
        ("patient P00123", ("P00123",)),
        ("Ich traf Jonas Weber in New York, Jonas Weber!", ("Jonas Weber", "New York")),
        ("Yesterday I met Anna on 13/05/2023 at 10:30.", ()),
        ("", ()),
    ],
)
def test_names_and_record_numbers_are_found(text: str, expected: tuple[str, ...]) -> None:
    assert entities_in(text, PATTERNS) == expected


def test_an_operator_may_add_record_numbers() -> None:
    patterns = parse_entity_patterns({"records": ["#\\d+"], "not_first": []}, {"records": ["ward \\d{1,3}"]})
    assert entities_in("ward 12 and #7", patterns) == ("ward 12", "#7")


def test_a_broken_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="records"):
        parse_entity_patterns({"records": ["("], "not_first": []})


@given(ANY_TEXT)
def test_any_text_has_entities_that_stand_in_it(text: str) -> None:
    assert all(entity in text for entity in entities_in(text, PATTERNS))


@pytest.mark.parametrize("unit", ["A", "Aa ", "A-", "1/", "A1", "Aa de la "])
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    begin = time.process_time()
    entities_in((unit * 60_000)[:60_000], PATTERNS)
    assert time.process_time() - begin < 2.0

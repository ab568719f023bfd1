import pytest

from keepsake.adapters.learning_files import load_attributes
from keepsake.domain.memories.attributes import parse_attributes
from keepsake.domain.memories.values import MemoryType

ATTRIBUTES = load_attributes()
TYPES = {kind.value: {"importance": 0.5, "fresh_days": 10, "question": "Is this right: {text}"} for kind in MemoryType}


@pytest.mark.parametrize(
    ("attribute", "single"),
    [
        ("home", True),
        ("employer", True),
        ("wife", True),
        ("mother", True),
        ("sister", False),
        ("likes", False),
        ("allergy", False),
        ("language", False),
        ("visited", False),
    ],
)
def test_attributes_hold_one_value_or_many(attribute: str, single: bool) -> None:
    assert ATTRIBUTES.by_name[attribute].single is single


def test_another_name_means_the_same_attribute() -> None:
    assert ATTRIBUTES.by_name["lives_in"].name == "home"
    assert ATTRIBUTES.by_name["allergies"] is ATTRIBUTES.by_name["allergy"]


def test_an_unknown_attribute_has_the_rules_of_its_type() -> None:
    assert ATTRIBUTES.policy("shoe_size", MemoryType.FACT) is ATTRIBUTES.by_type[MemoryType.FACT]


def test_every_question_can_be_asked() -> None:
    for policy in (*ATTRIBUTES.by_name.values(), *ATTRIBUTES.by_type.values()):
        asked = policy.question.format(value="V", subject="S", text="T")
        assert "{" not in asked
        assert any(mark in asked for mark in "VST")


def test_a_likeness_that_stands_there_twice_is_refused() -> None:
    content = {"types": TYPES, "attributes": {"home": {"type": "fact"}, "house": {"type": "fact", "also": ["home"]}}}
    with pytest.raises(ValueError, match="twice"):
        parse_attributes(content)


def test_days_and_importance_out_of_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="importance"):
        parse_attributes({"types": TYPES, "attributes": {"home": {"type": "fact", "importance": 2}}})

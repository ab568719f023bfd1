import pytest

from keepsake.adapters.learning_files import load_model_table
from keepsake.domain.model_traits import AnswersBy, ModelTraits, parse_model_table

TOOL, SCHEMA = AnswersBy.FORCED_TOOL, AnswersBy.JSON_SCHEMA


@pytest.mark.parametrize(
    ("model_id", "traits"),
    [
        ("amazon.nova-micro-v1:0", ModelTraits(TOOL, temperature=True)),
        ("us.amazon.nova-2-lite-v1:0", ModelTraits(TOOL, temperature=True)),
        ("anthropic.claude-3-haiku-20240307-v1:0", ModelTraits(TOOL, temperature=True)),
        ("eu.anthropic.claude-sonnet-4-20250514-v1:0", ModelTraits(TOOL, temperature=True)),
        ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", ModelTraits(SCHEMA, temperature=True)),
        ("global.anthropic.claude-haiku-5-5", ModelTraits(SCHEMA, temperature=False)),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-lite-v1:0", ModelTraits(TOOL, temperature=True)),
        ("somebody.new-model", ModelTraits(TOOL, temperature=False)),
    ],
)
def test_a_model_has_the_traits_of_its_family_by_the_longest_name(model_id: str, traits: ModelTraits) -> None:
    assert load_model_table().traits(model_id) == traits


@pytest.mark.parametrize(
    "family",
    [
        {"answers_by": "magic", "temperature": True},
        {"answers_by": "json_schema"},
        {"answers_by": "json_schema", "temperature": 1},
    ],
)
def test_a_table_that_makes_no_sense_is_refused(family: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_model_table({"default": {"answers_by": "json_schema", "temperature": True}, "families": {"x": family}})
